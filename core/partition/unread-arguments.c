/* SPDX-License-Identifier: MIT */
/* Arguments that a call takes and does not look at, or not for the results that are used. */

#include "call/adj-op.h"
#include "call/adj-schema-internal.h"
#include "ir/adj-graph.h"
#include "partition/op-traits-private.h"

/* While the argument @when is true, only the results of @results (a bit each) depend on
 * @argument. */
static const struct
{
  const char *op, *argument, *when;
  guint results;
} unread[] = {
  { "native_batch_norm_backward", "running_mean", "train", 0 },
  { "native_batch_norm_backward", "running_var", "train", 0 },
  { "_native_batch_norm_legit_functional", "running_mean", "training", 1 << 3 },
  { "_native_batch_norm_legit_functional", "running_var", "training", 1 << 4 },
};

guint
op_result_bit (const AdjNode *node)
{
  const AdjValue *item = node->args.n == 2 ? &node->args.items[1] : NULL;

  return item != NULL && g_str_equal (node->target, "operator.getitem") &&
                 item->kind == ADJ_VALUE_INT && item->integer >= 0 && item->integer < 32
             ? 1u << item->integer
             : G_MAXUINT;
}

static gboolean
is_true (const AdjNode *node, const AdjSchema *schema, const char *argument)
{
  gint arg = adj_schema_find_argument (schema, argument);

  return arg >= 0 && (guint) arg < node->args.n && node->args.items[arg].kind == ADJ_VALUE_BOOL &&
         node->args.items[arg].boolean;
}

static guint
find_results (const AdjNode *node, guint index)
{
  const AdjSchema *schema = node->op != NULL ? adj_op_get_schema (node->op) : NULL;

  if (schema == NULL || index >= schema->n_arguments)
    return G_MAXUINT;
  for (guint i = 0; i < G_N_ELEMENTS (unread); i++)
    if (g_str_equal (schema->name, unread[i].op) &&
        g_str_equal (schema->arguments[index].name, unread[i].argument) &&
        is_true (node, schema, unread[i].when))
      return unread[i].results;
  return G_MAXUINT;
}

guint
op_results_of (const AdjNode *node, guint input, const guint32 *merged)
{
  gboolean is_argument = FALSE;
  guint results = 0;

  for (guint k = 0; k < node->args.n; k++)
    {
      const AdjValue *argument = &node->args.items[k];

      if (argument->kind != ADJ_VALUE_NODE ||
          (merged != NULL ? merged[argument->node.index] : argument->node.index) != input)
        continue;
      is_argument = TRUE;
      results |= find_results (node, k);
    }
  return is_argument ? results : G_MAXUINT;
}
