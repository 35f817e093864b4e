/* SPDX-License-Identifier: MIT */
/* Runs a call that a finding says forward and backward both make, and compares its two results. */

#include "finding-run.h"
#include "ir/adj-graph.h"

/* A call that forward and backward both make, with both results. */
typedef struct
{
  guint nodes[2]; /* its nodes in the composed graph */
  AdjValue values[2];
} Twice;

static void
twice_clear (Twice *self)
{
  adj_value_clear (&self->values[0]);
  adj_value_clear (&self->values[1]);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Twice, twice_clear)

static gboolean
see_node (AdjNodeId id, const AdjValue *value, gpointer data)
{
  Twice *twice = data;

  for (guint i = 0; i < 2; i++)
    if (id.index == twice->nodes[i])
      twice->values[i] = adj_value_copy (value);
  return TRUE;
}

/* The number of calls before node @index of @graph. */
static guint
rank_of (const AdjGraph *graph, guint index)
{
  guint rank = 0;

  for (guint i = 0; i < index; i++)
    rank += adj_graph_get_node (graph, i)->opcode != ADJ_OPCODE_PLACEHOLDER;
  return rank;
}

/* The node of @graph with call number @rank. */
static guint
call_at (const AdjGraph *graph, guint rank)
{
  guint i = 0;

  while (adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_PLACEHOLDER || rank-- > 0)
    i++;
  return i;
}

/* In @whole the calls of forward come first, those of backward last. */
static void
find_nodes (AdjGraph *forward, AdjGraph *backward, AdjGraph *whole, guint index, Twice *twice)
{
  const char *name = adj_graph_get_node (backward, index)->name;
  guint before = adj_graph_get_n_calls (whole) - adj_graph_get_n_calls (backward);

  twice->nodes[0] = call_at (whole, rank_of (forward, adj_graph_find_node (forward, name).index));
  twice->nodes[1] = call_at (whole, before + rank_of (backward, index));
}

/* The region's graph of that role. */
static const AdjBundleGraph *
find_role (const AdjBundle *bundle, const AdjBundleGraph *beside, const char *role)
{
  const AdjRegion *region = adj_bundle_find_region (bundle, beside);

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, i);

      if (g_strcmp0 (graph->role, role) == 0 && adj_bundle_find_region (bundle, graph) == region)
        return graph;
    }
  return NULL;
}

/* The last tensor of a value with several, e.g. the mask of a dropout. */
static AdjTensorData *
last_tensor (const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_DATA)
    return value->data;
  for (guint i = adj_value_is_container (value) ? value->n : 0; i-- > 0;)
    if (value->items[i].kind == ADJ_VALUE_DATA)
      return value->items[i].data;
  return NULL;
}

static char *
describe (const Twice *twice, const char *name)
{
  AdjTensorData *a = last_tensor (&twice->values[0]), *b = last_tensor (&twice->values[1]);
  gint64 n, n_other = 0;

  if (a == NULL || b == NULL || adj_tensor_data_get_numel (a) != adj_tensor_data_get_numel (b))
    return NULL;
  n = adj_tensor_data_get_numel (a);
  for (gint64 i = 0; i < n; i++)
    n_other += adj_tensor_data_get_double (a, i) != adj_tensor_data_get_double (b, i);
  return g_strdup_printf ("ran on what was recorded: %s'%s' of forward and of backward differ in "
                          "%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " elements",
                          adj_tensor_data_get_meta (a)->dtype == ADJ_DTYPE_BOOL ? "the masks of "
                                                                                : "",
                          name, n_other, n);
}

char *
adj_finding_run (const AdjBundle *bundle, const AdjFinding *finding, GError **error)
{
  const AdjBundleGraph *backward = NULL, *forward, *joint;
  const AdjRecordedCall *call;
  g_autoptr (AdjGraph) whole = NULL;
  g_auto (Twice) twice = { 0 };
  AdjRunRequest request = { .tap = see_node, .data = &twice };
  AdjRunResult result = { 0 };
  const char *name;

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    if (adj_bundle_get_graph (bundle, i)->graph == finding->graph)
      backward = adj_bundle_get_graph (bundle, i);
  if (backward == NULL || g_strcmp0 (backward->role, "backward") != 0 || finding->n_nodes == 0)
    return NULL;
  forward = find_role (bundle, backward, "forward");
  joint = find_role (bundle, backward, "joint");
  name = adj_graph_get_node (backward->graph, finding->nodes[0].index)->name;
  if (forward == NULL || !adj_node_id_is_valid (adj_graph_find_node (forward->graph, name)))
    return NULL;
  call = joint != NULL ? adj_bundle_find_call (bundle, joint, 0) : NULL;
  if (call == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "no call of '%s' was recorded to run it on", backward->id);
      return NULL;
    }
  whole =
      adj_graph_compose (forward->graph, backward->graph,
                         (guint) adj_bundle_find_region (bundle, joint)->num_fwd_outputs, error);
  if (whole == NULL)
    return NULL;
  find_nodes (forward->graph, backward->graph, whole, finding->nodes[0].index, &twice);
  request.graph = whole;
  request.inputs = call->inputs;
  request.n_inputs = call->n_inputs;
  request.rng = call->rng;
  if (!adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, error))
    return NULL;
  adj_run_result_clear (&result);
  return describe (&twice, name);
}
