/* SPDX-License-Identifier: MIT */
/* Which neighbouring stages share the places of their cards: as many as fit into one layout that is
 * hardly larger than that of each alone. */

#include "layout/shared-places.h"

#include <gio/gio.h>

#include "ir/adj-graph.h"
#include "layout/display-list-private.h"
#include "layout/mirror-private.h"

#define MAX_WASTE 1.25f      /* times the height that a stage needs alone, and the most cards */
#define MAX_NODES (1u << 15) /* limit for all stages together */

typedef struct
{
  AdjNodeRoles *roles;
  AdjRows *rows;
  AdjDisplayList *display;
} Stage;

static void
stage_clear (gpointer data)
{
  Stage *stage = data;

  adj_display_list_free (stage->display);
  adj_rows_free (stage->rows);
  adj_node_roles_free (stage->roles);
}

struct _SharedPlaces
{
  GArray *stages; /* of Stage */
  AdjRows *rows;
  AdjDisplayList *display; /* (nullable) */
};

/* How many cards stand below each other, in all rows. */
static guint
count_ranks (const AdjDisplayList *display)
{
  g_autofree guint *rank = g_new0 (guint, MAX (display->items->len, 1));
  g_autofree guint *of_row = g_new0 (guint, MAX (display->rows->rows->len, 1));
  guint n = 0;

  for (guint l = 0; l < display->links->len; l++)
    {
      const AdjDisplayLink *link = adj_display_link (display, l);
      const AdjDisplayItem *from = adj_display_item (display, link->from);
      const AdjDisplayItem *to = adj_display_item (display, link->to);

      if (from->row == to->row && from->side == to->side)
        rank[link->to] = MAX (rank[link->to], rank[link->from] + 1);
    }
  for (guint i = 0; i < display->items->len; i++)
    {
      guint *most = &of_row[adj_display_item (display, i)->row];

      *most = MAX (*most, rank[i] + 1);
    }
  for (guint r = 0; r < display->rows->rows->len; r++)
    n += of_row[r];
  return n;
}

static void
add_stage (SharedPlaces *self, AdjGraph *graph, const AdjLayoutOptions *options)
{
  Stage stage = { .roles = adj_node_roles_new (graph, options) };

  stage.rows = adj_rows_new (stage.roles, options);
  stage.display = adj_display_list_new (stage.roles, stage.rows);
  stage.display->widest_bridge = mirror_widest_bridge (stage.display);
  g_array_append_val (self->stages, stage);
}

/* Joins @n stages from @first into one display list, as @shown shows them; %FALSE: they cannot
 * share one. */
static gboolean
join (SharedPlaces *self, guint first, guint n, guint shown)
{
  g_autoptr (GPtrArray) lists = g_ptr_array_new ();
  guint least = G_MAXUINT, most = 0, all;

  g_clear_pointer (&self->display, adj_display_list_free);
  g_clear_pointer (&self->rows, adj_rows_free);
  for (guint i = first; i < first + n; i++)
    {
      const Stage *stage = &g_array_index (self->stages, Stage, i);
      const Stage *before = &g_array_index (self->stages, Stage, first);

      if (stage->roles->one_column != before->roles->one_column ||
          stage->roles->only_backward != before->roles->only_backward)
        return FALSE;
      least = MIN (least, count_ranks (stage->display));
      most = MAX (most, stage->display->items->len);
      g_ptr_array_add (lists, stage->display);
    }
  self->display =
      display_list_join ((AdjDisplayList **) lists->pdata, n, shown - first, &self->rows);
  all = count_ranks (self->display);
  return (float) all <= MAX_WASTE * (float) least &&
         (float) self->display->items->len <= MAX_WASTE * (float) most;
}

/* Groups stages from the first on: each joins the one before it where possible. */
static void
choose (SharedPlaces *self, guint shown, GCancellable *cancellable)
{
  guint first = 0, n = self->stages->len;

  for (guint i = 1; i <= n && !g_cancellable_is_cancelled (cancellable); i++)
    {
      if (i < n && join (self, first, i - first + 1, first))
        continue;
      if (shown < i)
        {
          if (i - first > 1)
            join (self, first, i - first, shown);
          else
            g_clear_pointer (&self->display, adj_display_list_free);
          return;
        }
      first = i;
    }
}

SharedPlaces *
shared_places_new (AdjGraph *graph, const AdjLayoutOptions *options, GCancellable *cancellable)
{
  SharedPlaces *self = g_new0 (SharedPlaces, 1);
  AdjLayoutOptions alike = *options;
  guint shown = G_MAXUINT, n_nodes = 0;

  self->stages = g_array_new (FALSE, FALSE, sizeof (Stage));
  g_array_set_clear_func (self->stages, stage_clear);
  for (guint i = 0; i < options->n_stages; i++)
    {
      guint n = adj_graph_get_n_nodes (options->stages[i]);

      n_nodes += n;
      if (options->fold_depth == ADJ_FOLD_BY_SIZE && n > ADJ_MANY_NODES)
        alike.fold_depth = 1;
      if (options->stages[i] == graph)
        shown = i;
    }
  if (shown == G_MAXUINT || n_nodes > MAX_NODES || options->view != ADJ_VIEW_MIRROR ||
      options->captured != NULL)
    return self;
  for (guint i = 0; i < options->n_stages && !g_cancellable_is_cancelled (cancellable); i++)
    add_stage (self, options->stages[i], &alike);
  choose (self, shown, cancellable);
  return self;
}

const AdjDisplayList *
shared_places_get_display (const SharedPlaces *places)
{
  return places->display;
}

void
shared_places_free (SharedPlaces *places)
{
  g_clear_pointer (&places->display, adj_display_list_free);
  g_clear_pointer (&places->rows, adj_rows_free);
  g_array_unref (places->stages);
  g_free (places);
}
