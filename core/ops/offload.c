/* SPDX-License-Identifier: MIT */
/* Copies of activations to the memory of the CPU and back.  A copy has ended when its call has, so
 * that a wait only passes the tensor on; what PyTorch frees then is freed here where it was last
 * read. */

#include "call/adj-op-internal.h"
#include "ops/create-private.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"

static gboolean
offload_meta (AdjOpCall *call)
{
  const AdjTensorMeta *tensor = adj_op_call_meta (call, 0);

  op_add_contiguous (call, tensor->dtype, tensor->shape.rank, tensor->shape.size)->meta.device =
      ADJ_CPU;
  return TRUE;
}

/* Sizes and strides are those of the tensor where they are not given. */
static gboolean
reload_meta (AdjOpCall *call)
{
  const AdjTensorMeta *tensor = adj_op_call_meta (call, 0);
  AdjShape shape = tensor->shape, spread;

  if (call->args[2].kind != ADJ_VALUE_NONE && !op_new_shape (call, 2, &shape))
    return FALSE;
  if (call->args[3].kind != ADJ_VALUE_NONE && !op_set_strides (call, 3, &shape))
    return FALSE;
  if (!adj_shape_expand (&tensor->shape, op_symbols (call), &shape, &spread))
    {
      g_autofree char *a = op_sizes_text (call, &tensor->shape);
      g_autofree char *b = op_sizes_text (call, &shape);

      return adj_op_call_fail (call, "shape %s does not broadcast to %s", a, b);
    }
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, tensor->dtype, &shape)->meta.device = call->args[1].device;
  return TRUE;
}

static gboolean
wait_meta (AdjOpCall *call)
{
  adj_op_call_add_view (call, 0, &adj_op_call_meta (call, 0)->shape);
  return TRUE;
}

static gboolean
move_kernel (AdjOpCall *call)
{
  AdjKView in, out;
  double number;

  if (!op_output (call, 0, &out) ||
      !op_input_as (call, 0, &call->results[0].meta.shape, &in, &number))
    return FALSE;
  adj_q_copy (op_queue (call), &out, &in);
  return TRUE;
}

static const AdjOp ops[] = {
#define OP(id, ...) { __VA_ARGS__ },
#include "ops/offload.inc"
#undef OP
};

const OpFamily adj_family_offload = { ops, G_N_ELEMENTS (ops) };
