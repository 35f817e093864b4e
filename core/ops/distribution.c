/* SPDX-License-Identifier: MIT */
/* Distributions other than the uniform and the normal one, as PyTorch's CPU kernels draw them. */

#include <math.h>

#include "call/adj-context-internal.h"
#include "call/adj-generator-internal.h"
#include "ops/random-private.h"
#include "ops/table-private.h"

static gboolean
check_positive (const AdjOpCall *call, guint arg, double if_none)
{
  double x = adj_op_call_double (call, arg, if_none);

  return x > 0 || adj_op_call_fail (call, "%s must be more than 0, not %g",
                                    call->schema->arguments[arg].name, x);
}

/* Draws one number for each element, in memory order. */
static void
draw_each (AdjGenerator *generator,
           const AdjKView *flat,
           const OpStretch *stretch,
           double (*next) (AdjGenerator *, const OpStretch *))
{
  double values[OP_CHUNK];

  for (gint64 at = 0; at < flat->size[0]; at += OP_CHUNK)
    {
      gint64 n = MIN (OP_CHUNK, flat->size[0] - at);

      for (gint64 i = 0; i < n; i++)
        values[i] = next (generator, stretch);
      op_write_doubles (flat, at, values, n);
    }
}

/* -- exponential -- */

static gboolean
exponential_meta (AdjOpCall *call)
{
  op_add_drawn (call);
  return op_check_drawn (call) && check_positive (call, 1, 1);
}

/* In row-major order, not memory order; for float64 the second of two draws is the seed. */
static void
draw_exponential_from_stream (const AdjOpCall *call, const AdjKView *dense, double scale)
{
  AdjKView flat = op_flat (dense);
  OpStream stream = op_stream_start (dense->type == ADJ_K_F64
                                         ? (guint32) adj_generator_next64 (op_generator (call))
                                         : adj_generator_next32 (op_generator (call)));

  for (gint64 at = 0; at < flat.size[0]; at += OP_CHUNK)
    {
      gint64 n = MIN (OP_CHUNK, flat.size[0] - at);
      double chunk[OP_CHUNK];

      for (gint64 i = 0; i < n; i++)
        chunk[i] = -log (op_stream_next (&stream)) * scale;
      op_write_doubles (&flat, at, chunk, n);
    }
}

static gboolean
write_exponential_from_stream (AdjOpCall *call, double scale)
{
  AdjDType drawn = adj_context_get_drawn_dtype (call->cx);
  g_autofree gpointer memory = NULL;
  AdjKView out, values;

  if (!op_output (call, 0, &out))
    return FALSE;
  memory = op_temporary (
      op_queue (call), &out,
      out.type == ADJ_K_F64 && drawn != ADJ_DTYPE_NONE ? (AdjKType) drawn : out.type, &values);
  draw_exponential_from_stream (call, &values, scale);
  adj_q_copy (op_queue (call), &out, &values);
  return TRUE;
}

static void
draw_exponential (const AdjOpCall *call,
                  const AdjKView *flat,
                  gboolean contiguous,
                  const OpStretch *stretch)
{
  double values[OP_CHUNK];

  for (gint64 at = 0; at < flat->size[0]; at += OP_CHUNK)
    {
      gint64 n = MIN (OP_CHUNK, flat->size[0] - at);

      for (gint64 i = 0; i < n; i++)
        values[i] = -stretch->scale * log1p (-adj_generator_next_uniform (op_generator (call)));
      op_write_doubles (flat, at, values, n);
    }
}

static gboolean
draws_from_stream (const AdjOpCall *call)
{
  return adj_generator_get_source (op_generator (call)) == ADJ_RANDOM_MKL;
}

void
op_draw_exponential (AdjOpCall *call, const AdjKView *out)
{
  AdjKView flat = op_flat (out);

  if (draws_from_stream (call))
    draw_exponential_from_stream (call, out, 1);
  else
    draw_exponential (call, &flat, TRUE, &(OpStretch){ 1, 0 });
}

static gboolean
exponential_kernel (AdjOpCall *call)
{
  double rate = adj_op_call_double (call, 1, 1), scale = 1 / rate;

  if (op_draws_for_gpu (call))
    return op_draw_exponential_for_gpu (call, rate);
  if (draws_from_stream (call))
    return write_exponential_from_stream (call, scale);
  return op_draw_output (call, draw_exponential, &(OpStretch){ scale, 0 });
}

/* -- Cauchy's -- */

static gboolean
cauchy_meta (AdjOpCall *call)
{
  op_add_drawn (call);
  return op_check_drawn (call) && check_positive (call, 2, 1);
}

static double
next_cauchy (AdjGenerator *generator, const OpStretch *stretch)
{
  return stretch->shift +
         stretch->scale * tan (G_PI * (adj_generator_next_uniform (generator) - 0.5));
}

static void
draw_cauchy (const AdjOpCall *call,
             const AdjKView *flat,
             gboolean contiguous,
             const OpStretch *stretch)
{
  draw_each (op_generator (call), flat, stretch, next_cauchy);
}

static gboolean
cauchy_kernel (AdjOpCall *call)
{
  return op_draw_output (
      call, draw_cauchy,
      &(OpStretch){ adj_op_call_double (call, 2, 1), adj_op_call_double (call, 1, 0) });
}

/* -- log-normal -- */

static gboolean
log_normal_meta (AdjOpCall *call)
{
  op_add_drawn (call);
  return op_check_drawn (call) && check_positive (call, 2, 2);
}

static double
next_log_normal (AdjGenerator *generator, const OpStretch *stretch)
{
  return exp (adj_generator_next_normal (generator) * stretch->scale + stretch->shift);
}

static void
draw_log_normal (const AdjOpCall *call,
                 const AdjKView *flat,
                 gboolean contiguous,
                 const OpStretch *stretch)
{
  draw_each (op_generator (call), flat, stretch, next_log_normal);
}

static gboolean
log_normal_kernel (AdjOpCall *call)
{
  return op_draw_output (
      call, draw_log_normal,
      &(OpStretch){ adj_op_call_double (call, 2, 2), adj_op_call_double (call, 1, 1) });
}

/* -- geometric -- */

static gboolean
geometric_meta (AdjOpCall *call)
{
  double p = adj_op_call_double (call, 1, 0);

  if (!(p > 0 && p < 1))
    return adj_op_call_fail (call, "p must be between 0 and 1, not %g", p);
  op_add_drawn (call);
  return TRUE;
}

/* The number of trials until the first success. */
static double
next_geometric (AdjGenerator *generator, const OpStretch *stretch)
{
  return ceil (log (adj_generator_next_uniform (generator)) * stretch->scale);
}

static gboolean
geometric_kernel (AdjOpCall *call)
{
  const OpStretch stretch = { 1 / log1p (-adj_op_call_double (call, 1, 0)), 0 };
  AdjKView flat;

  if (!op_flat_output (call, 0, &flat))
    return FALSE;
  draw_each (op_generator (call), &flat, &stretch, next_geometric);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/distribution.inc"
};

const OpFamily adj_family_distribution = { ops, G_N_ELEMENTS (ops) };
