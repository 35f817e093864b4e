/* SPDX-License-Identifier: MIT */
/* Layer norm and RMS norm, and their backward. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/adj-release-facts.h"
#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* How many trailing dimensions argument 1 normalises; -1 after a failure. */
static gint
check_normalized (const AdjOpCall *call, const AdjShape *input)
{
  AdjSize sizes[ADJ_MAX_RANK];
  guint n = adj_op_call_sizes (call, 1, sizes);
  gboolean fits = n > 0 && n <= input->rank;

  for (guint i = 0; fits && i < n; i++)
    fits =
        adj_size_test (op_symbols (call), ADJ_SIZE_EQ, sizes[i], input->size[input->rank - n + i]);
  if (!fits)
    {
      g_autofree char *a = op_sizes_text (call, input);

      adj_op_call_fail (call, "the normalised sizes are not the last ones of %s", a);
      return -1;
    }
  return (gint) n;
}

/* Checks that a weight, bias or None has exactly the normalised sizes. */
static gboolean
check_weight (const AdjOpCall *call, guint arg, const AdjShape *input, guint n)
{
  const AdjTensor *tensor = adj_op_call_tensor_or_null (call, arg);
  AdjShape wanted;

  if (tensor == NULL)
    return !adj_context_has_error (call->cx);
  adj_shape_init (&wanted, op_symbols (call), n, &input->size[input->rank - n]);
  if (!adj_shape_same_sizes (&wanted, &adj_tensor_get_meta (tensor)->shape, op_symbols (call)))
    return adj_op_call_fail (call, "argument '%s' has not the normalised sizes",
                             call->schema->arguments[arg].name);
  return TRUE;
}

/* The sizes of mean and rstd: those of the input with 1 in the normalised dimensions. */
static void
statistics_sizes (const AdjShape *input, guint n, AdjSize *out)
{
  for (guint i = 0; i < input->rank; i++)
    out[i] = i < input->rank - n ? input->size[i] : ADJ_SIZE (1);
}

/* Checks that all tensors are floating. */
static gboolean
check_dtypes (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (call->args[i].kind == ADJ_VALUE_TENSOR &&
        !adj_dtype_is_floating (adj_tensor_get_meta (call->args[i].tensor)->dtype))
      return adj_op_call_fail (call, "needs floating point, not %s",
                               adj_dtype_info (adj_op_call_meta (call, i)->dtype)->torch_name);
  return TRUE;
}

/* The dtype of mean and rstd: on the CPU that of the weights, which may be wider than the input's;
 * elsewhere that of sums. */
static AdjDType
statistics_dtype (const AdjOpCall *call)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);

  for (guint i = 2; i < 4 && input->device.type == ADJ_DEVICE_CPU; i++)
    if (adj_op_call_tensor_or_null (call, i) != NULL)
      return adj_op_call_meta (call, i)->dtype;
  if (input->device.type == ADJ_DEVICE_CPU || adj_dtype_info (input->dtype)->n_bytes > 2)
    return input->dtype;
  return ADJ_DTYPE_F32;
}

static void
keep_strides (AdjOpCall *call, const AdjShape *shape)
{
  memcpy (call->results[0].meta.shape.stride, shape->stride, sizeof shape->stride);
}

/* In PyTorch's traces CPU statistics have the dtype of the input, and the result of a contiguous
 * one has its strides, unless sizes are symbols. */
static void
layer_norm_traced (AdjOpCall *call)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);

  for (guint i = 1; i < 3 && input->device.type == ADJ_DEVICE_CPU; i++)
    call->results[i].meta.dtype = input->dtype;
  if (adj_size_is_int (adj_shape_numel (&input->shape, op_symbols (call))) &&
      adj_shape_is_contiguous (&input->shape, op_symbols (call)))
    keep_strides (call, &input->shape);
}

static gboolean
layer_norm_meta (AdjOpCall *call)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);
  gint n = check_normalized (call, &input->shape);
  AdjSize sizes[ADJ_MAX_RANK];

  if (n < 0 || !check_weight (call, 2, &input->shape, (guint) n) ||
      !check_weight (call, 3, &input->shape, (guint) n))
    return FALSE;
  if (!adj_dtype_is_floating (input->dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (input->dtype)->torch_name);
  statistics_sizes (&input->shape, (guint) n, sizes);
  op_add_contiguous (call, input->dtype, input->shape.rank, input->shape.size);
  for (guint i = 0; i < 2; i++)
    op_add_contiguous (call, statistics_dtype (call), input->shape.rank, sizes);
  return TRUE;
}

static gboolean
layer_norm_kernel (AdjOpCall *call)
{
  AdjKLayerNorm norm = { .eps = adj_op_call_double (call, 4, 0) };
  AdjKView weight, bias;
  AdjSize sizes[ADJ_MAX_RANK];

  norm.n_dims = (int) adj_op_call_sizes (call, 1, sizes);
  if (!op_input (call, 0, &norm.x) || !op_input_or_null (call, 2, &weight, &norm.w) ||
      !op_input_or_null (call, 3, &bias, &norm.b) || !op_output (call, 0, &norm.y) ||
      !op_output (call, 1, &norm.mean) || !op_output (call, 2, &norm.rstd))
    return FALSE;
  adj_q_layer_norm (op_queue (call), &norm);
  return TRUE;
}

/* Whether gradient @index is requested. */
static gboolean
wants (const AdjOpCall *call, guint index)
{
  const AdjValue *mask = &call->args[7];

  return index < mask->n && adj_value_is_container (mask) &&
         adj_op_value_is_true (&mask->items[index]);
}

static gboolean
is_contiguous_in_both_formats (const AdjOpCall *call, guint arg)
{
  const AdjShape *shape = &adj_op_call_meta (call, arg)->shape;

  return adj_shape_is_contiguous (shape, op_symbols (call)) &&
         adj_shape_is_channels_last (shape, op_symbols (call));
}

/* PyTorch traces it as rstd · (g · weight - …) of contiguous g and input, so that strides of
 * dimensions of size 1 may differ where the format does not decide. */
static void
lay_out_gradient (AdjOpCall *call)
{
  static const guint args[] = { 4, 0, 1 };

  if (is_contiguous_in_both_formats (call, 0) && is_contiguous_in_both_formats (call, 1))
    op_lay_out_pointwise (call, 0, args, G_N_ELEMENTS (args));
}

static gboolean
layer_norm_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  const AdjTensorMeta *input = adj_op_call_meta (call, 1);
  const AdjShape *shape = &input->shape;
  AdjSize normalized[ADJ_MAX_RANK], statistics[ADJ_MAX_RANK];
  const AdjTensorMeta *weight =
      adj_op_call_tensor_or_null (call, 5) != NULL ? adj_op_call_meta (call, 5) : input;
  guint n = adj_op_call_sizes (call, 2, normalized);
  AdjShape wanted;

  if (adj_context_has_error (call->cx) || n == 0 || n > shape->rank ||
      !adj_shape_same_sizes (&grad->shape, shape, op_symbols (call)) ||
      !check_weight (call, 5, shape, n))
    return adj_op_call_fail (call, "the gradient, input and normalised sizes do not fit");
  if (!check_dtypes (call))
    return FALSE;
  statistics_sizes (shape, n, statistics);
  adj_shape_init (&wanted, op_symbols (call), shape->rank, statistics);
  if (!adj_shape_same_sizes (&wanted, &adj_op_call_meta (call, 3)->shape, op_symbols (call)) ||
      !adj_shape_same_sizes (&wanted, &adj_op_call_meta (call, 4)->shape, op_symbols (call)))
    return adj_op_call_fail (call, "mean or rstd has not the sizes of the statistics");

  for (guint i = 0; i < 3; i++)
    {
      guint rank = i == 0 ? shape->rank : n;

      if (wants (call, i))
        op_add_contiguous (call, i == 0 ? input->dtype : weight->dtype, rank,
                           &shape->size[shape->rank - rank]);
      else
        adj_op_call_add_none (call);
    }
  if (wants (call, 0))
    lay_out_gradient (call);
  return TRUE;
}

/* Whether @shape is dense, but neither contiguous nor channels_last: PyTorch 2.15 makes a gradient
 * contiguous by `to (memory_format=torch.contiguous_format)`, which leaves others as they are. */
static gboolean
stays_permuted (const AdjOpCall *call, const AdjShape *shape)
{
  AdjSymbols *symbols = op_symbols (call);

  return adj_shape_is_dense (shape, symbols) && !adj_shape_is_contiguous (shape, symbols) &&
         !adj_shape_is_channels_last (shape, symbols);
}

/* PyTorch 2.6 traces all three gradients in the dtype of the input, 2.15 the first in the strides
 * of a permuted gradient. */
static void
layer_norm_backward_traced (AdjOpCall *call)
{
  const AdjShape *g = &adj_op_call_meta (call, 0)->shape;

  if (adj_op_release_has (call, ADJ_FACT_TRACED_AS_COMPUTED))
    {
      if (wants (call, 0) && stays_permuted (call, g))
        keep_strides (call, g);
      return;
    }
  for (guint i = 1; i < 3; i++)
    if (wants (call, i))
      call->results[i].meta.dtype = adj_op_call_meta (call, 1)->dtype;
}

static gboolean
output_or_null (const AdjOpCall *call, guint result, AdjKView *out, const AdjKView **pointer)
{
  *pointer = call->results[result].tensor != NULL ? out : NULL;
  return *pointer == NULL || op_output (call, result, out);
}

static gboolean
layer_norm_backward_kernel (AdjOpCall *call)
{
  AdjKLayerNormBackward norm = { .n_dims = 0 };
  AdjKView weight, gx, gw, gb;
  AdjSize sizes[ADJ_MAX_RANK];

  norm.n_dims = (int) adj_op_call_sizes (call, 2, sizes);
  if (!op_input (call, 0, &norm.g) || !op_input (call, 1, &norm.x) ||
      !op_input (call, 3, &norm.mean) || !op_input (call, 4, &norm.rstd) ||
      !op_input_or_null (call, 5, &weight, &norm.w) || !output_or_null (call, 0, &gx, &norm.gx) ||
      !output_or_null (call, 1, &gw, &norm.gw) || !output_or_null (call, 2, &gb, &norm.gb))
    return FALSE;
  adj_q_layer_norm_backward (op_queue (call), &norm);
  return TRUE;
}

/* -- costs -- */

static double
layer_norm_flops (const AdjOpCall *call)
{
  return 8 * op_count (call, &adj_op_call_meta (call, 0)->shape);
}

static double
layer_norm_backward_flops (const AdjOpCall *call)
{
  return 14 * op_count (call, &adj_op_call_meta (call, 1)->shape);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/norm.inc"
};

const OpFamily adj_family_norm = { ops, G_N_ELEMENTS (ops) };
