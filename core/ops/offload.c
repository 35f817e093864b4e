/* SPDX-License-Identifier: MIT */
/* Copies of activations to CPU memory and back.  Copies are synchronous, so that waits only return
 * the tensor; memory that PyTorch frees at a wait is freed here after the last use. */

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

/* Sizes and strides default to those of the tensor. */
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
