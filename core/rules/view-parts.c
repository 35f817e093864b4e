/* SPDX-License-Identifier: MIT */
/* One of several results of a view operator, made alone: a slice or a select of the base. */

#include "call/adj-mode.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/view-parts-private.h"

/* From @start, @length long, as PyTorch writes it: the end may be after that of the dimension. */
static AdjTensor *
take_slice (AdjContext *cx, const AdjValue *args, AdjSize start, AdjSize length)
{
  AdjSize end = adj_size_add (adj_context_get_symbols (cx), start, length);
  const AdjValue sliced[] = { args[0], args[2], adj_value_from_size (start),
                              adj_value_from_size (end), ADJ_INT (1) };
  AdjValue result;

  return adj_call_bound (cx, adj_op (ADJ_OP_slice_Tensor), sliced, &result) ? result.tensor : NULL;
}

static AdjTensor *
take_of_size (AdjContext *cx, const AdjValue *args, guint part)
{
  AdjSize size = ADJ_SIZE (0);

  adj_value_get_size (&args[1], &size);
  return take_slice (cx, args, adj_size_mul (adj_context_get_symbols (cx), ADJ_SIZE (part), size),
                     size);
}

static AdjTensor *
take_of_sizes (AdjContext *cx, const AdjValue *args, guint part)
{
  AdjSize start = ADJ_SIZE (0), size = ADJ_SIZE (0);

  for (guint i = 0; i <= part && i < args[1].n; i++)
    {
      start = adj_size_add (adj_context_get_symbols (cx), start, size);
      adj_value_get_size (&args[1].items[i], &size);
    }
  return take_slice (cx, args, start, size);
}

static AdjTensor *
take_index (AdjContext *cx, const AdjValue *args, guint part)
{
  const AdjValue selected[] = { args[0], args[1], ADJ_INT (part) };
  AdjValue result;

  return adj_call_bound (cx, adj_op (ADJ_OP_select_int), selected, &result) ? result.tensor : NULL;
}

static const struct
{
  AdjOpId op;
  ViewPart take;
} rows[] = {
  { ADJ_OP_split_Tensor, take_of_size },
  { ADJ_OP_split_with_sizes, take_of_sizes },
  { ADJ_OP_unbind_int, take_index },
};

ViewPart
view_part_find (const AdjOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (op == adj_op (rows[i].op))
      return rows[i].take;
  return NULL;
}
