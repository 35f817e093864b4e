/* SPDX-License-Identifier: MIT */
/* What holds of every partition (partitioner §6); a failure is a mistake of the partitioner. */

#include <string.h>

#include "partition/partitioners-private.h"

static gboolean
broken (const AdjPartition *partition, const char *rule, const char *node, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "%s made a partition that breaks %s at '%s'",
               partition->partitioner, rule, node);
  return FALSE;
}

static const char *
input_name (const AdjGraph *graph, guint index)
{
  return adj_graph_get_node (graph, adj_graph_get_input (graph, index).index)->name;
}

static gboolean
is_call_in (const AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);

  return adj_node_id_is_valid (id) &&
         adj_graph_get_node (graph, id.index)->opcode != ADJ_OPCODE_PLACEHOLDER;
}

/* I1, I10: forward takes the inputs of the joint graph that are no tangents, in order. */
static gboolean
check_forward (const AdjPartition *partition, GError **error)
{
  guint n = 0, n_inputs = adj_graph_get_n_inputs (partition->forward);

  for (guint i = 0; i < adj_graph_get_n_inputs (partition->joint); i++)
    {
      const char *name = input_name (partition->joint, i);

      if (strstr (name, "tangents") != NULL || strstr (name, "bwd_") != NULL)
        continue;
      if (n >= n_inputs || !g_str_equal (input_name (partition->forward, n), name))
        return broken (partition, "I1", name, error);
      n++;
    }
  return n == n_inputs || broken (partition, "I10", input_name (partition->forward, n), error);
}

static const AdjValue *
outputs_of (const AdjGraph *graph)
{
  return &adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0];
}

/* I2-I5: as many values saved as taken, and as many gradients as the joint graph has. */
static gboolean
check_borders (const AdjPartition *partition, GError **error)
{
  guint n_outputs = outputs_of (partition->joint)->n;

  if (outputs_of (partition->forward)->n != partition->num_fwd_outputs + partition->n_saved)
    return broken (partition, "I2", "output", error);
  if (outputs_of (partition->backward)->n != n_outputs - partition->num_fwd_outputs)
    return broken (partition, "I5", "output", error);
  for (guint i = 0; i < partition->n_saved; i++)
    {
      const AdjNode *node = adj_graph_get_node (partition->joint, partition->saved[i].node.index);
      AdjNodeId there = adj_graph_find_node (partition->backward, node->name);

      if (partition->saved[i].kind == ADJ_SAVED_RNG_STATE)
        continue;
      if (!adj_node_id_is_valid (there) || is_call_in (partition->backward, node->name))
        return broken (partition, "I4", node->name, error);
      if (adj_value_is_container (&node->val))
        return broken (partition, "I8", node->name, error);
    }
  return TRUE;
}

/* I13-I15, I17: every node is where its decision says. */
static gboolean
check_fates (const AdjPartition *partition, GError **error)
{
  static const struct
  {
    gboolean forward, backward;
  } places[ADJ_N_FATES] = {
    [ADJ_FATE_GONE] = { FALSE, FALSE },    [ADJ_FATE_FORWARD] = { TRUE, FALSE },
    [ADJ_FATE_SAVED] = { TRUE, FALSE },    [ADJ_FATE_RECOMPUTED] = { TRUE, TRUE },
    [ADJ_FATE_BACKWARD] = { FALSE, TRUE },
  };

  for (guint i = 0; i < adj_graph_get_n_nodes (partition->joint); i++)
    {
      const AdjNode *node = adj_graph_get_node (partition->joint, i);
      const AdjNodeDecision *decision = &partition->nodes[i];

      if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_OUTPUT)
        continue;
      if (is_call_in (partition->forward, node->name) != places[decision->fate].forward ||
          is_call_in (partition->backward, node->name) != places[decision->fate].backward)
        return broken (partition, "I14", node->name, error);
      if (decision->fate == ADJ_FATE_SAVED &&
          (decision->recompute == ADJ_RECOMPUTE_MUST_RECOMPUTE ||
           decision->recompute == ADJ_RECOMPUTE_PREFER_RECOMPUTE))
        return broken (partition, "I17", node->name, error);
    }
  return TRUE;
}

gboolean
partition_verify (const AdjPartition *partition, GError **error)
{
  return check_forward (partition, error) && check_borders (partition, error) &&
         check_fates (partition, error);
}
