/* SPDX-License-Identifier: MIT */
/* Captures the backward of a graph from a file: the graph runs eagerly on tensors without elements,
 * and its results are differentiated. */

#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-operators.h"
#include "session/pipeline-private.h"
#include "trace/adj-composite.h"
#include "trace/adj-examples.h"

static AdjSize
get_hint (AdjSymbols *symbols, AdjSize size)
{
  gint64 hint;

  return adj_size_get_hint (symbols, size, &hint) ? ADJ_SIZE (hint) : size;
}

/* @meta with the sizes of the recording as numbers: a backward is captured while it runs with
 * concrete sizes. */
static AdjTensorMeta
get_recorded (AdjSymbols *symbols, const AdjTensorMeta *meta)
{
  AdjTensorMeta recorded = *meta;

  for (guint i = 0; i < meta->shape.rank; i++)
    {
      recorded.shape.size[i] = get_hint (symbols, meta->shape.size[i]);
      recorded.shape.stride[i] = get_hint (symbols, meta->shape.stride[i]);
    }
  recorded.shape.offset = get_hint (symbols, meta->shape.offset);
  return recorded;
}

/* (transfer full): one argument for each input of @graph. %FALSE: the context is in error. */
static gboolean
make_arguments (AdjContext *cx, AdjGraph *graph, AdjValue *arguments)
{
  AdjSymbols *symbols = adj_graph_get_symbols (graph);
  g_autoptr (AdjExamples) examples = adj_examples_new (cx, symbols, FALSE);

  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    {
      AdjValue like = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->val;
      AdjTensorMeta recorded;

      if (like.kind == ADJ_VALUE_META)
        {
          recorded = get_recorded (symbols, like.meta);
          like.meta = &recorded;
        }
      else if (like.kind == ADJ_VALUE_SIZE)
        like = adj_value_from_size (get_hint (symbols, like.size));
      if (!adj_examples_import (examples, &like, &arguments[i]))
        return FALSE;
      if (like.kind == ADJ_VALUE_META && like.meta->requires_grad &&
          !adj_tensor_set_requires_grad (cx, arguments[i].tensor, TRUE))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_root (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR && adj_tensor_get_requires_grad (leaf->tensor))
    g_ptr_array_add (data, leaf->tensor);
  return TRUE;
}

/* Differentiates all results at once, each with a gradient. */
static void
differentiate (AdjContext *cx, const AdjValue *results)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  g_autoptr (GPtrArray) ones = g_ptr_array_new ();
  AdjGradRoots from;

  adj_value_foreach (results, add_root, roots);
  if (roots->len == 0)
    {
      adj_context_fail (
          cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
          "nothing in the graph requires a gradient: there is no backward to capture");
      return;
    }
  for (guint i = 0; i < roots->len; i++)
    g_ptr_array_add (ones, ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR (roots->pdata[i])));
  from = (AdjGradRoots){ (AdjTensor *const *) roots->pdata, (AdjTensor *const *) ones->pdata,
                         roots->len };
  if (!adj_context_has_error (cx))
    adj_backward (cx, &from, NULL, 0, 0);
}

gboolean
captures_run_graph (gconstpointer what,
                    const char *release,
                    AdjCompiledAutograd *compiled,
                    GError **error)
{
  AdjGraph *graph = (AdjGraph *) what;
  const guint n = adj_graph_get_n_inputs (graph);
  g_autoptr (AdjContext) cx = adj_context_new_empty (NULL);
  g_autoptr (AdjFunction) function = adj_graph_function_new (graph);
  g_autofree AdjValue *arguments = g_new0 (AdjValue, n + 1);
  g_auto (AdjValue) results = ADJ_NONE;

  adj_context_push_mode (cx, adj_fake_mode_new ());
  adj_context_push_mode (cx, adj_composite_mode_new ());
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  adj_context_set_release (cx, release);
  adj_scope_begin (cx);
  if (make_arguments (cx, graph, arguments) &&
      adj_function_call (function, cx, arguments, n, &results) &&
      adj_compiled_autograd_enable (compiled, cx))
    {
      differentiate (cx, &results);
      adj_compiled_autograd_restore (cx);
    }
  adj_value_clear (&results);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&arguments[i]);
  adj_scope_end (cx);
  return !adj_context_take_error (cx, error);
}
