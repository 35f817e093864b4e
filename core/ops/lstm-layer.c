/* SPDX-License-Identifier: MIT */
/* One layer of an LSTM in one direction.  Input is [steps, batch, width], whatever batch_first
 * says; the weights are [4 hidden, width] and [4 hidden, hidden], their rows those of the gates in,
 * forget, new and out:
 *
 *   c = f c + i n,  h = o tanh (c),  with i, f, o = σ and n = tanh of W x + b + V h + d
 *
 * oneDNN keeps the gates in a private workspace; here they are recomputed.
 */

#include <math.h>
#include <string.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

#define MODE_LSTM 2
#define N_GATES 4

enum
{
  INPUT,
  WEIGHT_INPUT,
  WEIGHT_HIDDEN,
  BIAS_INPUT,
  BIAS_HIDDEN,
  HIDDEN,
  CELL,
  N_OPERANDS,
};

/* All operands in row-major order, in float64. */
typedef struct
{
  gint64 steps, batch, width, hidden;
  gboolean reverse;
  double *operands[N_OPERANDS]; /* (owned) */
  double *gates;                /* (owned): by step, batch, gate and unit */
  double *cells, *states;       /* (owned): by step; entry 0 is the initial state */
} Layer;

static void
layer_clear (Layer *self)
{
  for (guint i = 0; i < N_OPERANDS; i++)
    g_free (self->operands[i]);
  g_free (self->gates);
  g_free (self->cells);
  g_free (self->states);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Layer, layer_clear)

/* -- what comes in -- */

/* Whether argument @arg has the last size @columns and @rows other elements. */
static gboolean
has_sizes (const AdjOpCall *call, guint arg, AdjSize rows, AdjSize columns)
{
  const AdjShape *shape = &adj_op_call_meta (call, arg)->shape;
  AdjSymbols *symbols = op_symbols (call);
  AdjSize n = ADJ_SIZE (1);

  for (guint i = 0; i + 1 < shape->rank; i++)
    n = adj_size_mul (symbols, n, shape->size[i]);
  if (shape->rank > 0 && adj_size_test (symbols, ADJ_SIZE_EQ, n, rows) &&
      adj_size_test (symbols, ADJ_SIZE_EQ, shape->size[shape->rank - 1], columns))
    return TRUE;
  return adj_op_call_fail (call, "argument '%s' has other sizes than the layer",
                           call->schema->arguments[arg].name);
}

static gboolean
check (const AdjOpCall *call)
{
  const AdjShape *input = &adj_op_call_meta (call, INPUT)->shape;
  const gint64 n = adj_op_call_int (call, adj_op_call_find (call, "hidden_size"), 0);
  const AdjSize hidden = ADJ_SIZE (n), one = ADJ_SIZE (1);
  AdjSize gates;

  if (adj_op_call_int (call, adj_op_call_find (call, "mode"), 0) != MODE_LSTM)
    return adj_op_call_fail (call, "is known of an LSTM alone, whose mode is 2");
  if (call->args[adj_op_call_find (call, "batch_sizes")].n > 0)
    return adj_op_call_fail (call, "is not known of sequences of several lengths");
  if (input->rank != 3 || n < 1 || n > G_MAXINT32)
    return adj_op_call_fail (call, "needs an input of 3 dimensions and a hidden size");
  gates = ADJ_SIZE (N_GATES * n);
  return has_sizes (call, WEIGHT_INPUT, gates, input->size[2]) &&
         has_sizes (call, WEIGHT_HIDDEN, gates, hidden) &&
         has_sizes (call, BIAS_INPUT, one, gates) && has_sizes (call, BIAS_HIDDEN, one, gates) &&
         has_sizes (call, HIDDEN, input->size[1], hidden) &&
         has_sizes (call, CELL, input->size[1], hidden);
}

static gboolean
layer_init (Layer *self, const AdjOpCall *call)
{
  const AdjShape *input = &adj_op_call_meta (call, INPUT)->shape;
  gint64 n, n_gates;

  self->steps = input->size[0].word;
  self->batch = input->size[1].word;
  self->width = input->size[2].word;
  self->hidden = adj_op_call_int (call, adj_op_call_find (call, "hidden_size"), 0);
  self->reverse = adj_op_call_bool (call, adj_op_call_find (call, "reverse"));
  for (guint i = 0; i < N_OPERANDS; i++)
    if ((self->operands[i] = op_read_numbers (call, i)) == NULL)
      return FALSE;
  if (!op_check_temporary (call, self->steps))
    return FALSE;
  if (__builtin_mul_overflow (self->steps + 1, self->batch, &n) ||
      __builtin_mul_overflow (n, self->hidden, &n) ||
      __builtin_mul_overflow (n, (gint64) N_GATES, &n_gates))
    n_gates = G_MAXINT64;
  if (!op_check_temporary (call, n_gates))
    return FALSE;
  self->gates = g_new (double, (gsize) n_gates);
  self->cells = g_new (double, (gsize) n);
  self->states = g_new (double, (gsize) n);
  memcpy (self->states, self->operands[HIDDEN],
          (gsize) (self->batch * self->hidden) * sizeof (double));
  memcpy (self->cells, self->operands[CELL],
          (gsize) (self->batch * self->hidden) * sizeof (double));
  return TRUE;
}

/* -- forward -- */

/* Position in the input of step @step in order of computation. */
static gint64
place_of (const Layer *self, gint64 step)
{
  return self->reverse ? self->steps - 1 - step : step;
}

static double *
gates_of (const Layer *self, gint64 step, gint64 row)
{
  return self->gates + (step * self->batch + row) * N_GATES * self->hidden;
}

static gint64
state_at (const Layer *self, gint64 step, gint64 row)
{
  return (step * self->batch + row) * self->hidden;
}

static const double *
input_of (const Layer *self, gint64 step, gint64 row)
{
  return self->operands[INPUT] + (place_of (self, step) * self->batch + row) * self->width;
}

static double
dot (const double *x, const double *y, gint64 n)
{
  double sum = 0;

  for (gint64 i = 0; i < n; i++)
    sum += x[i] * y[i];
  return sum;
}

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

static void
run_step (Layer *self, gint64 step, gint64 row)
{
  const gint64 n = self->hidden, before = state_at (self, step, row);
  const double *x = input_of (self, step, row);
  double *gates = gates_of (self, step, row);
  double *c = self->cells + state_at (self, step + 1, row);
  double *h = self->states + state_at (self, step + 1, row);

  for (gint64 i = 0; i < N_GATES * n; i++)
    {
      double sum = self->operands[BIAS_INPUT][i] + self->operands[BIAS_HIDDEN][i] +
                   dot (self->operands[WEIGHT_INPUT] + i * self->width, x, self->width) +
                   dot (self->operands[WEIGHT_HIDDEN] + i * n, self->states + before, n);

      gates[i] = i / n == 2 ? tanh (sum) : sigmoid (sum);
    }
  for (gint64 i = 0; i < n; i++)
    {
      c[i] = gates[n + i] * self->cells[before + i] + gates[i] * gates[2 * n + i];
      h[i] = gates[3 * n + i] * tanh (c[i]);
    }
}

static void
run (Layer *self)
{
  for (gint64 step = 0; step < self->steps; step++)
    for (gint64 row = 0; row < self->batch; row++)
      run_step (self, step, row);
}

static gboolean
layer_meta (AdjOpCall *call)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, INPUT);
  AdjSize sizes[3], none = ADJ_SIZE (0);

  if (!check (call))
    return FALSE;
  memcpy (sizes, input->shape.size, sizeof sizes);
  sizes[2] = ADJ_SIZE (adj_op_call_int (call, adj_op_call_find (call, "hidden_size"), 0));
  op_add_contiguous (call, input->dtype, 3, sizes);
  for (guint i = HIDDEN; i <= CELL; i++)
    op_add_contiguous (call, input->dtype, adj_op_call_meta (call, i)->shape.rank,
                       adj_op_call_meta (call, i)->shape.size);
  op_add_contiguous (call, ADJ_DTYPE_U8, 1, &none);
  return !adj_context_has_error (call->cx);
}

/* Writes @numbers, row by row, to result @result. */
static gboolean
give (AdjOpCall *call, guint result, const double *numbers)
{
  AdjKView out, dense;
  g_autofree double *copy = NULL;

  if (!op_output (call, result, &out))
    return FALSE;
  copy = op_temporary (NULL, &out, ADJ_K_F64, &dense);
  memcpy (copy, numbers, (gsize) adj_k_view_count (&out) * sizeof (double));
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

static gboolean
layer_kernel (AdjOpCall *call)
{
  g_auto (Layer) self = { 0 };
  g_autofree double *output = NULL;
  gint64 row_length, last;

  if (!layer_init (&self, call))
    return FALSE;
  run (&self);
  row_length = self.batch * self.hidden;
  output = g_new (double, (gsize) (self.steps * row_length + 1));
  for (gint64 step = 0; step < self.steps; step++)
    memcpy (output + place_of (&self, step) * row_length,
            self.states + state_at (&self, step + 1, 0), (gsize) row_length * sizeof (double));
  last = state_at (&self, self.steps, 0);
  return give (call, 0, output) && give (call, 1, self.states + last) &&
         give (call, 2, self.cells + last);
}

/* -- backward -- */

/* By operand; and the gradients for the previous step. */
typedef struct
{
  double *grads[N_OPERANDS]; /* (owned) */
  double *of_gates;          /* (owned): of one row, before σ and tanh */
} Gradients;

static void
gradients_clear (Gradients *self)
{
  for (guint i = 0; i < N_OPERANDS; i++)
    g_free (self->grads[i]);
  g_free (self->of_gates);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Gradients, gradients_clear)

static void
gradients_init (Gradients *self, const Layer *layer)
{
  const gint64 gates = N_GATES * layer->hidden, state = layer->batch * layer->hidden;
  const gint64 sizes[N_OPERANDS] = {
    [INPUT] = layer->steps * layer->batch * layer->width,
    [WEIGHT_INPUT] = gates * layer->width,
    [WEIGHT_HIDDEN] = gates * layer->hidden,
    [BIAS_INPUT] = gates,
    [BIAS_HIDDEN] = 0,
    [HIDDEN] = state,
    [CELL] = state,
  };

  for (guint i = 0; i < N_OPERANDS; i++)
    self->grads[i] = g_new0 (double, (gsize) sizes[i] + 1);
  self->of_gates = g_new (double, (gsize) gates);
}

/* The gradients of the gates of a row, and of the previous cell. */
static void
go_back_to_gates (Gradients *self, const Layer *layer, gint64 step, gint64 row, const double *of_h)
{
  const gint64 n = layer->hidden;
  const double *gates = gates_of (layer, step, row), *c = layer->cells;
  double *of_c = self->grads[CELL] + row * n;

  for (gint64 i = 0; i < n; i++)
    {
      const double in = gates[i], forget = gates[n + i], new = gates[2 * n + i];
      const double out = gates[3 * n + i], t = tanh (c[state_at (layer, step + 1, row) + i]);
      const double g = of_c[i] + of_h[i] * out * (1 - t * t);

      self->of_gates[i] = g * new *in *(1 - in);
      self->of_gates[n + i] = g * c[state_at (layer, step, row) + i] * forget * (1 - forget);
      self->of_gates[2 * n + i] = g * in * (1 - new *new);
      self->of_gates[3 * n + i] = of_h[i] * t * out * (1 - out);
      of_c[i] = g * forget;
    }
}

static void
add_scaled (double *to, const double *x, double scale, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    to[i] += scale * x[i];
}

/* @of_output: (nullable): the gradient of the output of the step. */
static void
go_back (Gradients *self, const Layer *layer, gint64 step, gint64 row, const double *of_output)
{
  const gint64 n = layer->hidden, width = layer->width;
  double *of_h = self->grads[HIDDEN] + row * n;
  double *of_x = self->grads[INPUT] + (place_of (layer, step) * layer->batch + row) * width;

  if (of_output != NULL)
    add_scaled (of_h, of_output, 1, n);
  go_back_to_gates (self, layer, step, row, of_h);
  memset (of_h, 0, (gsize) n * sizeof (double));
  for (gint64 i = 0; i < N_GATES * n; i++)
    {
      const double g = self->of_gates[i];

      self->grads[BIAS_INPUT][i] += g;
      add_scaled (self->grads[WEIGHT_INPUT] + i * width, input_of (layer, step, row), g, width);
      add_scaled (self->grads[WEIGHT_HIDDEN] + i * n, layer->states + state_at (layer, step, row),
                  g, n);
      add_scaled (of_x, layer->operands[WEIGHT_INPUT] + i * width, g, width);
      add_scaled (of_h, layer->operands[WEIGHT_HIDDEN] + i * n, g, n);
    }
}

static gboolean
layer_backward_meta (AdjOpCall *call)
{
  static const char *const given[] = { "grad_output", "grad_hy", "grad_cy" };
  const AdjShape *input = &adj_op_call_meta (call, INPUT)->shape;

  if (!check (call))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    {
      const guint arg = adj_op_call_find (call, given[i]);
      const AdjSize hidden =
          ADJ_SIZE (adj_op_call_int (call, adj_op_call_find (call, "hidden_size"), 0));

      if (call->args[arg].kind == ADJ_VALUE_TENSOR &&
          !has_sizes (call, arg,
                      i > 0 ? input->size[1]
                            : adj_size_mul (op_symbols (call), input->size[0], input->size[1]),
                      hidden))
        return FALSE;
    }
  for (guint i = 0; i < N_OPERANDS; i++)
    {
      const AdjTensorMeta *meta = adj_op_call_meta (call, i);

      op_add_contiguous (call, meta->dtype, meta->shape.rank, meta->shape.size);
    }
  return !adj_context_has_error (call->cx);
}

/* Adds a gradient that may be undefined. */
static gboolean
add_given (const AdjOpCall *call, const char *name, double *to, gint64 n)
{
  const guint arg = adj_op_call_find (call, name);
  g_autofree double *numbers = NULL;

  if (call->args[arg].kind != ADJ_VALUE_TENSOR)
    return TRUE;
  numbers = op_read_numbers (call, arg);
  if (numbers != NULL)
    add_scaled (to, numbers, 1, n);
  return numbers != NULL;
}

static gboolean
layer_backward_kernel (AdjOpCall *call)
{
  g_auto (Layer) layer = { 0 };
  g_auto (Gradients) self = { 0 };
  g_autofree double *of_outputs = NULL;
  const guint output = adj_op_call_find (call, "grad_output");
  gint64 state;

  if (!layer_init (&layer, call))
    return FALSE;
  run (&layer);
  gradients_init (&self, &layer);
  state = layer.batch * layer.hidden;
  if (!add_given (call, "grad_hy", self.grads[HIDDEN], state) ||
      !add_given (call, "grad_cy", self.grads[CELL], state))
    return FALSE;
  if (call->args[output].kind == ADJ_VALUE_TENSOR &&
      (of_outputs = op_read_numbers (call, output)) == NULL)
    return FALSE;
  for (gint64 step = layer.steps; step-- > 0;)
    for (gint64 row = 0; row < layer.batch; row++)
      go_back (&self, &layer, step, row,
               of_outputs != NULL
                   ? of_outputs + (place_of (&layer, step) * layer.batch + row) * layer.hidden
                   : NULL);
  for (guint i = 0; i < N_OPERANDS; i++)
    if (!give (call, i, self.grads[i == BIAS_HIDDEN ? BIAS_INPUT : i]))
      return FALSE;
  return TRUE;
}

/* -- costs -- */

static double
number_of (AdjSize size)
{
  return adj_size_is_int (size) ? (double) MAX (size.word, 1) : 1;
}

static double
layer_reduction (const AdjOpCall *call)
{
  const AdjShape *input = &adj_op_call_meta (call, INPUT)->shape;
  const double hidden = (double) adj_op_call_int (call, adj_op_call_find (call, "hidden_size"), 0);

  return number_of (input->size[0]) * (number_of (input->size[2]) + hidden);
}

/* Each step depends on sums over all gates. */
static double
layer_backward_reduction (const AdjOpCall *call)
{
  const AdjShape *input = &adj_op_call_meta (call, INPUT)->shape;
  const double gates =
      N_GATES * (double) adj_op_call_int (call, adj_op_call_find (call, "hidden_size"), 0);

  return (layer_reduction (call) + number_of (input->size[0]) * gates) * number_of (input->size[1]);
}

static double
layer_flops (const AdjOpCall *call)
{
  const double hidden = (double) adj_op_call_int (call, adj_op_call_find (call, "hidden_size"), 0);

  return 2 * N_GATES * hidden * layer_reduction (call) *
         number_of (adj_op_call_meta (call, INPUT)->shape.size[1]) * (call->n_results > 4 ? 3 : 1);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/lstm-layer.inc"
};

const OpFamily adj_family_lstm_layer = { ops, G_N_ELEMENTS (ops) };
