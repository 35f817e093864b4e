/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "adj-kernel-random.h"

#include "call/adj-context-internal.h"
#include "ops/create-private.h"
#include "ops/table-private.h"

/* Random numbers: the distributions of PyTorch's CPU kernels, draw for draw.  Values are drawn in
 * the order of memory. */

#define CHUNK 1024

static AdjGenerator *
generator_of (const AdjOpCall *call)
{
  return adj_context_get_generator (call->cx);
}

/* -- filling -- */

/* The elements of result @index in the order of memory: fresh results have no gaps. */
static gboolean
flat_output (const AdjOpCall *call, guint index, AdjKView *out)
{
  if (!op_output (call, index, out))
    return FALSE;
  out->size[0] = adj_k_view_count (out);
  out->stride[0] = 1;
  out->rank = 1;
  return TRUE;
}

static AdjKView
part_of (const AdjKView *flat, gint64 start, gint64 n)
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

static void
write_doubles (const AdjKView *flat, gint64 start, double *values, gint64 n)
{
  AdjKView to = part_of (flat, start, n);
  AdjKView from = doubles_view (values, n);

  adj_k_copy (&to, &from);
}

static void
read_doubles (const AdjKView *flat, gint64 start, double *values, gint64 n)
{
  AdjKView from = part_of (flat, start, n);
  AdjKView to = doubles_view (values, n);

  adj_k_copy (&to, &from);
}

/* What is drawn, times @scale, moved by @shift. */
typedef struct
{
  double scale, shift;
} Stretch;

static const Stretch as_drawn = { 1, 0 };

typedef void (*Draw) (AdjGenerator *generator,
                      const AdjKView *flat,
                      gboolean contiguous,
                      const Stretch *stretch);

/* Draws into the result: in its own dtype, or in the narrower one that its float64 stands for. */
static gboolean
draw_output (AdjOpCall *call, Draw draw, const Stretch *stretch)
{
  AdjDType drawn = adj_context_get_drawn_dtype (call->cx);
  const AdjShape *shape = &call->results[0].meta.shape;
  gboolean contiguous = adj_shape_is_contiguous (shape, op_symbols (call));
  g_autofree gpointer narrow = NULL;
  AdjKView out, flat;

  if (!flat_output (call, 0, &out))
    return FALSE;
  if (out.type != ADJ_K_F64 || drawn == ADJ_DTYPE_NONE || (gint) drawn == (gint) ADJ_K_F64)
    {
      draw (generator_of (call), &out, contiguous, stretch);
      return TRUE;
    }
  narrow = op_temporary (&out, (AdjKType) drawn, &flat);
  draw (generator_of (call), &flat, contiguous, stretch);
  adj_k_copy (&out, &flat);
  return TRUE;
}

/* -- uniform and normal -- */

/* As many bits as the dtype holds exactly. */
static double
next_uniform (AdjGenerator *generator, AdjKType type)
{
  guint bits = type == ADJ_K_F16 ? 11 : type == ADJ_K_BF16 ? 8 : 24;

  if (type == ADJ_K_F64)
    return adj_generator_next_uniform (generator);
  return ldexp (adj_generator_next32 (generator) & ((1u << bits) - 1), -(gint) bits);
}

static void
draw_uniform (AdjGenerator *generator,
              const AdjKView *flat,
              gboolean contiguous,
              const Stretch *stretch)
{
  double values[CHUNK];

  for (gint64 at = 0; at < flat->size[0]; at += CHUNK)
    {
      gint64 n = MIN (CHUNK, flat->size[0] - at);

      for (gint64 i = 0; i < n; i++)
        values[i] = fma (next_uniform (generator, flat->type), stretch->scale, stretch->shift);
      write_doubles (flat, at, values, n);
    }
}

/* What is left of @x in a number of 16 bits. */
static double
rounded (AdjKType type, double x)
{
  guint16 narrow = 0;
  AdjKView wide = doubles_view (&x, 1);
  AdjKView view = { .data = &narrow, .type = type, .rank = 1, .size = { 1 }, .stride = { 1 } };

  adj_k_copy (&view, &wide);
  adj_k_copy (&wide, &view);
  return x;
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
      double logarithm = rounded (type, logf ((float) rounded (type, 1 - u[i])));
      double radius = rounded (type, sqrtf ((float) rounded (type, -2 * logarithm)));
      float angle = (float) rounded (type, 2 * G_PI * u[i + 8]);

      u[i] = rounded (type, radius * rounded (type, cosf (angle)));
      u[i + 8] = rounded (type, radius * rounded (type, sinf (angle)));
    }
}

/* 16 uniform numbers become normal ones. */
static void
box_muller (const AdjKView *flat, gint64 start)
{
  double values[16];

  if (flat->type == ADJ_K_F32)
    {
      adj_k_box_muller_f32 ((float *) flat->data + start);
      return;
    }
  read_doubles (flat, start, values, 16);
  if (flat->type == ADJ_K_F64)
    box_muller_f64 (values);
  else
    box_muller_narrow (flat->type, values);
  write_doubles (flat, start, values, 16);
}

/* Sixteen at a time, the last ones drawn anew when there is a rest. */
static void
draw_normal_blocks (AdjGenerator *generator, const AdjKView *flat)
{
  gint64 n = flat->size[0];

  draw_uniform (generator, flat, TRUE, &as_drawn);
  for (gint64 at = 0; at + 16 <= n; at += 16)
    box_muller (flat, at);
  if (n % 16 != 0)
    {
      AdjKView last = part_of (flat, n - 16, 16);

      draw_uniform (generator, &last, TRUE, &as_drawn);
      box_muller (&last, 0);
    }
}

static void
stretch_all (const AdjKView *flat, const Stretch *stretch)
{
  double values[CHUNK];

  for (gint64 at = 0; at < flat->size[0] && stretch != &as_drawn; at += CHUNK)
    {
      gint64 n = MIN (CHUNK, flat->size[0] - at);

      read_doubles (flat, at, values, n);
      for (gint64 i = 0; i < n; i++)
        values[i] = values[i] * stretch->scale + stretch->shift;
      write_doubles (flat, at, values, n);
    }
}

static void
draw_normal (AdjGenerator *generator,
             const AdjKView *flat,
             gboolean contiguous,
             const Stretch *stretch)
{
  double values[CHUNK];

  if (contiguous && flat->size[0] >= 16)
    {
      draw_normal_blocks (generator, flat);
      stretch_all (flat, stretch);
      return;
    }
  for (gint64 at = 0; at < flat->size[0]; at += CHUNK)
    {
      gint64 n = MIN (CHUNK, flat->size[0] - at);

      for (gint64 i = 0; i < n; i++)
        values[i] = adj_generator_next_normal (generator) * stretch->scale + stretch->shift;
      write_doubles (flat, at, values, n);
    }
}

static gboolean
check_float (const AdjOpCall *call)
{
  AdjDType dtype = call->results[0].meta.dtype;

  return adj_dtype_is_floating (dtype) ||
         adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "draws no random numbers of dtype %s",
                              adj_dtype_info (dtype)->torch_name);
}

static gboolean
float_factory_meta (AdjOpCall *call)
{
  return op_factory_meta (call) && check_float (call);
}

static gboolean
float_like_meta (AdjOpCall *call)
{
  return op_like_meta (call) && check_float (call);
}

static gboolean
uniform_kernel (AdjOpCall *call)
{
  return draw_output (call, draw_uniform, &as_drawn);
}

static gboolean
normal_kernel (AdjOpCall *call)
{
  return draw_output (call, draw_normal, &as_drawn);
}

/* Dense, in the order of self. */
static gboolean
drawn_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjShape shape = self->shape;

  if (adj_op_call_double (call, 2, 1) <
      (g_str_equal (call->schema->name, "uniform") ? adj_op_call_double (call, 1, 0) : 0))
    return adj_op_call_fail (call, "%g … %g is no range, or no mean and deviation",
                             adj_op_call_double (call, 1, 0), adj_op_call_double (call, 2, 1));
  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &self->shape);
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, self->dtype, &shape);
  return check_float (call);
}

static gboolean
uniform_between_kernel (AdjOpCall *call)
{
  double from = adj_op_call_double (call, 1, 0);

  return draw_output (call, draw_uniform,
                      &(Stretch){ adj_op_call_double (call, 2, 1) - from, from });
}

static gboolean
normal_around_kernel (AdjOpCall *call)
{
  return draw_output (
      call, draw_normal,
      &(Stretch){ adj_op_call_double (call, 2, 1), adj_op_call_double (call, 1, 0) });
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

/* The numbers in f64, then rounded; f32 ones are drawn as such. */
static gboolean
philox_rand_kernel (AdjOpCall *call)
{
  gint64 seed = 0, offset = 0, n;
  AdjKView values, jump;
  gboolean is_double;

  if (!read_scalar (call, 1, &seed) || !read_scalar (call, 2, &offset) ||
      !flat_output (call, 0, &values) || !op_output (call, 1, &jump))
    return FALSE;
  n = adj_k_view_count (&values);
  is_double = values.type == ADJ_K_F64;
  *(gint64 *) jump.data = (gint64) adj_philox_jump ((guint64) n, is_double);
  if (is_double)
    adj_philox_uniform_double ((AdjPhilox){ (guint64) seed, (guint64) offset }, (guint64) n,
                               values.data);
  else if (values.type == ADJ_K_F32)
    adj_philox_uniform ((AdjPhilox){ (guint64) seed, (guint64) offset }, (guint64) n, values.data);
  else
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "draws float32 and float64 only");
  return TRUE;
}

/* -- integers -- */

static gboolean
check_integers (const AdjOpCall *call, AdjDType dtype)
{
  return (gint) dtype < (gint) ADJ_K_N ||
         adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "draws no integers of dtype %s",
                              adj_dtype_info (dtype)->torch_name);
}

/* The integers that @dtype holds without gaps. */
static void
integer_range (AdjDType dtype, gint64 *least, gint64 *most)
{
  guint bits = adj_dtype_info (dtype)->n_bytes * 8;

  *least = dtype == ADJ_DTYPE_U8 || dtype == ADJ_DTYPE_BOOL ? 0 : -(G_MAXINT64 >> (64 - bits)) - 1;
  *most = dtype == ADJ_DTYPE_U8 ? 255 : dtype == ADJ_DTYPE_BOOL ? 1 : G_MAXINT64 >> (64 - bits);
  if (!adj_dtype_is_floating (dtype))
    return;
  *most = 1ll << (dtype == ADJ_DTYPE_F64 ? 53 : dtype == ADJ_DTYPE_F32 ? 24 : 8);
  if (dtype == ADJ_DTYPE_F16)
    *most = 1ll << 11;
  *least = -*most;
}

/* randint is (high, size) or (low, high, size). */
static gboolean
read_bounds (const AdjOpCall *call, gint64 *low, gint64 *high)
{
  guint at = adj_op_call_find (call, "high");
  AdjSymbols *symbols = op_symbols (call);
  AdjSize zero = ADJ_SIZE (0);

  *low = *high = 0;
  adj_size_get_hint (symbols, adj_op_call_size (call, at, zero), high);
  if (at > 0)
    adj_size_get_hint (symbols, adj_op_call_size (call, 0, zero), low);
  return *low < *high ||
         adj_op_call_fail (call,
                           "no integer is from %" G_GINT64_FORMAT " to below %" G_GINT64_FORMAT,
                           *low, *high);
}

static gboolean
randint_meta (AdjOpCall *call)
{
  AdjDType dtype = op_option_dtype (call, ADJ_DTYPE_I64);
  gint64 low, high, least, most;
  AdjShape shape;

  if (!check_integers (call, dtype) || !read_bounds (call, &low, &high) ||
      !op_new_shape (call, adj_op_call_find (call, "size"), &shape))
    return FALSE;
  integer_range (dtype, &least, &most);
  if (low < least || high - 1 > most)
    return adj_op_call_fail (call, "%s does not hold all these integers",
                             adj_dtype_info (dtype)->torch_name);
  return op_add_new (call, dtype, &shape);
}

static gboolean
randint_kernel (AdjOpCall *call)
{
  AdjGenerator *generator = generator_of (call);
  gint64 values[CHUNK];
  AdjKView from = { .data = values, .type = ADJ_K_I64, .rank = 1, .stride = { 1 } };
  gint64 low, high;
  guint64 range;
  AdjKView flat;

  if (!read_bounds (call, &low, &high) || !flat_output (call, 0, &flat))
    return FALSE;
  range = (guint64) high - (guint64) low;
  for (gint64 at = 0; at < flat.size[0]; at += CHUNK)
    {
      gint64 n = MIN (CHUNK, flat.size[0] - at);
      AdjKView to = part_of (&flat, at, n);

      for (gint64 i = 0; i < n; i++)
        {
          guint64 draw = range >> 32 != 0 ? adj_generator_next64 (generator)
                                          : adj_generator_next32 (generator);

          values[i] = (gint64) (draw % range + (guint64) low);
        }
      from.size[0] = n;
      adj_k_copy (&to, &from);
    }
  return TRUE;
}

/* Beyond it PyTorch draws in another way. */
#define MAX_PERMUTATION (G_MAXUINT32 / 20)

static gboolean
randperm_meta (AdjOpCall *call)
{
  AdjDType dtype = op_option_dtype (call, ADJ_DTYPE_I64);
  gint64 least, most, n = 0;
  AdjShape shape;

  if (!check_integers (call, dtype) || !op_new_shape (call, 0, &shape))
    return FALSE;
  integer_range (dtype, &least, &most);
  adj_size_get_hint (op_symbols (call), shape.size[0], &n);
  if (shape.rank != 1 || n > MAX_PERMUTATION || n - 1 > most)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "cannot put %" G_GINT64_FORMAT " numbers of dtype %s in order", n,
                                adj_dtype_info (dtype)->torch_name);
  return op_add_new (call, dtype, &shape);
}

static gboolean
randperm_kernel (AdjOpCall *call)
{
  AdjGenerator *generator = generator_of (call);
  g_autofree gint64 *order = NULL;
  AdjKView out, from;
  gint64 n;

  if (!flat_output (call, 0, &out))
    return FALSE;
  n = out.size[0];
  order = op_temporary (&out, ADJ_K_I64, &from);
  adj_k_iota_i64 (&from, 0, 1);
  for (gint64 i = 0; i + 1 < n; i++)
    {
      gint64 k = i + (gint64) (adj_generator_next32 (generator) % (guint64) (n - i));
      gint64 kept = order[i];

      order[i] = order[k];
      order[k] = kept;
    }
  adj_k_copy (&out, &from);
  return TRUE;
}

/* -- yes or no -- */

static gboolean
check_probability (const AdjOpCall *call, double p)
{
  return (p >= 0 && p <= 1) || adj_op_call_fail (call, "%g is no probability", p);
}

/* A multiplicative congruential stream that one draw of the generator starts: MKL's MCG31, which
 * PyTorch takes where all elements have one probability. */
typedef struct
{
  guint64 x;
} Stream;

#define STREAM_PRIME 0x7fffffff

static Stream
stream_start (AdjGenerator *generator)
{
  guint64 x = adj_generator_next32 (generator) % STREAM_PRIME;

  return (Stream){ x != 0 ? x : 1 };
}

static gboolean
stream_next (Stream *stream, double p)
{
  gboolean yes = (double) stream->x / STREAM_PRIME < p;

  stream->x = stream->x * 1132489760 % STREAM_PRIME;
  return yes;
}

static gboolean
bernoulli_p_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  if (!check_probability (call, adj_op_call_double (call, 1, 0)))
    return FALSE;
  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return TRUE;
}

static gboolean
bernoulli_p_kernel (AdjOpCall *call)
{
  double p = adj_op_call_double (call, 1, 0);
  Stream stream = stream_start (generator_of (call));
  double values[CHUNK];
  AdjKView flat;

  if (!flat_output (call, 0, &flat))
    return FALSE;
  for (gint64 at = 0; at < flat.size[0]; at += CHUNK)
    {
      gint64 n = MIN (CHUNK, flat.size[0] - at);

      for (gint64 i = 0; i < n; i++)
        values[i] = stream_next (&stream, p);
      write_doubles (&flat, at, values, n);
    }
  return TRUE;
}

static gboolean
bernoulli_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return check_float (call);
}

/* Each element has its own probability: uniform numbers below it, of 53 bits for float64, else of
 * 24. */
static gboolean
bernoulli_kernel (AdjOpCall *call)
{
  gboolean wide = adj_op_call_meta (call, 0)->dtype == ADJ_DTYPE_F64 &&
                  (adj_context_get_drawn_dtype (call->cx) == ADJ_DTYPE_NONE ||
                   adj_context_get_drawn_dtype (call->cx) == ADJ_DTYPE_F64);
  g_autofree double *p = NULL;
  AdjKView self, out, values;

  if (!op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  p = op_temporary (&self, ADJ_K_F64, &values);
  adj_k_copy (&values, &self);
  for (gint64 i = 0; i < adj_k_view_count (&self); i++)
    {
      if (!check_probability (call, p[i]))
        return FALSE;
      p[i] = next_uniform (generator_of (call), wide ? ADJ_K_F64 : ADJ_K_F32) < p[i];
    }
  adj_k_copy (&out, &values);
  return TRUE;
}

/* -- dropout -- */

static gboolean
is_training (const AdjOpCall *call)
{
  return call->args[2].kind == ADJ_VALUE_NONE || adj_op_call_bool (call, 2);
}

static gboolean
dropout_meta (AdjOpCall *call)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);
  AdjShape shape = input->shape;

  if (is_training (call) && !check_probability (call, adj_op_call_double (call, 1, 0)))
    return FALSE;
  adj_shape_set_format (&shape, op_symbols (call), ADJ_MEMORY_FORMAT_PRESERVE, &input->shape);
  shape.offset = ADJ_SIZE (0);
  adj_op_call_add (call, input->dtype, &shape);
  adj_op_call_add (call, ADJ_DTYPE_BOOL, &shape);
  return check_float (call);
}

static gboolean
dropout_kernel (AdjOpCall *call)
{
  double p = adj_op_call_double (call, 1, 0);
  double scale = p < 1 ? 1 / (1 - p) : 0;
  g_autofree double *x = NULL;
  g_autofree guint8 *stays = NULL;
  AdjKView input, output, mask, values, drawn;
  Stream stream;

  if (!op_input (call, 0, &input) || !op_output (call, 0, &output) || !op_output (call, 1, &mask))
    return FALSE;
  if (!is_training (call))
    {
      adj_k_copy (&output, &input);
      adj_k_fill_i64 (&mask, 1);
      return TRUE;
    }
  if (input.type != ADJ_K_F64)
    scale = (float) scale;
  stream = stream_start (generator_of (call));
  stays = op_temporary (&input, ADJ_K_BOOL, &drawn);
  x = op_temporary (&input, ADJ_K_F64, &values);
  adj_k_copy (&values, &input);
  for (gint64 i = 0; i < adj_k_view_count (&input); i++)
    {
      stays[i] = (guint8) stream_next (&stream, 1 - p);
      x[i] = x[i] * stays[i] * scale;
    }
  adj_k_copy (&output, &values);
  adj_k_copy (&mask, &drawn);
  return TRUE;
}

static double
dropout_flops (const AdjOpCall *call)
{
  gint64 n = 0;

  adj_size_get_hint (op_symbols (call),
                     adj_shape_numel (&adj_op_call_meta (call, 0)->shape, op_symbols (call)), &n);
  return 2 * (double) n;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/random.inc"
};

const OpFamily adj_family_random = { ops, G_N_ELEMENTS (ops) };
