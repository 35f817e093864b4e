/* SPDX-License-Identifier: MIT */
/* Retraces a captured backward (trace/SPEC.md §5): its inputs are lists whose items are annotated
 * one by one, and it calls objects that may belong to another process.  Such calls are recorded
 * without being made, with the results that the graph annotates. */

#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ir/adj-target-internal.h"
#include "rules/adj-operators.h"
#include "trace/adj-examples.h"
#include "trace/adj-tracer.h"
#include "trace/captured-retrace-private.h"

static const char *const effects[] = {
  ADJ_TARGET_CALL_HOOK,  ADJ_TARGET_CALL_BACKWARD,   ADJ_TARGET_FINAL_CALLBACKS,
  ADJ_TARGET_ACCUMULATE, ADJ_TARGET_CALL_ACCUMULATE, ADJ_TARGET_SELF_INVOKE,
};

typedef struct
{
  AdjContext *cx;
  AdjTracer *tracer;
  AdjExamples *examples;
} Retrace;

static gboolean
is_effect (const AdjNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (effects); i++)
    if (node->opcode == ADJ_OPCODE_CALL_FUNCTION && g_str_equal (node->target, effects[i]))
      return TRUE;
  return FALSE;
}

gboolean
graph_is_captured (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (is_effect (adj_graph_get_node (graph, i)))
      return TRUE;
  return FALSE;
}

/* Makes an example value of @node. @value is NONE for opaque objects and lists, which their nodes
 * represent. */
static gboolean
import (Retrace *self, const AdjNode *node, AdjValue *value)
{
  *value = ADJ_NONE;
  return node->val.kind == ADJ_VALUE_NONE ||
         adj_examples_import (self->examples, &node->val, value);
}

static gboolean
add_inputs (Retrace *self, const AdjGraph *graph, AdjValue *args)
{
  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    {
      AdjNodeId origin = adj_graph_get_input (graph, i), id;
      const AdjNode *node = adj_graph_get_node (graph, origin.index);

      if (!import (self, node, &args[i]))
        return FALSE;
      id = adj_tracer_add_placeholder (self->tracer, node->name, NULL, &node->meta, origin,
                                       &args[i]);
      if (args[i].kind == ADJ_VALUE_NONE || adj_value_is_container (&args[i]))
        {
          adj_value_clear (&args[i]);
          args[i] = ADJ_NODE (id);
        }
    }
  return TRUE;
}

static gboolean
record_call (
    const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value, gpointer data)
{
  const AdjNode *node = adj_graph_get_node (graph, id.index);
  gboolean is_item = g_str_equal (node->target, "operator.getitem") && args->n == 2 &&
                     args->items[0].kind == ADJ_VALUE_NODE;
  AdjValue taken, kwargs = ADJ_NONE;
  Retrace *self = data;
  AdjNodeId made;

  if (!is_item && !is_effect (node))
    return FALSE;
  if (!import (self, node, value) || !adj_tracer_take (self->tracer, args, &taken) ||
      (node->kwargs.n > 0 && !adj_tracer_take (self->tracer, &node->kwargs, &kwargs)))
    return TRUE;
  made = adj_tracer_add_call (self->tracer, node->target, &taken, &kwargs, value);
  if (value->kind == ADJ_VALUE_NONE)
    *value = ADJ_NODE (made);
  return TRUE;
}

static gboolean
retrace (Retrace *self, const AdjGraph *graph)
{
  const AdjInterpreterHooks hooks = { .replace = record_call, .data = self };
  guint n = adj_graph_get_n_inputs (graph);
  AdjValue *args = g_new0 (AdjValue, n + 1);
  g_auto (AdjValue) result = ADJ_NONE;
  gboolean done;

  done = add_inputs (self, graph, args) &&
         adj_interpret (self->cx, graph, args, n, &hooks, &result) &&
         adj_tracer_add_output (self->tracer, &result);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&args[i]);
  g_free (args);
  return done;
}

AdjGraph *
retrace_captured (AdjGraph *graph, const AdjDecompositions *decompositions, GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (NULL);
  g_autoptr (AdjTracer) tracer = adj_tracer_new (cx, adj_graph_get_name (graph), TRUE);
  g_autoptr (AdjExamples) examples = adj_examples_new (cx, adj_graph_get_symbols (graph), FALSE);
  Retrace self = { cx, tracer, examples };
  AdjGraph *traced = NULL;
  gboolean done;

  adj_tracer_set_header (tracer, adj_graph_get_header (graph), adj_graph_get_parameters (graph));
  adj_context_push_mode (cx, adj_fake_mode_new ());
  adj_context_push_mode (cx, adj_proxy_mode_new (tracer));
  if (decompositions != NULL)
    adj_context_push_mode (cx, adj_decompose_mode_new (decompositions));
  done = retrace (&self, graph);
  if (!adj_context_take_error (cx, error) && done)
    traced = adj_tracer_seal (tracer, error);
  while (adj_context_get_mode (cx) != NULL)
    adj_context_pop_mode (cx);
  return traced;
}
