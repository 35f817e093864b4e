/* SPDX-License-Identifier: MIT */
/* dce: drop every node that no output and no effect depends on.
 *
 * Nodes stand in order of execution, so one walk backwards finds what is live and one walk
 * forwards copies it.  Unknown calls (opaque targets, methods, modules) count as effects. */

#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "passes/adj-pass.h"

static gboolean
has_effect (const AdjGraph *graph, const AdjNode *node)
{
  switch (node->opcode)
    {
    case ADJ_OPCODE_GET_ATTR:
      return FALSE;
    case ADJ_OPCODE_CALL_FUNCTION:
      if (node->op == NULL)
        return !g_str_has_prefix (node->target, "operator.") &&
               !adj_object_node_is_pure (graph, node);
      return !adj_op_is_pure (node->op);
    case ADJ_OPCODE_PLACEHOLDER:
    case ADJ_OPCODE_CALL_METHOD:
    case ADJ_OPCODE_CALL_MODULE:
    case ADJ_OPCODE_OUTPUT:
    case ADJ_OPCODE_RAW:
    case ADJ_N_OPCODES:
    default:
      return TRUE;
    }
}

static gboolean *
mark_live (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  gboolean *live = g_new0 (gboolean, n);

  for (guint i = n; i-- > 0;)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      live[i] = live[i] || has_effect (graph, node);
      for (guint k = 0; live[i] && k < node->n_inputs; k++)
        live[node->inputs[k].index] = TRUE;
    }
  return live;
}

static AdjGraph *
dce_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  guint n = adj_graph_get_n_nodes (in);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (in);
  g_autofree gboolean *live = mark_live (in);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);

  for (guint i = 0; i < n; i++)
    if (live[i])
      adj_builder_copy (builder, in, i, map);
    else
      adj_pass_note (context, (AdjNodeId){ i }, ADJ_NO_NODE,
                     "no output and no effect depends on it");
  return adj_builder_seal (builder, error);
}

const AdjPass adj_pass_dce = {
  .name = "dce",
  .summary = "Drop nodes that nobody needs",
  .explain =
      "Tracing leaves values behind that no output reads.  A node stays when the output depends "
      "on it, when it writes, draws random numbers or has another effect, or when Adjoint does "
      "not know what it calls.",
  .run = dce_run,
};
