/* SPDX-License-Identifier: MIT */
/* One triangle of matrices. */

#include "ops/kernel-private.h"
#include "ops/table-private.h"

static gboolean
triangle_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  if (self->shape.rank < 2)
    return adj_op_call_fail (call, "needs at least 2 dimensions, not %u", self->shape.rank);
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

static gboolean
triangle (AdjOpCall *call,
          void (*kernel) (AdjKQueue *, const AdjKView *, const AdjKView *, int64_t))
{
  AdjKView in, out;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &out))
    return FALSE;
  kernel (op_queue (call), &out, &in, adj_op_call_int (call, 1, 0));
  return TRUE;
}

static gboolean
tril_kernel (AdjOpCall *call)
{
  return triangle (call, adj_q_tril);
}

static gboolean
triu_kernel (AdjOpCall *call)
{
  return triangle (call, adj_q_triu);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/triangle.inc"
};

const OpFamily adj_family_triangle = { ops, G_N_ELEMENTS (ops) };
