/* SPDX-License-Identifier: MIT */
/* sort and topk along a dimension: values and their original indices. */

#include "adj-kernel-sort.h"

#include "ops/kernel-private.h"
#include "ops/table-private.h"

static guint
dim_of (const AdjOpCall *call)
{
  return op_dim (call, adj_op_call_find (call, "dim"), adj_op_call_meta (call, 0)->shape.rank);
}

/* Both results are dense, with the dimension order of self. */
static gboolean
sort_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape shape = self->shape;

  dim_of (call);
  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &self->shape);
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &shape);
  adj_op_call_add (call, ADJ_DTYPE_I64, &shape);
  return !adj_context_has_error (call->cx);
}

static gboolean
topk_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSize k = adj_op_call_size (call, 1, ADJ_SIZE (0));
  guint dim = dim_of (call);
  AdjSize sizes[ADJ_MAX_RANK];
  AdjSize length = self->shape.rank > 0 ? self->shape.size[dim] : ADJ_SIZE (1);

  if (adj_size_test (symbols, ADJ_SIZE_LT, k, ADJ_SIZE (0)) ||
      adj_size_test (symbols, ADJ_SIZE_GT, k, length))
    return adj_op_call_fail (call, "dimension %u has not so many elements", dim);
  for (guint i = 0; i < self->shape.rank; i++)
    sizes[i] = i == dim ? k : self->shape.size[i];
  op_add_contiguous (call, self->dtype, self->shape.rank, sizes);
  op_add_contiguous (call, ADJ_DTYPE_I64, self->shape.rank, sizes);
  return !adj_context_has_error (call->cx);
}

static gboolean
sort (AdjOpCall *call, gboolean descending)
{
  AdjKView self, values, indices;

  if (!op_input (call, 0, &self) || !op_output (call, 0, &values) || !op_output (call, 1, &indices))
    return FALSE;
  op_need_dim (&self);
  op_need_dim (&values);
  op_need_dim (&indices);
  return adj_q_sort (op_queue (call), &values, &indices, &self, (int) dim_of (call), descending) ||
         adj_op_call_fail_as (call, ADJ_ERROR_MEMORY,
                              "there is no memory to sort in: %" G_GUINT64_FORMAT " bytes",
                              32 * (guint64) self.size[dim_of (call)]);
}

static gboolean
sort_kernel (AdjOpCall *call)
{
  return sort (call, adj_op_call_bool (call, adj_op_call_find (call, "descending")));
}

static gboolean
topk_kernel (AdjOpCall *call)
{
  return sort (call, adj_op_call_bool (call, 3));
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/sort.inc"
};

const OpFamily adj_family_sort = { ops, G_N_ELEMENTS (ops) };
