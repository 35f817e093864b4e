/* SPDX-License-Identifier: MIT */
/* Constant padding; negative widths crop. */

#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* Left and right padding of every dimension; the list begins with the last dimension. */
static gboolean
read_padding (const AdjOpCall *call, guint rank, AdjSize *left, AdjSize *right)
{
  const AdjValue *list = &call->args[1];

  for (guint i = 0; i < rank; i++)
    left[i] = right[i] = ADJ_SIZE (0);
  if (!adj_value_is_container (list) || list->n % 2 != 0 || list->n / 2 > rank)
    return adj_op_call_fail (call, "the padding does not fit a tensor of rank %u", rank);
  for (guint i = 0; i < list->n / 2; i++)
    {
      adj_value_get_size (&list->items[2 * i], &left[rank - 1 - i]);
      adj_value_get_size (&list->items[2 * i + 1], &right[rank - 1 - i]);
    }
  return TRUE;
}

static gboolean
pad_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSize left[ADJ_MAX_RANK], right[ADJ_MAX_RANK];
  AdjShape shape = self->shape, cut;
  gboolean cuts = TRUE; /* it only crops: the part of self is cloned with its layout */

  if (!read_padding (call, shape.rank, left, right))
    return FALSE;
  for (guint i = 0; i < shape.rank; i++)
    {
      cuts &= adj_size_is_int (left[i]) && left[i].word <= 0 && adj_size_is_int (right[i]) &&
              right[i].word <= 0;
      shape.size[i] =
          adj_size_add (symbols, adj_size_add (symbols, shape.size[i], left[i]), right[i]);
      if (adj_size_test (symbols, ADJ_SIZE_LT, shape.size[i], ADJ_SIZE (0)))
        return adj_op_call_fail (call, "the padding makes dimension %u negative", i);
    }
  shape.offset = ADJ_SIZE (0);
  cut = shape;
  cuts &= !adj_shape_is_contiguous (&cut, symbols);
  adj_shape_set_format (
      &shape, symbols,
      cuts ? ADJ_MEMORY_FORMAT_PRESERVE : adj_shape_suggest_format (&self->shape, symbols), &cut);
  adj_op_call_add (call, self->dtype, &shape);
  return TRUE;
}

/* Moves @view @skip elements into dimension @dim. */
static void
advance (AdjKView *view, gint dim, gint64 skip)
{
  view->data =
      (char *) view->data + (gsize) (skip * view->stride[dim]) * adj_k_type_get_size (view->type);
}

static gboolean
pad_kernel (AdjOpCall *call)
{
  AdjSize left[ADJ_MAX_RANK], right[ADJ_MAX_RANK];
  AdjKView in, out;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &out) ||
      !read_padding (call, (guint) in.rank, left, right))
    return FALSE;
  if (call->args[2].kind == ADJ_VALUE_FLOAT || call->part != ADJ_PART_NONE)
    adj_q_fill_f64 (op_queue (call), &out, op_number (call, 2, 0));
  else
    adj_q_fill_i64 (op_queue (call), &out, adj_op_call_int (call, 2, 0));
  for (gint i = 0; i < in.rank; i++)
    {
      gint64 cropped = MAX (-left[i].word, 0);
      gint64 n = in.size[i] + MIN (left[i].word, 0) + MIN (right[i].word, 0);

      if (n <= 0)
        return TRUE;
      advance (&in, i, cropped);
      advance (&out, i, MAX (left[i].word, 0));
      in.size[i] = out.size[i] = n;
    }
  adj_q_copy (op_queue (call), &out, &in);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/constant-pad.inc"
};

const OpFamily adj_family_constant_pad = { ops, G_N_ELEMENTS (ops) };
