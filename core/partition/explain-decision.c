/* SPDX-License-Identifier: MIT */
/* Why a node is saved, recomputed or neither: the partition decision in words. */

#include "ir/adj-graph.h"
#include "partition/adj-partition.h"
#include "partition/rule-private.h"

static const char *const kinds[ADJ_N_DECISION_KINDS] = {
  [ADJ_DECISION_GONE] = "gone",         [ADJ_DECISION_FORWARD] = "forward",
  [ADJ_DECISION_SAVED] = "saved",       [ADJ_DECISION_RECOMPUTED] = "recomputed",
  [ADJ_DECISION_BACKWARD] = "backward",
};

static const char *const clauses[ADJ_N_DECISION_KINDS] = {
  [ADJ_DECISION_GONE] = "is in neither graph",
  [ADJ_DECISION_FORWARD] = "stays in forward",
  [ADJ_DECISION_SAVED] = "is saved for backward",
  [ADJ_DECISION_RECOMPUTED] = "is computed again in backward",
  [ADJ_DECISION_BACKWARD] = "is computed in backward",
};

const char *
adj_decision_kind_name (AdjDecisionKind kind)
{
  return kind < ADJ_N_DECISION_KINDS ? kinds[kind] : "";
}

/* Appends "PREFER_RECOMPUTE of region 2" after a rule that is about tags. */
static void
append_tag (const AdjPartition *partition, AdjNodeId id, AdjPartitionRule rule, GString *out)
{
  const AdjNode *node = adj_graph_get_node (partition->joint, id.index);

  if (rule != ADJ_RULE_TAG || node->meta.recompute == ADJ_RECOMPUTE_NONE)
    return;
  g_string_append_printf (out, ", %s", adj_recompute_name (node->meta.recompute));
  if (node->meta.ac_graph_id >= 0)
    g_string_append_printf (out, " of region %" G_GINT64_FORMAT, node->meta.ac_graph_id);
}

/* The nearest user of @id, by number of calls, that is saved or recomputed; ADJ_NO_NODE: none. */
static AdjNodeId
find_read (const AdjPartition *partition, AdjNodeId id)
{
  g_autofree guint8 *reached = g_new0 (guint8, adj_graph_get_n_nodes (partition->joint));
  g_autoptr (GArray) queue = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));

  g_array_append_val (queue, id);
  for (guint i = 0; i < queue->len; i++)
    {
      AdjNodeId at = g_array_index (queue, AdjNodeId, i);
      const AdjNode *node = adj_graph_get_node (partition->joint, at.index);
      AdjDecisionKind kind = partition->nodes[at.index].kind;

      if (i > 0 && (kind == ADJ_DECISION_SAVED || kind == ADJ_DECISION_RECOMPUTED))
        return at;
      for (guint k = 0; kind == ADJ_DECISION_FORWARD && k < node->n_users; k++)
        if (!reached[node->users[k].index])
          {
            reached[node->users[k].index] = TRUE;
            g_array_append_val (queue, node->users[k]);
          }
    }
  return ADJ_NO_NODE;
}

/* Appends what saving the value costs, or would have cost, in the cut. */
static void
append_price (const AdjPartition *partition, const AdjNodeDecision *decision, GString *out)
{
  if (decision->kind == ADJ_DECISION_SAVED && decision->weight >= 0 && partition->cut_value >= 0)
    g_string_append_printf (out,
                            "; %" G_GUINT64_FORMAT " bytes, %" G_GINT64_FORMAT
                            " of the %" G_GINT64_FORMAT " that the cut costs",
                            decision->bytes, decision->weight, partition->cut_value);
  else if (decision->kind == ADJ_DECISION_RECOMPUTED && decision->weight >= 0)
    g_string_append_printf (
        out, "; saving its %" G_GUINT64_FORMAT " bytes would have cost %" G_GINT64_FORMAT,
        decision->bytes, decision->weight);
}

char *
adj_partition_explain (const AdjPartition *partition, AdjNodeId node)
{
  const AdjNodeDecision *decision;
  GString *out;

  g_return_val_if_fail (node.index < adj_graph_get_n_nodes (partition->joint), NULL);

  decision = &partition->nodes[node.index];
  out = g_string_new (NULL);
  g_string_append_printf (out, "'%s' %s: ", adj_graph_get_node (partition->joint, node.index)->name,
                          clauses[decision->kind]);
  rule_append (decision->rule, partition->joint, decision->because, out);
  append_tag (partition, node, decision->rule, out);
  append_price (partition, decision, out);
  if (decision->ban != ADJ_RULE_NONE && decision->kind == ADJ_DECISION_SAVED)
    {
      g_string_append (out, "; it may not be computed again: ");
      rule_append (decision->ban, partition->joint, decision->because, out);
    }
  else if (decision->kind == ADJ_DECISION_FORWARD)
    {
      AdjNodeId read = find_read (partition, node);

      if (adj_node_id_is_valid (read))
        g_string_append_printf (out, " itself; of what is made of it, backward has '%s'",
                                adj_graph_get_node (partition->joint, read.index)->name);
    }
  return g_string_free (out, FALSE);
}
