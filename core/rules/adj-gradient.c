/* SPDX-License-Identifier: MIT */
/* Converts a gradient to the shape, dtype and device that its edge expects, or fails with the
 * reason. */

#include "rules/adj-gradient.h"

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

static AdjTensor *
fail (AdjContext *cx,
      const char *prefix,
      guint index,
      AdjTensor *tensor,
      const AdjTensorMeta *meta,
      const char *what)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  g_autoptr (GString) got = g_string_new (NULL);
  g_autoptr (GString) expected = g_string_new (NULL);

  adj_tensor_meta_print (adj_tensor_get_meta (tensor), symbols, got);
  adj_tensor_meta_print (meta, symbols, expected);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                    "%s an invalid gradient at index %u - got %s but expected %s %s", prefix, index,
                    got->str, what, expected->str);
  return NULL;
}

/* Whether @from can be summed to @to: from the right, every size equal or 1 in @to. */
static gboolean
can_sum_to (AdjSymbols *symbols, const AdjShape *from, const AdjShape *to)
{
  if (from->rank < to->rank)
    return FALSE;
  for (guint i = 0; i < to->rank; i++)
    if (!adj_size_is (symbols, to->size[i], 1) &&
        !adj_size_test (symbols, ADJ_SIZE_EQ, to->size[i], from->size[from->rank - to->rank + i]))
      return FALSE;
  return TRUE;
}

static gboolean
is_complex (AdjDType dtype)
{
  return dtype < ADJ_N_DTYPES && adj_dtype_info (dtype)->category == ADJ_CATEGORY_COMPLEX;
}

static AdjTensor *
cast (AdjContext *cx, AdjTensor *tensor, AdjDType dtype)
{
  AdjValue kwargs[2] = { { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" }, ADJ_DTYPE (dtype) };
  AdjValue result;

  if (!adj_call (cx, adj_op (ADJ_OP__to_copy),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &ADJ_TENSOR (tensor) },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = kwargs }, &result))
    return NULL;
  return result.tensor;
}

/* The gradient of a real tensor is the real part. */
AdjTensor *
adj_gradient_validate (
    AdjContext *cx, const char *prefix, guint index, AdjTensor *tensor, const AdjTensorMeta *meta)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  const AdjTensorMeta *got = adj_tensor_get_meta (tensor);

  if (is_complex (got->dtype) && adj_dtype_is_floating (meta->dtype))
    {
      tensor = ADJ_APPLY (cx, ADJ_OP_real, ADJ_TENSOR (tensor));
      if (tensor == NULL)
        return NULL;
      got = adj_tensor_get_meta (tensor);
    }
  if (!adj_shape_same_sizes (&got->shape, &meta->shape, symbols))
    {
      if (!can_sum_to (symbols, &got->shape, &meta->shape))
        return fail (cx, prefix, index, tensor, meta, "shape compatible with");
      tensor = adj_apply_sum_to (cx, tensor, &meta->shape);
      if (tensor == NULL)
        return NULL;
      got = adj_tensor_get_meta (tensor);
    }
  if (got->dtype != meta->dtype)
    {
      if (is_complex (got->dtype) && !is_complex (meta->dtype))
        return fail (cx, prefix, index, tensor, meta, "dtype of");
      tensor = cast (cx, tensor, meta->dtype);
      if (tensor == NULL)
        return NULL;
      got = adj_tensor_get_meta (tensor);
    }
  if (!adj_device_equal (got->device, meta->device) && got->shape.rank > 0)
    return fail (cx, prefix, index, tensor, meta, "device of");
  return tensor;
}

AdjTensor *
adj_gradient_make_zeros (AdjContext *cx, const AdjTensorMeta *meta)
{
  AdjArena *arena = adj_arena_new ();
  AdjValue kwargs[6] = { { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
                         ADJ_DTYPE (meta->dtype),
                         { .kind = ADJ_VALUE_STRING, .n = 6, .text = "layout" },
                         { .kind = ADJ_VALUE_LAYOUT, .layout = meta->layout },
                         { .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" },
                         { .kind = ADJ_VALUE_DEVICE, .device = meta->device } };
  AdjValue sizes = adj_rule_list_sizes (arena, meta->shape.size, meta->shape.rank);
  AdjValue result;
  gboolean done = adj_call (
      cx, adj_op (ADJ_OP_zeros), &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &sizes },
      &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 6, .items = kwargs }, &result);

  adj_arena_free (arena);
  return done ? result.tensor : NULL;
}
