/* SPDX-License-Identifier: MIT */
/* Bernoulli numbers and dropout. */

#include "adj-kernel-random.h"

#include "call/adj-context-internal.h"
#include "call/adj-generator-internal.h"
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

/* Draws the elements of @out in row-major order: from MKL's stream, or two words each. */
static void
draw_bernoulli (const AdjOpCall *call, const AdjKView *out, double p, gboolean streams)
{
  AdjKView words, drawn;
  g_autofree gpointer memory =
      op_draw_words (call, streams ? 1 : 2 * adj_k_view_count (out), &words);
  g_autofree gpointer bools = op_temporary (op_queue (call), out, ADJ_K_BOOL, &drawn);

  adj_q_bernoulli (op_queue (call), &drawn, &words, p, streams);
  adj_q_copy (op_queue (call), out, &drawn);
}

gboolean
op_draw_bernoulli (AdjOpCall *call, guint index, double p)
{
  AdjKView out, flat;

  if (!op_output (call, index, &out))
    return FALSE;
  flat = op_flat (&out);
  if (adj_generator_get_source (op_generator (call)) == ADJ_RANDOM_MKL)
    draw_bernoulli (call, &out, p, TRUE);
  else
    for (gint64 at = 0; at < flat.size[0]; at += OP_WORDS)
      {
        AdjKView part = op_part_of (&flat, at, MIN (OP_WORDS, flat.size[0] - at));

        draw_bernoulli (call, &part, p, FALSE);
      }
  return TRUE;
}

static gboolean
bernoulli_p_kernel (AdjOpCall *call)
{
  double p = adj_op_call_double (call, 1, 0);

  return op_draws_for_gpu (call) ? op_draw_bernoulli_for_gpu (call, p)
                                 : op_draw_bernoulli (call, 0, p);
}

static gboolean
bernoulli_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  op_add_contiguous (call, self->dtype, self->shape.rank, self->shape.size);
  return op_check_drawn (call);
}

/* Each element has a probability of its own: 1 if a uniform number is below it, with 53 bits for
 * float64, else 24. */
static void
draw_each (const AdjOpCall *call, double *p, gint64 n)
{
  gboolean wide = adj_op_call_meta (call, 0)->dtype == ADJ_DTYPE_F64 &&
                  (adj_context_get_drawn_dtype (call->cx) == ADJ_DTYPE_NONE ||
                   adj_context_get_drawn_dtype (call->cx) == ADJ_DTYPE_F64);

  for (gint64 i = 0; i < n; i++)
    p[i] = op_next_uniform (op_generator (call), wide ? ADJ_K_F64 : ADJ_K_F32) < p[i];
}

/* Replaces each probability of @p by whether a 32-bit number in (0, 1] is at most as large. */
static void
draw_each_for_gpu (const AdjOpCall *call, double *p, const AdjKView *values)
{
  AdjKView units;
  g_autofree float *memory = op_temporary (op_queue (call), values, ADJ_K_F32, &units);

  op_draw_units_for_gpu (call, &units);
  for (gint64 i = 0; i < adj_k_view_count (values); i++)
    p[i] = memory[i] <= p[i];
}

static gboolean
bernoulli_kernel (AdjOpCall *call)
{
  g_autofree double *p = NULL;
  AdjKView self, out, values;
  gint64 n;

  if (!op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  n = adj_k_view_count (&self);
  p = op_temporary (op_queue (call), &self, ADJ_K_F64, &values);
  adj_q_copy (op_queue (call), &values, &self);
  for (gint64 i = 0; i < n; i++)
    if (!check_probability (call, p[i]))
      return FALSE;
  if (op_draws_for_gpu (call))
    draw_each_for_gpu (call, p, &values);
  else
    draw_each (call, p, n);
  adj_q_copy (op_queue (call), &out, &values);
  return TRUE;
}

/* -- dropout -- */

static gboolean
is_training (const AdjOpCall *call)
{
  return call->args[2].kind == ADJ_VALUE_NONE || adj_op_call_bool (call, 2);
}

/* Both results have the layout of a product. */
static gboolean
dropout_meta (AdjOpCall *call)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, 0);
  const AdjShape *operands[] = { &input->shape, &input->shape };
  AdjShape shape;

  if (is_training (call) && !check_probability (call, adj_op_call_double (call, 1, 0)))
    return FALSE;
  adj_shape_pointwise (&shape, op_symbols (call), operands, G_N_ELEMENTS (operands), NULL);
  adj_op_call_add (call, input->dtype, &shape);
  adj_op_call_add (call, ADJ_DTYPE_BOOL, &shape);
  return op_check_drawn (call);
}

/* output = input · mask · scale */
static void
drop (const AdjOpCall *call, const AdjKView *output, const AdjKView *operands, double scale)
{
  const AdjKCode code[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 },
    { .op = ADJ_K_OP_CONST, .dst = 1, .imm.f = scale },
    { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 },
  };
  const AdjKProgram program = { .klass = ADJ_K_CLASS_F64,
                                .n_inputs = 2,
                                .n_regs = 2,
                                .n_code = G_N_ELEMENTS (code),
                                .code = code };

  adj_q_pointwise (op_queue (call), &program, output, operands);
}

static gboolean
dropout_kernel (AdjOpCall *call)
{
  double p = adj_op_call_double (call, 1, 0);
  double scale = p < 1 ? 1 / (1 - p) : 0;
  gboolean for_gpu = op_draws_for_gpu (call) && p < 1;
  AdjKView operands[2], output;

  if (!op_input (call, 0, &operands[0]) || !op_output (call, 0, &output) ||
      !op_output (call, 1, &operands[1]))
    return FALSE;
  if (!is_training (call))
    {
      adj_q_copy (op_queue (call), &output, &operands[0]);
      adj_q_fill_i64 (op_queue (call), &operands[1], 1);
      return TRUE;
    }
  if (operands[0].type != ADJ_K_F64)
    scale = for_gpu ? (float) (1 / (double) (float) (1 - p)) : (float) scale;
  if (for_gpu ? !op_draw_mask_for_gpu (call, &operands[0], 1 - p)
              : !op_draw_bernoulli (call, 1, 1 - p))
    return FALSE;
  drop (call, &output, operands, scale);
  return TRUE;
}

static double
dropout_flops (const AdjOpCall *call)
{
  return 2 * op_count (call, &adj_op_call_meta (call, 0)->shape);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/bernoulli.inc"
};

const OpFamily adj_family_bernoulli = { ops, G_N_ELEMENTS (ops) };
