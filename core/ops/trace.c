/* SPDX-License-Identifier: MIT */
/* trace: the sum of a diagonal. */

#include "ops/kernel-private.h"
#include "ops/table-private.h"

static gint64
diagonal_length (const AdjKView *matrix)
{
  return MIN (matrix->size[0], matrix->size[1]);
}

static gboolean
trace_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  gboolean counts = adj_dtype_info (self->dtype)->category <= ADJ_CATEGORY_INTEGER;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (self->shape.rank != 2)
    return adj_op_call_fail (call, "needs a matrix, not a tensor of rank %u", self->shape.rank);
  op_add_contiguous (call, counts ? ADJ_DTYPE_I64 : self->dtype, 0, NULL);
  return TRUE;
}

static double
trace_reduction (const AdjOpCall *call)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;
  gint64 rows = 1, columns = 1;

  adj_size_get_hint (op_symbols (call), shape->size[0], &rows);
  adj_size_get_hint (op_symbols (call), shape->size[1], &columns);
  return (double) MIN (rows, columns);
}

static gboolean
trace_kernel (AdjOpCall *call)
{
  g_autofree gpointer memory = NULL;
  AdjKView self, out, diagonal, numbers;

  if (!op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  diagonal = (AdjKView){ .data = self.data, .type = self.type, .rank = 1 };
  diagonal.size[0] = diagonal_length (&self);
  diagonal.stride[0] = self.stride[0] + self.stride[1];
  memory = op_temporary (op_queue (call), &diagonal, out.type, &numbers);
  adj_q_copy (op_queue (call), &numbers, &diagonal);
  out.rank = 1;
  out.size[0] = 1;
  adj_q_reduce (op_queue (call), ADJ_K_SUM, &out, &numbers, 1);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/trace.inc"
};

const OpFamily adj_family_trace = { ops, G_N_ELEMENTS (ops) };
