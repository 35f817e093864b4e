/* SPDX-License-Identifier: MIT */
/* What nodes of a stage came of: by alignment, by origin, by line of the source. */

#include "ir/adj-graph.h"
#include "report/adj-stage-origins.h"

#define MAX_GUESSES (1u << 22) /* pairs of nodes whose lines are compared */

char *
adj_stage_origins_target (const AdjNode *node)
{
  g_auto (GStrv) parts = g_strsplit (node->target, ".", -1);
  guint n = g_strv_length (parts);

  if (n >= 2 && g_str_has_prefix (node->target, "torch.ops."))
    return g_strdup (parts[n - 2]);
  return g_strdup (n > 0 ? parts[n - 1] : "");
}

static gboolean
is_same_line (const AdjNode *a, const AdjNode *b)
{
  const AdjFrame *x = a->meta.n_frames > 0 ? &a->meta.frames[a->meta.n_frames - 1] : NULL;
  const AdjFrame *y = b->meta.n_frames > 0 ? &b->meta.frames[b->meta.n_frames - 1] : NULL;

  return x != NULL && y != NULL && x->line == y->line && g_str_equal (x->file, y->file);
}

/* Of the nodes before that were made by the line of @node: the one that calls the same, else @last
 * where it is one of them, else the first. */
static guint32
guess_origin (const AdjGraph *before, const AdjNode *node, guint32 last)
{
  g_autofree char *target = adj_stage_origins_target (node);
  guint32 first = G_MAXUINT32;

  if (last != G_MAXUINT32 && is_same_line (adj_graph_get_node (before, last), node))
    first = last;
  for (guint i = 0; i < adj_graph_get_n_nodes (before); i++)
    {
      const AdjNode *other = adj_graph_get_node (before, i);
      g_autofree char *name = NULL;

      if (!is_same_line (other, node) || other->opcode == ADJ_OPCODE_PLACEHOLDER)
        continue;
      name = adj_stage_origins_target (other);
      if (g_str_equal (name, target))
        return i;
      first = MIN (first, i);
    }
  return first;
}

static gboolean
has_origins (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_node_id_is_valid (adj_graph_get_node (graph, i)->origin))
      return TRUE;
  return FALSE;
}

guint32 *
adj_stage_origins_guess (const AdjGraph *before, const AdjGraph *after)
{
  guint n = adj_graph_get_n_nodes (after);
  guint32 last = G_MAXUINT32;
  guint32 *origins;

  if ((guint64) n * adj_graph_get_n_nodes (before) > MAX_GUESSES || has_origins (after))
    return NULL;
  origins = g_new (guint32, n);
  for (guint i = 0; i < n; i++)
    last = origins[i] = guess_origin (before, adj_graph_get_node (after, i), last);
  return origins;
}

guint32 *
adj_stage_origins_find (const AdjGraph *before,
                        const AdjGraph *after,
                        gboolean made,
                        const AdjAlignment *alignment)
{
  guint n = adj_graph_get_n_nodes (after);
  guint32 *origins = made ? adj_stage_origins_guess (before, after) : NULL;

  if (origins == NULL)
    {
      origins = g_new (guint32, n);
      for (guint i = 0; i < n; i++)
        {
          origins[i] = adj_graph_get_node (after, i)->origin.index;
          if (!made || origins[i] >= adj_graph_get_n_nodes (before))
            origins[i] = G_MAXUINT32;
        }
    }
  for (guint i = 0; i < alignment->n_changes; i++)
    if (adj_node_id_is_valid (alignment->changes[i].a) &&
        adj_node_id_is_valid (alignment->changes[i].b))
      origins[alignment->changes[i].b.index] = alignment->changes[i].a.index;
  return origins;
}
