/* SPDX-License-Identifier: MIT */
/* adj_trace() and adj_retrace(): call a function under the tracing mode and return the graph. */

#include "trace/adj-trace.h"

#include "call/adj-context-internal.h"
#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "rules/adj-operators.h"
#include "tensor/adj-symbols-internal.h"
#include "trace/adj-examples.h"
#include "trace/adj-functional.h"
#include "trace/adj-tracer.h"
#include "trace/captured-retrace-private.h"
#include "trace/tracer-private.h"

typedef struct
{
  AdjContext *cx;
  AdjTracer *tracer;
  const AdjTraceOptions *options;
  GArray *examples; /* AdjValue: leaves of the example inputs */
  guint n_inputs;   /* leaves added so far */
  const char *stem; /* stem of the parameter whose leaves are added */
  guint n_leaves;   /* number of leaves of that parameter */
  gboolean pytree;
  GArray *pairs; /* Pair */
} Trace;

static gboolean
append_leaf (const AdjValue *leaf, gpointer data)
{
  g_array_append_val ((GArray *) data, *leaf);
  return TRUE;
}

/* @leaf, or the size that it was: one that is known is a number to the function. */
static AdjValue
get_input (const Trace *trace, const AdjValue *leaf)
{
  const AdjValue *example = &g_array_index (trace->examples, AdjValue, trace->n_inputs);

  return example->kind == ADJ_VALUE_SIZE && leaf->kind == ADJ_VALUE_INT
             ? (AdjValue){ .kind = ADJ_VALUE_SIZE, .size = ADJ_SIZE (leaf->integer) }
             : *leaf;
}

static gboolean
add_input (const AdjValue *leaf, gpointer data)
{
  Trace *trace = data;
  const AdjValue input = get_input (trace, leaf);
  const AdjGraph *like = trace->options->like;
  g_autofree char *stem = NULL;
  const AdjNode *node;
  AdjNodeId origin;

  if (like == NULL)
    {
      guint i = trace->n_inputs++;

      stem = trace->stem == trace->options->unlisted
                 ? g_strdup (trace->stem)
                 : g_strdup_printf ("%s_%u", trace->stem, ++trace->n_leaves);
      adj_tracer_add_placeholder (
          trace->tracer, NULL, stem,
          i < trace->options->n_input_metas ? trace->options->input_metas[i] : NULL,
          i < trace->options->n_input_metas && trace->options->input_origins != NULL
              ? trace->options->input_origins[i]
              : ADJ_NO_NODE,
          &input);
      return TRUE;
    }
  if (trace->n_inputs >= adj_graph_get_n_inputs (like))
    {
      adj_context_fail (trace->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "there are more example inputs than placeholders (%u)",
                        adj_graph_get_n_inputs (like));
      return FALSE;
    }
  origin = adj_graph_get_input (like, trace->n_inputs++);
  node = adj_graph_get_node (like, origin.index);
  adj_tracer_add_placeholder (trace->tracer, node->name, NULL, &node->meta, origin, &input);
  return TRUE;
}

static gboolean
add_inputs (Trace *trace, const AdjValue *examples, guint n, AdjValue *args)
{
  const AdjTraceOptions *options = trace->options;
  AdjSymbols *symbols = options->symbols;
  g_autoptr (AdjExamples) importer = NULL;

  if (symbols == NULL && options->like != NULL)
    symbols = adj_graph_get_symbols (options->like);
  importer = adj_examples_new (trace->cx, symbols, options->real);
  adj_examples_set_policy (importer, options->real ? ADJ_SIZES_STATIC : options->sizes);
  for (guint i = 0; i < n; i++)
    adj_value_foreach (&examples[i], append_leaf, trace->examples);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *numbered = g_strdup_printf ("arg%u", i);

      trace->stem = options->parameters != NULL ? options->parameters[i] : numbered;
      trace->n_leaves = 0;
      if (!adj_examples_import (importer, &examples[i], &args[i]) ||
          !adj_value_foreach (&args[i], add_input, trace))
        return FALSE;
    }
  return TRUE;
}

/* Containers among the inputs give the graph a pytree header; its outputs are then a flat list too.
 */
static void
set_header (Trace *trace, const AdjValue *examples, guint n)
{
  const AdjGraph *like = trace->options->like;
  g_autoptr (GString) names = g_string_new (NULL);

  if (like != NULL)
    {
      adj_tracer_set_header (trace->tracer, adj_graph_get_header (like),
                             adj_graph_get_parameters (like));
      return;
    }
  for (guint i = 0; i < n; i++)
    {
      if (trace->options->unlisted != NULL &&
          trace->options->parameters[i] == trace->options->unlisted)
        continue;
      g_string_append (names, names->len > 0 ? ", " : "");
      if (trace->options->parameters != NULL)
        g_string_append (names, trace->options->parameters[i]);
      else
        g_string_append_printf (names, "arg%u", i);
      trace->pytree |= adj_value_is_container (&examples[i]);
    }
  if (trace->pytree)
    adj_tracer_set_header (trace->tracer, ADJ_HEADER_PYTREE, names->str);
}

static gboolean
add_output (Trace *trace, const AdjValue *result)
{
  g_autoptr (GArray) leaves = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  AdjValue flat = { .kind = ADJ_VALUE_LIST };

  if (!trace->pytree)
    return adj_tracer_add_output (trace->tracer, result);
  adj_value_foreach (result, append_leaf, leaves);
  flat.n = leaves->len;
  flat.items = (gpointer) leaves->data;
  return adj_tracer_add_output (trace->tracer, &flat);
}

/* -- functionalization ---- */

/* An input and the tensor that represents it above the mode. */
typedef struct
{
  AdjTensor *input;   /* (owned) */
  AdjTensor *wrapped; /* (owned) */
} Pair;

static void
clear_pair (gpointer data)
{
  adj_tensor_unref (((Pair *) data)->input);
  adj_tensor_unref (((Pair *) data)->wrapped);
}

/* A tensor that is passed twice is wrapped once. */
static gboolean
wrap_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Trace *trace = data;
  Pair pair;

  *out = *leaf;
  for (guint i = 0; i < trace->pairs->len && leaf->kind == ADJ_VALUE_TENSOR; i++)
    if (g_array_index (trace->pairs, Pair, i).input == leaf->tensor)
      out->tensor = g_array_index (trace->pairs, Pair, i).wrapped;
  if (leaf->kind == ADJ_VALUE_TENSOR && out->tensor == leaf->tensor)
    {
      out->tensor = adj_functional_wrap (trace->cx, leaf->tensor);
      pair = (Pair){ adj_tensor_ref (leaf->tensor), adj_tensor_ref (out->tensor) };
      g_array_append_val (trace->pairs, pair);
    }
  *out = adj_value_copy (out);
  return TRUE;
}

static void
wrap_inputs (Trace *trace, AdjValue *args, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      AdjValue wrapped;

      adj_value_map (&args[i], wrap_leaf, trace, &wrapped);
      adj_value_clear (&args[i]);
      args[i] = wrapped;
    }
}

static gboolean
unwrap_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = *leaf;
  if (leaf->kind == ADJ_VALUE_TENSOR)
    out->tensor = adj_functional_get_value (data, leaf->tensor);
  if (out->kind == ADJ_VALUE_TENSOR && out->tensor == NULL)
    return FALSE;
  *out = adj_value_copy (out);
  return TRUE;
}

/* Fails if a written input aliases another one, since inputs get separate storages here. */
static gboolean
refuse_aliases (Trace *trace, guint index)
{
  const Pair *pair = &g_array_index (trace->pairs, Pair, index);
  AdjFunctionalState observed;

  if (!adj_functional_get_state (pair->wrapped, &observed) || !observed.mutated)
    return TRUE;
  for (guint i = 0; i < trace->pairs->len; i++)
    if (i != index && adj_tensor_get_storage (g_array_index (trace->pairs, Pair, i).input) ==
                          adj_tensor_get_storage (pair->input))
      {
        adj_context_fail (trace->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                          "inputs '%s' and '%s' share memory, and it is written",
                          adj_tracer_name_value (pair->input),
                          adj_tracer_name_value (g_array_index (trace->pairs, Pair, i).input));
        return FALSE;
      }
  return TRUE;
}

/* Replaces outputs by their values, then writes changed values back to the inputs. */
static gboolean
unwrap_result (Trace *trace, AdjValue *result)
{
  AdjValue value;

  if (!adj_value_map (result, unwrap_leaf, trace->cx, &value))
    return FALSE;
  adj_value_clear (result);
  *result = value;
  for (guint i = 0; i < trace->pairs->len; i++)
    {
      const Pair *pair = &g_array_index (trace->pairs, Pair, i);

      if (!refuse_aliases (trace, i) ||
          !adj_functional_write_back (trace->cx, pair->input, pair->wrapped))
        return FALSE;
    }
  return TRUE;
}

/* -- running ---- */

static gboolean
call_function (Trace *trace, AdjFunction *function, AdjValue *args, guint n, AdjValue *result)
{
  if (!trace->options->functionalize)
    return adj_function_call (function, trace->cx, args, n, result);
  wrap_inputs (trace, args, n);
  return adj_function_call (function, trace->cx, args, n, result) && unwrap_result (trace, result);
}

static AdjGraph *
run (Trace *trace, AdjFunction *function, const AdjValue *examples, guint n, GError **error)
{
  g_auto (AdjValue) result = ADJ_NONE;
  AdjValue *args = g_new0 (AdjValue, MAX (n, 1));
  AdjGraph *graph = NULL;
  gboolean done;

  set_header (trace, examples, n);
  done = add_inputs (trace, examples, n, args) &&
         call_function (trace, function, args, n, &result) && add_output (trace, &result);
  if (!adj_context_take_error (trace->cx, error) && done)
    graph = adj_tracer_seal (trace->tracer, error);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&args[i]);
  g_free (args);
  return graph;
}

AdjGraph *
adj_trace (AdjFunction *function,
           const AdjValue *example_inputs,
           guint n,
           const AdjTraceOptions *options,
           GError **error)
{
  static const AdjTraceOptions defaults = { 0 };
  g_autoptr (AdjContext) cx = NULL;
  g_autoptr (AdjTracer) tracer = NULL;
  const char *name = "<lambda>";
  AdjGraph *graph;
  Trace trace;

  g_return_val_if_fail (function != NULL, NULL);
  g_return_val_if_fail (n == 0 || example_inputs != NULL, NULL);

  options = options != NULL ? options : &defaults;
  if (options->name != NULL)
    name = options->name;
  else if (options->like != NULL)
    name = adj_graph_get_name (options->like);
  cx = adj_context_new_empty (NULL);
  adj_context_set_unbacked (cx, options->unbacked && !options->real);
  tracer = adj_tracer_new (cx, name, options->items_when_read);
  adj_tracer_set_drop_dead (tracer, options->drop_dead);
  adj_context_push_mode (cx, options->real ? adj_eager_mode_new () : adj_fake_mode_new ());
  adj_context_push_mode (cx, adj_proxy_mode_new (tracer));
  if (options->decompositions != NULL)
    adj_context_push_mode (cx, adj_decompose_mode_new (options->decompositions));
  if (options->functionalize)
    adj_context_push_mode (cx, adj_functional_mode_new ());
  trace = (Trace){ .cx = cx, .tracer = tracer, .options = options };
  trace.pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  g_array_set_clear_func (trace.pairs, clear_pair);
  trace.examples = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  graph = run (&trace, function, example_inputs, n, error);
  g_array_unref (trace.pairs);
  g_array_unref (trace.examples);
  while (adj_context_get_mode (cx) != NULL)
    adj_context_pop_mode (cx);
  return graph;
}

AdjGraph *
adj_retrace (AdjGraph *graph, const AdjDecompositions *decompositions, GError **error)
{
  g_autoptr (AdjFunction) function = NULL;
  g_autofree AdjValue *inputs = NULL;
  AdjTraceOptions options;
  guint n;

  g_return_val_if_fail (graph != NULL, NULL);

  if (graph_is_captured (graph))
    return retrace_captured (graph, decompositions, error);
  n = adj_graph_get_n_inputs (graph);
  inputs = g_new0 (AdjValue, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    inputs[i] = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->val;
  function = adj_graph_function_new (graph);
  options =
      (AdjTraceOptions){ .like = graph, .decompositions = decompositions, .items_when_read = TRUE };
  options.unbacked = adj_symbols_have_data (adj_graph_get_symbols (graph));
  return adj_trace (function, inputs, n, &options, error);
}
