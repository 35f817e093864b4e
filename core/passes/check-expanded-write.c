/* SPDX-License-Identifier: MIT */
/* expanded-write: a write to a tensor of which several elements share memory. */

#include <string.h>

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "ir/adj-target-internal.h"
#include "passes/adj-finding-internal.h"
#include "passes/adj-finding.h"

/* The argument that @node writes; %NULL: none. */
static const AdjNode *
find_written (const AdjGraph *graph, const AdjNode *node)
{
  gsize length = strlen (node->target);
  gboolean writes = FALSE;

  if (node->args.n == 0 || node->args.items[0].kind != ADJ_VALUE_NODE)
    return NULL;
  if (node->op != NULL)
    writes = adj_op_get_schema (node->op)->arguments[0].type.written;
  else if (node->opcode == ADJ_OPCODE_CALL_METHOD)
    writes = length > 1 && node->target[length - 1] == '_' && node->target[length - 2] != '_';
  else if (node->opcode == ADJ_OPCODE_CALL_FUNCTION)
    {
      AdjFixity fixity;

      writes =
          adj_target_get_symbol (node->target, &fixity) != NULL && fixity == ADJ_FIXITY_INPLACE;
    }
  return writes ? adj_graph_get_node (graph, node->args.items[0].node.index) : NULL;
}

/* The first dimension of stride 0; -1: there is none. */
static gint
find_shared_dim (const AdjNode *node, AdjSymbols *symbols)
{
  const AdjShape *shape;
  gint64 size;

  if (node->val.kind != ADJ_VALUE_META)
    return -1;
  shape = &node->val.meta->shape;
  for (guint i = 0; i < shape->rank; i++)
    if (adj_size_is_int (shape->stride[i]) && shape->stride[i].word == 0 &&
        adj_size_get_hint (symbols, shape->size[i], &size) && size > 1)
      return (gint) i;
  return -1;
}

static void
check_graph (const AdjCheck *check, AdjGraph *graph, AdjFindings *findings)
{
  for (guint i = 0; graph != NULL && i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      const AdjNode *written = find_written (graph, node);
      gint dim = written != NULL ? find_shared_dim (written, adj_graph_get_symbols (graph)) : -1;

      if (dim < 0)
        continue;
      adj_findings_add (
          findings,
          &(AdjFinding){
              .check = check,
              .severity = ADJ_SEVERITY_ERROR,
              .graph = graph,
              .message = g_strdup_printf (
                  "'%s' writes '%s', whose elements along dimension %d are the same memory",
                  node->name, written->name, dim),
              .n_nodes = 2,
              .nodes = (AdjNodeId[]){ { i }, node->args.items[0].node } });
    }
}

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  check_graph (check, region->dynamo, findings);
  check_graph (check, region->inference, findings);
  check_graph (check, region->joint, findings);
}

const AdjCheck adj_check_expanded_write = {
  .name = "expanded-write",
  .summary = "A write to an expanded tensor",
  .explain =
      "`x.expand(3, 4).add_(y)` writes each element of `x` three times.  Eager PyTorch refuses it; "
      "the compiler turns the write into a sum of differences, which is no meaning that the "
      "program could have had.\n\n"
      "Clone before writing: `x.expand(3, 4).clone().add_(y)`.",
  .versions = "2.0 to 2.6",
  .run = run,
};
