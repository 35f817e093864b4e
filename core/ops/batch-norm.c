/* SPDX-License-Identifier: MIT */
/* Batch norm in all its overloads, with running statistics, and its backward. */

#include "ops/channel-norm-private.h"
#include "ops/table-private.h"

/* Batch norm: statistics over all dimensions but the channels.  The arguments of all forward
 * operators begin with input, weight, bias and, except for one, running mean and running variance.
 */

#define RUNNING 3

/* -- shape rules -- */

/* y and the two statistics, which are empty if running statistics are used. */
static gboolean
add_normal (AdjOpCall *call, guint n_running, gboolean training)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);
  AdjSize channels = ADJ_SIZE (0), length;
  AdjDType dtype = input->dtype;

  if (!op_norm_check_input (call, input))
    return FALSE;
  channels = input->shape.size[1];
  if (!op_norm_check_channels (call, 2, channels, NULL) ||
      (n_running > 0 && (!op_norm_check_channels (call, RUNNING + 1, channels, NULL) ||
                         !op_norm_check_channels (call, RUNNING, channels, &dtype))) ||
      !op_norm_check_channels (call, 1, channels, &dtype))
    return FALSE;
  length = training ? channels : ADJ_SIZE (0);
  op_add_format (call, input->dtype, input->shape.rank, input->shape.size,
                 op_is_channels_last (call, 0));
  op_add_contiguous (call, dtype, 1, &length);
  op_add_contiguous (call, dtype, 1, &length);
  return TRUE;
}

/* cuDNN's reserve space for the backward: empty here. */
static gboolean
add_reserve (AdjOpCall *call)
{
  const AdjSize none = ADJ_SIZE (0);

  op_add_contiguous (call, ADJ_DTYPE_U8, 1, &none);
  return TRUE;
}

static gboolean
add_running (AdjOpCall *call)
{
  for (guint i = 0; i < 2; i++)
    {
      const AdjTensorMeta *running = adj_op_call_meta (call, RUNNING + i);

      op_add_contiguous (call, running->dtype, 1, running->shape.size);
    }
  return TRUE;
}

static gboolean
check_running_writable (const AdjOpCall *call)
{
  return op_check_writable (call, &adj_op_call_meta (call, RUNNING)->shape) &&
         op_check_writable (call, &adj_op_call_meta (call, RUNNING + 1)->shape);
}

static gboolean
functional_meta (AdjOpCall *call)
{
  return add_normal (call, 2, adj_op_call_bool (call, 5)) && add_running (call);
}

static gboolean
mutating_meta (AdjOpCall *call)
{
  return add_normal (call, 2, adj_op_call_bool (call, 5)) && check_running_writable (call);
}

static gboolean
no_stats_meta (AdjOpCall *call)
{
  if (!adj_op_call_bool (call, 3))
    return adj_op_call_fail (call, "there are no statistics to use without training");
  return add_normal (call, 0, TRUE);
}

static gboolean
no_training_meta (AdjOpCall *call)
{
  return add_normal (call, 2, FALSE);
}

static gboolean
update_functional_meta (AdjOpCall *call)
{
  return add_normal (call, 2, TRUE) && add_reserve (call) && add_running (call);
}

static gboolean
update_meta (AdjOpCall *call)
{
  return add_normal (call, 2, TRUE) && add_reserve (call) && check_running_writable (call);
}

static gboolean
no_update_meta (AdjOpCall *call)
{
  return add_normal (call, 2, FALSE) && add_reserve (call);
}

/* In PyTorch's traces the result has the strides of pointwise arithmetic, and the statistics of a
 * CPU batch have the dtype of the batch; its kernels use that of the weights. */
static void
forward_traced (AdjOpCall *call)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);

  op_lay_out_pointwise (call, 0, (const guint[]){ 0 }, 1);
  for (guint i = 1; i < 3 && input->device.type == ADJ_DEVICE_CPU; i++)
    call->results[i].meta.dtype = input->dtype;
}

/* In traces new running statistics have the dtype in which they are computed. */
static void
functional_traced (AdjOpCall *call)
{
  forward_traced (call);
  for (guint i = 3; i < 5 && adj_op_call_bool (call, 5); i++)
    if (adj_dtype_info (call->results[i].meta.dtype)->n_bytes == 2)
      call->results[i].meta.dtype = ADJ_DTYPE_F32;
}

/* cuDNN has the statistics of 16-bit batches in f32. */
static gboolean
cudnn_meta (AdjOpCall *call)
{
  gboolean training = adj_op_call_bool (call, 5);

  if (!add_normal (call, 2, training))
    return FALSE;
  for (guint i = 1; i < 3 && training; i++)
    if (adj_dtype_info (call->results[i].meta.dtype)->n_bytes == 2)
      call->results[i].meta.dtype = ADJ_DTYPE_F32;
  return add_reserve (call);
}

/* Positions of the arguments of a backward operator: weight, running mean and variance, then
 * statistics of the batch. */
typedef struct
{
  guint grad, input, weight;
  gboolean trained;
} Backward;

static gboolean
check_backward (AdjOpCall *call, const Backward *at, AdjDType *dtype)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, at->grad);
  const AdjTensorMeta *input = adj_op_call_meta (call, at->input);
  guint first = at->weight + (at->trained ? 3 : 1);
  AdjSize channels;

  *dtype = input->dtype;
  if (!op_norm_check_input (call, input))
    return FALSE;
  channels = input->shape.size[1];
  if (!adj_shape_same_sizes (&grad->shape, &input->shape, op_symbols (call)))
    return adj_op_call_fail (call, "the gradient has not the sizes of the input");
  for (guint i = 0; i < 2; i++)
    if (adj_op_call_tensor (call, first + i) == NULL ||
        !op_norm_check_channels (call, first + i, channels, dtype))
      return FALSE;
  return op_norm_check_channels (call, at->weight, channels, dtype);
}

static Backward
backward_of (const AdjOpCall *call)
{
  return (Backward){ .grad = 0, .input = 1, .weight = 2, .trained = adj_op_call_bool (call, 7) };
}

static gboolean
backward_meta (AdjOpCall *call)
{
  const Backward at = backward_of (call);
  AdjDType dtype;

  return check_backward (call, &at, &dtype) && op_norm_add_gradients (call, 1, 9, dtype);
}

/* PyTorch traces it as (g - (x - mean) · scale - …) · …, without statistics as g · scale, and
 * always computes that gradient. */
static void
backward_traced (AdjOpCall *call)
{
  call->results[0].is_none = FALSE;
  call->results[0].meta = *adj_op_call_meta (call, 1);
  op_lay_out_pointwise (call, 0, (const guint[]){ 0, 1 }, adj_op_call_bool (call, 7) ? 2 : 1);
}

/* All three gradients; the gradient comes after the input. */
static gboolean
cudnn_backward_meta (AdjOpCall *call)
{
  const Backward at = { .grad = 1, .input = 0, .weight = 2, .trained = TRUE };
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);
  AdjDType dtype;

  if (!check_backward (call, &at, &dtype))
    return FALSE;
  op_add_format (call, input->dtype, input->shape.rank, input->shape.size,
                 op_is_channels_last (call, 0));
  for (guint i = 0; i < 2; i++)
    op_add_contiguous (call, dtype, 1, &input->shape.size[1]);
  return TRUE;
}

/* -- kernels -- */

/* Reads x, weight and bias, if any, of a batch norm; the weight is argument @weight. */
static gboolean
read_batch_norm (const AdjOpCall *call, guint input, guint weight, gboolean has_bias, OpNorm *norm)
{
  const AdjKView *given;

  *norm = (OpNorm){ .statistics = 2, .weights = 2 };
  return op_input (call, input, &norm->x) && op_input_or_null (call, weight, &norm->w, &given) &&
         (!has_bias || op_input_or_null (call, weight + 1, &norm->b, &given));
}

static double
eps_of (const AdjOpCall *call)
{
  return adj_op_call_double (call, adj_op_call_find (call, "eps"), 0);
}

/* y from the running statistics. */
static gboolean
no_training_kernel (AdjOpCall *call)
{
  AdjKView mean, var, rstd, y;
  g_autofree gpointer memory = NULL;
  OpNorm norm;

  if (!op_output (call, 0, &y) || !read_batch_norm (call, 0, 1, TRUE, &norm) ||
      !op_input (call, RUNNING, &mean) || !op_input (call, RUNNING + 1, &var))
    return FALSE;
  memory = op_temporary (op_queue (call), &var, op_norm_type (&norm), &rstd);
  op_norm_invert_deviation (op_queue (call), &rstd, &var, eps_of (call));
  op_norm_write (op_queue (call), &norm, &mean, &rstd, &y);
  return TRUE;
}

/* The running statistics: old values, and views to be written. */
typedef struct
{
  AdjKView from[2], to[2];
} Running;

/* y and the statistics of the batch; @running (nullable) is updated. */
static gboolean
train (AdjOpCall *call, const Running *running)
{
  g_autofree gpointer mean_memory = NULL, var_memory = NULL, rstd_memory = NULL;
  AdjKView y, save_mean, save_rstd, mean, var, rstd, channels;
  OpNorm norm;

  if (!op_output (call, 0, &y) || !op_output (call, 1, &save_mean) ||
      !op_output (call, 2, &save_rstd) || !read_batch_norm (call, 0, 1, TRUE, &norm))
    return FALSE;
  channels = (AdjKView){ .rank = 1, .size = { norm.x.size[1] }, .stride = { 1 } };
  mean_memory = op_temporary (op_queue (call), &channels, op_norm_type (&norm), &mean);
  var_memory = op_temporary (op_queue (call), &channels, op_norm_type (&norm), &var);
  rstd_memory = op_temporary (op_queue (call), &channels, op_norm_type (&norm), &rstd);
  op_norm_measure (op_queue (call), &norm, &mean, &var);
  op_norm_invert_deviation (op_queue (call), &rstd, &var, eps_of (call));
  adj_q_copy (op_queue (call), &save_mean, &mean);
  adj_q_copy (op_queue (call), &save_rstd, &rstd);
  op_norm_write (op_queue (call), &norm, &mean, &rstd, &y);
  if (running != NULL)
    {
      double momentum = adj_op_call_double (call, adj_op_call_find (call, "momentum"), 0);
      double n = (double) op_norm_group_size (&norm);

      op_norm_average (op_queue (call), &running->to[0], &running->from[0], &mean, momentum, 1);
      op_norm_average (op_queue (call), &running->to[1], &running->from[1], &var, momentum,
                       n / (n - 1));
    }
  return TRUE;
}

static gboolean
no_stats_kernel (AdjOpCall *call)
{
  return train (call, NULL);
}

/* The new running statistics are results @first and @first + 1. */
static gboolean
functional (AdjOpCall *call, guint first, gboolean training)
{
  Running running;

  for (guint i = 0; i < 2; i++)
    if (!op_output (call, first + i, &running.to[i]) ||
        !op_input (call, RUNNING + i, &running.from[i]))
      return FALSE;
  if (training)
    return train (call, &running);
  for (guint i = 0; i < 2; i++)
    adj_q_copy (op_queue (call), &running.to[i], &running.from[i]);
  return no_training_kernel (call);
}

static gboolean
functional_kernel (AdjOpCall *call)
{
  return functional (call, 3, adj_op_call_bool (call, 5));
}

static gboolean
update_functional_kernel (AdjOpCall *call)
{
  return functional (call, 4, TRUE);
}

/* Opens views for writing first, since that may give the storage new memory. */
static gboolean
update_kernel (AdjOpCall *call)
{
  Running running;

  for (guint i = 0; i < 2; i++)
    if (!op_argument_to_write (call, RUNNING + i, &running.to[i]))
      return FALSE;
  for (guint i = 0; i < 2; i++)
    if (!op_input (call, RUNNING + i, &running.from[i]))
      return FALSE;
  return train (call, &running);
}

static gboolean
mutating_kernel (AdjOpCall *call)
{
  return adj_op_call_bool (call, 5) ? update_kernel (call) : no_training_kernel (call);
}

static gboolean
cudnn_kernel (AdjOpCall *call)
{
  return op_needs_cuda (call);
}

static gboolean
backward_kernel (AdjOpCall *call)
{
  const Backward at = backward_of (call);
  guint first = at.weight + (at.trained ? 3 : 1);
  AdjKView x_view, w_view, b_view;
  g_autofree gpointer memory = NULL;
  OpNormGradients to = { .constant = !at.trained };
  OpNorm norm;

  if (!op_output_or_null (call, 0, &x_view, &to.gx) ||
      !op_output_or_null (call, 1, &w_view, &to.gw) ||
      !op_output_or_null (call, 2, &b_view, &to.gb) ||
      !read_batch_norm (call, at.input, at.weight, FALSE, &norm) ||
      !op_input (call, at.grad, &to.g) || !op_input (call, first, &to.mean) ||
      !op_input (call, first + 1, &to.rstd))
    return FALSE;
  if (!at.trained)
    {
      AdjKView var = to.rstd;

      memory = op_temporary (op_queue (call), &var, op_norm_type (&norm), &to.rstd);
      op_norm_invert_deviation (op_queue (call), &to.rstd, &var, eps_of (call));
    }
  op_norm_differentiate (op_queue (call), &norm, &to);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/batch-norm.inc"
};

const OpFamily adj_family_batch_norm = { ops, G_N_ELEMENTS (ops) };
