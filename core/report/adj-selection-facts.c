/* SPDX-License-Identifier: MIT */
/* Totals over the selected nodes: bytes, operators, roles, verdicts. */

#include "report/adj-selection-facts.h"

#include "analysis/adj-aliases.h"
#include "analysis/adj-node-bytes.h"
#include "report/adj-facts.h"

static gint
more_first (gconstpointer a, gconstpointer b)
{
  const AdjOperatorCount *x = a, *y = b;

  if (x->n != y->n)
    return x->n > y->n ? -1 : 1;
  return g_strcmp0 (x->target, y->target);
}

static void
count_operator (AdjSelectionFacts *facts, const AdjNode *node)
{
  AdjOperatorCount first = { adj_facts_target (node), 1 };

  for (guint i = 0; i < facts->operators->len; i++)
    {
      AdjOperatorCount *count = &g_array_index (facts->operators, AdjOperatorCount, i);

      if (g_strcmp0 (count->target, first.target) == 0)
        {
          count->n++;
          return;
        }
    }
  g_array_append_val (facts->operators, first);
}

static AdjRole
role_of (const AdjScene *scene, AdjNodeId id)
{
  guint box = scene != NULL ? adj_scene_find_node (scene, id) : ADJ_NO_BOX;

  return box != ADJ_NO_BOX ? adj_scene_get_box (scene, box)->role : ADJ_ROLE_NONE;
}

/* @storages: seen; values that share one are counted once. */
static void
count_bytes (AdjSelectionFacts *facts,
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
      facts->n_unknown++;
      return;
    }
  facts->bytes += bytes;
  if (role == ADJ_ROLE_SAVED || role == ADJ_ROLE_MUST_SAVE)
    facts->saved_bytes += bytes;
}

AdjSelectionFacts *
adj_selection_facts_new (const AdjGraph *graph, const AdjScene *scene, const GArray *nodes)
{
  AdjSelectionFacts *facts = g_new0 (AdjSelectionFacts, 1);
  g_autoptr (GHashTable) storages = g_hash_table_new (NULL, NULL);

  facts->operators = g_array_new (FALSE, FALSE, sizeof (AdjOperatorCount));
  facts->ns = -1;
  for (guint i = 0; i < nodes->len; i++)
    {
      AdjNodeId id = { g_array_index (nodes, guint32, i) };
      const AdjNode *node = adj_graph_get_node (graph, id.index);
      AdjRole role = role_of (scene, id);

      facts->n++;
      facts->n_backward += adj_graph_is_backward (graph, id.index);
      facts->roles[role]++;
      count_operator (facts, node);
      count_bytes (facts, graph, id.index, role, storages);
    }
  g_array_sort (facts->operators, more_first);
  return facts;
}

void
adj_selection_facts_add_run (AdjSelectionFacts *facts,
                             gint64 ns,
                             const AdjValueComparison *comparison)
{
  if (ns >= 0)
    facts->ns = MAX (facts->ns, 0) + ns;
  if (comparison == NULL)
    return;
  facts->compared = TRUE;
  facts->verdicts[MIN (comparison->verdict, ADJ_VERDICT_SKIPPED)]++;
}

void
adj_selection_facts_free (AdjSelectionFacts *facts)
{
  g_array_unref (facts->operators);
  g_free (facts);
}
