/* SPDX-License-Identifier: MIT */
/* Bernoulli numbers and dropout. */

#include "adj-kernel-random.h"

#include "call/adj-context-internal.h"
#include "ops/random-private.h"
#include "ops/table-private.h"

static gboolean
check_probability (const AdjOpCall *call, double p)
{
  return (p >= 0 && p <= 1) || adj_op_call_fail (call, "%g is no probability", p);
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

static void
draw_from_stream (AdjGenerator *generator, const AdjKView *out, double p)
{
  OpStream stream = op_stream_start (adj_generator_next32 (generator));
  AdjKView drawn;
  g_autofree guint8 *stays = op_temporary (NULL, out, ADJ_K_BOOL, &drawn);

  for (gint64 i = 0; i < adj_k_view_count (out); i++)
    stays[i] = op_stream_next (&stream) < p;
  adj_k_copy (out, &drawn);
}

static void
draw_from_generator (AdjGenerator *generator, const AdjKView *flat, double p)
{
  double values[OP_CHUNK];

  for (gint64 at = 0; at < flat->size[0]; at += OP_CHUNK)
    {
      gint64 n = MIN (OP_CHUNK, flat->size[0] - at);

      for (gint64 i = 0; i < n; i++)
        values[i] = adj_generator_next_uniform (generator) < p;
      op_write_doubles (flat, at, values, n);
    }
}

gboolean
op_draw_bernoulli (AdjOpCall *call, guint index, double p)
{
  AdjGenerator *generator = op_generator (call);
  AdjKView out, flat;

  if (!op_output (call, index, &out))
    return FALSE;
  flat = op_flat (&out);
  if (adj_generator_get_source (generator) == ADJ_RANDOM_MKL)
    draw_from_stream (generator, &out, p);
  else
    draw_from_generator (generator, &flat, p);
  return TRUE;
}

static gboolean
bernoulli_p_kernel (AdjOpCall *call)
{
  return op_draw_bernoulli (call, 0, adj_op_call_double (call, 1, 0));
}

static gboolean
bernoulli_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return op_check_drawn (call);
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
  p = op_temporary (op_queue (call), &self, ADJ_K_F64, &values);
  adj_q_copy (op_queue (call), &values, &self);
  for (gint64 i = 0; i < adj_k_view_count (&self); i++)
    {
      if (!check_probability (call, p[i]))
        return FALSE;
      p[i] = op_next_uniform (op_generator (call), wide ? ADJ_K_F64 : ADJ_K_F32) < p[i];
    }
  adj_q_copy (op_queue (call), &out, &values);
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
  return op_check_drawn (call);
}

static gboolean
dropout_kernel (AdjOpCall *call)
{
  double p = adj_op_call_double (call, 1, 0);
  double scale = p < 1 ? 1 / (1 - p) : 0;
  g_autofree double *x = NULL;
  g_autofree double *stays = NULL;
  AdjKView input, output, mask, values, drawn;

  if (!op_input (call, 0, &input) || !op_output (call, 0, &output) || !op_output (call, 1, &mask))
    return FALSE;
  if (!is_training (call))
    {
      adj_q_copy (op_queue (call), &output, &input);
      adj_q_fill_i64 (op_queue (call), &mask, 1);
      return TRUE;
    }
  if (input.type != ADJ_K_F64)
    scale = (float) scale;
  if (!op_draw_bernoulli (call, 1, 1 - p))
    return FALSE;
  stays = op_temporary (op_queue (call), &input, ADJ_K_F64, &drawn);
  adj_q_copy (op_queue (call), &drawn, &mask);
  x = op_temporary (op_queue (call), &input, ADJ_K_F64, &values);
  adj_q_copy (op_queue (call), &values, &input);
  for (gint64 i = 0; i < adj_k_view_count (&input); i++)
    x[i] = x[i] * stays[i] * scale;
  adj_q_copy (op_queue (call), &output, &values);
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
#include "ops/bernoulli.inc"
};

const OpFamily adj_family_bernoulli = { ops, G_N_ELEMENTS (ops) };
