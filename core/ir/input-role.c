/* SPDX-License-Identifier: MIT */
/* Roles of placeholders and the phases of nodes that follow from them; set once, when a graph is
 * sealed. */

#include "ir/adj-graph-private.h"
#include "ir/adj-input-role.h"

AdjInputRole
adj_input_role_from_target (const char *target)
{
  static const struct
  {
    const char *prefix;
    AdjInputRole role;
  } names[] = {
    { "tangents", ADJ_INPUT_TANGENT },
    { "fwd_seed", ADJ_INPUT_FORWARD_RNG },
    { "fwd_base_offset", ADJ_INPUT_FORWARD_RNG },
    { "bwd_seed", ADJ_INPUT_BACKWARD_RNG },
    { "bwd_base_offset", ADJ_INPUT_BACKWARD_RNG },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_str_has_prefix (target, names[i].prefix))
      return names[i].role;
  return ADJ_INPUT_PRIMAL;
}

AdjPhase
adj_phase_from_tag (const char *tag)
{
  if (tag == NULL)
    return ADJ_PHASE_UNKNOWN;
  if (g_str_equal (tag, ADJ_IS_BACKWARD) || g_str_equal (tag, ADJ_MUST_BE_IN_BACKWARD))
    return ADJ_PHASE_BACKWARD;
  if (g_str_equal (tag, "is_forward") || g_str_equal (tag, "must_be_in_forward"))
    return ADJ_PHASE_FORWARD;
  return ADJ_PHASE_UNKNOWN;
}

/* Whether @node belongs to the backward or comes after it: by its tag, else by its role
 * (placeholders and output), by autograd having made it, or by @in_backward, which is set once a
 * backward value was read. */
static gboolean
find_phase (const AdjNode *node, AdjInputRole role, gboolean of_autograd, gboolean in_backward)
{
  AdjPhase tagged = adj_phase_from_tag (node->meta.partitioner_tag);

  if (tagged != ADJ_PHASE_UNKNOWN)
    return tagged == ADJ_PHASE_BACKWARD;
  if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_OUTPUT)
    return role == ADJ_INPUT_TANGENT;
  return in_backward || of_autograd;
}

void
adj_graph_index_roles (AdjGraph *graph)
{
  gboolean in_backward = FALSE, has_gradients;

  graph->roles = adj_arena_new0 (graph->arena, guint8, MAX (graph->n_nodes, 1));
  graph->after_tangent = adj_arena_new0 (graph->arena, guint8, MAX (graph->n_nodes, 1));
  graph->backward = adj_arena_new0 (graph->arena, guint8, MAX (graph->n_nodes, 1));
  for (guint i = 0; i < graph->n_nodes; i++)
    if (graph->nodes[i].opcode == ADJ_OPCODE_PLACEHOLDER)
      graph->roles[i] = adj_input_role_from_target (graph->nodes[i].target);
  adj_graph_find_whole_step (graph);
  has_gradients = adj_graph_has_input (graph, ADJ_INPUT_TANGENT) || graph->update != G_MAXUINT;
  for (guint i = 0; i < graph->n_nodes; i++)
    {
      const AdjNode *node = &graph->nodes[i];
      gboolean of_autograd =
          graph->after_tangent[i] || (has_gradients && adj_node_is_of_autograd (node));

      graph->after_tangent[i] |= graph->roles[i] == ADJ_INPUT_TANGENT;
      for (guint k = 0; k < node->n_inputs; k++)
        {
          guint input = node->inputs[k].index;

          if (input >= i)
            continue;
          graph->after_tangent[i] |= graph->after_tangent[input];
          in_backward |= graph->backward[input] && node->opcode != ADJ_OPCODE_OUTPUT;
        }
      graph->backward[i] = find_phase (node, graph->roles[i], of_autograd, in_backward);
    }
}

AdjInputRole
adj_graph_get_input_role (const AdjGraph *graph, guint index)
{
  g_return_val_if_fail (index < graph->n_nodes, ADJ_INPUT_NONE);

  return graph->roles[index];
}

gboolean
adj_graph_has_input (const AdjGraph *graph, AdjInputRole role)
{
  for (guint i = 0; i < graph->n_inputs; i++)
    if (graph->roles[graph->inputs[i].index] == role)
      return TRUE;
  return FALSE;
}

gboolean
adj_graph_depends_on_tangent (const AdjGraph *graph, guint index)
{
  g_return_val_if_fail (index < graph->n_nodes, FALSE);

  return graph->after_tangent[index];
}

gboolean
adj_graph_is_backward (const AdjGraph *graph, guint index)
{
  g_return_val_if_fail (index < graph->n_nodes, FALSE);

  return graph->backward[index];
}

gboolean
adj_graph_is_update (const AdjGraph *graph, guint index)
{
  g_return_val_if_fail (index < graph->n_nodes, FALSE);

  return index >= graph->update && graph->nodes[index].opcode != ADJ_OPCODE_OUTPUT;
}
