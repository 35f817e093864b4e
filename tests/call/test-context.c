/* SPDX-License-Identifier: MIT */
/* The context: calls, scopes, the sticky error, modes. */

#include <gio/gio.h>
#include <string.h>

#include "call/adj-context.h"
#include "call/adj-mode.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"
#include "tensor/adj-tensor-internal.h"

static AdjTensor *
new_tensor (gint64 rows, gint64 columns, const float *values)
{
  const gint64 sizes[] = { rows, columns };
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  AdjTensor *tensor;

  adj_shape_init_ints (&meta.shape, 2, sizes);
  tensor = adj_tensor_new_empty (&meta, NULL, FALSE);
  if (values != NULL)
    memcpy (adj_storage_write (adj_tensor_get_storage (tensor)), values,
            (gsize) (rows * columns) * sizeof *values);
  return tensor;
}

static gboolean
call2 (AdjContext *cx, const char *target, AdjValue a, AdjValue b, AdjValue *result)
{
  AdjValue items[] = { a, b };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = items };

  return adj_call (cx, adj_op_find (target), &args, NULL, result);
}

static const float *
read_floats (AdjTensor *tensor)
{
  return adj_storage_read (adj_tensor_get_storage (tensor));
}

static void
computes (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjTensor) a = new_tensor (2, 2, (const float[]){ 1, 2, 3, 4 });
  g_autoptr (AdjTensor) b = new_tensor (2, 2, (const float[]){ 5, 6, 7, 8 });
  static const float product[] = { 19, 22, 43, 50 };
  AdjValue result;

  g_assert_true (call2 (cx, "torch.ops.aten.mm.default", ADJ_TENSOR (a), ADJ_TENSOR (b), &result));
  g_assert_cmpint (result.kind, ==, ADJ_VALUE_TENSOR);
  g_assert_cmpmem (read_floats (result.tensor), sizeof product, product, sizeof product);
}

static void
error_names_its_place (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjTensor) a = new_tensor (8, 16, NULL);
  g_autoptr (AdjTensor) b = new_tensor (3, 4, NULL);
  const AdjPlace place = { .file = "model.py", .line = 12, .node = "mm_1" };
  g_autoptr (GError) error = NULL;
  AdjValue result;

  adj_context_set_place (cx, &place);
  g_assert_false (call2 (cx, "torch.ops.aten.mm.default", ADJ_TENSOR (a), ADJ_TENSOR (b), &result));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_cmpstr (
      error->message, ==,
      "aten::mm: shapes [8, 16] and [3, 4] do not multiply; self: f32[8, 16][16, 1]cpu, mat2: "
      "f32[3, 4][4, 1]cpu (node 'mm_1', model.py:12)");
  g_assert_false (adj_context_has_error (cx));
}

static void
first_error_sticks (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjTensor) a = new_tensor (8, 16, NULL);
  g_autoptr (GError) error = NULL;
  AdjValue result;

  g_assert_false (call2 (cx, "torch.ops.aten.mm.default", ADJ_TENSOR (a), ADJ_TENSOR (a), &result));
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_LIMIT, "later");
  /* A valid call does nothing while the context has an error. */
  g_assert_false (call2 (cx, "torch.ops.aten.add.Tensor", ADJ_TENSOR (a), ADJ_TENSOR (a), &result));
  g_assert_cmpint (result.kind, ==, ADJ_VALUE_NONE);
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_false (adj_context_take_error (cx, NULL));
  g_assert_true (call2 (cx, "torch.ops.aten.add.Tensor", ADJ_TENSOR (a), ADJ_TENSOR (a), &result));
}

static void
count_end (gpointer data)
{
  ++*(guint *) data;
}

static void
scope_owns (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjTensor) a = new_tensor (2, 2, NULL);
  static const AdjSlotClass klass = { .free = count_end };
  AdjTensor *kept;
  AdjValue result;
  guint ended = 0;

  adj_scope_begin (cx);
  call2 (cx, "torch.ops.aten.add.Tensor", ADJ_TENSOR (a), ADJ_INT (1), &result);
  adj_tensor_set_slot (result.tensor, ADJ_SLOT_CONSTANT, &ended, &klass);
  kept = adj_keep (result.tensor);
  adj_scope_end (cx);
  g_assert_cmpuint (ended, ==, 0);
  g_assert_cmpfloat (read_floats (kept)[3], ==, 1);
  adj_tensor_unref (kept);
  g_assert_cmpuint (ended, ==, 1);

  adj_scope_begin (cx);
  call2 (cx, "torch.ops.aten.split.Tensor", ADJ_TENSOR (a), ADJ_INT (1), &result);
  g_assert_cmpint (result.kind, ==, ADJ_VALUE_LIST);
  g_assert_cmpuint (result.n, ==, 2);
  adj_tensor_set_slot (result.items[1].tensor, ADJ_SLOT_CONSTANT, &ended, &klass);
  adj_scope_end (cx);
  g_assert_cmpuint (ended, ==, 2);
  g_assert_null (adj_keep (NULL));
}

static void
can_be_cancelled (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (AdjTensor) a = new_tensor (2, 2, NULL);
  g_autoptr (GError) error = NULL;
  AdjValue result;

  adj_context_set_cancellable (cx, cancellable);
  g_assert_true (call2 (cx, "torch.ops.aten.add.Tensor", ADJ_TENSOR (a), ADJ_INT (1), &result));
  g_cancellable_cancel (cancellable);
  g_assert_false (call2 (cx, "torch.ops.aten.add.Tensor", ADJ_TENSOR (a), ADJ_INT (1), &result));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* -- modes -- */

typedef struct
{
  AdjMode mode;
  guint n_calls;
  guint *n_ended;
} Counter;

static gboolean
counter_call (AdjMode *mode, AdjOpCall *call)
{
  ((Counter *) mode)->n_calls++;
  return adj_mode_call_below (mode, call);
}

static void
counter_finalize (AdjMode *mode)
{
  ++*((Counter *) mode)->n_ended;
}

static const AdjModeClass counter_class = { .name = "counter",
                                            .call = counter_call,
                                            .finalize = counter_finalize };

static void
modes_stand_on_one_another (void)
{
  AdjContext *cx = adj_context_new ();
  g_autoptr (AdjTensor) a = new_tensor (2, 2, NULL);
  Counter *counter = g_new0 (Counter, 1);
  guint n_ended = 0;
  AdjValue result;

  counter->mode.klass = &counter_class;
  counter->n_ended = &n_ended;
  adj_context_push_mode (cx, &counter->mode);
  g_assert_true (call2 (cx, "torch.ops.aten.add.Tensor", ADJ_TENSOR (a), ADJ_INT (1), &result));
  g_assert_cmpuint (counter->n_calls, ==, 1);
  adj_context_pop_mode (cx);
  g_assert_cmpuint (n_ended, ==, 1);
  g_assert_true (call2 (cx, "torch.ops.aten.add.Tensor", ADJ_TENSOR (a), ADJ_INT (1), &result));
  adj_context_free (cx);
}

static void
no_mode_is_an_error (void)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (NULL);
  g_autoptr (AdjTensor) a = new_tensor (2, 2, NULL);
  g_autoptr (GError) error = NULL;
  AdjValue result;

  g_assert_false (call2 (cx, "torch.ops.aten.add.Tensor", ADJ_TENSOR (a), ADJ_INT (1), &result));
  adj_context_take_error (cx, &error);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
}

static void
fake_has_no_bytes (void)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (NULL);
  const gint64 sizes[] = { 1 << 20, 1 << 20 };
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (AdjTensor) a = NULL;
  AdjValue result;

  adj_shape_init_ints (&meta.shape, 2, sizes);
  a = adj_tensor_new_empty (&meta, NULL, TRUE);
  adj_context_push_mode (cx, adj_fake_mode_new ());
  g_assert_true (call2 (cx, "torch.ops.aten.add.Tensor", ADJ_TENSOR (a), ADJ_INT (1), &result));
  g_assert_true (adj_storage_is_fake (adj_tensor_get_storage (result.tensor)));
  g_assert_cmpint (adj_tensor_get_size (result.tensor, 0), ==, 1 << 20);
}

/* arange without a dtype but with a float end, and a cast to float32. */
static void
float64_promotes_what_calls_name (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjTensor) a = new_tensor (2, 2, NULL);
  AdjValue items[] = { ADJ_FLOAT (3) };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = items };
  AdjValue pairs[] = {
    { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
    ADJ_DTYPE (ADJ_DTYPE_F16),
  };
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = 2, .items = pairs };
  AdjValue result;

  adj_context_push_mode (cx, adj_float64_mode_new ());
  g_assert_true (
      adj_call (cx, adj_op_find ("torch.ops.aten.arange.default"), &args, NULL, &result));
  g_assert_cmpint (adj_tensor_get_meta (result.tensor)->dtype, ==, ADJ_DTYPE_F64);
  items[0] = ADJ_TENSOR (a);
  g_assert_true (
      adj_call (cx, adj_op_find ("torch.ops.aten._to_copy.default"), &args, &kwargs, &result));
  g_assert_cmpint (adj_tensor_get_meta (result.tensor)->dtype, ==, ADJ_DTYPE_F64);
  pairs[1] = ADJ_DTYPE (ADJ_DTYPE_I32);
  g_assert_true (
      adj_call (cx, adj_op_find ("torch.ops.aten._to_copy.default"), &args, &kwargs, &result));
  g_assert_cmpint (adj_tensor_get_meta (result.tensor)->dtype, ==, ADJ_DTYPE_I32);
  g_assert_cmpint (adj_context_get_default_dtype (cx), ==, ADJ_DTYPE_F32);
}

/* -- memory -- */

static void
refuses_what_cannot_fit (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjValue sizes[] = { ADJ_INT (1ll << 40), ADJ_INT (1ll << 40) };
  AdjValue items[] = { { .kind = ADJ_VALUE_LIST, .n = 2, .items = sizes } };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = items };
  g_autoptr (GError) error = NULL;
  AdjValue result;

  g_assert_false (
      adj_call (cx, adj_op_find ("torch.ops.aten.zeros.default"), &args, NULL, &result));
  adj_context_take_error (cx, &error);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY);
}

static void
views_stay_inside (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjTensor) a = new_tensor (2, 2, NULL);
  AdjValue sizes[] = { ADJ_INT (5) };
  AdjValue strides[] = { ADJ_INT (1) };
  AdjValue items[] = {
    ADJ_TENSOR (a),
    { .kind = ADJ_VALUE_LIST, .n = 1, .items = sizes },
    { .kind = ADJ_VALUE_LIST, .n = 1, .items = strides },
  };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 3, .items = items };
  static const char *const targets[] = { "torch.ops.aten.as_strided.default",
                                         "torch.ops.aten.as_strided_copy.default" };

  for (guint i = 0; i < G_N_ELEMENTS (targets); i++)
    {
      AdjValue result;

      sizes[0] = ADJ_INT (4);
      g_assert_true (adj_call (cx, adj_op_find (targets[i]), &args, NULL, &result));
      sizes[0] = ADJ_INT (5);
      g_assert_false (adj_call (cx, adj_op_find (targets[i]), &args, NULL, &result));
      g_assert_true (adj_context_take_error (cx, NULL));
    }
}

static void
in_place_counts_versions (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (AdjTensor) a = new_tensor (2, 2, (const float[]){ 1, 2, 3, 4 });
  guint32 before = adj_storage_get_version (adj_tensor_get_storage (a));
  AdjValue result;

  g_assert_true (call2 (cx, "torch.ops.aten.add_.Tensor", ADJ_TENSOR (a), ADJ_INT (10), &result));
  g_assert_true (result.tensor == a);
  g_assert_cmpfloat (read_floats (a)[3], ==, 14);
  g_assert_cmpuint (adj_storage_get_version (adj_tensor_get_storage (a)), ==, before + 1);
}

/* The tensor holds a copy of the array; an invalid array sets the sticky error. */
static void
takes_arrays (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GError) error = NULL;
  const gint64 sizes[] = { 2, 2 }, wrong[] = { -2 };
  float elements[] = { 1, 2, 3, 4 };
  AdjTensor *a = adj_from_array (cx, ADJ_DTYPE_F32, sizes, 2, elements);

  elements[3] = 0;
  g_assert_cmpfloat (read_floats (a)[3], ==, 4);
  g_assert_null (adj_from_array (cx, ADJ_DTYPE_F32, wrong, 1, elements));
  g_assert_null (adj_from_array (cx, ADJ_DTYPE_F32, sizes, 2, elements));
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_nonnull (adj_from_array (cx, ADJ_DTYPE_F32, sizes, 2, elements));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/call/context/computes", computes);
  g_test_add_func ("/call/context/error-names-its-place", error_names_its_place);
  g_test_add_func ("/call/context/first-error-sticks", first_error_sticks);
  g_test_add_func ("/call/context/scope-owns", scope_owns);
  g_test_add_func ("/call/context/can-be-cancelled", can_be_cancelled);
  g_test_add_func ("/call/context/modes-stand-on-one-another", modes_stand_on_one_another);
  g_test_add_func ("/call/context/no-mode-is-an-error", no_mode_is_an_error);
  g_test_add_func ("/call/context/fake-has-no-bytes", fake_has_no_bytes);
  g_test_add_func ("/call/context/float64-promotes-what-calls-name",
                   float64_promotes_what_calls_name);
  g_test_add_func ("/call/context/refuses-what-cannot-fit", refuses_what_cannot_fit);
  g_test_add_func ("/call/context/views-stay-inside", views_stay_inside);
  g_test_add_func ("/call/context/takes-arrays", takes_arrays);
  g_test_add_func ("/call/context/in-place-counts-versions", in_place_counts_versions);

  return g_test_run ();
}
