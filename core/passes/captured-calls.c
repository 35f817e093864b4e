/* SPDX-License-Identifier: MIT */
/* The calls of hooks in a captured backward: finding them and reading their arguments. */

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "passes/captured-calls-private.h"

gboolean
captured_calls (const AdjNode *node, const char *target)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION && g_str_equal (node->target, target);
}

guint
captured_get_arg (const AdjNode *node, guint arg)
{
  return arg < node->args.n && node->args.items[arg].kind == ADJ_VALUE_NODE
             ? node->args.items[arg].node.index
             : G_MAXUINT;
}

gboolean
captured_writes (const AdjNode *node)
{
  const AdjSchema *schema = node->op != NULL ? adj_op_get_schema (node->op) : NULL;

  return schema != NULL && schema->n_arguments > 0 && schema->arguments[0].type.written &&
         captured_get_arg (node, 0) != G_MAXUINT;
}
