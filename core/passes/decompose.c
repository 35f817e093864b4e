/* SPDX-License-Identifier: MIT */
/* decompose: replaces operators by smaller ones.
 *
 * The graph is traced again with a mode that evaluates the rules of the operators that the table
 * names; everything else is recorded as it was. */

#include "ir/adj-graph.h"
#include "passes/adj-pass.h"
#include "trace/adj-trace.h"

/* Notes the nodes whose operator differs from that of their origin. */
static void
note_changes (AdjGraph *in, AdjGraph *out, AdjPassContext *context)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (out); i++)
    {
      const AdjNode *node = adj_graph_get_node (out, i);
      const AdjNode *before;

      if (!adj_node_id_is_valid (node->origin))
        continue;
      before = adj_graph_get_node (in, node->origin.index);
      if (before->opcode == ADJ_OPCODE_CALL_FUNCTION && node->op != before->op)
        adj_pass_note (context, node->origin, (AdjNodeId){ i }, "of the rule of %s",
                       before->target);
    }
}

static AdjGraph *
decompose_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  const char *name = adj_pass_context_get_argument (context);
  const AdjDecompositions *table = adj_decompositions_find (name != NULL ? name : "core", error);
  AdjGraph *out;

  if (table == NULL)
    return NULL;
  out = adj_retrace (in, table, error);
  if (out != NULL)
    note_changes (in, out, context);
  return out;
}

const AdjPass adj_pass_decompose = {
  .name = "decompose",
  .argument = "core|inductor",
  .summary = "Say big operators in smaller ones",
  .explain =
      "Compilers want few kinds of operators.  A table names those that are to go; each of them "
      "has a rule, which `adjoint ops` shows.\n\n"
      "Before: `gelu(x)`\n\n"
      "After: `mul(mul(x, 0.5), add(erf(mul(x, 0.7071…)), 1))`",
  .run = decompose_run,
};
