/* SPDX-License-Identifier: MIT */

/* A custom executor: prints the size of the graph, then calls it in a new context. */

#include <adjoint-extend.h>
#include <stdio.h>

static gboolean
is_available (GError **error)
{
  return TRUE;
}

/* Converts DATA, the form of values outside of an executor, to TENSOR, and TENSOR to DATA. */
static gboolean
convert (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_DATA     ? ADJ_TENSOR (adj_tensor_new_from_data (leaf->data))
         : leaf->kind == ADJ_VALUE_TENSOR ? ADJ_DATA (adj_tensor_snapshot (leaf->tensor))
                                          : adj_value_copy (leaf);
  return TRUE;
}

static gboolean
run (const AdjRunRequest *request, AdjRunResult *result, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autofree AdjValue *inputs = g_new0 (AdjValue, request->n_inputs);
  g_auto (AdjValue) output = ADJ_NONE;

  *result = (AdjRunResult){ .n_nodes = adj_graph_get_n_nodes (request->graph) };
  result->node_ns = g_new0 (gint64, result->n_nodes);
  printf ("running %u nodes\n", result->n_nodes);
  for (guint i = 0; i < request->n_inputs; i++)
    adj_value_map (&request->inputs[i], convert, NULL, &inputs[i]);
  if (adj_interpret (cx, request->graph, inputs, request->n_inputs, NULL, &output))
    adj_value_map (&output, convert, NULL, &result->output);
  for (guint i = 0; i < request->n_inputs; i++)
    adj_value_clear (&inputs[i]);
  return !adj_context_take_error (cx, error);
}

int
main (int argc, char **argv)
{
  static const AdjExecutor mine = { .name = "mine", .available = is_available, .run = run };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (argv[1], NULL, &error);
  AdjSessionRun wanted = { .bundle = bundle, .executor = &mine };
  AdjRunResult result = { 0 };

  if (bundle != NULL)
    wanted.graph = adj_bundle_find_graph (bundle, "joint", &error);
  if (wanted.graph == NULL || !adj_session_run (&wanted, &result, NULL, NULL, &error))
    return fprintf (stderr, "%s\n", error->message), 1;
  printf ("loss %.6f\n", adj_tensor_data_get_double (result.output.items[0].data, 0));
  adj_run_result_clear (&result);
  return 0;
}
