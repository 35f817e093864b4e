/* SPDX-License-Identifier: MIT */
/* Totals over the selected nodes: bytes, operators, roles, verdicts. */

#include "report/adj-selection-totals.h"

#include "analysis/adj-aliases.h"
#include "analysis/adj-node-bytes.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"

static gint
more_first (gconstpointer a, gconstpointer b)
{
  const AdjOperatorCount *x = a, *y = b;

  if (x->n != y->n)
    return x->n > y->n ? -1 : 1;
  return g_strcmp0 (x->target, y->target);
}

static void
count_operator (AdjSelectionTotals *totals, const AdjNode *node)
{
  AdjOperatorCount first = { adj_properties_target (node), 1 };

  for (guint i = 0; i < totals->operators->len; i++)
    {
      AdjOperatorCount *count = &g_array_index (totals->operators, AdjOperatorCount, i);

      if (g_strcmp0 (count->target, first.target) == 0)
        {
          count->n++;
          return;
        }
    }
  g_array_append_val (totals->operators, first);
}

static AdjRole
role_of (const AdjScene *scene, AdjNodeId id)
{
  guint box = scene != NULL ? adj_scene_find_node (scene, id) : ADJ_NO_BOX;

  return box != ADJ_NO_BOX ? adj_scene_get_box (scene, box)->role : ADJ_ROLE_NONE;
}

/* @storages: those that were counted; values that share one are counted once. */
static void
count_bytes (AdjSelectionTotals *totals,
             const AdjGraph *graph,
             guint index,
             AdjRole role,
             GHashTable *storages)
{
  gint64 bytes = adj_graph_get_node_bytes (graph, index);

  if (!g_hash_table_add (storages, GUINT_TO_POINTER (adj_graph_get_aliases (graph)[index].must)))
    return;
  if (bytes < 0)
    {
      totals->n_unknown++;
      return;
    }
  totals->bytes += bytes;
  if (role == ADJ_ROLE_SAVED || role == ADJ_ROLE_MUST_SAVE || role == ADJ_ROLE_OFFLOADED)
    totals->saved_bytes += bytes;
}

AdjSelectionTotals *
adj_selection_totals_new (const AdjGraph *graph, const AdjScene *scene, const GArray *nodes)
{
  AdjSelectionTotals *totals = g_new0 (AdjSelectionTotals, 1);
  g_autoptr (GHashTable) storages = g_hash_table_new (NULL, NULL);

  totals->operators = g_array_new (FALSE, FALSE, sizeof (AdjOperatorCount));
  totals->ns = -1;
  for (guint i = 0; i < nodes->len; i++)
    {
      AdjNodeId id = { g_array_index (nodes, guint32, i) };
      const AdjNode *node = adj_graph_get_node (graph, id.index);
      AdjRole role = role_of (scene, id);

      totals->n++;
      totals->n_backward += adj_graph_is_backward (graph, id.index);
      totals->roles[role]++;
      count_operator (totals, node);
      count_bytes (totals, graph, id.index, role, storages);
    }
  g_array_sort (totals->operators, more_first);
  return totals;
}

void
adj_selection_totals_add_run (AdjSelectionTotals *totals,
                              gint64 ns,
                              const AdjValueComparison *comparison)
{
  if (ns >= 0)
    totals->ns = MAX (totals->ns, 0) + ns;
  if (comparison == NULL)
    return;
  totals->compared = TRUE;
  totals->verdicts[MIN (comparison->verdict, ADJ_VERDICT_SKIPPED)]++;
}

void
adj_selection_totals_free (AdjSelectionTotals *totals)
{
  g_array_unref (totals->operators);
  g_free (totals);
}
