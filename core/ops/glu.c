/* SPDX-License-Identifier: MIT */
/* The gated linear unit: a · σ(b), where a and b are the halves of a tensor along a dimension. */

#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* The dimension given by argument @arg of argument @self; its size must be even. */
static gboolean
find_halves (const AdjOpCall *call, guint self, guint arg, guint *dim, AdjSize *half)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *meta = adj_op_call_meta (call, self);

  *dim = op_dim (call, arg, meta->shape.rank);
  if (meta->shape.rank == 0 || !adj_dtype_is_floating (meta->dtype))
    return adj_op_call_fail (call, "needs a dimension to halve, of floating point");
  *half = adj_size_floordiv (symbols, meta->shape.size[*dim], ADJ_SIZE (2));
  return adj_size_test (symbols, ADJ_SIZE_EQ, adj_size_mul (symbols, *half, ADJ_SIZE (2)),
                        meta->shape.size[*dim]) ||
         adj_op_call_fail (call, "dimension %u has no two halves", *dim);
}

/* Strides of a pointwise result of the halves. */
static gboolean
glu_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  const AdjShape *halves[2];
  AdjShape half = self->shape;
  AdjShape out;
  AdjSize size;
  guint dim;

  if (!find_halves (call, 0, 1, &dim, &size))
    return FALSE;
  half.size[dim] = size;
  halves[0] = halves[1] = &half;
  adj_shape_pointwise (&out, op_symbols (call), halves, 2, NULL);
  adj_op_call_add (call, self->dtype, &out);
  return !adj_context_has_error (call->cx);
}

static gboolean
glu_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 1);
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  AdjShape half = self->shape;
  AdjSize size;
  guint dim;

  if (!find_halves (call, 1, 2, &dim, &size))
    return FALSE;
  half.size[dim] = size;
  if (grad->dtype != self->dtype || !adj_shape_same_sizes (&grad->shape, &half, op_symbols (call)))
    return adj_op_call_fail (call, "the gradient does not fit half of self");
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return !adj_context_has_error (call->cx);
}

/* -- kernels -- */

/* Half @which of @whole. */
static AdjKView
half_of (const AdjKView *whole, guint dim, gint64 which)
{
  AdjKView half = *whole;

  half.size[dim] /= 2;
  half.data = (char *) whole->data +
              (gsize) (which * half.size[dim] * half.stride[dim]) * adj_k_type_get_size (half.type);
  return half;
}

/* Inputs a, b and for the gradients g; s = σ(b). */
static const AdjKCode forward_code[] = {
  { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
  { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
  { .op = ADJ_K_OP_SIGMOID, .dst = 1, .a = 1 },
  { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 },
};

/* s · g */
static const AdjKCode first_code[] = {
  { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 1 },
  { .op = ADJ_K_OP_SIGMOID, .dst = 0, .a = 0 },
  { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 2 },
  { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 },
};

/* (1 - s) · s · a · g */
static const AdjKCode second_code[] = {
  { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 1 },
  { .op = ADJ_K_OP_SIGMOID, .dst = 0, .a = 0 },
  { .op = ADJ_K_OP_CONST, .dst = 1, .imm.f = 1 },
  { .op = ADJ_K_OP_SUB, .dst = 1, .a = 1, .b = 0 },
  { .op = ADJ_K_OP_MUL, .dst = 0, .a = 1, .b = 0 },
  { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 0 },
  { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 },
  { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 2 },
  { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 },
};

static void
run (AdjKQueue *queue,
     const AdjKCode *code,
     gint n_code,
     const AdjKView *out,
     const AdjKView *inputs,
     gint n_inputs)
{
  const AdjKProgram program = {
    .klass = out->type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32,
    .n_inputs = n_inputs,
    .n_regs = 2,
    .n_code = n_code,
    .code = code,
    .result = 0,
  };

  adj_q_pointwise (queue, &program, out, inputs);
}

static gboolean
glu_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, adj_op_call_meta (call, 0)->shape.rank);
  AdjKView self, out, inputs[2];

  if (!op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  inputs[0] = half_of (&self, dim, 0);
  inputs[1] = half_of (&self, dim, 1);
  run (op_queue (call), forward_code, G_N_ELEMENTS (forward_code), &out, inputs, 2);
  return TRUE;
}

static gboolean
glu_backward_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 2, adj_op_call_meta (call, 1)->shape.rank);
  AdjKView self, out, first, second, inputs[3];

  if (!op_input (call, 1, &self) || !op_input (call, 0, &inputs[2]) || !op_output (call, 0, &out))
    return FALSE;
  inputs[0] = half_of (&self, dim, 0);
  inputs[1] = half_of (&self, dim, 1);
  first = half_of (&out, dim, 0);
  second = half_of (&out, dim, 1);
  run (op_queue (call), first_code, G_N_ELEMENTS (first_code), &first, inputs, 3);
  run (op_queue (call), second_code, G_N_ELEMENTS (second_code), &second, inputs, 3);
  return TRUE;
}

static double
glu_flops (const AdjOpCall *call)
{
  return op_count (call, &call->results[0].meta.shape) * (ADJ_FLOPS_TRANSCENDENTAL + 1);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/glu.inc"
};

const OpFamily adj_family_glu = { ops, G_N_ELEMENTS (ops) };
