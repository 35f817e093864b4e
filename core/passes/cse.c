/* SPDX-License-Identifier: MIT */
/* cse: replaces a repeated call by the first one (passes/SPEC.md §2.2).
 *
 * Nodes that may share memory with an output are not merged, so that distinct outputs stay
 * distinct. Equal reads before and after a write are not merged either. */

#include "analysis/adj-aliases.h"
#include "call/adj-op.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "passes/adj-pass.h"
#include "passes/adj-repeats.h"

static gboolean
is_repeatable (const AdjNode *node)
{
  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION ||
      g_strcmp0 (node->meta.partitioner_tag, ADJ_MUST_BE_IN_BACKWARD) == 0)
    return FALSE;
  if (node->op == NULL)
    return g_str_has_prefix (node->target, "operator.");
  return adj_op_is_pure (node->op) && (node->op->flags & ADJ_OP_NO_COMPARE) == 0;
}

/* By first node of a storage: whether it is the storage of an output. */
static gboolean *
mark_outputs (const AdjGraph *graph, const AdjAlias *aliases)
{
  gboolean *marks = g_new0 (gboolean, adj_graph_get_n_nodes (graph));
  const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);

  for (guint i = 0; i < output->n_inputs; i++)
    marks[aliases[output->inputs[i].index].must] = TRUE;
  return marks;
}

typedef struct
{
  const AdjAlias *aliases;
  const gboolean *returned;
} Memory;

static gboolean
may_merge (const AdjGraph *graph, guint index, gpointer data)
{
  const Memory *memory = data;

  return is_repeatable (adj_graph_get_node (graph, index)) &&
         !memory->returned[memory->aliases[index].must];
}

static AdjGraph *
cse_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  guint n = adj_graph_get_n_nodes (in);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (in);
  const AdjAlias *aliases = adj_graph_get_aliases (in);
  g_autofree gboolean *returned = mark_outputs (in, aliases);
  Memory memory = { aliases, returned };
  g_autofree guint32 *first = adj_graph_find_repeats (in, may_merge, &memory);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);

  for (guint i = 0; i < n; i++)
    if (first[i] == i)
      adj_builder_copy (builder, in, i, map);
    else
      {
        map[i] = map[first[i]];
        adj_pass_note (context, (AdjNodeId){ i }, map[i], "the same call as %s",
                       adj_graph_get_node (in, first[i])->name);
      }
  return adj_builder_seal (builder, error);
}

const AdjPass adj_pass_cse = {
  .name = "cse",
  .summary = "Make equal calls once",
  .explain =
      "Two calls of one operator on the same arguments give the same value, so the second one "
      "goes and its users read the first.  Random operators, writes, uninitialised memory and "
      "what shares memory with an output stay as they are.\n\n"
      "Before: `t = x.t(); a = w @ t; t_1 = x.t(); b = v @ t_1`\n\n"
      "After: `t = x.t(); a = w @ t; b = v @ t`",
  .run = cse_run,
};
