/* SPDX-License-Identifier: MIT */
/* Neighbouring stages of bundled graphs, and how far a switch moves the common cards. */

#include "steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "session/adj-pipeline.h"
#include "support/adj-test.h"
#include "support/graphs.h"

#define PASSES "functionalize,joint,decompose=core,cse,dce,min-cut"

typedef struct
{
  AdjTestStepFunc each;
  gpointer data;
  gboolean shared;
} Visit;

/* (transfer full) */
static AdjScene *
lay_out (const AdjBundleGraph *graph, const GPtrArray *graphs, gboolean shared)
{
  g_autofree AdjGraph **stages = g_new (AdjGraph *, graphs->len);
  g_autoptr (GError) error = NULL;
  const AdjLayoutOptions options = { .undecided = adj_bundle_graph_is_undecided (graph),
                                     .fold_depth = ADJ_FOLD_BY_SIZE,
                                     .stages = stages,
                                     .n_stages = shared ? graphs->len : 0 };
  AdjScene *scene;

  for (guint i = 0; i < graphs->len; i++)
    stages[i] = ((const AdjBundleGraph *) graphs->pdata[i])->graph;
  scene = adj_layout_mirror (graph->graph, &options, NULL, NULL, &error);
  g_assert_no_error (error);
  return scene;
}

static const AdjBundleGraph *
find (const AdjGraphSet *set, const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_set_get_n (set); i++)
    if (adj_graph_set_get (set, i)->graph == graph)
      return adj_graph_set_get (set, i);
  return NULL;
}

/* Lists the graphs in the order of the strip: a pair before its halves.  (transfer full): of
 * AdjBundleGraph */
static GPtrArray *
list_graphs (const AdjGraphSet *set, const AdjRecording *stages)
{
  GPtrArray *graphs = g_ptr_array_new ();

  for (guint i = 0; i < adj_recording_get_n_stages (stages); i++)
    {
      const AdjGraph *graph = adj_recording_get_stage (stages, i)->graph;
      const AdjBundleGraph *pair = graph != NULL ? adj_graph_set_find_pair (set, graph) : NULL;

      if (pair != NULL && !g_ptr_array_find (graphs, pair, NULL))
        g_ptr_array_add (graphs, (gpointer) pair);
      if (graph != NULL)
        g_ptr_array_add (graphs, (gpointer) find (set, graph));
    }
  return graphs;
}

static void
visit_stages (const Visit *visit, const AdjGraphSet *set, AdjRecording *stages, const char *title)
{
  g_autoptr (GPtrArray) graphs = list_graphs (set, stages);
  g_autoptr (AdjScene) before = NULL;

  for (guint i = 0; i < graphs->len; i++)
    {
      const AdjBundleGraph *graph = graphs->pdata[i];
      g_autoptr (AdjScene) scene = lay_out (graph, graphs, visit->shared);

      if (i > 0)
        {
          const AdjBundleGraph *last = graphs->pdata[i - 1];
          g_autofree char *name = g_strdup_printf ("%s: %s → %s", title, last->id, graph->id);

          visit->each (&(AdjTestStep){ name, last, graph, before, scene }, visit->data);
        }
      g_clear_pointer (&before, adj_scene_unref);
      before = g_steal_pointer (&scene);
    }
}

static void
visit_set (const Visit *visit, const AdjGraphSet *set, const char *title)
{
  g_autoptr (GPtrArray) seen = g_ptr_array_new ();

  for (guint i = 0; i < adj_graph_set_get_n (set); i++)
    {
      AdjRecording *stages = adj_graph_set_get_stages (set, adj_graph_set_get (set, i));

      if (g_ptr_array_find (seen, stages, NULL))
        continue;
      g_ptr_array_add (seen, stages);
      visit_stages (visit, set, stages, title);
    }
}

static void
visit_passes (const Visit *visit, AdjBundle *bundle, const char *capture)
{
  g_autofree char *title = g_strdup_printf ("%s, passes", capture);

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, i);
      const AdjPipelineOptions options = { .steps = PASSES };
      g_auto (AdjPipelineResult) result = { 0 };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjGraphSet) set = NULL;

      if (strcmp (graph->role, "dynamo") != 0 ||
          !adj_pipeline_run (graph->graph, graph->role, &options, &result, NULL, &error))
        continue;
      set = adj_graph_set_new (adj_pipeline_result_to_bundle (&result, bundle, graph));
      visit_set (visit, set, title);
    }
}

void
adj_test_each_step (gboolean shared, AdjTestStepFunc each, gpointer data)
{
  const Visit visit = { each, data, shared };
  g_autoptr (GPtrArray) names = adj_test_list_captures ();

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
      g_autoptr (AdjGraphSet) set = adj_graph_set_new (adj_bundle_ref (bundle));

      visit_set (&visit, set, name);
      visit_passes (&visit, bundle, name);
    }
}

/* -- drift -- */

static const AdjSceneBox *
find_card (const AdjScene *scene, guint32 node)
{
  guint box = adj_scene_find_node (scene, (AdjNodeId){ node });
  const AdjSceneBox *found = box != ADJ_NO_BOX ? adj_scene_get_box (scene, box) : NULL;

  return found != NULL && found->node.index == node &&
                 (found->kind == ADJ_BOX_NODE || found->kind == ADJ_BOX_PILL)
             ? found
             : NULL;
}

static int
by_length (const void *a, const void *b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return x < y ? -1 : x > y;
}

static void
summarise (GArray *lengths, float *median, float *p95, float *longest)
{
  g_array_sort (lengths, by_length);
  *median = g_array_index (lengths, float, lengths->len / 2);
  *p95 = g_array_index (lengths, float, (lengths->len - 1) * 95 / 100);
  *longest = g_array_index (lengths, float, lengths->len - 1);
}

/* Returns the most common shift, which the camera follows. */
static float
find_common (const GArray *shifts)
{
  float common = 0;
  guint most = 0;

  for (guint i = 0; i < shifts->len; i++)
    {
      float shift = g_array_index (shifts, float, i);
      guint n = 0;

      for (guint k = 0; k < shifts->len; k++)
        n += fabsf (g_array_index (shifts, float, k) - shift) < 1;
      if (n > most)
        {
          most = n;
          common = shift;
        }
    }
  return common;
}

static void
take_common (GArray *shifts)
{
  float common = find_common (shifts);

  for (guint i = 0; i < shifts->len; i++)
    g_array_index (shifts, float, i) = fabsf (g_array_index (shifts, float, i) - common);
}

AdjTestDrift
adj_test_step_drift (const AdjTestStep *step)
{
  AdjGraph *before = step->before->graph, *after = step->after->graph;
  g_autoptr (AdjAlignment) alignment = adj_graph_align (before, after);
  g_autoptr (GArray) x = g_array_new (FALSE, FALSE, sizeof (float));
  g_autoptr (GArray) y = g_array_new (FALSE, FALSE, sizeof (float));
  AdjTestDrift drift = { 0 };

  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];
      const AdjSceneBox *was, *is;
      float dx, dy;

      if (!adj_node_id_is_valid (change->a) || !adj_node_id_is_valid (change->b) ||
          strcmp (adj_graph_get_node (before, change->a.index)->target,
                  adj_graph_get_node (after, change->b.index)->target) != 0)
        continue;
      was = find_card (step->scene_before, change->a.index);
      is = find_card (step->scene_after, change->b.index);
      if (was == NULL || is == NULL)
        continue;
      dx = is->rect.x + is->rect.width / 2 - was->rect.x - was->rect.width / 2;
      dy = is->rect.y - was->rect.y;
      g_array_append_val (x, dx);
      g_array_append_val (y, dy);
    }
  drift.n = x->len;
  if (drift.n == 0)
    return drift;
  take_common (x);
  take_common (y);
  for (guint i = 0; i < drift.n; i++)
    drift.n_still += g_array_index (x, float, i) < 1 && g_array_index (y, float, i) < 1;
  summarise (x, &drift.median_x, &drift.p95_x, &drift.longest_x);
  summarise (y, &drift.median_y, &drift.p95_y, &drift.longest_y);
  return drift;
}
