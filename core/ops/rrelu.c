/* SPDX-License-Identifier: MIT */
/* Leaky ReLU with a random slope. */

#include "ops/random-private.h"
#include "ops/table-private.h"

static gboolean
rrelu_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0), *noise = adj_op_call_meta (call, 1);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (!adj_dtype_is_floating (self->dtype) || noise->dtype != self->dtype ||
      !adj_shape_same_sizes (&self->shape, &noise->shape, op_symbols (call)))
    return adj_op_call_fail (call, "needs floating point, and noise of the same sizes and dtype");
  op_add_drawn (call);
  return TRUE;
}

static gboolean
rrelu_functional_meta (AdjOpCall *call)
{
  const AdjTensorMeta *noise = adj_op_call_meta (call, 1);

  if (!rrelu_meta (call))
    return FALSE;
  op_add_contiguous (call, noise->dtype, noise->shape.rank, noise->shape.size);
  return TRUE;
}

/* Draws for every element of argument 0 that is not positive, in row-major order. */
static gboolean
draw (AdjOpCall *call, const AdjKView *self, const AdjKView *noise, const AdjKView *out)
{
  double lower = adj_op_call_double (call, 2, 0.125), upper = adj_op_call_double (call, 3, 1. / 3);
  gboolean training = adj_op_call_bool (call, 4);
  g_autofree double *x = NULL;
  g_autofree double *slopes = NULL;
  AdjKView x_view, slope_view;
  gint64 n = adj_k_view_count (self);

  if (!op_check_temporary (call, n))
    return FALSE;
  x = op_temporary (op_queue (call), self, ADJ_K_F64, &x_view);
  slopes = op_temporary (op_queue (call), self, ADJ_K_F64, &slope_view);
  adj_q_copy (op_queue (call), &x_view, self);
  for (gint64 i = 0; i < n; i++)
    {
      slopes[i] = 1;
      if (x[i] <= 0)
        slopes[i] = training
                        ? adj_generator_next_uniform (op_generator (call)) * (upper - lower) + lower
                        : (lower + upper) / 2;
      x[i] *= slopes[i];
    }
  adj_q_copy (op_queue (call), out, &x_view);
  if (training)
    adj_q_copy (op_queue (call), noise, &slope_view);
  return TRUE;
}

static gboolean
rrelu_kernel (AdjOpCall *call)
{
  AdjKView self, noise, out;

  return op_argument_to_write (call, 1, &noise) && op_output (call, 0, &out) &&
         op_input (call, 0, &self) && draw (call, &self, &noise, &out);
}

static gboolean
rrelu_functional_kernel (AdjOpCall *call)
{
  AdjKView self, given, noise, out;

  if (!op_output (call, 0, &out) || !op_output (call, 1, &noise) || !op_input (call, 0, &self) ||
      !op_input (call, 1, &given))
    return FALSE;
  adj_q_copy (op_queue (call), &noise, &given);
  return draw (call, &self, &noise, &out);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/rrelu.inc"
};

const OpFamily adj_family_rrelu = { ops, G_N_ELEMENTS (ops) };
