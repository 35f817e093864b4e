/* SPDX-License-Identifier: MIT */

/* Fake tensors: values known without data (call/SPEC.md §4.2) and devices (call/SPEC.md §4.3). */

#include <string.h>

#include "call/adj-constant.h"
#include "call/adj-mode.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "tensor/adj-element.h"

static AdjContext *
fake_context (void)
{
  AdjContext *cx = adj_context_new_empty (NULL);

  adj_context_push_mode (cx, adj_fake_mode_new ());
  return cx;
}

static AdjTensor *
call (AdjContext *cx, const char *target, const AdjValue *args, guint n)
{
  g_autofree char *full = g_strconcat ("torch.ops.aten.", target, NULL);
  AdjValue result;

  if (!adj_call (cx, adj_op_find (full),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args }, NULL,
                 &result))
    return NULL;
  return result.tensor;
}

#define CALL(cx, target, ...)                                                                      \
  call ((cx), (target), (const AdjValue[]){ __VA_ARGS__ },                                         \
        G_N_ELEMENTS (((const AdjValue[]){ __VA_ARGS__ })))

/* Makes a literal of the program, as torch.tensor (3) does. */
static AdjTensor *
literal (AdjContext *cx, gint64 number)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_I64, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (GBytes) bytes = g_bytes_new (&number, sizeof number);
  g_autoptr (AdjTensorData) data = NULL;

  adj_shape_init_ints (&meta.shape, 0, NULL);
  data = adj_tensor_data_new (&meta, bytes, NULL);
  return CALL (cx, "lift_fresh_copy.default",
               ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (data))));
}

static AdjTensor *
unknown (AdjContext *cx, AdjDevice device, guint rank)
{
  const gint64 sizes[] = { 2, 2 };
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = device, .has_strides = TRUE };

  adj_shape_init_ints (&meta.shape, rank, sizes);
  return adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, TRUE));
}

static void
assert_refused (AdjContext *cx, const char *mentions)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_context_take_error (cx, &error));
  if (strstr (error->message, mentions) == NULL)
    g_error ("'%s' does not mention '%s'", error->message, mentions);
}

/* -- what is known without data -- */

static void
literals_are_known (void)
{
  g_autoptr (AdjContext) cx = fake_context ();
  AdjTensor *three = literal (cx, 3);
  AdjTensor *seven =
      CALL (cx, "add.Tensor", ADJ_TENSOR (CALL (cx, "mul.Tensor", ADJ_TENSOR (three), ADJ_INT (2))),
            ADJ_INT (1));
  AdjTensor *mixed =
      CALL (cx, "add.Tensor", ADJ_TENSOR (three), ADJ_TENSOR (unknown (cx, ADJ_CPU, 0)));

  g_assert_true (adj_storage_is_fake (adj_tensor_get_storage (seven)));
  g_assert_cmpfloat (adj_item (cx, three), ==, 3);
  g_assert_cmpfloat (adj_item (cx, seven), ==, 7);
  adj_item (cx, mixed);
  assert_refused (cx, "aten::item depends on data");
}

/* Results of factories are not literals, and random values are never known. */
static void
others_are_not (void)
{
  g_autoptr (AdjContext) cx = fake_context ();
  AdjValue empty = { .kind = ADJ_VALUE_LIST };
  AdjTensor *full = CALL (cx, "full.default", empty, ADJ_INT (3));

  adj_item (cx, full);
  assert_refused (cx, "aten::item depends on data");
  full = CALL (cx, "rand_like.default", ADJ_TENSOR (unknown (cx, ADJ_CPU, 0)));
  adj_item (cx, full);
  assert_refused (cx, "aten::item depends on data");
}

/* A write makes the value of every alias unknown. */
static void
writes_end_it (void)
{
  g_autoptr (AdjContext) cx = fake_context ();
  AdjTensor *three = literal (cx, 3);
  AdjTensor *alias = CALL (cx, "alias.default", ADJ_TENSOR (three));

  g_assert_cmpfloat (adj_item (cx, alias), ==, 3);
  g_assert_nonnull (CALL (cx, "add_.Tensor", ADJ_TENSOR (three), ADJ_INT (1)));
  adj_item (cx, alias);
  assert_refused (cx, "aten::item depends on data");
  adj_item (cx, three);
  assert_refused (cx, "aten::item depends on data");
}

/* Sizes that depend on data are refused; the error names the operator. */
static void
masks_are_refused (void)
{
  g_autoptr (AdjContext) cx = fake_context ();
  AdjTensor *x = unknown (cx, ADJ_CPU, 1);
  AdjValue mask = ADJ_TENSOR (CALL (cx, "gt.Scalar", ADJ_TENSOR (x), ADJ_INT (0)));
  AdjValue indices = { .kind = ADJ_VALUE_LIST, .n = 1, .items = &mask };

  g_assert_null (CALL (cx, "index.Tensor", ADJ_TENSOR (x), indices));
  assert_refused (cx, "aten::index.Tensor");
}

/* -- devices -- */

static void
devices_propagate (void)
{
  const AdjDevice first = { ADJ_DEVICE_CUDA, 0 }, second = { ADJ_DEVICE_CUDA, 1 };
  const AdjDevice current = { ADJ_DEVICE_CUDA, -1 };
  g_autoptr (AdjContext) cx = fake_context ();
  AdjTensor *scalar = unknown (cx, ADJ_CPU, 0), *cpu = unknown (cx, ADJ_CPU, 2);
  AdjTensor *a = unknown (cx, first, 2), *b = unknown (cx, second, 2),
            *c = unknown (cx, current, 2);
  AdjTensor *sum;

  /* A 0-d tensor on the CPU does not decide the device, at any position. */
  sum = CALL (cx, "add.Tensor", ADJ_TENSOR (scalar), ADJ_TENSOR (a));
  g_assert_true (adj_device_equal (adj_tensor_get_meta (sum)->device, first));
  sum = CALL (cx, "add.Tensor", ADJ_TENSOR (a), ADJ_TENSOR (scalar));
  g_assert_true (adj_device_equal (adj_tensor_get_meta (sum)->device, first));
  sum = CALL (cx, "add.Tensor", ADJ_TENSOR (a), ADJ_TENSOR (c));
  g_assert_true (adj_device_equal (adj_tensor_get_meta (sum)->device, first));
  sum = CALL (cx, "copy.default", ADJ_TENSOR (a), ADJ_TENSOR (cpu));
  g_assert_true (adj_device_equal (adj_tensor_get_meta (sum)->device, first));

  g_assert_null (CALL (cx, "add.Tensor", ADJ_TENSOR (a), ADJ_TENSOR (cpu)));
  assert_refused (cx, "aten::add.Tensor");
  g_assert_null (CALL (cx, "mul.Tensor", ADJ_TENSOR (a), ADJ_TENSOR (b)));
  assert_refused (cx, "found two different devices cuda:0, cuda:1");
}

/* -- strides that PyTorch 2.6 traces and its kernels do not give -- */

static AdjValue
make (AdjContext *cx, const char *text)
{
  AdjTensorMeta meta;
  g_autoptr (GError) error = NULL;

  adj_tensor_meta_parse (text, -1, NULL, &meta, &error);
  g_assert_no_error (error);
  return ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, TRUE)));
}

static void
check_first (AdjContext *cx, const char *target, const AdjValue *args, guint n, const char *wanted)
{
  g_autofree char *full = g_strconcat ("torch.ops.aten.", target, ".default", NULL);
  g_autoptr (GString) got = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  AdjValue result = ADJ_NONE;

  adj_call (cx, adj_op_find (full),
            &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args }, NULL,
            &result);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  adj_tensor_meta_print (adj_tensor_get_meta (adj_value_is_container (&result)
                                                  ? result.items[0].tensor
                                                  : result.tensor),
                         NULL, got);
  g_assert_cmpstr (got->str, ==, wanted);
}

#define CHECK_FIRST(cx, target, wanted, ...)                                                       \
  check_first ((cx), (target), (const AdjValue[]){ __VA_ARGS__ },                                  \
               G_N_ELEMENTS (((const AdjValue[]){ __VA_ARGS__ })), (wanted))

/* Strides in the gradients of XLNet's dropout, wav2vec's loss, LeViT's stem and ConvNeXt's
 * classifier, and in the attention of CaiT's class token. */
static void
traced_strides (void)
{
  AdjContext *cx = fake_context ();
  AdjValue size = ADJ_INT (32);
  AdjValue all[] = { ADJ_BOOL (TRUE), ADJ_BOOL (TRUE), ADJ_BOOL (TRUE) };
  AdjValue sizes = { .kind = ADJ_VALUE_LIST, .n = 1, .items = &size };
  AdjValue mask = { .kind = ADJ_VALUE_LIST, .n = 3, .items = all };
  AdjValue channels = make (cx, "f32[128][1]cpu"), features = make (cx, "f32[32][1]cpu");
  AdjValue moments = make (cx, "f32[2, 1, 1, 1][1, 1, 1, 1]cpu");
  AdjValue keys = make (cx, "f32[2, 2, 17, 16][544, 16, 32, 1]cpu");

  CHECK_FIRST (cx, "native_dropout_backward", "f32[12, 2, 32][64, 32, 1]cpu",
               make (cx, "f32[12, 2, 32][32, 384, 1]cpu"), make (cx, "b8[12, 2, 32][64, 32, 1]cpu"),
               ADJ_FLOAT (1.25));
  CHECK_FIRST (cx, "_log_softmax_backward_data", "f32[2, 39, 32][32, 64, 1]cpu",
               make (cx, "f32[2, 39, 32][32, 64, 1]cpu"),
               make (cx, "f32[2, 39, 32][1248, 32, 1]cpu"), ADJ_INT (-1),
               ADJ_DTYPE (ADJ_DTYPE_F32));
  CHECK_FIRST (cx, "native_batch_norm_backward", "f32[2, 128, 14, 14][25088, 1, 1792, 128]cpu",
               make (cx, "f32[2, 128, 14, 14][25088, 1, 1792, 128]cpu"),
               make (cx, "f32[2, 128, 14, 14][25088, 196, 14, 1]cpu"), channels, ADJ_NONE, ADJ_NONE,
               channels, channels, ADJ_BOOL (TRUE), ADJ_FLOAT (1e-5), mask);
  CHECK_FIRST (cx, "native_layer_norm_backward", "f32[2, 1, 1, 32][32, 1, 1, 1]cpu",
               make (cx, "f32[2, 1, 1, 32][32, 1, 1, 1]cpu"),
               make (cx, "f32[2, 1, 1, 32][32, 32, 32, 1]cpu"), sizes, moments, moments, features,
               features, mask);
  CHECK_FIRST (cx, "_scaled_dot_product_flash_attention_for_cpu",
               "f32[2, 2, 1, 16][32, 16, 16, 1]cpu",
               make (cx, "f32[2, 2, 1, 16][32, 16, 32, 1]cpu"), keys, keys);
  adj_context_free (cx);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/call/fake/literals-are-known", literals_are_known);
  g_test_add_func ("/call/fake/factories-and-random-are-not", others_are_not);
  g_test_add_func ("/call/fake/writes-end-it", writes_end_it);
  g_test_add_func ("/call/fake/masks-are-refused", masks_are_refused);
  g_test_add_func ("/call/fake/devices-propagate", devices_propagate);
  g_test_add_func ("/call/fake/traced-strides", traced_strides);

  return g_test_run ();
}
