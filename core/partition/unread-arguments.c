/* SPDX-License-Identifier: MIT */
/* Arguments that a call takes and does not look at. */

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "partition/op-traits-private.h"

/* @argument is not read if the argument @when is true. */
static const struct
{
  const char *op, *argument, *when;
} unread[] = {
  { "native_batch_norm_backward", "running_mean", "train" },
  { "native_batch_norm_backward", "running_var", "train" },
};

static gboolean
is_true (const AdjNode *node, const AdjSchema *schema, const char *argument)
{
  for (guint i = 0; i < MIN (schema->n_arguments, node->args.n); i++)
    if (g_str_equal (schema->arguments[i].name, argument))
      return node->args.items[i].kind == ADJ_VALUE_BOOL && node->args.items[i].boolean;
  return FALSE;
}

static gboolean
reads_argument (const AdjNode *node, guint index)
{
  const AdjSchema *schema = node->op != NULL ? adj_op_get_schema (node->op) : NULL;

  if (schema == NULL || index >= schema->n_arguments)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (unread); i++)
    if (g_str_equal (schema->name, unread[i].op) &&
        g_str_equal (schema->arguments[index].name, unread[i].argument))
      return !is_true (node, schema, unread[i].when);
  return TRUE;
}

gboolean
op_reads (const AdjNode *node, guint input, const guint32 *merged)
{
  gboolean is_argument = FALSE;

  for (guint k = 0; k < node->args.n; k++)
    {
      const AdjValue *argument = &node->args.items[k];

      if (argument->kind != ADJ_VALUE_NODE ||
          (merged != NULL ? merged[argument->node.index] : argument->node.index) != input)
        continue;
      is_argument = TRUE;
      if (reads_argument (node, k))
        return TRUE;
    }
  return !is_argument;
}
