/* SPDX-License-Identifier: MIT */
/* Which inputs require a gradient, taken from the joint graph of the region. */

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "session/adj-wanted-gradients.h"

#include "session/recorded-looks-private.h"

static const AdjNode *
get_input (const AdjGraph *graph, guint index)
{
  return adj_graph_get_node (graph, adj_graph_get_input (graph, index).index);
}

static gboolean
is_differentiable (const AdjNode *input)
{
  return input->val.kind == ADJ_VALUE_META && adj_dtype_is_differentiable (input->val.meta->dtype);
}

/* Whether it is a graph that is differentiated: a forward as it was captured. */
static gboolean
is_forward_program (const AdjBundleGraph *graph)
{
  static const char *const roles[] = { "dynamo", "pre_grad", "after_pre_grad", "user", NULL };

  return g_strv_contains (roles, graph->role) &&
         !adj_graph_has_input (graph->graph, ADJ_INPUT_TANGENT);
}

static gboolean
says_so (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    {
      const AdjNode *input = get_input (graph, i);

      if (input->val.kind == ADJ_VALUE_META && input->val.meta->requires_grad)
        return TRUE;
    }
  return FALSE;
}

static const AdjGraph *
find_joint (AdjBundle *bundle, const AdjBundleGraph *graph)
{
  const AdjRegion *region = adj_bundle_find_region (bundle, graph);

  for (guint i = 0; region != NULL && i < region->n_graphs; i++)
    if (g_str_equal (region->graphs[i]->role, "joint"))
      return region->graphs[i]->graph;
  return NULL;
}

/* Source of a primal of the joint graph → whether a gradient of it is returned.  %NULL: the graph
 * does not end with one value for each primal, or its inputs have no source. */
static GHashTable *
read_joint (const AdjGraph *joint)
{
  const AdjNode *output = adj_graph_get_node (joint, adj_graph_get_output (joint).index);
  const AdjValue *results = output->args.n > 0 ? &output->args.items[0] : NULL;
  GHashTable *gradients = g_hash_table_new (g_str_hash, g_str_equal);
  guint n_primals = 0;

  for (guint i = 0; i < adj_graph_get_n_inputs (joint); i++)
    n_primals +=
        adj_graph_get_input_role (joint, adj_graph_get_input (joint, i).index) == ADJ_INPUT_PRIMAL;
  for (guint i = 0; results != NULL && results->n >= n_primals && i < n_primals; i++)
    {
      const AdjNode *primal = get_input (joint, i);
      const AdjValue *result = &results->items[results->n - n_primals + i];

      if (primal->meta.source != NULL)
        g_hash_table_insert (gradients, (gpointer) primal->meta.source,
                             GINT_TO_POINTER (result->kind == ADJ_VALUE_NODE));
    }
  if (g_hash_table_size (gradients) == 0)
    g_clear_pointer (&gradients, g_hash_table_unref);
  return gradients;
}

/* Sets @wanted for the inputs that the joint graph knows; %FALSE: it knows none. */
static gboolean
take_from_joint (const AdjGraph *graph, const AdjGraph *joint, GArray *wanted)
{
  g_autoptr (GHashTable) gradients = read_joint (joint);
  gboolean any = FALSE;

  for (guint i = 0; gradients != NULL && i < wanted->len; i++)
    {
      const AdjNode *input = get_input (graph, i);
      gpointer has;

      if (input->meta.source == NULL ||
          !g_hash_table_lookup_extended (gradients, input->meta.source, NULL, &has))
        continue;
      g_array_index (wanted, gboolean, i) = GPOINTER_TO_INT (has) && is_differentiable (input);
      any = TRUE;
    }
  return any;
}

static void
guess (const AdjGraph *graph, GArray *wanted)
{
  gboolean any = FALSE;

  for (guint i = 0; i < wanted->len; i++)
    {
      const AdjNode *input = get_input (graph, i);

      g_array_index (wanted, gboolean, i) =
          input->meta.parameter != NULL && is_differentiable (input);
      any |= g_array_index (wanted, gboolean, i);
    }
  for (guint i = 0; !any && i < wanted->len; i++)
    g_array_index (wanted, gboolean, i) = is_differentiable (get_input (graph, i));
}

AdjGradientsKnown
adj_wanted_gradients_find (AdjBundle *bundle, const AdjBundleGraph *graph, GArray **wanted)
{
  guint n = adj_graph_get_n_inputs (graph->graph);
  const AdjGraph *joint = find_joint (bundle, graph);

  *wanted = g_array_sized_new (FALSE, TRUE, sizeof (gboolean), n);
  g_array_set_size (*wanted, n);
  if (!is_forward_program (graph) || says_so (graph->graph))
    return ADJ_GRADIENTS_SAID;
  if (joint != NULL && take_from_joint (graph->graph, joint, *wanted))
    return ADJ_GRADIENTS_FROM_JOINT;
  guess (graph->graph, *wanted);
  return ADJ_GRADIENTS_UNKNOWN;
}

static void
copy_input (AdjBuilder *builder, const AdjGraph *graph, guint index, AdjNodeId *map)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  AdjTensorMeta meta = *node->val.meta;
  g_autofree char *name = adj_builder_unique_name (builder, node->name);
  AdjNodeSpec spec = { .name = name,
                       .opcode = node->opcode,
                       .target = node->target,
                       .args = node->args,
                       .kwargs = node->kwargs,
                       .val = node->val,
                       .meta = &node->meta,
                       .span = node->span,
                       .origin = { index } };

  meta.requires_grad = TRUE;
  spec.val.meta = &meta;
  map[index] = adj_builder_add (builder, &spec);
}

AdjGraph *
adj_wanted_gradients_set (const AdjGraph *graph, const GArray *wanted, GError **error)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (graph);
  g_autofree AdjNodeId *map = g_new (AdjNodeId, adj_graph_get_n_nodes (graph));
  guint input = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      gboolean is_input =
          input < adj_graph_get_n_inputs (graph) && adj_graph_get_input (graph, input).index == i;

      if (is_input && g_array_index (wanted, gboolean, input))
        copy_input (builder, graph, i, map);
      else
        adj_builder_copy (builder, graph, i, map);
      input += is_input;
    }
  return adj_builder_seal (builder, error);
}

AdjGraph *
adj_wanted_gradients_apply (AdjBundle *bundle,
                            const AdjBundleGraph *graph,
                            AdjGradientsChoice choice,
                            AdjGradientsKnown *known,
                            GError **error)
{
  g_autoptr (GArray) wanted = NULL;
  AdjGradientsKnown how = adj_wanted_gradients_find (bundle, graph, &wanted);

  if (known != NULL)
    *known = how;
  if (choice == ADJ_GRADIENTS_NONE || how == ADJ_GRADIENTS_SAID ||
      (how == ADJ_GRADIENTS_UNKNOWN && choice != ADJ_GRADIENTS_GUESSED))
    return recorded_looks_apply (bundle, graph, error);
  return adj_wanted_gradients_set (graph->graph, wanted, error);
}
