/* SPDX-License-Identifier: MIT */
/* The mirror layout: places all blocks, routes inside and between them, and makes the scene. */

#include "layout/adj-layout.h"

#include <gio/gio.h>

#include "base/adj-error.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "layout/adj-layout-pool.h"
#include "layout/layout-cache-private.h"
#include "layout/mirror-private.h"
#include "layout/shared-places.h"

#define MAX_LINKS (1u << 23)
#define DOT_BUDGET (10 * G_TIME_SPAN_SECOND)

/* Blocks of at most this many cards get the same layout from Graphviz and from us. */
#define TRIVIAL 1

/* Blocks with the same graph share a job. */
typedef struct
{
  GArray *jobs;       /* of AdjLayoutJob */
  GPtrArray *keys;    /* of each job */
  GHashTable *job_of; /* key → job + 1 */
  guint n_equal;
  const AdjLayoutOptions *options;
} Jobs;

static void
report (guint n_done, gpointer data)
{
  const Jobs *jobs = data;

  if (jobs->options->progress)
    jobs->options->progress (n_done, jobs->jobs->len, jobs->n_equal, jobs->options->progress_data);
}

/* The placement of a block that needs no Graphviz: trivial or in the cache; else %NULL. */
static AdjPlacement *
place_without_helper (const AdjBlockGraph *graph, const char *key, AdjLayoutCache *cache)
{
  if (graph->n_cards <= TRIVIAL)
    return adj_placement_layer (graph);
  return cache ? adj_layout_cache_find (cache, key, graph) : NULL;
}

static void
collect_jobs (const Mirror *self, Jobs *jobs, GHashTable *placements, AdjLayoutCache *cache)
{
  for (guint32 b = 0; b < 2 * self->n_rows; b++)
    {
      const AdjBlockGraph *graph = self->blocks[b].spec->graph;
      g_autofree char *key = adj_layout_cache_key (graph);
      AdjPlacement *placement;

      if (g_hash_table_contains (placements, key))
        continue;
      if (g_hash_table_contains (jobs->job_of, key))
        {
          jobs->n_equal++;
          continue;
        }
      placement = place_without_helper (graph, key, cache);
      if (placement)
        g_hash_table_insert (placements, g_steal_pointer (&key), placement);
      else
        {
          AdjLayoutJob job = { graph, NULL };

          g_array_append_val (jobs->jobs, job);
          g_hash_table_insert (jobs->job_of, g_strdup (key), GUINT_TO_POINTER (jobs->jobs->len));
          g_ptr_array_add (jobs->keys, g_steal_pointer (&key));
        }
    }
}

/* Sets the error of plain Graphviz (ADJ_VIEW_DOT), which has no fallback. */
static void
set_dot_error (const Mirror *self, gint64 budget, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
               "%s: Graphviz did not lay out %u boxes and %u lines within %.0f s; the mirror "
               "layout does",
               adj_graph_get_name (self->roles->graph), self->display->items->len,
               self->display->links->len, (double) budget / G_TIME_SPAN_SECOND);
}

/* Fills @placements (key → AdjPlacement) for every block. */
static gboolean
place_blocks (const Mirror *self,
              GHashTable *placements,
              const AdjLayoutOptions *options,
              AdjLayoutCache *cache,
              GCancellable *cancellable,
              GError **error)
{
  g_autoptr (GArray) array = g_array_new (FALSE, FALSE, sizeof (AdjLayoutJob));
  g_autoptr (GPtrArray) keys = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GHashTable) job_of = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Jobs jobs = { array, keys, job_of, 0, options };
  gboolean dot = options->view == ADJ_VIEW_DOT, finished;
  gint64 budget = dot ? (options->budget > 0 ? options->budget : DOT_BUDGET) : 0;

  collect_jobs (self, &jobs, placements, cache);
  report (0, &jobs);
  finished = adj_layout_pool_run ((AdjLayoutJob *) (gpointer) array->data, array->len, budget,
                                  report, &jobs, cancellable, error);
  for (guint i = 0; i < array->len; i++)
    {
      AdjLayoutJob *job = &g_array_index (array, AdjLayoutJob, i);
      const char *key = g_ptr_array_index (keys, i);

      if (job->placement && cache)
        adj_layout_cache_keep (cache, key, job->placement);
      if (!job->placement && finished && dot)
        {
          set_dot_error (self, budget, error);
          finished = FALSE;
        }
      if (!job->placement && finished)
        job->placement = adj_placement_layer (job->graph);
      if (job->placement)
        g_hash_table_insert (placements, g_strdup (key), job->placement);
    }
  return finished;
}

/* Makes one template for all blocks that look the same. */
static void
make_templates (Mirror *self, GHashTable *placements)
{
  g_autoptr (GHashTable) counts = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint32 b = 0; b < 2 * self->n_rows; b++)
    {
      Block *block = &self->blocks[b];
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, block->key));

      g_hash_table_insert (counts, block->key, GUINT_TO_POINTER (n + 1));
      block->template = g_hash_table_lookup (self->templates, block->key);
      if (!block->template)
        {
          g_autofree char *key = adj_layout_cache_key (block->spec->graph);

          block->template =
              adj_block_template_new (block->spec, g_hash_table_lookup (placements, key));
          g_hash_table_insert (self->templates, block->key, (gpointer) block->template);
        }
    }
  for (guint32 b = 0; b < 2 * self->n_rows; b++)
    self->blocks[b].n_same = GPOINTER_TO_UINT (g_hash_table_lookup (counts, self->blocks[b].key));
}

/* The blocks have their templates.  (nullable): cancelled */
static AdjScene *
draw (Mirror *mirror, GCancellable *cancellable, GError **error)
{
  AdjScene *scene = NULL;

  mirror_stack (mirror);
  if (!g_cancellable_set_error_if_cancelled (cancellable, error))
    scene = mirror_emit (mirror);
  mirror_clear_routes (mirror);
  mirror_clear_stack (mirror);
  g_array_unref (mirror->bridges);
  g_array_unref (mirror->hops);
  g_free (mirror->hop_of);
  g_free (mirror->hop_shared);
  return scene;
}

static AdjScene *
lay_out (const AdjDisplayList *display,
         const AdjLayoutOptions *options,
         AdjLayoutCache *cache,
         GCancellable *cancellable,
         GError **error)
{
  g_autoptr (GHashTable) placements =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) adj_placement_free);
  g_autoptr (GHashTable) templates = g_hash_table_new_full (
      g_str_hash, g_str_equal, NULL, (GDestroyNotify) adj_block_template_free);
  Mirror mirror = { .display = display,
                    .roles = display->roles,
                    .rows = display->rows,
                    .n_rows = display->rows->rows->len,
                    .templates = templates };
  AdjScene *scene = NULL;

  mirror_make_blocks (&mirror);
  if (place_blocks (&mirror, placements, options, cache, cancellable, error) &&
      !g_cancellable_set_error_if_cancelled (cancellable, error))
    {
      make_templates (&mirror, placements);
      if (!g_cancellable_set_error_if_cancelled (cancellable, error))
        scene = draw (&mirror, cancellable, error);
    }
  mirror_clear_blocks (&mirror);
  return scene;
}

AdjScene *
adj_layout_mirror (AdjGraph *graph,
                   const AdjLayoutOptions *options,
                   AdjLayoutCache *cache,
                   GCancellable *cancellable,
                   GError **error)
{
  static const AdjLayoutOptions defaults = { 0 };
  g_autoptr (AdjNodeRoles) roles = NULL;
  g_autoptr (AdjRows) rows = NULL;
  g_autoptr (AdjDisplayList) display = NULL;
  g_autoptr (SharedPlaces) shared = NULL;

  g_return_val_if_fail (graph != NULL, NULL);
  options = options ? options : &defaults;
  if (options->n_stages > 1)
    shared = shared_places_new (graph, options, cancellable);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  if (shared && shared_places_get_display (shared))
    return lay_out (shared_places_get_display (shared), options, cache, cancellable, error);
  roles = adj_node_roles_new (graph, options);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  rows = adj_rows_new (roles, options);
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  display = adj_display_list_new (roles, rows);
  if (display->links->len > MAX_LINKS)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: %u lines are too many to draw",
                   adj_graph_get_name (graph), display->links->len);
      return NULL;
    }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  return lay_out (display, options, cache, cancellable, error);
}
