/* SPDX-License-Identifier: MIT */
/* Random numbers of tensors that were on a GPU when recorded, as PyTorch's CUDA kernels draw them:
 * functions of seed, offset and position, computed on any device.  Sources: PyTorch,
 * aten/src/ATen/native/cuda/DistributionTemplates.h and Dropout.cu; CUDA's curand headers. */

#include "call/adj-context-internal.h"
#include "ops/adj-release-facts.h"
#include "ops/create-private.h"
#include "ops/random-private.h"

gboolean
op_draws_for_gpu (const AdjOpCall *call)
{
  gint device = op_find_option (call, "device");

  return adj_context_get_gpu_threads (call->cx) > 0 &&
         (device < 0 || call->args[device].kind != ADJ_VALUE_DEVICE ||
          call->args[device].device.type == ADJ_DEVICE_CUDA);
}

/* -- the draw -- */

static void
draw (const AdjOpCall *call, const AdjKDraw *what, const AdjKView *out)
{
  AdjKQueue *queue = op_queue (call);
  AdjPhilox state = adj_context_get_philox (call->cx);
  AdjKPhilox generator = { state.seed, state.offset };

  adj_q_draw (queue, queue->device != NULL ? queue->philox : &generator, what, out);
  if (queue->device == NULL)
    adj_context_set_philox (call->cx, (AdjPhilox){ generator.seed, generator.offset });
}

/* The elements of @out, drawn as @type and converted. */
static void
draw_as (const AdjOpCall *call, const AdjKDraw *what, AdjKType type, const AdjKView *out)
{
  AdjKDraw whole = *what;
  AdjKView flat = op_flat (out), drawn = flat;
  g_autofree gpointer memory =
      type != flat.type ? op_temporary (op_queue (call), &flat, type, &drawn) : NULL;

  if (flat.size[0] == 0)
    return;
  if (whole.n_threads == 0)
    whole.n_threads = adj_k_draw_threads (flat.size[0], adj_context_get_gpu_threads (call->cx));
  draw (call, &whole, &drawn);
  if (type != flat.type)
    adj_q_copy (op_queue (call), &flat, &drawn);
}

/* The element type of the result in PyTorch, which may be computed in a wider one here. */
static AdjKType
recorded_type (const AdjOpCall *call, const AdjKView *out)
{
  AdjDType drawn = adj_context_get_drawn_dtype (call->cx);

  return out->type == ADJ_K_F64 && drawn != ADJ_DTYPE_NONE ? (AdjKType) drawn : out->type;
}

/* -- by operators -- */

static gboolean
draw_floats (AdjOpCall *call, AdjKDraw what)
{
  AdjKView out;
  AdjKType type;

  if (!op_output (call, 0, &out))
    return FALSE;
  type = recorded_type (call, &out);
  what.width = 1;
  what.wide = type == ADJ_K_F64;
  draw_as (call, &what, type, &out);
  return TRUE;
}

gboolean
op_draw_uniform_for_gpu (AdjOpCall *call, double from, double to)
{
  AdjKView out;
  AdjKType type;

  if (!op_output (call, 0, &out))
    return FALSE;
  type = recorded_type (call, &out);
  from = op_rounded (type, from);
  to = op_rounded (type, to);
  return draw_floats (call, (AdjKDraw){ .kind = ADJ_K_DRAW_UNIFORM,
                                        .scale = op_rounded (type, to - from),
                                        .shift = from,
                                        .end = to });
}

gboolean
op_draw_normal_for_gpu (AdjOpCall *call, double mean, double deviation)
{
  return draw_floats (call,
                      (AdjKDraw){ .kind = ADJ_K_DRAW_NORMAL, .scale = deviation, .shift = mean });
}

gboolean
op_draw_exponential_for_gpu (AdjOpCall *call, double rate)
{
  AdjKView out;
  gboolean wide;

  if (!op_output (call, 0, &out))
    return FALSE;
  wide = recorded_type (call, &out) == ADJ_K_F64;
  return draw_floats (call, (AdjKDraw){ .kind = ADJ_K_DRAW_EXPONENTIAL,
                                        .scale = wide ? -1 / rate : -1 / (float) rate });
}

gboolean
op_draw_integers_for_gpu (AdjOpCall *call, gint64 low, guint64 range, gboolean wide)
{
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  draw_as (call,
           &(AdjKDraw){
               .kind = ADJ_K_DRAW_INTEGER, .wide = wide, .width = 1, .low = low, .range = range },
           ADJ_K_I64, &out);
  return TRUE;
}

gboolean
op_draw_bernoulli_for_gpu (AdjOpCall *call, double p)
{
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  draw_as (call,
           &(AdjKDraw){ .kind = ADJ_K_DRAW_BELOW,
                        .wide = recorded_type (call, &out) == ADJ_K_F64,
                        .width = 1,
                        .scale = p },
           ADJ_K_BOOL, &out);
  return TRUE;
}

/* The offset advances by the maximum that any kernel could need. */
#define BERNOULLI_MOVE 12

void
op_draw_units_for_gpu (const AdjOpCall *call, const AdjKView *units)
{
  AdjPhilox state = adj_context_get_philox (call->cx);
  AdjKView flat = op_flat (units);
  const AdjKDraw what = {
    .kind = ADJ_K_DRAW_UNIFORM, .width = 4, .n_threads = flat.size[0] / 4 + 1, .scale = 1, .end = -1
  };

  draw (call, &what, &flat);
  adj_context_set_philox (call->cx, (AdjPhilox){ state.seed, state.offset + BERNOULLI_MOVE });
}

/* Number of adjacent elements that a thread loads and stores at once. */
static gint32
mask_width (const AdjOpCall *call, const AdjKView *input, gint64 n)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, 0);
  gsize size = adj_k_type_get_size (recorded_type (call, input));
  gint32 most = adj_op_release_has (call, ADJ_FACT_MASKED_BY_EIGHT) ? 8 : 4;
  gint32 width = MIN (most, 16 / (gint32) size);
  gint64 offset = 0;

  if (!adj_shape_is_dense (&meta->shape, op_symbols (call)))
    return 1;
  adj_size_get_hint (op_symbols (call), meta->shape.offset, &offset);
  while (width > 1 && (n % width != 0 || offset % width != 0))
    width /= 2;
  return width;
}

gboolean
op_draw_mask_for_gpu (AdjOpCall *call, const AdjKView *input, double p)
{
  AdjKView out;

  if (!op_output (call, 1, &out))
    return FALSE;
  draw_as (call,
           &(AdjKDraw){ .kind = ADJ_K_DRAW_BELOW,
                        .width = mask_width (call, input, adj_k_view_count (&out)),
                        .scale = p },
           ADJ_K_BOOL, &out);
  return TRUE;
}
