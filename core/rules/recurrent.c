/* SPDX-License-Identifier: MIT */

/* Recurrent layers, taken apart step by step as PyTorch's decompositions do it: the input of all
 * steps goes through its weights at once, each step then adds what comes of the state before.
 * Where autograd records them, as its kernels do it: a state is a matrix, not a step of one. */

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

#define MAX_STEPS 65536

typedef enum
{
  CELL_TANH,
  CELL_RELU,
  CELL_GRU,
  CELL_LSTM,
} Cell;

/* The weights of one layer in one direction; biases may be %NULL. */
typedef struct
{
  AdjTensor *input, *hidden, *input_bias, *hidden_bias;
} Weights;

typedef struct
{
  AdjTensor *hidden, *cell; /* cell: of an LSTM */
} State;

typedef struct
{
  AdjRuleCall *call;
  Cell cell;
  Weights weights;
  gboolean eager; /* as the kernels do it */
} Layer;

static AdjValue
value_of (AdjTensor *tensor)
{
  return tensor != NULL ? ADJ_TENSOR (tensor) : ADJ_NONE;
}

static AdjTensor *
apply1 (const Layer *layer, AdjOpId op, AdjTensor *x)
{
  return x != NULL ? ADJ_APPLY (layer->call->cx, op, ADJ_TENSOR (x)) : NULL;
}

static AdjTensor *
apply2 (const Layer *layer, AdjOpId op, AdjTensor *a, AdjTensor *b)
{
  return a != NULL && b != NULL ? ADJ_APPLY (layer->call->cx, op, ADJ_TENSOR (a), ADJ_TENSOR (b))
                                : NULL;
}

static AdjTensor *
along (const Layer *layer, AdjOpId op, AdjTensor *x, gint64 dim)
{
  return x != NULL ? ADJ_APPLY (layer->call->cx, op, ADJ_TENSOR (x), ADJ_INT (dim)) : NULL;
}

static AdjTensor *
linear (const Layer *layer, AdjTensor *x, AdjTensor *weight, AdjTensor *bias)
{
  if (x == NULL)
    return NULL;
  return ADJ_APPLY (layer->call->cx, ADJ_OP_linear, ADJ_TENSOR (x), ADJ_TENSOR (weight),
                    value_of (bias));
}

/* Calls an operator that returns a list of tensors. */
static gboolean
list_of (AdjRuleCall *call, AdjOpId op, const AdjValue *args, guint n_args, AdjValue *out)
{
  return adj_call (call->cx, adj_op (op),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n_args, .items = (AdjValue *) args },
                   NULL, out) &&
         adj_value_is_container (out);
}

/* Of what is computed at each step, along its last dimension. */
static gboolean
chunk (const Layer *layer, AdjTensor *x, gint64 n, AdjTensor **out)
{
  const AdjOpId op = layer->eager ? ADJ_OP_unsafe_chunk : ADJ_OP_chunk;
  AdjValue args[] = { value_of (x), ADJ_INT (n), ADJ_NONE }, parts;

  if (x == NULL)
    return FALSE;
  args[2] = ADJ_INT (adj_tensor_get_rank (x) - 1);
  if (!list_of (layer->call, op, args, G_N_ELEMENTS (args), &parts))
    return FALSE;
  for (guint i = 0; i < n && i < parts.n; i++)
    out[i] = parts.items[i].tensor;
  return parts.n == n;
}

/* -- one step -- */

static void
step_lstm (const Layer *layer, AdjTensor *x, State *state)
{
  AdjTensor *gates =
      apply2 (layer, ADJ_OP_add_Tensor,
              linear (layer, state->hidden, layer->weights.hidden, layer->weights.hidden_bias), x);
  AdjTensor *part[4] = { NULL }, *in, *forget, *new, *out, *kept, *cell;

  if (!chunk (layer, gates, 4, part))
    {
      *state = (State){ NULL, NULL };
      return;
    }
  in = apply1 (layer, ADJ_OP_sigmoid, part[0]);
  forget = apply1 (layer, ADJ_OP_sigmoid, part[1]);
  new = apply1 (layer, ADJ_OP_tanh, part[2]);
  out = apply1 (layer, ADJ_OP_sigmoid, part[3]);
  kept = apply2 (layer, ADJ_OP_mul_Tensor, forget, state->cell);
  cell = apply2 (layer, ADJ_OP_add_Tensor, kept, apply2 (layer, ADJ_OP_mul_Tensor, in, new));
  state->cell = cell;
  state->hidden = apply2 (layer, ADJ_OP_mul_Tensor, out, apply1 (layer, ADJ_OP_tanh, cell));
}

static void
step_gru (const Layer *layer, AdjTensor *x, State *state)
{
  AdjTensor *of_x[3] = { NULL }, *of_h[3] = { NULL }, *reset, *update, *new, *apart;
  AdjTensor *h = state->hidden;
  gboolean split = chunk (layer, x, 3, of_x);

  state->hidden = NULL;
  if (!split ||
      !chunk (layer, linear (layer, h, layer->weights.hidden, layer->weights.hidden_bias), 3, of_h))
    return;
  reset = apply1 (layer, ADJ_OP_sigmoid, apply2 (layer, ADJ_OP_add_Tensor, of_h[0], of_x[0]));
  update = apply1 (layer, ADJ_OP_sigmoid, apply2 (layer, ADJ_OP_add_Tensor, of_h[1], of_x[1]));
  new =
      apply2 (layer, ADJ_OP_add_Tensor, of_x[2], apply2 (layer, ADJ_OP_mul_Tensor, of_h[2], reset));
  new = apply1 (layer, ADJ_OP_tanh, new);
  apart = apply2 (layer, ADJ_OP_sub_Tensor, h, new);
  state->hidden =
      apply2 (layer, ADJ_OP_add_Tensor, apply2 (layer, ADJ_OP_mul_Tensor, apart, update), new);
}

static void
step_plain (const Layer *layer, AdjTensor *x, State *state)
{
  AdjTensor *sum =
      apply2 (layer, ADJ_OP_add_Tensor,
              linear (layer, state->hidden, layer->weights.hidden, layer->weights.hidden_bias), x);

  state->hidden = apply1 (layer, layer->cell == CELL_TANH ? ADJ_OP_tanh : ADJ_OP_relu, sum);
}

static void
step (const Layer *layer, AdjTensor *x, State *state)
{
  if (layer->cell == CELL_LSTM)
    step_lstm (layer, x, state);
  else if (layer->cell == CELL_GRU)
    step_gru (layer, x, state);
  else
    step_plain (layer, x, state);
}

/* -- one layer -- */

/* To and from the step that a state is in decompositions. */
static void
change_rank (const Layer *layer, AdjOpId op, State *state)
{
  if (layer->eager)
    return;
  state->hidden = along (layer, op, state->hidden, 0);
  if (layer->cell == CELL_LSTM)
    state->cell = along (layer, op, state->cell, 0);
}

/* All steps of @input, [steps, batch, width]; the last state in @state, [batch, width] as the
 * kernels of PyTorch give it: its decomposition of an LSTM means to and leaves a dimension of 1. */
static AdjTensor *
run_layer (const Layer *layer, AdjTensor *input, gboolean reverse, State *state)
{
  AdjValue args[] = { ADJ_NONE, ADJ_INT (0) }, dims = { .kind = ADJ_VALUE_LIST, .n = 1 }, steps;
  AdjValue zero = ADJ_INT (0), outputs = { .kind = ADJ_VALUE_LIST };
  AdjTensor *x;

  dims.items = &zero;
  change_rank (layer, ADJ_OP_unsqueeze, state);
  x = linear (layer, input, layer->weights.input, layer->weights.input_bias);
  if (reverse && x != NULL)
    x = ADJ_APPLY (layer->call->cx, ADJ_OP_flip, ADJ_TENSOR (x), dims);
  args[0] = value_of (x);
  if (x == NULL || !list_of (layer->call, ADJ_OP_unbind_int, args, 2, &steps))
    return NULL;
  if (steps.n == 0 || steps.n > MAX_STEPS)
    {
      rule_call_fail (layer->call, ADJ_ERROR_LIMIT, "goes over 1 to %d steps, not %u", MAX_STEPS,
                      steps.n);
      return NULL;
    }
  outputs.n = steps.n;
  outputs.items = adj_arena_new0 (layer->call->arena, AdjValue, steps.n);
  for (guint i = 0; i < steps.n && state->hidden != NULL; i++)
    {
      step (layer, steps.items[i].tensor, state);
      outputs.items[reverse ? steps.n - 1 - i : i] = value_of (state->hidden);
    }
  if (state->hidden == NULL)
    return NULL;
  x = ADJ_APPLY (layer->call->cx, layer->eager ? ADJ_OP_stack : ADJ_OP_cat, outputs, ADJ_INT (0));
  change_rank (layer, ADJ_OP_squeeze_dim, state);
  return x;
}

/* -- all layers -- */

typedef struct
{
  AdjRuleCall *call;
  Cell cell;
  AdjValue hidden, cells, params;
  gboolean has_biases, bidirectional;
  guint n_layers, n_weights; /* number per direction of a layer */
  AdjValue last, last_cells; /* lists of states */
} Network;

static AdjTensor *
run_direction (Network *net, guint index, AdjTensor *input, gboolean reverse)
{
  const AdjValue *params = &net->params.items[index * net->n_weights];
  Layer layer = { .call = net->call, .cell = net->cell };
  State state = { net->hidden.items[index].tensor, NULL };
  AdjTensor *output;

  layer.weights.input = params[0].tensor;
  layer.weights.hidden = params[1].tensor;
  if (net->has_biases)
    {
      layer.weights.input_bias = params[2].tensor;
      layer.weights.hidden_bias = params[3].tensor;
    }
  if (net->cell == CELL_LSTM)
    state.cell = net->cells.items[index].tensor;
  layer.eager = rule_records_eagerly (net->call->cx, input) ||
                rule_records_eagerly (net->call->cx, layer.weights.input);
  output = run_layer (&layer, input, reverse, &state);
  net->last.items[index] = value_of (state.hidden);
  net->last_cells.items[index] = value_of (state.cell);
  return output;
}

static AdjTensor *
run_network (Network *net, AdjTensor *x)
{
  AdjContext *cx = net->call->cx;

  for (guint i = 0; i < net->n_layers && x != NULL; i++)
    {
      guint first = net->bidirectional ? 2 * i : i;
      AdjTensor *input = x;

      x = run_direction (net, first, input, FALSE);
      if (net->bidirectional && x != NULL)
        {
          AdjValue pair[] = { ADJ_TENSOR (x),
                              value_of (run_direction (net, first + 1, input, TRUE)) };

          x = pair[1].kind == ADJ_VALUE_TENSOR
                  ? ADJ_APPLY (cx, ADJ_OP_cat,
                               ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = pair }),
                               ADJ_INT (adj_tensor_get_rank (x) - 1))
                  : NULL;
        }
    }
  return x;
}

static gboolean
unbind (AdjRuleCall *call, const AdjValue *tensor, guint n, AdjValue *out)
{
  AdjValue args[] = { *tensor, ADJ_INT (0) };

  return (tensor->kind == ADJ_VALUE_TENSOR && list_of (call, ADJ_OP_unbind_int, args, 2, out) &&
          out->n == n) ||
         rule_call_fail (call, ADJ_ERROR_SHAPE, "needs %u states", n);
}

/* @args: the kind of cell, input, states (a list of two of an LSTM), params, has_biases,
 * num_layers, dropout, train, bidirectional, batch_first.  Dropout between layers is left out, as
 * in PyTorch's decompositions, which never reach it. */
static gboolean
read_network (AdjRuleCall *call, const AdjValue *args, Network *net)
{
  guint n;

  *net = (Network){ .call = call,
                    .cell = (Cell) args[0].integer,
                    .params = args[3],
                    .has_biases = args[4].boolean,
                    .bidirectional = args[8].boolean };
  net->n_layers = (guint) CLAMP (args[5].integer, 0, 1024);
  net->n_weights = net->has_biases ? 4 : 2;
  n = net->n_layers * (net->bidirectional ? 2 : 1);
  if (n == 0 || net->params.n != n * net->n_weights)
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "knows layers without projections");
  if (!unbind (call, net->cell == CELL_LSTM ? &args[2].items[0] : &args[2], n, &net->hidden) ||
      (net->cell == CELL_LSTM && !unbind (call, &args[2].items[1], n, &net->cells)))
    return FALSE;
  net->last = net->last_cells = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n };
  net->last.items = adj_arena_new0 (call->arena, AdjValue, n);
  net->last_cells.items = adj_arena_new0 (call->arena, AdjValue, n);
  return TRUE;
}

/* The result is turned in place by the kernels. */
static AdjTensor *
with_batch_first (AdjRuleCall *call, const AdjValue *args, AdjTensor *x, gboolean is_result)
{
  AdjValue turned[] = { value_of (x), ADJ_INT (0), ADJ_INT (1) }, result;
  const AdjOp *op;

  if (!args[9].boolean || x == NULL)
    return x;
  op = is_result && rule_records_eagerly (call->cx, x)
           ? adj_op_find ("torch.ops.aten.transpose_.default")
           : adj_op (ADJ_OP_transpose_int);
  return adj_call (call->cx, op, &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 3, .items = turned },
                   NULL, &result)
             ? result.tensor
             : NULL;
}

/* args: 0 tanh, 1 relu, 2 GRU, 3 LSTM, and those of aten::lstm.input */
gboolean
rule_recurrent (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  guint n_results = args[0].integer == CELL_LSTM ? 3 : 2;
  AdjTensor *x = NULL;
  Network net;

  if (args[2].kind == ADJ_VALUE_LIST && args[2].n != 2)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs two states");
  x = with_batch_first (call, args, args[1].tensor, FALSE);
  if (!read_network (call, args, &net))
    return FALSE;
  x = with_batch_first (call, args, run_network (&net, x), TRUE);
  if (x == NULL)
    return FALSE;
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n_results };
  out->items = adj_arena_new0 (call->arena, AdjValue, n_results);
  out->items[0] = ADJ_TENSOR (x);
  out->items[1] = value_of (ADJ_APPLY (call->cx, ADJ_OP_stack, net.last, ADJ_INT (0)));
  if (n_results == 3)
    out->items[2] = value_of (ADJ_APPLY (call->cx, ADJ_OP_stack, net.last_cells, ADJ_INT (0)));
  return !adj_context_has_error (call->cx);
}
