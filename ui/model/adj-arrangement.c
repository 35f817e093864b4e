/* SPDX-License-Identifier: MIT */
/* How a graph is shown: fold depth, folded modules, tint, labels, chosen nodes; and the task that
 * lays it out. */

#include "model/adj-arrangement.h"

#include <gio/gio.h>

#include "ir/adj-graph.h"
#include "model/adj-graph-set.h"
#include "report/adj-stage-change.h"

/* Limit of nodes in the flow view. */
#define MAX_FLOW 300

static const char *const coloring_names[ADJ_N_COLORINGS] = { "role", "bytes", "time", "error" };
static const char *const labeling_names[ADJ_N_LABELINGS] = { "nothing", "shape", "size" };

static guint
find_name (const char *const *names, guint n, const char *name)
{
  guint i = 0;

  while (i < n && g_strcmp0 (names[i], name) != 0)
    i++;
  return i;
}

const char *
adj_coloring_name (AdjColoring coloring)
{
  return coloring_names[coloring];
}

const char *
adj_labeling_name (AdjLabeling labeling)
{
  return labeling_names[labeling];
}

AdjColoring
adj_coloring_find (const char *name)
{
  return find_name (coloring_names, ADJ_N_COLORINGS, name);
}

AdjLabeling
adj_labeling_find (const char *name)
{
  return find_name (labeling_names, ADJ_N_LABELINGS, name);
}

static GHashTable *
new_set (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
}

static GHashTable *
copy_set (GHashTable *set)
{
  GHashTable *copy = new_set ();
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, set);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_hash_table_add (copy, g_strdup (key));
  return copy;
}

static gboolean
sets_equal (GHashTable *a, GHashTable *b)
{
  GHashTableIter iter;
  gpointer key;

  if (g_hash_table_size (a) != g_hash_table_size (b))
    return FALSE;
  g_hash_table_iter_init (&iter, a);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    if (!g_hash_table_contains (b, key))
      return FALSE;
  return TRUE;
}

AdjArrangement *
adj_arrangement_new (void)
{
  AdjArrangement *arrangement = g_new0 (AdjArrangement, 1);

  arrangement->flow = ADJ_NO_NODE;
  arrangement->fold_depth = ADJ_FOLD_BY_SIZE;
  arrangement->folded = new_set ();
  arrangement->unfolded = new_set ();
  return arrangement;
}

AdjArrangement *
adj_arrangement_copy (const AdjArrangement *arrangement)
{
  AdjArrangement *copy = g_memdup2 (arrangement, sizeof *arrangement);

  copy->folded = copy_set (arrangement->folded);
  copy->unfolded = copy_set (arrangement->unfolded);
  if (copy->chosen != NULL)
    g_array_ref (copy->chosen);
  if (copy->flow_chosen != NULL)
    g_array_ref (copy->flow_chosen);
  if (copy->runs != NULL)
    g_ptr_array_ref (copy->runs);
  return copy;
}

void
adj_arrangement_free (AdjArrangement *arrangement)
{
  g_hash_table_unref (arrangement->folded);
  g_hash_table_unref (arrangement->unfolded);
  g_clear_pointer (&arrangement->chosen, g_array_unref);
  g_clear_pointer (&arrangement->flow_chosen, g_array_unref);
  g_clear_pointer (&arrangement->runs, g_ptr_array_unref);
  g_free (arrangement);
}

void
adj_arrangement_set_chosen (AdjArrangement *arrangement, GArray *chosen)
{
  if (chosen != NULL)
    g_array_ref (chosen);
  g_clear_pointer (&arrangement->chosen, g_array_unref);
  arrangement->chosen = chosen;
}

gboolean
adj_arrangement_same_layout (const AdjArrangement *a, const AdjArrangement *b)
{
  return a->view == b->view && a->only_changed == b->only_changed &&
         (a->view != ADJ_VIEW_FLOW ||
          (a->flow.index == b->flow.index && a->flow_chosen == b->flow_chosen)) &&
         a->fold_depth == b->fold_depth && sets_equal (a->folded, b->folded) &&
         sets_equal (a->unfolded, b->unfolded);
}

void
adj_arrangement_set_fold_depth (AdjArrangement *arrangement, guint depth)
{
  g_hash_table_remove_all (arrangement->folded);
  g_hash_table_remove_all (arrangement->unfolded);
  arrangement->fold_depth = depth;
}

static gboolean
is_closed (const AdjArrangement *arrangement, const AdjScene *scene, const char *path)
{
  for (guint i = 0; scene != NULL && i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_GROUP && g_str_equal (box->path, path))
        return box->fold == ADJ_FOLD_CLOSED;
    }
  return g_hash_table_contains (arrangement->folded, path);
}

void
adj_arrangement_toggle (AdjArrangement *arrangement, const AdjScene *scene, const char *path)
{
  gboolean closed = is_closed (arrangement, scene, path);

  g_hash_table_remove (closed ? arrangement->folded : arrangement->unfolded, path);
  g_hash_table_add (closed ? arrangement->unfolded : arrangement->folded, g_strdup (path));
}

/* -- laying out -- */

/* A copy of the arrangement for the thread. */
typedef struct
{
  AdjGraph *graph;
  AdjGraph *before;  /* (nullable): the changes from it are shown */
  gboolean is_pair;  /* @graph is both halves of a partition */
  AdjBundle *bundle; /* (nullable) */
  AdjLayoutCache *cache;
  AdjLayoutView view;
  gboolean undecided;
  GPtrArray *stages; /* of AdjGraph: the stages, @graph among them */
  AdjNodeId flow;
  GArray *flow_chosen; /* (nullable) */
  guint fold_depth;
  char **folded, **unfolded;
  guint tag;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  adj_graph_unref (input->graph);
  g_clear_pointer (&input->before, adj_graph_unref);
  g_clear_pointer (&input->bundle, adj_bundle_unref);
  adj_layout_cache_unref (input->cache);
  g_ptr_array_unref (input->stages);
  g_clear_pointer (&input->flow_chosen, g_array_unref);
  g_strfreev (input->folded);
  g_strfreev (input->unfolded);
  g_free (input);
}

static char **
copy_keys (GHashTable *set)
{
  GStrvBuilder *keys = g_strv_builder_new ();
  GHashTableIter iter;
  gpointer key;
  char **result;

  g_hash_table_iter_init (&iter, set);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_strv_builder_add (keys, key);
  result = g_strv_builder_end (keys);
  g_strv_builder_unref (keys);
  return result;
}

static void
on_progress (guint done, guint total, guint n_equal, gpointer data)
{
  adj_task_report (data, done, total, n_equal);
}

static gint
by_index (gconstpointer a, gconstpointer b)
{
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;

  return i < j ? -1 : i > j;
}

/* The ancestors and descendants of the chosen nodes. (transfer full): of guint32 */
static GArray *
collect_flows (const Input *input)
{
  guint n = input->flow_chosen->len;
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GArray *all = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < n; i++)
    {
      AdjNodeId node = { g_array_index (input->flow_chosen, guint32, i) };
      g_autoptr (GArray) one = adj_flow_collect (input->graph, node, MAX (MAX_FLOW / n, 2));

      for (guint k = 0; k < one->len; k++)
        if (g_hash_table_add (seen, GUINT_TO_POINTER (g_array_index (one, guint32, k))))
          g_array_append_val (all, g_array_index (one, guint32, k));
    }
  g_array_sort (all, by_index);
  return all;
}

static void
mark (guint8 *shown, const AdjNodeId *nodes, guint n)
{
  for (guint i = 0; i < n; i++)
    shown[nodes[i].index] = TRUE;
}

/* The nodes that are new or changed since the graph before, their inputs and users.  (transfer
 * full) (nullable): of guint32; %NULL: there are none */
static GArray *
collect_changed (const Input *input)
{
  g_autoptr (AdjAlignment) alignment = input->is_pair
                                           ? adj_graph_align (input->before, input->graph)
                                           : adj_graph_align_made (input->before, input->graph);
  guint n = adj_graph_get_n_nodes (input->graph);
  g_autofree guint8 *shown = g_new0 (guint8, n);
  GArray *all = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < alignment->n_changes; i++)
    {
      const AdjChange *change = &alignment->changes[i];
      const AdjNode *node;

      if (change->kind != ADJ_CHANGE_ADDED && !adj_stage_change_counts (change))
        continue;
      node = adj_graph_get_node (input->graph, change->b.index);
      mark (shown, &change->b, 1);
      mark (shown, node->inputs, node->n_inputs);
      mark (shown, node->users, node->n_users);
    }
  for (guint32 i = 0; i < n; i++)
    if (shown[i])
      g_array_append_val (all, i);
  if (all->len == 0)
    g_clear_pointer (&all, g_array_unref);
  return all;
}

static GArray *
find_shown (const Input *input)
{
  if (input->view != ADJ_VIEW_FLOW)
    return input->before != NULL ? collect_changed (input) : NULL;
  return input->flow_chosen != NULL ? collect_flows (input)
                                    : adj_flow_collect (input->graph, input->flow, MAX_FLOW);
}

static gpointer
lay_out (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  g_autoptr (GArray) only = find_shown (input);
  g_autoptr (AdjCaptured) captured = adj_captured_new (input->graph, input->bundle);
  AdjLayoutOptions options = {
    .view = input->view,
    .undecided = input->undecided,
    .only = only,
    .fold_depth = input->fold_depth,
    .folded = (const char *const *) input->folded,
    .unfolded = (const char *const *) input->unfolded,
    .captured = captured,
    .stages = (AdjGraph *const *) input->stages->pdata,
    .n_stages = only == NULL ? input->stages->len : 0,
    .progress = on_progress,
    .progress_data = task,
  };

  return adj_layout_mirror (input->graph, &options, input->cache, cancellable, error);
}

AdjTask *
adj_arrangement_start (const AdjArrangement *arrangement,
                       const AdjArrangementSubject *subject,
                       AdjLayoutCache *cache,
                       GObject *owner,
                       guint tag,
                       GAsyncReadyCallback done)
{
  Input *input = g_new0 (Input, 1);

  input->graph = adj_graph_ref (subject->graph->graph);
  input->is_pair = g_str_equal (subject->graph->role, ADJ_PAIR_ROLE);
  if (arrangement->only_changed && subject->before != NULL)
    input->before = adj_graph_ref (subject->before);
  input->stages = g_ptr_array_ref (subject->stages);
  input->undecided = adj_bundle_graph_is_undecided (subject->graph);
  input->bundle = subject->bundle != NULL ? adj_bundle_ref (subject->bundle) : NULL;
  input->cache = adj_layout_cache_ref (cache);
  input->view = arrangement->view;
  input->flow = arrangement->flow;
  input->flow_chosen =
      arrangement->flow_chosen != NULL ? g_array_ref (arrangement->flow_chosen) : NULL;
  input->fold_depth = arrangement->fold_depth;
  input->folded = copy_keys (arrangement->folded);
  input->unfolded = copy_keys (arrangement->unfolded);
  input->tag = tag;
  return adj_task_start (owner, ADJ_LOAD_LIGHT, lay_out, input, input_free,
                         (GDestroyNotify) adj_scene_unref, done);
}

guint
adj_arrangement_get_tag (AdjTask *task)
{
  return ((const Input *) adj_task_get_input (task))->tag;
}
