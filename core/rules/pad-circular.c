/* SPDX-License-Identifier: MIT */
/* Circular padding as PyTorch computes it: copies the middle into an empty tensor, then each side
 * from the middle. */

#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

typedef struct
{
  AdjRuleCall *call;
  AdjTensor *self, *out;
  guint rank, n;               /* rank, and number of last dimensions that are padded */
  gint64 size[ADJ_MAX_RANK];   /* of @out */
  gint64 pad[ADJ_MAX_RANK][2]; /* by distance from the last dimension: before, after */
} Circle;

static AdjTensor *
slice (Circle *c, AdjTensor *x, guint dim, gint64 start, gint64 end)
{
  return x != NULL ? ADJ_APPLY (c->call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (dim),
                                ADJ_INT (start), ADJ_INT (end))
                   : NULL;
}

static gboolean
copy (Circle *c, AdjTensor *to, AdjTensor *from)
{
  return to != NULL && from != NULL &&
         ADJ_APPLY (c->call->cx, ADJ_OP_copy_, ADJ_TENSOR (to), ADJ_TENSOR (from)) != NULL;
}

static gboolean
copy_middle (Circle *c)
{
  AdjTensor *to = c->out, *from = c->self;

  for (guint i = 0; i < c->n; i++)
    {
      guint dim = c->rank - 1 - i;
      gint64 left = c->pad[i][0], right = c->pad[i][1], size = c->size[dim] - left - right;

      to = slice (c, to, dim, MAX (left, 0), c->size[dim] - MAX (right, 0));
      from = slice (c, from, dim, MAX (-left, 0), size - MAX (-right, 0));
    }
  return copy (c, to, from);
}

static gboolean
copy_sides (Circle *c, guint i)
{
  guint dim = c->rank - 1 - i;
  gint64 left = c->pad[i][0], right = c->pad[i][1], size = c->size[dim];
  gint64 end = size - MAX (right, 0);

  if (left > 0)
    {
      AdjTensor *to = slice (c, c->out, dim, 0, left);

      if (!copy (c, to, slice (c, c->out, dim, end - left, end)))
        return FALSE;
    }
  if (right > 0)
    {
      AdjTensor *to = slice (c, c->out, dim, size - right, size);

      return copy (c, to, slice (c, c->out, dim, MAX (left, 0), MAX (left, 0) + right));
    }
  return TRUE;
}

static AdjTensor *
new_empty (Circle *c)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (c->self);
  AdjValue sizes[ADJ_MAX_RANK], result;
  AdjValue args[] = { ADJ_TENSOR (c->self),
                      { .kind = ADJ_VALUE_LIST, .n = c->rank, .items = sizes } };
  AdjValue words[] = {
    { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
    ADJ_DTYPE (meta->dtype),
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "layout" },
    { .kind = ADJ_VALUE_LAYOUT, .layout = ADJ_LAYOUT_STRIDED },
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" },
    { .kind = ADJ_VALUE_DEVICE, .device = meta->device },
  };

  for (guint i = 0; i < c->rank; i++)
    sizes[i] = ADJ_INT (c->size[i]);
  if (!adj_call (c->call->cx, adj_op (ADJ_OP_new_empty),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 6, .items = words }, &result))
    return NULL;
  return result.tensor;
}

static gboolean
read_circle (AdjRuleCall *call, const AdjValue *args, Circle *c)
{
  AdjSize pad[ADJ_MAX_RANK];
  guint n_pad = rule_sizes_of (&args[1], pad);

  *c = (Circle){ .call = call, .self = args[0].tensor, .n = n_pad / 2 };
  c->rank = adj_tensor_get_rank (c->self);
  if (n_pad % 2 != 0 || c->n > c->rank)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs two numbers for each dimension");
  for (guint i = 0; i < c->rank; i++)
    {
      AdjSize size = adj_tensor_get_meta (c->self)->shape.size[c->rank - 1 - i];
      gint64 hint = 0;

      adj_size_get_hint (adj_context_get_symbols (call->cx), size, &hint);
      c->size[c->rank - 1 - i] = hint;
      for (guint side = 0; i < c->n && side < 2; side++)
        {
          gint64 width = pad[2 * i + side].word;

          if (width > hint || width < -hint)
            return rule_call_fail (call, ADJ_ERROR_SHAPE, "wraps more than once around");
          c->pad[i][side] = width;
          c->size[c->rank - 1 - i] += width;
        }
      if (c->size[c->rank - 1 - i] < 0)
        return rule_call_fail (call, ADJ_ERROR_SHAPE, "takes more than there is");
    }
  return TRUE;
}

/* args: a tensor and two widths for each dimension, the last one first */
gboolean
rule_circled (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  Circle circle;

  rule_shape_given (call, &args[0]);
  if (args[0].kind != ADJ_VALUE_TENSOR || !read_circle (call, args, &circle))
    return FALSE;
  circle.out = new_empty (&circle);
  if (circle.out == NULL || !copy_middle (&circle))
    return FALSE;
  for (guint i = 0; i < circle.n; i++)
    if (!copy_sides (&circle, i))
      return FALSE;
  *out = ADJ_TENSOR (circle.out);
  return TRUE;
}
