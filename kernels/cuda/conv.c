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

static bool
run (AdjKQueue *queue,
     const AdjKConv *conv,
     AdjKConvKind kind,
     const char *symbol,
     const AdjKView *to)
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
  RUN (queue, symbol, adj_k_view_count (to), args);
  return true;
}

bool
adj_k_cuda_conv (AdjKQueue *queue, const AdjKConv *conv)
{
  return run (queue, conv, ADJ_K_CONV_FORWARD, OF_CLASS ("adj_conv", class_of (conv->y.type)),
              &conv->y);
}

bool
adj_k_cuda_conv_input (AdjKQueue *queue, const AdjKConv *conv)
{
  return run (queue, conv, ADJ_K_CONV_INPUT, OF_CLASS ("adj_conv_input", class_of (conv->x.type)),
              &conv->x);
}

bool
adj_k_cuda_conv_weight (AdjKQueue *queue, const AdjKConv *conv)
{
  return run (queue, conv, ADJ_K_CONV_WEIGHT, OF_CLASS ("adj_conv_weight", class_of (conv->w.type)),
              &conv->w);
}
