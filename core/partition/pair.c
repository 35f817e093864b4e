/* SPDX-License-Identifier: MIT */
/* Forward and backward of a finished partition as a pair, and the values saved between them. */

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "partition/pair-private.h"
#include "passes/adj-finding-internal.h"

const AdjNode *
pair_find_call (AdjGraph *graph, const char *name)
{
  AdjNodeId id = graph != NULL ? adj_graph_find_node (graph, name) : ADJ_NO_NODE;
  const AdjNode *node;

  if (!adj_node_id_is_valid (id))
    return NULL;
  node = adj_graph_get_node (graph, id.index);
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION ? node : NULL;
}

gboolean
pair_draws (const AdjNode *node)
{
  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return FALSE;
  if (node->op != NULL)
    return (node->op->flags & ADJ_OP_RANDOM) != 0;
  return (op_traits_of (node) & OP_SEEDED) != 0;
}

GArray *
pair_list_saved (const AdjCheckedRegion *region)
{
  GArray *saved = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  const AdjValue *outputs;

  if (region->forward == NULL || region->num_fwd_outputs < 0)
    return saved;
  outputs = &adj_graph_get_node (region->forward, adj_graph_get_output (region->forward).index)
                 ->args.items[0];
  if (!adj_value_is_container (outputs))
    return saved;
  for (guint i = (guint) region->num_fwd_outputs; i < outputs->n; i++)
    if (outputs->items[i].kind == ADJ_VALUE_NODE)
      g_array_append_val (saved, outputs->items[i].node);
  return saved;
}

void
pair_report (const AdjCheck *check,
             AdjSeverity severity,
             AdjGraph *graph,
             guint node,
             AdjFindings *findings,
             const char *format,
             ...)
{
  AdjNodeId id = { node };
  AdjFinding finding = {
    .check = check, .severity = severity, .graph = graph, .n_nodes = 1, .nodes = &id
  };
  va_list args;

  va_start (args, format);
  finding.message = g_strdup_vprintf (format, args);
  va_end (args);
  adj_findings_add (findings, &finding);
}
