/* SPDX-License-Identifier: MIT */
/* softmax and log_softmax, and their backward. */

#include <math.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

static gboolean
add_like_self (AdjOpCall *call, AdjDType dtype)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;

  op_add_contiguous (call, dtype, shape->rank, shape->size);
  return TRUE;
}

static gboolean
softmax_meta (AdjOpCall *call)
{
  AdjDType dtype = adj_op_call_meta (call, 0)->dtype;

  op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  if (!adj_dtype_is_floating (dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (dtype)->torch_name);
  if (adj_op_call_bool (call, 2) && dtype == ADJ_DTYPE_F16)
    dtype = ADJ_DTYPE_F32;
  return add_like_self (call, dtype);
}

static gboolean
safe_softmax_meta (AdjOpCall *call)
{
  AdjDType dtype = adj_op_call_dtype (call, 2, adj_op_call_meta (call, 0)->dtype);

  op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  if (!adj_dtype_is_floating (dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (dtype)->torch_name);
  return add_like_self (call, dtype);
}

static gboolean
backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  const AdjTensorMeta *output = adj_op_call_meta (call, 1);

  op_dim (call, 2, grad->shape.rank);
  if (!adj_shape_same_sizes (&grad->shape, &output->shape, op_symbols (call)))
    {
      g_autofree char *a = op_sizes_text (call, &grad->shape);
      g_autofree char *b = op_sizes_text (call, &output->shape);

      return adj_op_call_fail (call, "the gradient has shape %s, the output %s", a, b);
    }
  if (!adj_dtype_is_floating (grad->dtype) || !adj_dtype_is_floating (output->dtype) ||
      !adj_dtype_is_floating (adj_op_call_dtype (call, 3, grad->dtype)))
    return adj_op_call_fail (call, "needs floating point");
  return add_like_self (call, adj_op_call_dtype (call, 3, grad->dtype));
}

/* PyTorch traces it as g - exp (output) · Σ g. */
static void
log_softmax_backward_traced (AdjOpCall *call)
{
  op_lay_out_pointwise (call, 0, (const guint[]){ 0, 1 }, 2);
}

/* -- kernels -- */

static gboolean
forward (AdjOpCall *call, void (*kernel) (AdjKQueue *, const AdjKView *, const AdjKView *, int))
{
  AdjKView in, out;
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);

  if (!op_input (call, 0, &in) || !op_output (call, 0, &out))
    return FALSE;
  op_need_dim (&in);
  op_need_dim (&out);
  kernel (op_queue (call), &out, &in, (int) dim);
  return TRUE;
}

static gboolean
backward (AdjOpCall *call,
          void (*kernel) (AdjKQueue *, const AdjKView *, const AdjKView *, const AdjKView *, int))
{
  AdjKView grad, output, out;
  guint dim = op_dim (call, 2, adj_op_call_meta (call, 0)->shape.rank);

  if (!op_input (call, 0, &grad) || !op_input (call, 1, &output) || !op_output (call, 0, &out))
    return FALSE;
  op_need_dim (&grad);
  op_need_dim (&output);
  op_need_dim (&out);
  kernel (op_queue (call), &out, &grad, &output, (int) dim);
  return TRUE;
}

static gboolean
softmax_kernel (AdjOpCall *call)
{
  return forward (call, adj_q_softmax);
}

static gboolean
log_softmax_kernel (AdjOpCall *call)
{
  return forward (call, adj_q_log_softmax);
}

static gboolean
softmax_backward_kernel (AdjOpCall *call)
{
  return backward (call, adj_q_softmax_backward);
}

static gboolean
log_softmax_backward_kernel (AdjOpCall *call)
{
  return backward (call, adj_q_log_softmax_backward);
}

/* out = top == -inf ? 0 : out, where @top are the largest elements of rows. */
static void
clear_masked_rows (const AdjOpCall *call, const AdjKView *out, const AdjKView *top, gint dim)
{
  static const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_CONST, .dst = 2, .imm.f = -HUGE_VAL },
    { .op = ADJ_K_OP_EQ, .dst = 2, .a = 1, .b = 2 },
    { .op = ADJ_K_OP_CONST, .dst = 3, .imm.f = 0 },
    { .op = ADJ_K_OP_SELECT, .dst = 0, .a = 2, .b = 3, .c = 0 },
  };
  const AdjKProgram program = {
    .klass = out->type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32,
    .n_inputs = 2,
    .n_regs = 4,
    .n_code = G_N_ELEMENTS (code),
    .code = code,
    .result = 0,
  };
  AdjKView inputs[] = { *out, *top };

  inputs[1].size[dim] = out->size[dim];
  inputs[1].stride[dim] = 0;
  adj_q_pointwise (op_queue (call), &program, out, inputs);
}

static gboolean
safe_softmax_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  g_autofree gpointer memory = NULL;
  g_autofree gpointer row_memory = NULL;
  AdjKView self, in, out, top;

  if (!op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  op_need_dim (&self);
  op_need_dim (&out);
  memory = op_temporary (op_queue (call), &out, out.type, &in);
  adj_q_copy (op_queue (call), &in, &self);
  adj_q_softmax (op_queue (call), &out, &in, (int) dim);
  top = out;
  top.size[dim] = 1;
  row_memory = op_temporary (op_queue (call), &top, out.type, &top);
  adj_q_reduce (op_queue (call), ADJ_K_MAX, &top, &in, 1u << dim);
  clear_masked_rows (call, &out, &top, (gint) dim);
  return TRUE;
}

/* -- costs -- */

static double
row_length (const AdjOpCall *call)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;
  guint arg = adj_op_call_find (call, "dim");
  gint dim = adj_shape_wrap_dim (shape, adj_op_call_int (call, arg, 0));
  gint64 n = 1;

  if (dim >= 0 && (guint) dim < shape->rank)
    adj_size_get_hint (op_symbols (call), shape->size[dim], &n);
  return (double) n;
}

static double
softmax_flops (const AdjOpCall *call)
{
  return op_count (call, &call->results[0].meta.shape) * (ADJ_FLOPS_TRANSCENDENTAL + 4);
}

static double
softmax_backward_flops (const AdjOpCall *call)
{
  return op_count (call, &call->results[0].meta.shape) * 4;
}

static double
log_softmax_backward_flops (const AdjOpCall *call)
{
  return op_count (call, &call->results[0].meta.shape) * (ADJ_FLOPS_TRANSCENDENTAL + 3);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/softmax.inc"
};

const OpFamily adj_family_softmax = { ops, G_N_ELEMENTS (ops) };
