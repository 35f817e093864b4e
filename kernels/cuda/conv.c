/* SPDX-License-Identifier: MIT */
/* Launches convolutions. */

#include "cpu/volume.h"
#include "launch.h"

/* With three spatial dims, by sizes of 1 before those that there are. */
static AdjKView
with_three_axes (const AdjKView *view)
{
  AdjKView out = *view;
  int missing = AXES + 2 - view->rank;

  out.rank = AXES + 2;
  for (int d = 2; d < out.rank; d++)
    {
      out.size[d] = d - missing < 2 ? 1 : view->size[d - missing];
      out.stride[d] = d - missing < 2 ? 0 : view->stride[d - missing];
    }
  return out;
}

static int64_t
positions_of (const AdjKView *view)
{
  return view->size[2] * view->size[3] * view->size[4];
}

/* Tiles of a group's result: channels by positions, those of w: outputs by inputs and taps. */
static int64_t
count_tiles (const ConvArgs *args, AdjKConvKind kind)
{
  const AdjKView *x = &args->x, *w = &args->w, *y = &args->y;
  int64_t outputs = y->size[1] / args->groups, inputs = w->size[1];
  const int64_t sizes[][2] = {
    [ADJ_K_CONV_FORWARD] = { outputs, y->size[0] * positions_of (y) },
    [ADJ_K_CONV_INPUT] = { inputs, x->size[0] * positions_of (x) },
    [ADJ_K_CONV_WEIGHT] = { outputs, inputs * positions_of (w) },
  };

  return count_product_tiles (sizes[kind][0], sizes[kind][1]);
}

static bool
run (AdjKQueue *queue, const AdjKConv *conv, AdjKConvKind kind, const char *symbol)
{
  int missing = AXES + 2 - conv->w.rank;
  ConvArgs args = { .x = with_three_axes (&conv->x),
                    .w = with_three_axes (&conv->w),
                    .y = with_three_axes (&conv->y),
                    .groups = conv->groups };

  if (queue->device->convolve != NULL && queue->device->convolve (queue, kind, conv))
    return true;
  if (conv->bias)
    args.bias = *conv->bias;
  for (int d = 0; d < AXES; d++)
    {
      args.stride[d] = d < missing ? 1 : conv->stride[d - missing];
      args.padding[d] = d < missing ? 0 : conv->padding[d - missing];
      args.dilation[d] = d < missing ? 1 : conv->dilation[d - missing];
    }
  RUN_BLOCKS (queue, symbol, args.groups * count_tiles (&args, kind), CUDA_CHUNK, args);
  return true;
}

bool
adj_k_cuda_conv (AdjKQueue *queue, const AdjKConv *conv)
{
  return run (queue, conv, ADJ_K_CONV_FORWARD, OF_CLASS ("adj_conv", class_of (conv->y.type)));
}

bool
adj_k_cuda_conv_input (AdjKQueue *queue, const AdjKConv *conv)
{
  return run (queue, conv, ADJ_K_CONV_INPUT, OF_CLASS ("adj_conv_input", class_of (conv->x.type)));
}

bool
adj_k_cuda_conv_weight (AdjKQueue *queue, const AdjKConv *conv)
{
  return run (queue, conv, ADJ_K_CONV_WEIGHT,
              OF_CLASS ("adj_conv_weight", class_of (conv->w.type)));
}
