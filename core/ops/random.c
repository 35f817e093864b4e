/* SPDX-License-Identifier: MIT */
/* Uniform and normal numbers, identical to those of PyTorch's CPU kernels, in memory order. */

#include <math.h>
#include <string.h>

#include "adj-kernel-random.h"

#include "call/adj-context-internal.h"
#include "call/adj-generator-internal.h"
#include "ops/adj-release-facts.h"
#include "ops/create-private.h"
#include "ops/random-private.h"
#include "ops/table-private.h"

AdjGenerator *
op_generator (const AdjOpCall *call)
{
  return adj_context_get_generator (call->cx);
}

gpointer
op_draw_words (const AdjOpCall *call, gint64 n, AdjKView *out)
{
  AdjKQueue *queue = op_queue (call);
  const AdjKView like = { .rank = 1, .size = { n } };
  gpointer memory = op_temporary (queue, &like, ADJ_K_I32, out);

  adj_q_words (queue,
               queue->device != NULL ? queue->twister
                                     : adj_generator_get_twister (op_generator (call)),
               out);
  return memory;
}

/* -- filling -- */

AdjKView
op_flat (const AdjKView *view)
{
  AdjKView flat = *view;

  flat.size[0] = adj_k_view_count (view);
  flat.stride[0] = 1;
  flat.rank = 1;
  return flat;
}

gboolean
op_flat_output (const AdjOpCall *call, guint index, AdjKView *out)
{
  AdjKView view;

  if (!op_output (call, index, &view))
    return FALSE;
  *out = op_flat (&view);
  return TRUE;
}

AdjKView
op_part_of (const AdjKView *flat, gint64 start, gint64 n)
{
  AdjKView part = *flat;

  part.data = (char *) flat->data + (gsize) start * adj_k_type_get_size (flat->type);
  part.size[0] = n;
  return part;
}

static AdjKView
doubles_view (double *values, gint64 n)
{
  return (AdjKView){ .data = values, .type = ADJ_K_F64, .rank = 1, .size = { n }, .stride = { 1 } };
}

void
op_write_doubles (const AdjKView *flat, gint64 start, double *values, gint64 n)
{
  AdjKView to = op_part_of (flat, start, n);
  AdjKView from = doubles_view (values, n);

  adj_k_copy (&to, &from);
}

static void
read_doubles (const AdjKView *flat, gint64 start, double *values, gint64 n)
{
  AdjKView from = op_part_of (flat, start, n);
  AdjKView to = doubles_view (values, n);

  adj_k_copy (&to, &from);
}

static const OpStretch as_drawn = { 1, 0, FALSE };

static void draw_uniform (const AdjOpCall *call,
                          const AdjKView *flat,
                          gboolean contiguous,
                          const OpStretch *stretch);

/* Numbers rounded up to the upper bound, which is excluded, become the lower one. */
static void
keep_below (const AdjKView *flat, const OpStretch *stretch)
{
  double bounds[] = { stretch->shift, stretch->shift + stretch->scale };
  guint16 narrow[2];
  AdjKView wide = doubles_view (bounds, 2);
  AdjKView view = { .data = narrow, .type = flat->type, .rank = 1, .size = { 2 }, .stride = { 1 } };
  double values[OP_CHUNK];

  adj_k_copy (&view, &wide);
  adj_k_copy (&wide, &view);
  for (gint64 at = 0; at < flat->size[0]; at += OP_CHUNK)
    {
      gint64 n = MIN (OP_CHUNK, flat->size[0] - at);

      read_doubles (flat, at, values, n);
      for (gint64 i = 0; i < n; i++)
        values[i] = values[i] == bounds[1] ? bounds[0] : values[i];
      op_write_doubles (flat, at, values, n);
    }
}

/* Draws 16-bit numbers in f32. */
static void
draw_wide (const AdjOpCall *call,
           OpDraw draw,
           const AdjKView *flat,
           gboolean contiguous,
           const OpStretch *stretch)
{
  AdjKQueue *queue = op_queue (call);
  const OpStretch once = { stretch->scale, stretch->shift, TRUE };
  AdjKView wide;
  g_autofree gpointer memory = op_temporary (queue, flat, ADJ_K_F32, &wide);

  if (queue->device != NULL)
    {
      adj_k_queue_lacks (queue, "16-bit random numbers that are rounded from f32");
      return;
    }
  draw (call, &wide, contiguous, &once);
  adj_q_copy (queue, flat, &wide);
  if (draw == draw_uniform)
    keep_below (flat, stretch);
}

gboolean
op_draw_output (AdjOpCall *call, OpDraw draw, const OpStretch *stretch)
{
  AdjDType drawn = adj_context_get_drawn_dtype (call->cx);
  const AdjShape *shape = &call->results[0].meta.shape;
  gboolean contiguous = adj_shape_is_contiguous (shape, op_symbols (call));
  g_autofree gpointer narrow = NULL;
  AdjKView out, flat;

  if (!op_flat_output (call, 0, &out))
    return FALSE;
  flat = out;
  if (out.type == ADJ_K_F64 && drawn != ADJ_DTYPE_NONE && (gint) drawn != (gint) ADJ_K_F64)
    narrow = op_temporary (op_queue (call), &out, (AdjKType) drawn, &flat);
  if ((flat.type == ADJ_K_F16 || flat.type == ADJ_K_BF16) &&
      adj_op_release_has (call, ADJ_FACT_DRAWN_WIDE))
    draw_wide (call, draw, &flat, contiguous, stretch);
  else
    draw (call, &flat, contiguous, stretch);
  if (narrow != NULL)
    adj_q_copy (op_queue (call), &out, &flat);
  return TRUE;
}

void
op_add_drawn (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape shape = self->shape;

  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &self->shape);
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &shape);
}

/* -- the stream -- */

#define STREAM_PRIME 0x7fffffff

OpStream
op_stream_start (guint32 seed)
{
  guint64 x = seed % STREAM_PRIME;

  return (OpStream){ x != 0 ? x : 1 };
}

double
op_stream_next (OpStream *stream)
{
  double drawn = (double) stream->x / STREAM_PRIME;

  stream->x = stream->x * 1132489760 % STREAM_PRIME;
  return drawn;
}

/* -- uniform and normal -- */

double
op_next_uniform (AdjGenerator *generator, AdjKType type)
{
  guint bits = type == ADJ_K_F16 ? 11 : type == ADJ_K_BF16 ? 8 : 24;

  if (type == ADJ_K_F64)
    return adj_generator_next_uniform (generator);
  return ldexp (adj_generator_next32 (generator) & ((1u << bits) - 1), -(gint) bits);
}

static void
draw_uniform (const AdjOpCall *call,
              const AdjKView *flat,
              gboolean contiguous,
              const OpStretch *stretch)
{
  for (gint64 at = 0; at < flat->size[0]; at += OP_WORDS)
    {
      AdjKView part = op_part_of (flat, at, MIN (OP_WORDS, flat->size[0] - at));
      AdjKView words;
      g_autofree gpointer memory =
          op_draw_words (call, part.size[0] * ADJ_K_UNIFORM_WORDS (flat->type), &words);

      adj_q_uniform (op_queue (call), &part, &words, stretch->scale, stretch->shift);
    }
}

static void
box_muller_f64 (double *u)
{
  for (guint i = 0; i < 8; i++)
    {
      double radius = sqrt (-2 * log (1 - u[i]));
      double angle = 2 * G_PI * u[i + 8];

      u[i] = radius * cos (angle);
      u[i + 8] = radius * sin (angle);
    }
}

/* Every step is rounded to 16 bits. */
static void
box_muller_narrow (AdjKType type, double *u)
{
  for (guint i = 0; i < 8; i++)
    {
      double logarithm = op_rounded (type, logf ((float) op_rounded (type, 1 - u[i])));
      double radius = op_rounded (type, sqrtf ((float) op_rounded (type, -2 * logarithm)));
      float angle = (float) op_rounded (type, 2 * G_PI * u[i + 8]);

      u[i] = op_rounded (type, radius * op_rounded (type, cosf (angle)));
      u[i + 8] = op_rounded (type, radius * op_rounded (type, sinf (angle)));
    }
}

/* Converts 16 uniform numbers to normal ones. */
static void
box_muller (const AdjKView *flat, gint64 start)
{
  double values[16];

  read_doubles (flat, start, values, 16);
  if (flat->type == ADJ_K_F64)
    box_muller_f64 (values);
  else
    box_muller_narrow (flat->type, values);
  op_write_doubles (flat, start, values, 16);
}

static void
stretch_all (const AdjKView *flat, const OpStretch *stretch)
{
  double values[OP_CHUNK];

  for (gint64 at = 0; at < flat->size[0] && stretch != &as_drawn; at += OP_CHUNK)
    {
      gint64 n = MIN (OP_CHUNK, flat->size[0] - at);

      read_doubles (flat, at, values, n);
      for (gint64 i = 0; i < n; i++)
        values[i] = values[i] * stretch->scale + stretch->shift;
      op_write_doubles (flat, at, values, n);
    }
}

/* In blocks of 16, in f32. */
static void
make_normal (const AdjOpCall *call, const AdjKView *flat, const OpStretch *stretch)
{
  const AdjKNormal normal = { stretch->scale, stretch->shift, stretch != &as_drawn };
  AdjKView whole = op_part_of (flat, 0, flat->size[0] / 16 * 16);

  if (flat->type == ADJ_K_F32)
    {
      adj_q_normal (op_queue (call), &whole, &normal);
      return;
    }
  for (gint64 at = 0; at < whole.size[0]; at += 16)
    box_muller (flat, at);
  stretch_all (&whole, stretch);
}

/* In blocks of 16; the last 16 are drawn again if there is a remainder. */
static void
draw_normal_blocks (const AdjOpCall *call, const AdjKView *flat, const OpStretch *stretch)
{
  AdjKView last = op_part_of (flat, flat->size[0] - 16, 16);
  AdjKView first = op_part_of (flat, 0, stretch->once ? flat->size[0] / 16 * 16 : flat->size[0]);

  draw_uniform (call, &first, TRUE, &as_drawn);
  make_normal (call, flat, stretch);
  if (flat->size[0] % 16 != 0)
    {
      draw_uniform (call, &last, TRUE, &as_drawn);
      make_normal (call, &last, stretch);
    }
}

static void
draw_normal (const AdjOpCall *call,
             const AdjKView *flat,
             gboolean contiguous,
             const OpStretch *stretch)
{
  AdjKQueue *queue = op_queue (call);
  gboolean blocks = contiguous && flat->size[0] >= 16;
  double values[OP_CHUNK];

  if (queue->device != NULL && (!blocks || flat->type != ADJ_K_F32))
    {
      adj_k_queue_lacks (queue, "normal of other than 16 numbers in f32");
      return;
    }
  if (blocks)
    draw_normal_blocks (call, flat, stretch);
  for (gint64 at = 0; at < flat->size[0] && !blocks; at += OP_CHUNK)
    {
      gint64 n = MIN (OP_CHUNK, flat->size[0] - at);

      for (gint64 i = 0; i < n; i++)
        values[i] =
            adj_generator_next_normal (op_generator (call)) * stretch->scale + stretch->shift;
      op_write_doubles (flat, at, values, n);
    }
}

gboolean
op_check_drawn (const AdjOpCall *call)
{
  AdjDType dtype = call->results[0].meta.dtype;

  return adj_dtype_is_floating (dtype) ||
         adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "draws no random numbers of dtype %s",
                              adj_dtype_info (dtype)->torch_name);
}

gboolean
op_draw_normal (AdjOpCall *call, double scale)
{
  if (op_draws_for_gpu (call))
    return op_draw_normal_for_gpu (call, 0, scale);
  return op_draw_output (call, draw_normal, scale == 1 ? &as_drawn : &(OpStretch){ scale, 0 });
}

static gboolean
float_factory_meta (AdjOpCall *call)
{
  return op_factory_meta (call) && op_check_drawn (call);
}

static gboolean
float_like_meta (AdjOpCall *call)
{
  return op_like_meta (call) && op_check_drawn (call);
}

static gboolean
uniform_kernel (AdjOpCall *call)
{
  return op_draws_for_gpu (call) ? op_draw_uniform_for_gpu (call, 0, 1)
                                 : op_draw_output (call, draw_uniform, &as_drawn);
}

static gboolean
normal_kernel (AdjOpCall *call)
{
  return op_draw_normal (call, 1);
}

static gboolean
drawn_meta (AdjOpCall *call)
{
  if (adj_op_call_double (call, 2, 1) <
      (g_str_equal (call->schema->name, "uniform") ? adj_op_call_double (call, 1, 0) : 0))
    return adj_op_call_fail (call, "%g … %g is no range, or no mean and deviation",
                             adj_op_call_double (call, 1, 0), adj_op_call_double (call, 2, 1));
  op_add_drawn (call);
  return op_check_drawn (call);
}

static gboolean
uniform_between_kernel (AdjOpCall *call)
{
  double from = adj_op_call_double (call, 1, 0), to = adj_op_call_double (call, 2, 1);

  return op_draws_for_gpu (call)
             ? op_draw_uniform_for_gpu (call, from, to)
             : op_draw_output (call, draw_uniform, &(OpStretch){ to - from, from });
}

static gboolean
normal_around_kernel (AdjOpCall *call)
{
  double mean = adj_op_call_double (call, 1, 0), deviation = adj_op_call_double (call, 2, 1);

  return op_draws_for_gpu (call)
             ? op_draw_normal_for_gpu (call, mean, deviation)
             : op_draw_output (call, draw_normal, &(OpStretch){ deviation, mean });
}

/* -- counter-based -- */

static gboolean
philox_rand_meta (AdjOpCall *call)
{
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, 0, sizes);
  AdjDType dtype = adj_op_call_dtype (call, 5, adj_context_get_default_dtype (call->cx));

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (call->args[3].kind != ADJ_VALUE_NONE)
    return adj_op_call_fail (call, "draws contiguous tensors only: stride is not None");
  if (!adj_dtype_is_floating (dtype))
    return adj_op_call_fail (call, "draws floating dtypes only");
  op_add_contiguous (call, dtype, rank, sizes);
  op_add_contiguous (call, ADJ_DTYPE_I64, 0, NULL);
  return TRUE;
}

static gboolean
read_scalar (const AdjOpCall *call, guint arg, gint64 *out)
{
  AdjKView view;

  if (!op_input (call, arg, &view))
    return FALSE;
  if (view.type != ADJ_K_I64 || adj_k_view_count (&view) != 1)
    return adj_op_call_fail (call, "argument %u is no int64 scalar", arg);
  *out = *(const gint64 *) view.data;
  return TRUE;
}

static gboolean
philox_rand_kernel (AdjOpCall *call)
{
  gint64 seed = 0, offset = 0, n;
  AdjKView values, jump;
  AdjKPhilox generator;

  if (!read_scalar (call, 1, &seed) || !read_scalar (call, 2, &offset) ||
      !op_flat_output (call, 0, &values) || !op_output (call, 1, &jump))
    return FALSE;
  if (values.type != ADJ_K_F32 && values.type != ADJ_K_F64)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "draws float32 and float64 only");
  n = adj_k_view_count (&values);
  generator = (AdjKPhilox){ (guint64) seed, (guint64) offset };
  if (n > 0)
    adj_k_draw (&generator,
                &(AdjKDraw){ .kind = ADJ_K_DRAW_UNIFORM,
                             .wide = values.type == ADJ_K_F64,
                             .width = 1,
                             .n_threads = adj_k_draw_threads (n, ADJ_K_DRAW_THREADS),
                             .scale = 1,
                             .end = 1 },
                &values);
  *(gint64 *) jump.data = (gint64) (generator.offset - (guint64) offset);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/random.inc"
};

const OpFamily adj_family_random = { ops, G_N_ELEMENTS (ops) };
