/* SPDX-License-Identifier: MIT */
/* Convolutions, transposed ones included, and their backward. */

#include "adj-kernel-conv.h"

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* A transposed convolution is the gradient of an ordinary one for its input: in the kernels its
 * input is y, and its output is x. */

/* Positions of the arguments of both operators. */
typedef struct
{
  guint input; /* the weight follows */
  guint stride, padding, dilation, transposed, output_padding, groups;
} Positions;

static const Positions forward_positions = { 0, 3, 4, 5, 6, 7, 8 };
static const Positions backward_positions = { 1, 4, 5, 6, 7, 8, 9 };

typedef struct
{
  guint n; /* number of spatial dimensions */
  gint64 stride[OP_MAX_AXES], padding[OP_MAX_AXES], dilation[OP_MAX_AXES];
  gint64 output_padding[OP_MAX_AXES];
  gint64 groups;
  gboolean transposed;
} Options;

static gboolean
read_options (const AdjOpCall *call, const Positions *positions, Options *out)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, positions->input);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (input->shape.rank < 3 || input->shape.rank > 2 + OP_MAX_AXES)
    return adj_op_call_fail (call, "the input has rank %u, not 3 to 5", input->shape.rank);
  out->n = input->shape.rank - 2;
  out->groups = adj_op_call_int (call, positions->groups, 1);
  out->transposed = adj_op_call_bool (call, positions->transposed);
  if (adj_context_has_error (call->cx) ||
      !op_axes (call, positions->stride, out->n, 1, NULL, out->stride) ||
      !op_axes (call, positions->padding, out->n, 0, NULL, out->padding) ||
      !op_axes (call, positions->dilation, out->n, 1, NULL, out->dilation) ||
      !op_axes (call, positions->output_padding, out->n, 0, NULL, out->output_padding))
    return FALSE;
  if (out->groups < 1)
    return adj_op_call_fail (call, "groups must be positive");
  return TRUE;
}

static gboolean
fail_shapes (const AdjOpCall *call, const AdjShape *input, const AdjShape *weight, gint64 groups)
{
  g_autofree char *a = op_sizes_text (call, input);
  g_autofree char *b = op_sizes_text (call, weight);

  return adj_op_call_fail (
      call, "input %s and weight %s do not fit with %" G_GINT64_FORMAT " groups", a, b, groups);
}

/* Checks that input and weight fit; @channels: number of output channels. */
static gboolean
check_weight (const AdjOpCall *call,
              const Positions *positions,
              const Options *options,
              AdjSize *channels)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjTensorMeta *input = adj_op_call_meta (call, positions->input);
  const AdjTensorMeta *weight = adj_op_call_meta (call, positions->input + 1);
  const AdjSize *w = weight->shape.size;
  AdjSize groups = ADJ_SIZE (options->groups), quotient;

  if (input->dtype != weight->dtype)
    return adj_op_call_fail (call, "dtypes %s and %s differ",
                             adj_dtype_info (input->dtype)->torch_name,
                             adj_dtype_info (weight->dtype)->torch_name);
  if (weight->shape.rank != input->shape.rank)
    return fail_shapes (call, &input->shape, &weight->shape, options->groups);
  quotient = adj_size_floordiv (symbols, w[0], groups);
  *channels = options->transposed ? adj_size_mul (symbols, w[1], groups) : w[0];
  if (!adj_size_test (symbols, ADJ_SIZE_EQ, adj_size_mul (symbols, quotient, groups), w[0]) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, input->shape.size[1],
                      options->transposed ? w[0] : adj_size_mul (symbols, w[1], groups)))
    return fail_shapes (call, &input->shape, &weight->shape, options->groups);
  return TRUE;
}

/* The result's size in spatial dimension @axis of input @size. */
static AdjSize
output_size (const AdjOpCall *call, const Options *options, guint axis, AdjSize size, gint64 kernel)
{
  AdjSymbols *symbols = op_symbols (call);
  OpWindow window = {
    .kernel = kernel,
    .stride = options->stride[axis],
    .padding = options->padding[axis],
    .dilation = options->dilation[axis],
  };
  AdjSize out;

  if (!options->transposed)
    return op_windows (call, &window, size);
  out =
      adj_size_mul (symbols, adj_size_sub (symbols, size, ADJ_SIZE (1)), ADJ_SIZE (window.stride));
  out = adj_size_add (symbols, out,
                      ADJ_SIZE (window.dilation * (kernel - 1) - 2 * window.padding +
                                options->output_padding[axis] + 1));
  if (adj_size_test (symbols, ADJ_SIZE_LT, out, ADJ_SIZE (0)))
    adj_op_call_fail (call, "the result would have a negative size");
  return out;
}

/* The sizes of the result of a convolution. */
static gboolean
output_sizes (const AdjOpCall *call,
              const Positions *positions,
              const Options *options,
              AdjSize *out)
{
  const AdjShape *input = &adj_op_call_meta (call, positions->input)->shape;
  const AdjShape *weight = &adj_op_call_meta (call, positions->input + 1)->shape;

  if (!check_weight (call, positions, options, &out[1]))
    return FALSE;
  out[0] = input->size[0];
  for (guint i = 0; i < options->n; i++)
    {
      AdjSymbols *symbols = adj_context_get_symbols (call->cx);
      gint64 kernel;

      /* A symbol has the value of its hint. */
      if (!adj_size_get_hint (symbols, weight->size[2 + i], &kernel) || kernel < 1 ||
          kernel > G_MAXINT32 || !adj_size_is (symbols, weight->size[2 + i], kernel))
        return adj_op_call_fail (call, "the kernel's sizes must be positive integers");
      out[2 + i] = output_size (call, options, i, input->size[2 + i], kernel);
    }
  return !adj_context_has_error (call->cx);
}

/* For volumes only oneDNN uses channels last, which does not support f64 and integers. */
static gboolean
is_channels_last (const AdjOpCall *call, const Positions *positions)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, positions->input);

  if (input->shape.rank == 5 &&
      (!adj_dtype_is_floating (input->dtype) || input->dtype == ADJ_DTYPE_F64))
    return FALSE;
  return op_is_channels_last (call, positions->input) ||
         op_is_channels_last (call, positions->input + 1);
}

static gboolean
convolution_meta (AdjOpCall *call)
{
  const AdjTensor *bias = adj_op_call_tensor_or_null (call, 2);
  Options options;
  AdjSize sizes[2 + OP_MAX_AXES];
  AdjDType dtype;

  if (!read_options (call, &forward_positions, &options) ||
      !output_sizes (call, &forward_positions, &options, sizes))
    return FALSE;
  dtype = adj_op_call_meta (call, 0)->dtype;
  if (bias != NULL)
    {
      const AdjTensorMeta *meta = adj_tensor_get_meta (bias);

      if (meta->dtype != dtype || meta->shape.rank != 1 ||
          !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, meta->shape.size[0], sizes[1]))
        return adj_op_call_fail (call, "the bias must have one entry per output channel, of the "
                                       "input's dtype");
    }
  op_add_format (call, dtype, options.n + 2, sizes, is_channels_last (call, &forward_positions));
  return TRUE;
}

static gboolean
backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  gboolean channels_last;
  Options options;
  AdjShape wanted;

  if (!read_options (call, &backward_positions, &options) ||
      !output_sizes (call, &backward_positions, &options, wanted.size))
    return FALSE;
  adj_shape_init (&wanted, op_symbols (call), options.n + 2, wanted.size);
  if (!adj_shape_same_sizes (&wanted, &grad->shape, op_symbols (call)) ||
      grad->dtype != adj_op_call_meta (call, 1)->dtype)
    {
      g_autofree char *a = op_sizes_text (call, &grad->shape);
      g_autofree char *b = op_sizes_text (call, &wanted);

      return adj_op_call_fail (call, "the gradient %s is none of a result %s", a, b);
    }

  channels_last = is_channels_last (call, &backward_positions);
  for (guint i = 0; i < 2; i++)
    {
      const AdjTensorMeta *of = adj_op_call_meta (call, 1 + i);

      if (op_wants (call, 10, i))
        op_add_format (call, of->dtype, of->shape.rank, of->shape.size, channels_last);
      else
        adj_op_call_add_none (call);
    }
  if (op_wants (call, 10, 2))
    op_add_contiguous (call, grad->dtype, 1, &wanted.size[1]);
  else
    adj_op_call_add_none (call);
  return TRUE;
}

/* -- kernels -- */

static AdjKConv
conv_new (const Options *options)
{
  AdjKConv conv = { .groups = options->groups };

  for (guint i = 0; i < options->n; i++)
    {
      conv.stride[i] = options->stride[i];
      conv.padding[i] = options->padding[i];
      conv.dilation[i] = options->dilation[i];
    }
  return conv;
}

static gboolean
convolution_kernel (AdjOpCall *call)
{
  Options options;
  AdjKView bias;
  AdjKConv conv;

  if (!read_options (call, &forward_positions, &options))
    return FALSE;
  conv = conv_new (&options);
  if (!op_input (call, 0, options.transposed ? &conv.y : &conv.x) || !op_input (call, 1, &conv.w) ||
      !op_input_or_null (call, 2, &bias, &conv.bias) ||
      !op_output (call, 0, options.transposed ? &conv.x : &conv.y))
    return FALSE;
  return (options.transposed ? adj_q_conv_input (op_queue (call), &conv)
                             : adj_q_conv (op_queue (call), &conv)) ||
         op_no_memory (call);
}

/* The gradient of the bias: sums over all dimensions but the channels. */
static void
sum_channels (const AdjOpCall *call, const AdjKView *out, const AdjKView *grad)
{
  AdjKView sums = *grad;
  guint32 dims = ((1u << grad->rank) - 1) & ~2u;

  sums.data = out->data;
  sums.type = out->type;
  for (gint i = 0; i < grad->rank; i++)
    if (i != 1)
      sums.size[i] = 1;
  sums.stride[1] = out->stride[0];
  adj_q_reduce (op_queue (call), ADJ_K_SUM, &sums, grad, dims);
}

static gboolean
backward_kernel (AdjOpCall *call)
{
  const AdjKView *gx, *gw, *gb;
  AdjKView grad, input, weight, x, w, b;
  Options options;
  AdjKConv conv;
  gboolean done = TRUE;

  if (!read_options (call, &backward_positions, &options) || !op_input (call, 0, &grad) ||
      !op_input (call, 1, &input) || !op_input (call, 2, &weight) ||
      !op_output_or_null (call, 0, &x, &gx) || !op_output_or_null (call, 1, &w, &gw) ||
      !op_output_or_null (call, 2, &b, &gb))
    return FALSE;
  conv = conv_new (&options);
  if (gx != NULL)
    {
      conv.w = weight;
      conv.x = options.transposed ? grad : x;
      conv.y = options.transposed ? x : grad;
      done = options.transposed ? adj_q_conv (op_queue (call), &conv)
                                : adj_q_conv_input (op_queue (call), &conv);
    }
  if (gw != NULL && done)
    {
      conv.w = w;
      conv.x = options.transposed ? grad : input;
      conv.y = options.transposed ? input : grad;
      done = adj_q_conv_weight (op_queue (call), &conv);
    }
  if (gb != NULL)
    sum_channels (call, gb, &grad);
  return done || op_no_memory (call);
}

/* -- costs -- */

/* Number of multiplications per element of the narrow side: the result of a convolution, the input
 * of a transposed one. */
static double
products (const AdjOpCall *call, const Positions *positions)
{
  const AdjShape *weight = &adj_op_call_meta (call, positions->input + 1)->shape;
  double outputs = 0;
  gint64 n;

  if (weight->rank > 0 && adj_size_get_hint (op_symbols (call), weight->size[0], &n))
    outputs = (double) n;
  return outputs > 0 ? op_count (call, weight) / outputs : 0;
}

static double
convolution_flops (const AdjOpCall *call)
{
  gboolean transposed = adj_op_call_bool (call, forward_positions.transposed);
  const AdjShape *narrow =
      transposed ? &adj_op_call_meta (call, 0)->shape : &call->results[0].meta.shape;

  return 2 * op_count (call, narrow) * products (call, &forward_positions);
}

/* For the result of a convolution (@sums_outputs false) or of a transposed one. */
static double
reduction_of (const AdjOpCall *call, const Positions *positions, gboolean sums_outputs)
{
  const AdjShape *weight = &adj_op_call_meta (call, positions->input + 1)->shape;
  gint64 inputs = 1;

  if (!sums_outputs)
    return products (call, positions);
  adj_size_get_hint (op_symbols (call), weight->size[1], &inputs);
  return op_count (call, weight) / (double) MAX (inputs, 1) /
         (double) adj_op_call_int (call, positions->groups, 1);
}

static double
convolution_reduction (const AdjOpCall *call)
{
  return reduction_of (call, &forward_positions,
                       adj_op_call_bool (call, forward_positions.transposed));
}

static double
backward_flops (const AdjOpCall *call)
{
  gboolean transposed = adj_op_call_bool (call, backward_positions.transposed);
  const AdjShape *grad = &adj_op_call_meta (call, 0)->shape;
  const AdjShape *narrow = transposed ? &adj_op_call_meta (call, 1)->shape : grad;
  double product = 2 * op_count (call, narrow) * products (call, &backward_positions);

  return (op_wants (call, 10, 0) + op_wants (call, 10, 1)) * product +
         op_wants (call, 10, 2) * op_count (call, grad);
}

/* The longest of the three sums. */
static double
backward_reduction (const AdjOpCall *call)
{
  const AdjShape *grad = &adj_op_call_meta (call, 0)->shape;
  gboolean transposed = adj_op_call_bool (call, backward_positions.transposed);
  double over_weight = reduction_of (call, &backward_positions, !transposed);
  gint64 channels = 1;

  adj_size_get_hint (op_symbols (call), grad->size[1], &channels);
  return MAX (over_weight, op_count (call, grad) / (double) MAX (channels, 1));
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/conv.inc"
};

const OpFamily adj_family_conv = { ops, G_N_ELEMENTS (ops) };
