/* SPDX-License-Identifier: MIT */
/* The graphs of a bundle with the compositions of forward and backward, and their calls and
 * runs. */

#include "model/adj-graph-set.h"

#include "ir/adj-graph.h"
#include "passes/adj-compose.h"
#include "session/adj-region-stages.h"

/* A composed pair; owns its strings. */
typedef struct
{
  AdjBundleGraph graph;
  char *id;
  const AdjRegion *region;
  const AdjBundleGraph *forward, *backward;
  const AdjBundleGraph *joint; /* (nullable) */
} Pair;

struct _AdjGraphSet
{
  gatomicrefcount refs;
  AdjBundle *bundle;
  GPtrArray *pairs;  /* of Pair */
  GPtrArray *graphs; /* of const AdjBundleGraph: graphs and pairs in order */
  GPtrArray *stages; /* of AdjRecording: every graph except pairs is in one of them */
};

static void
pair_free (gpointer data)
{
  Pair *pair = data;

  g_clear_pointer (&pair->graph.graph, adj_graph_unref);
  g_free (pair->id);
  g_free (pair);
}

static const AdjBundleGraph *
find_role (const AdjRegion *region, const char *role)
{
  for (guint i = 0; i < region->n_graphs; i++)
    if (g_strcmp0 (region->graphs[i]->role, role) == 0)
      return region->graphs[i];
  return NULL;
}

/* The composition of two graphs, if @set has it.  (transfer none) (nullable) */
static AdjGraph *
find_composed (const AdjGraphSet *set, const AdjGraph *forward, const AdjGraph *backward)
{
  for (guint i = 0; set != NULL && i < set->pairs->len; i++)
    {
      const Pair *pair = set->pairs->pdata[i];

      if (pair->forward->graph == forward && pair->backward->graph == backward)
        return pair->graph.graph;
    }
  return NULL;
}

static void
add_pair (AdjGraphSet *self, const AdjRegion *region, const AdjGraphSet *before)
{
  const AdjBundleGraph *forward = find_role (region, "forward");
  const AdjBundleGraph *backward = find_role (region, "backward");
  AdjGraph *composed;
  Pair *pair;

  if (forward == NULL || backward == NULL || region->num_fwd_outputs < 0)
    return;
  pair = g_new0 (Pair, 1);
  pair->graph = *forward;
  pair->id = g_strdup_printf ("%s-%s", region->id, ADJ_PAIR_ROLE);
  pair->graph.id = pair->graph.title = pair->id;
  pair->graph.role = ADJ_PAIR_ROLE;
  composed = find_composed (before, forward->graph, backward->graph);
  pair->graph.graph = composed != NULL ? adj_graph_ref (composed)
                                       : adj_graph_compose (forward->graph, backward->graph,
                                                            (guint) region->num_fwd_outputs, NULL);
  pair->region = region;
  pair->forward = forward;
  pair->backward = backward;
  pair->joint = find_role (region, "joint");
  /* Two graphs that do not fit are shown separately. */
  if (pair->graph.graph == NULL)
    pair_free (pair);
  else
    g_ptr_array_add (self->pairs, pair);
}

static const Pair *
find_pair (const AdjGraphSet *self, const AdjBundleGraph *graph)
{
  for (guint i = 0; i < self->pairs->len; i++)
    if (&((const Pair *) self->pairs->pdata[i])->graph == graph)
      return self->pairs->pdata[i];
  return NULL;
}

/* Sorts pairs after the last graph of their region. */
static void
order (AdjGraphSet *self)
{
  guint n = adj_bundle_get_n_graphs (self->bundle);

  for (guint i = 0; i < n; i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (self->bundle, i);

      g_ptr_array_add (self->graphs, (gpointer) graph);
      for (guint k = 0; k < self->pairs->len; k++)
        {
          Pair *pair = self->pairs->pdata[k];
          const AdjBundleGraph *next =
              i + 1 < n ? adj_bundle_get_graph (self->bundle, i + 1) : NULL;
          const AdjRegion *region = adj_bundle_find_region (self->bundle, graph);

          if (pair->region == region &&
              (next == NULL || adj_bundle_find_region (self->bundle, next) != region))
            g_ptr_array_add (self->graphs, &pair->graph);
        }
    }
}

static AdjRecording *
find_stages (const AdjGraphSet *self, const AdjGraph *graph)
{
  for (guint i = 0; i < self->stages->len; i++)
    if (adj_region_stages_contain (self->stages->pdata[i], graph))
      return self->stages->pdata[i];
  return NULL;
}

static void
add_stages (AdjGraphSet *self)
{
  for (guint i = 0; i < adj_bundle_get_n_graphs (self->bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (self->bundle, i);

      if (find_stages (self, graph->graph) == NULL)
        g_ptr_array_add (self->stages, adj_region_stages_new (self->bundle, graph));
    }
}

AdjRecording *
adj_graph_set_get_stages (const AdjGraphSet *set, const AdjBundleGraph *graph)
{
  const Pair *pair = find_pair (set, graph);

  return find_stages (set, pair != NULL ? pair->forward->graph : graph->graph);
}

const AdjBundleGraph *
adj_graph_set_find_pair (const AdjGraphSet *set, const AdjGraph *half)
{
  for (guint i = 0; i < set->pairs->len; i++)
    {
      const Pair *pair = set->pairs->pdata[i];

      if (pair->forward->graph == half || pair->backward->graph == half)
        return &pair->graph;
    }
  return NULL;
}

AdjGraphSet *
adj_graph_set_new_grown (AdjBundle *bundle, const AdjGraphSet *before)
{
  AdjGraphSet *self = g_new0 (AdjGraphSet, 1);

  g_atomic_ref_count_init (&self->refs);
  self->bundle = bundle;
  self->pairs = g_ptr_array_new_with_free_func (pair_free);
  self->graphs = g_ptr_array_new ();
  for (guint i = 0; i < adj_bundle_get_n_regions (bundle); i++)
    add_pair (self, adj_bundle_get_region (bundle, i), before);
  order (self);
  self->stages = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_recording_unref);
  add_stages (self);
  return self;
}

AdjGraphSet *
adj_graph_set_new (AdjBundle *bundle)
{
  return adj_graph_set_new_grown (bundle, NULL);
}

AdjGraphSet *
adj_graph_set_ref (AdjGraphSet *set)
{
  g_atomic_ref_count_inc (&set->refs);
  return set;
}

void
adj_graph_set_unref (AdjGraphSet *set)
{
  if (!g_atomic_ref_count_dec (&set->refs))
    return;
  g_ptr_array_unref (set->stages);
  g_ptr_array_unref (set->graphs);
  g_ptr_array_unref (set->pairs);
  adj_bundle_unref (set->bundle);
  g_free (set);
}

AdjBundle *
adj_graph_set_get_bundle (const AdjGraphSet *set)
{
  return set->bundle;
}

guint
adj_graph_set_get_n (const AdjGraphSet *set)
{
  return set->graphs->len;
}

const AdjBundleGraph *
adj_graph_set_get (const AdjGraphSet *set, guint index)
{
  g_return_val_if_fail (index < set->graphs->len, NULL);

  return set->graphs->pdata[index];
}

guint
adj_graph_set_find (const AdjGraphSet *set, const char *id, GError **error)
{
  const AdjBundleGraph *graph = NULL;

  for (guint i = 0; i < set->pairs->len && graph == NULL; i++)
    {
      const Pair *pair = set->pairs->pdata[i];

      if (g_strcmp0 (id, pair->id) == 0 ||
          (set->pairs->len == 1 && g_strcmp0 (id, ADJ_PAIR_ROLE) == 0))
        graph = &pair->graph;
    }
  if (graph == NULL)
    graph = adj_bundle_find_graph (set->bundle, id, error);
  for (guint i = 0; graph != NULL && i < set->graphs->len; i++)
    if (set->graphs->pdata[i] == graph)
      return i;
  return G_MAXUINT;
}

const AdjBundleGraph *
adj_graph_set_get_recorded (const AdjGraphSet *set, const AdjBundleGraph *graph)
{
  const Pair *pair = find_pair (set, graph);

  return pair != NULL ? pair->joint : graph;
}

const AdjRecordedCall *
adj_graph_set_find_call (const AdjGraphSet *set, const AdjBundleGraph *graph, guint n)
{
  const AdjBundleGraph *recorded = adj_graph_set_get_recorded (set, graph);

  return recorded != NULL ? adj_bundle_find_call (set->bundle, recorded, n) : NULL;
}

AdjRecordedCall *
adj_graph_set_find_run (const AdjGraphSet *set, const AdjBundleGraph *graph, const char *name)
{
  const AdjBundleGraph *recorded = adj_graph_set_get_recorded (set, graph);

  return recorded != NULL ? adj_bundle_find_run (set->bundle, recorded, name, NULL) : NULL;
}

GPtrArray *
adj_graph_set_list_runs (const AdjGraphSet *set, const AdjBundleGraph *graph)
{
  const AdjBundleGraph *recorded = adj_graph_set_get_recorded (set, graph);
  g_autoptr (GPtrArray) all = adj_bundle_dup_runs (set->bundle);
  GPtrArray *runs = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_run_unref);

  for (guint i = 0; i < all->len; i++)
    if (((const AdjRecordedCall *) all->pdata[i])->graph == recorded)
      g_ptr_array_add (runs, adj_run_ref (all->pdata[i]));
  return runs;
}
