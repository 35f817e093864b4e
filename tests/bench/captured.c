/* SPDX-License-Identifier: MIT */

/* captured FILE…: compares captured backwards with PyTorch's.
 *
 * Each FILE holds the Dynamo graph of a model and the backward that PyTorch captured of it, from
 * a run with the backend "eager" under compiled autograd.  The backward is captured here from
 * the Dynamo graph and must be PyTorch's, node for node; one line for each file, and status 1 if
 * any differs. */

#include <stdio.h>
#include <string.h>

#include "adjoint.h"

static void
check (AdjContext *cx, const char *what)
{
  g_autoptr (GError) error = NULL;

  if (adj_context_take_error (cx, &error))
    g_printerr ("%s: %s\n", what, error->message);
}

/* Makes leaves at the inputs that are leaves in PyTorch. */
static AdjValue *
make_inputs (AdjContext *cx, const AdjGraph *graph, const AdjRecordedCall *call)
{
  AdjValue *inputs = g_new0 (AdjValue, call->n_inputs + 1);

  for (guint i = 0; i < call->n_inputs; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      inputs[i] = call->inputs[i];
      if (call->inputs[i].kind != ADJ_VALUE_DATA)
        continue;
      inputs[i] = ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (call->inputs[i].data)));
      if (node->val.kind == ADJ_VALUE_META && node->val.meta->requires_grad)
        adj_tensor_set_requires_grad (cx, inputs[i].tensor, TRUE);
    }
  return inputs;
}

/* (transfer full) (nullable) */
static AdjGraph *
capture (const AdjBundle *bundle, const AdjBundleGraph *dynamo, AdjCaptureOrder order)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .order = order });
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, dynamo, 0);
  g_autofree AdjValue *inputs = NULL;
  g_auto (AdjValue) result = ADJ_NONE;
  const AdjValue *loss = &result;
  AdjGraph *graph = NULL;

  if (call == NULL)
    return NULL;
  adj_scope_begin (cx);
  inputs = make_inputs (cx, dynamo->graph, call);
  adj_compiled_autograd_enable (compiler, cx);
  adj_interpret (cx, dynamo->graph, inputs, call->n_inputs, NULL, &result);
  while (adj_value_is_container (loss) && loss->n > 0)
    loss = &loss->items[0];
  if (loss->kind == ADJ_VALUE_TENSOR)
    adj_tensor_backward (cx, loss->tensor);
  check (cx, dynamo->id);
  adj_compiled_autograd_restore (cx);
  if (adj_compiled_autograd_get_n_captures (compiler) > 0)
    graph = adj_graph_ref (adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, 0)));
  else if (adj_compiled_autograd_get_counters (compiler).fallback_reason != NULL)
    g_printerr ("%s\n", adj_compiled_autograd_get_counters (compiler).fallback_reason);
  adj_scope_end (cx);
  return graph;
}

/* Whether @node counts: items of lists do not, because which of them are read depends on what a
 * node keeps. */
static gboolean
counts (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
         !g_str_equal (node->target, "operator.getitem");
}

/* Lists the targets of the counted calls of @graph, in order. */
static GPtrArray *
list_calls (const AdjGraph *graph)
{
  GPtrArray *calls = g_ptr_array_new ();

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (counts (adj_graph_get_node (graph, i)))
      g_ptr_array_add (calls, (gpointer) adj_graph_get_node (graph, i));
  return calls;
}

/* Counts positions at which the two lists, of equal length, have different operators. */
static guint
count_others (const GPtrArray *a, const GPtrArray *b)
{
  guint n = 0;

  for (guint i = 0; i < a->len; i++)
    n += !g_str_equal (((AdjNode *) a->pdata[i])->target, ((AdjNode *) b->pdata[i])->target);
  return n;
}

static gboolean
compare (const char *file, AdjGraph *ours, AdjGraph *theirs)
{
  g_autoptr (GPtrArray) a = list_calls (ours);
  g_autoptr (GPtrArray) b = list_calls (theirs);
  guint same = 0;
  g_autofree char *name = g_path_get_basename (file);

  while (same < MIN (a->len, b->len) &&
         g_str_equal (((AdjNode *) a->pdata[same])->target, ((AdjNode *) b->pdata[same])->target))
    same++;
  if (same == a->len && same == b->len)
    {
      printf ("%-28s %5u calls, all as PyTorch's\n", name, same);
      return TRUE;
    }
  printf ("%-28s %5u calls, PyTorch %u; other from call %u on: %s, PyTorch %s\n", name, a->len,
          b->len, same, same < a->len ? ((AdjNode *) a->pdata[same])->target : "none",
          same < b->len ? ((AdjNode *) b->pdata[same])->target : "none");
  if (a->len == b->len)
    printf ("%-28s %5u of them call another operator at the same place\n", "", count_others (a, b));
  return FALSE;
}

static gboolean
examine (const char *file)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (file, NULL, &error);
  const AdjBundleGraph *dynamo = NULL, *theirs = NULL;
  g_autoptr (AdjGraph) ours = NULL;

  for (guint i = 0; bundle != NULL && i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, i);

      if (dynamo == NULL && g_strcmp0 (graph->role, "dynamo") == 0)
        dynamo = graph;
      if (theirs == NULL && g_strcmp0 (graph->role, "compiled_autograd") == 0)
        theirs = graph;
    }
  if (dynamo == NULL || theirs == NULL)
    {
      printf ("%s: %s\n", file, error != NULL ? error->message : "does not hold both graphs");
      return FALSE;
    }
  ours = capture (bundle, dynamo, ADJ_CAPTURE_ORDER_2_6);
  if (ours == NULL)
    printf ("%s: nothing was captured\n", file);
  return ours != NULL && compare (file, ours, theirs->graph);
}

int
main (int argc, char **argv)
{
  guint n_same = 0;

  for (int i = 1; i < argc; i++)
    n_same += examine (argv[i]);
  printf ("%u of %d as PyTorch captures them\n", n_same, argc - 1);
  return n_same + 1 == (guint) argc ? 0 : 1;
}
