/* SPDX-License-Identifier: MIT */
/* Replays the recorded results of hooks and custom backwards of a captured backward, which only
 * existed in the recording process. */

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "session/inputs-private.h"

typedef struct
{
  const AdjBundle *bundle;
  const AdjRecordedCall *call;
} Recall;

static AdjTensorData *
find_recorded (const Recall *self, const AdjNode *node)
{
  return adj_bundle_get_tap (self->bundle, self->call, node->name, FALSE);
}

/* Rebuilds several results of a call from the recorded values of its getitem nodes. */
static gboolean
recall_items (const Recall *self, const AdjGraph *graph, const AdjNode *node, AdjValue *out)
{
  g_autoptr (GHashTable) found = g_hash_table_new (NULL, NULL);
  gint64 n = 0;

  for (guint i = 0; i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (graph, node->users[i].index);
      const AdjValue *at = user->args.n == 2 ? &user->args.items[1] : &ADJ_NONE;
      AdjTensorData *recorded = find_recorded (self, user);

      if (!g_str_equal (user->target, "operator.getitem") || recorded == NULL ||
          at->kind != ADJ_VALUE_INT || at->integer < 0 || at->integer >= ADJ_MAX_NODES)
        return FALSE;
      g_hash_table_insert (found, GINT_TO_POINTER (at->integer), recorded);
      n = MAX (n, at->integer + 1);
    }
  *out = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = (guint) n };
  out->items = g_new0 (AdjValue, n + 1);
  for (gint64 i = 0; i < n; i++)
    {
      AdjTensorData *recorded = g_hash_table_lookup (found, GINT_TO_POINTER (i));

      if (recorded != NULL)
        out->items[i] = ADJ_DATA (adj_tensor_data_ref (recorded));
    }
  return n > 0;
}

gboolean
session_recall (const AdjBundle *bundle,
                const AdjRecordedCall *call,
                const AdjGraph *graph,
                AdjNodeId id,
                AdjValue *out)
{
  const Recall self = { bundle, call };
  const AdjNode *node = adj_graph_get_node (graph, id.index);
  AdjTensorData *recorded = find_recorded (&self, node);
  const AdjValue *result =
      adj_value_find_member (adj_value_find_member (call->backward, "results"), node->name);

  if (recorded != NULL)
    *out = ADJ_DATA (adj_tensor_data_ref (recorded));
  else if (result != NULL)
    *out = adj_value_copy (result);
  else
    return recall_items (&self, graph, node, out);
  return TRUE;
}
