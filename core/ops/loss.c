/* SPDX-License-Identifier: MIT */
/* Losses with a reduction, nll_loss among them, and their backward. */

#include "call/adj-op-internal.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* The integers for "none", "mean" and "sum" in arguments named reduction. */
enum
{
  REDUCE_NONE,
  REDUCE_MEAN,
  REDUCE_SUM
};

static gint64
reduction (const AdjOpCall *call)
{
  guint arg = adj_op_call_find (call, "reduction");
  gint64 value = adj_op_call_int (call, arg, REDUCE_MEAN);

  if (value < REDUCE_NONE || value > REDUCE_SUM)
    adj_op_call_fail (call, "reduction must be 0, 1 or 2, not %" G_GINT64_FORMAT, value);
  return value;
}

/* -- negative log likelihood -- */

/* Whether @target has the sizes of @self without the class dimension. */
static gboolean
are_samples (const AdjOpCall *call, const AdjShape *self, const AdjShape *target)
{
  if (target->rank + 1 != self->rank)
    return FALSE;
  for (guint i = 0; i < target->rank; i++)
    if (!adj_size_test (op_symbols (call), ADJ_SIZE_EQ, self->size[i > 0 ? i + 1 : 0],
                        target->size[i]))
      return FALSE;
  return TRUE;
}

/* The rank of self (1 or 2, or 4 for images) if self, target and weight fit; 0 after a failure. */
static guint
check_nll (const AdjOpCall *call, guint self_arg)
{
  gboolean images = g_str_has_prefix (call->schema->name, "nll_loss2d");
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *self = &adj_op_call_meta (call, self_arg)->shape;
  const AdjTensorMeta *target = adj_op_call_meta (call, self_arg + 1);
  const AdjTensor *weight = adj_op_call_tensor_or_null (call, self_arg + 2);
  guint rank = self->rank;

  reduction (call);
  if (adj_context_has_error (call->cx))
    return 0;
  if (!adj_dtype_is_floating (adj_op_call_meta (call, self_arg)->dtype))
    {
      adj_op_call_fail (call, "the scores must be floating point");
      return 0;
    }
  if ((images ? rank != 4 : rank < 1 || rank > 2) || !are_samples (call, self, &target->shape))
    {
      g_autofree char *a = op_sizes_text (call, self);
      g_autofree char *b = op_sizes_text (call, &target->shape);

      adj_op_call_fail (call, "shapes %s and %s are no scores and targets", a, b);
      return 0;
    }
  if (target->dtype != ADJ_DTYPE_I64)
    {
      adj_op_call_fail (call, "targets must be int64, not %s",
                        adj_dtype_info (target->dtype)->torch_name);
      return 0;
    }
  if (weight != NULL &&
      (adj_tensor_get_rank (weight) != 1 ||
       !adj_size_test (symbols, ADJ_SIZE_EQ, adj_tensor_get_meta (weight)->shape.size[0],
                       self->size[rank > 1 ? 1 : 0])))
    {
      adj_op_call_fail (call, "the weight must have one entry per class");
      return 0;
    }
  return rank;
}

static gboolean
nll_meta (AdjOpCall *call)
{
  guint rank = check_nll (call, 0);
  AdjDType dtype = adj_op_call_meta (call, 0)->dtype;

  if (rank == 0)
    return FALSE;
  op_add_contiguous (call, dtype, reduction (call) == REDUCE_NONE ? rank - 1 : 0,
                     adj_op_call_meta (call, 1)->shape.size);
  op_add_contiguous (call, dtype, 0, NULL);
  return TRUE;
}

static gboolean
nll_backward_meta (AdjOpCall *call)
{
  guint rank = check_nll (call, 1);
  const AdjTensorMeta *self = adj_op_call_meta (call, 1);
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  guint grad_rank = reduction (call) == REDUCE_NONE ? rank - 1 : 0;

  if (rank == 0)
    return FALSE;
  if (grad->shape.rank != grad_rank ||
      (grad_rank > 0 && !adj_shape_same_sizes (&grad->shape, &adj_op_call_meta (call, 2)->shape,
                                               op_symbols (call))) ||
      adj_op_call_meta (call, 6)->shape.rank != 0)
    return adj_op_call_fail (call, "the gradient has not the shape of the loss");
  op_add_contiguous (call, self->dtype, rank, self->shape.size);
  return TRUE;
}

static gboolean
read_nll (const AdjOpCall *call, guint self_arg, AdjKNll *nll, AdjKView *weight)
{
  nll->reduction = (int) reduction (call);
  nll->ignore_index = adj_op_call_int (call, self_arg + 4, -100);
  return op_input (call, self_arg, &nll->x) && op_input (call, self_arg + 1, &nll->target) &&
         op_input_or_null (call, self_arg + 2, weight, &nll->weight);
}

static gboolean
nll_kernel (AdjOpCall *call)
{
  AdjKNll nll;
  AdjKView weight, out, total;
  gint64 bad;

  if (!read_nll (call, 0, &nll, &weight) || !op_output (call, 0, &out) ||
      !op_output (call, 1, &total))
    return FALSE;
  /* The weight of a single sample is counted even without a reduction. */
  if (nll.x.rank == 1 && nll.reduction == REDUCE_NONE)
    nll.reduction = REDUCE_SUM;
  return adj_q_nll_loss (op_queue (call), &nll, &out, &total, &bad) || op_bad_index (call, bad);
}

static gboolean
nll_backward_kernel (AdjOpCall *call)
{
  AdjKNll nll;
  AdjKView weight, out, grad, total;
  gint64 bad;

  if (!read_nll (call, 1, &nll, &weight) || !op_input (call, 0, &grad) ||
      !op_input (call, 6, &total) || !op_output (call, 0, &out))
    return FALSE;
  return adj_q_nll_loss_backward (op_queue (call), &nll, &out, &grad, &total, &bad) ||
         op_bad_index (call, bad);
}

/* -- pointwise losses: the body, then the sum or mean of it -- */

static gboolean
reduced_meta (AdjOpCall *call, gboolean (*each) (AdjOpCall *call))
{
  gint64 kind = reduction (call);
  AdjDType dtype;

  if (!each (call))
    return FALSE;
  if (kind == REDUCE_NONE)
    return TRUE;
  dtype = call->results[0].meta.dtype;
  adj_op_call_clear (call);
  op_add_contiguous (call, dtype, 0, NULL);
  return TRUE;
}

static gboolean
loss_meta (AdjOpCall *call)
{
  return reduced_meta (call, adj_pointwise_meta);
}

/* The strides of target win, since PyTorch computes 1 - target first. */
static gboolean
target_first_meta (AdjOpCall *call)
{
  return reduced_meta (call, adj_pointwise_meta_first_last);
}

static gboolean
loss_kernel (AdjOpCall *call)
{
  gint64 kind = reduction (call);
  AdjOpCall body = *call;
  AdjKView in, out;
  gboolean done;

  if (kind == REDUCE_NONE)
    return adj_pointwise_kernel (call);
  body.results = NULL;
  body.n_results = 0;
  body.n_allocated = 0;
  done = adj_pointwise_meta (&body);
  if (done)
    {
      body.results[0].tensor = op_temporary_tensor (call, &body.results[0].meta);
      done = adj_pointwise_kernel (&body) && op_output (&body, 0, &in) && op_output (call, 0, &out);
    }
  if (done)
    {
      out.rank = in.rank;
      for (gint i = 0; i < in.rank; i++)
        out.size[i] = out.stride[i] = 1;
      adj_q_reduce (op_queue (call), kind == REDUCE_MEAN ? ADJ_K_MEAN : ADJ_K_SUM, &out, &in,
                    (1u << in.rank) - 1);
    }
  adj_op_call_clear (&body);
  return done;
}

/* The strides of argument 1, whatever those of the gradient. */
static gboolean
like_self_meta (AdjOpCall *call)
{
  const AdjShape *self = &adj_op_call_meta (call, 1)->shape;
  AdjShape *shape;

  if (!adj_pointwise_meta (call))
    return FALSE;
  shape = &call->results[0].meta.shape;
  if (!adj_shape_same_sizes (shape, self, op_symbols (call)))
    {
      g_autofree char *a = op_sizes_text (call, self);
      g_autofree char *b = op_sizes_text (call, shape);

      return adj_op_call_fail (call, "argument 'self' is %s, but with the others %s", a, b);
    }
  adj_shape_set_format (shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, self);
  return TRUE;
}

/* The body, divided by the number of elements if the loss is a mean. */
static gboolean
loss_backward_kernel (AdjOpCall *call)
{
  const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_DIV, .dst = 0, .a = 0, .b = 1 },
  };
  AdjKProgram program = { .n_inputs = 2, .n_regs = 2, .n_code = G_N_ELEMENTS (code), .code = code };
  double n = op_count (call, &call->results[0].meta.shape);
  AdjKView inputs[2];
  AdjKView out;

  if (!adj_pointwise_kernel (call) || !op_output (call, 0, &out))
    return FALSE;
  if (reduction (call) != REDUCE_MEAN)
    return TRUE;
  program.klass = out.type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : ADJ_K_CLASS_F32;
  inputs[0] = out;
  inputs[1] = out;
  inputs[1].data = (gpointer) op_constant (op_queue (call), &n, sizeof n);
  inputs[1].type = ADJ_K_F64;
  for (gint i = 0; i < out.rank; i++)
    inputs[1].stride[i] = 0;
  adj_q_pointwise (op_queue (call), &program, &out, inputs);
  return TRUE;
}

/* -- costs -- */

static double
loss_reduction (const AdjOpCall *call)
{
  return reduction (call) == REDUCE_NONE ? 1 : op_count (call, &adj_op_call_meta (call, 0)->shape);
}

static double
loss_flops (const AdjOpCall *call)
{
  return 4 * op_count (call, &adj_op_call_meta (call, 0)->shape);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/loss.inc"
};

const OpFamily adj_family_loss = { ops, G_N_ELEMENTS (ops) };
