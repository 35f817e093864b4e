/* SPDX-License-Identifier: MIT */

/* The C functions for operators match the table of operators. */

#include <string.h>

#include "adjoint.h"
#include "ops/adj-ops.h"
#include "wrappers/adj-wrappers.h"

/* Every operator has a function: a missing name does not compile. */
static void (*const functions[]) (void) = {
#define EACH(name) (void (*) (void)) name,
  ADJ_WRAPPERS (EACH)
#undef EACH
};

static const char *const names[] = {
#define EACH(name) #name,
  ADJ_WRAPPERS (EACH)
#undef EACH
};

static void
every_operator_has_one (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  g_assert_cmpuint (G_N_ELEMENTS (functions), ==, adj_ops_get_n ());
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_assert_nonnull ((gpointer) functions[i]);
      g_assert_true (g_hash_table_add (seen, (gpointer) functions[i]));
    }
}

/* The naming rule, by its results. */
static void
names_follow_the_rule (void)
{
  static const struct
  {
    const char *target, *name;
  } cases[] = {
    { "torch.ops.aten.mul.Tensor", "adj_mul" },
    { "torch.ops.aten.mul.Scalar", "adj_mul_scalar" },
    { "torch.ops.aten.sum.default", "adj_sum" },
    { "torch.ops.aten.sum.dim_IntList", "adj_sum_dim" },
    { "torch.ops.aten.add_.Tensor", "adj_add_" },
    { "torch.ops.aten.transpose.int", "adj_transpose" },
    { "torch.ops.aten.where.self", "adj_where" },
    { "torch.ops.aten.where.default", "adj_aten_where" },
    { "torch.ops.aten.mm.out", "adj_mm_out" },
    { "torch.ops.aten.pow.Tensor_Scalar", "adj_pow_tensor_scalar" },
    { "torch.ops.prims.convert_element_type.default", "adj_prims_convert_element_type" },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    for (guint i = 0; i < adj_ops_get_n (); i++)
      if (adj_ops_get (i) == adj_op_find (cases[k].target))
        g_assert_cmpstr (names[i], ==, cases[k].name);
}

/* -- calls -- */

static AdjTensor *
counting (AdjContext *cx, gint64 rows, gint64 columns)
{
  const gint64 size[] = { rows, columns };
  AdjTensor *flat = adj_arange (cx, ADJ_FLOAT ((double) (rows * columns)));

  return adj_view (cx, flat, size, 2);
}

static double
element (AdjTensor *tensor, gint64 index)
{
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);

  return adj_tensor_data_get_double (data, index);
}

static AdjTensor *
by_hand (AdjContext *cx, const char *target, const AdjValue *args, guint n)
{
  AdjValue result;

  g_assert_true (adj_call (
      cx, adj_op_find (target),
      &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args }, NULL, &result));
  return result.tensor;
}

static void
assert_same (AdjTensor *a, AdjTensor *b)
{
  g_autoptr (AdjTensorData) left = adj_tensor_snapshot (a);
  g_autoptr (AdjTensorData) right = adj_tensor_snapshot (b);
  g_autofree char *first = adj_tensor_data_print (left, 100);
  g_autofree char *second = adj_tensor_data_print (right, 100);

  g_assert_cmpstr (first, ==, second);
}

static void
calls_are_adj_call (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = counting (cx, 2, 3), *y = counting (cx, 2, 3);
  const gint64 dim[] = { 1 };
  AdjValue one = ADJ_INT (1);
  AdjValue dims = { .kind = ADJ_VALUE_LIST, .n = 1, .items = &one };
  AdjTensor *values, *indices, *const *parts;
  AdjTensor *both[2];
  guint n;

  assert_same (adj_mul (cx, x, y), by_hand (cx, "torch.ops.aten.mul.Tensor",
                                            (AdjValue[]){ ADJ_TENSOR (x), ADJ_TENSOR (y) }, 2));
  assert_same (adj_mul_scalar (cx, x, ADJ_FLOAT (0.5)),
               by_hand (cx, "torch.ops.aten.mul.Scalar",
                        (AdjValue[]){ ADJ_TENSOR (x), ADJ_FLOAT (0.5) }, 2));
  assert_same (adj_sum_dim (cx, x, dim, 1, TRUE),
               by_hand (cx, "torch.ops.aten.sum.dim_IntList",
                        (AdjValue[]){ ADJ_TENSOR (x), dims, ADJ_BOOL (TRUE) }, 3));
  assert_same (adj_add_full (cx, x, y, ADJ_INT (2)), adj_add (cx, x, adj_add (cx, y, y)));
  assert_same (adj_transpose (cx, x, 0, 1), adj_t (cx, x));
  assert_same (adj_linear (cx, x, y, NULL), adj_mm (cx, x, adj_t (cx, y)));

  parts = adj_split (cx, x, 2, 1, &n);
  g_assert_cmpuint (n, ==, 2);
  assert_same (parts[1], adj_slice (cx, x, 1, ADJ_INT (2), ADJ_INT (3), 1));
  both[0] = parts[0];
  both[1] = parts[1];
  assert_same (adj_cat (cx, both, 2, 1), x);
  g_assert_true (adj_max_dim (cx, x, 1, FALSE, &values, &indices));
  g_assert_cmpfloat (element (values, 1), ==, 5);
  g_assert_cmpfloat (element (indices, 1), ==, 2);
  g_assert_true (adj_max_dim (cx, x, 1, FALSE, NULL, &indices));
  g_assert_false (adj_context_has_error (cx));
}

static void
factories_take_dtypes (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  const gint64 size[] = { 2, 2 };
  AdjTensor *f = adj_zeros (cx, size, 2);
  AdjTensor *i = adj_zeros_full (cx, size, 2, ADJ_DTYPE_I64, ADJ_DEVICE_NONE);

  g_assert_cmpint (adj_tensor_get_meta (f)->dtype, ==, ADJ_DTYPE_F32);
  g_assert_cmpint (adj_tensor_get_meta (i)->dtype, ==, ADJ_DTYPE_I64);
}

/* The first error persists and names the line; later calls accept NULL. */
static void
errors_stick_and_name_the_line (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *x = counting (cx, 2, 3);
  g_autoptr (GError) error = NULL;
  g_autofree char *place = NULL;
  guint line;

  line = __LINE__ + 1;
  g_assert_null (adj_relu (cx, adj_mm (cx, x, x)));
  place = g_strdup_printf ("test-wrappers.c:%u", line);
  g_assert_true (adj_context_take_error (cx, &error));
  g_assert_nonnull (strstr (error->message, "aten::mm"));
  g_assert_nonnull (strstr (error->message, place));
  g_clear_error (&error);

  g_assert_null (adj_mul (cx, x, NULL));
  g_assert_true (adj_context_take_error (cx, &error));
  if (strstr (error->message, "argument 'other' must be Tensor, not None") == NULL)
    g_error ("%s", error->message);
  g_assert_nonnull (adj_mul (cx, x, x));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/wrappers/every-operator-has-one", every_operator_has_one);
  g_test_add_func ("/wrappers/names-follow-the-rule", names_follow_the_rule);
  g_test_add_func ("/wrappers/calls-are-adj-call", calls_are_adj_call);
  g_test_add_func ("/wrappers/factories-take-dtypes", factories_take_dtypes);
  g_test_add_func ("/wrappers/errors-stick-and-name-the-line", errors_stick_and_name_the_line);

  return g_test_run ();
}
