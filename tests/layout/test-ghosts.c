/* SPDX-License-Identifier: MIT */

/* Nodes that backward recomputes are ghosts in the backward half, connected to the forward node.
 * PyTorch itself says which: calls of the same name in the two recorded graphs. */

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "layout/adj-layout.h"
#include "partition/adj-partition.h"
#include "passes/adj-compose.h"
#include "support/adj-test.h"
#include "support/graphs.h"

typedef struct
{
  AdjGraph *forward, *backward, *pair; /* (owned) */
} Trio;

static void
trio_clear (Trio *trio)
{
  adj_graph_unref (trio->forward);
  adj_graph_unref (trio->backward);
  adj_graph_unref (trio->pair);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Trio, trio_clear)

static Trio
compose (AdjGraph *forward, AdjGraph *backward, guint num_fwd_outputs)
{
  g_autoptr (GError) error = NULL;
  Trio trio = { adj_graph_ref (forward), adj_graph_ref (backward),
                adj_graph_compose (forward, backward, num_fwd_outputs, &error) };

  g_assert_no_error (error);
  return trio;
}

static gboolean
is_call (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION;
}

/* Returns the index of @id among the calls of @graph; the pair has them in the same order. */
static guint
call_number (const AdjGraph *graph, AdjNodeId id)
{
  guint n = 0;

  for (guint i = 0; i < id.index; i++)
    n += is_call (adj_graph_get_node (graph, i));
  return n;
}

static AdjNodeId
nth_call (const AdjGraph *graph, guint n)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (is_call (adj_graph_get_node (graph, i)) && n-- == 0)
      return (AdjNodeId){ i };
  g_assert_not_reached ();
}

/* Expects the box of a ghost: dashed, in the backward half, in the row of its original. */
static void
check_boxes (const AdjScene *scene, const AdjGraph *pair, AdjNodeId original, AdjNodeId copy)
{
  guint from = adj_scene_find_node (scene, original), to = adj_scene_find_node (scene, copy);
  const AdjSceneBox *box = adj_scene_get_box (scene, to);
  guint n_threads = 0;

  if (from == ADJ_NO_BOX || box->kind != ADJ_BOX_NODE || box->node.index != copy.index)
    return;
  g_assert_cmpint (box->role, ==, ADJ_ROLE_RECOMPUTE_COPY);
  g_assert_cmpint (box->side, ==, ADJ_SIDE_BACKWARD);
  g_assert_cmpint (adj_scene_get_box (scene, from)->side, ==, ADJ_SIDE_FORWARD);
  for (guint i = 0; i < adj_scene_get_n_edges (scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, i);

      n_threads += edge->from == from && edge->to == to && edge->kind == ADJ_EDGE_RECOMPUTE;
    }
  if (n_threads != 1)
    g_error ("%u threads from %s to its ghost", n_threads,
             adj_graph_get_node (pair, original.index)->name);
}

/* Returns the number of ghosts.  Without names of steps the calls themselves must match. */
static guint
check (const Trio *trio, const char *title)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjScene) scene = adj_layout_mirror (trio->pair, NULL, NULL, NULL, &error);
  guint n_fwd_calls =
      call_number (trio->forward, (AdjNodeId){ adj_graph_get_n_nodes (trio->forward) });
  guint n = 0;

  g_assert_no_error (error);
  for (guint i = 0; i < adj_graph_get_n_nodes (trio->backward); i++)
    {
      const AdjNode *again = adj_graph_get_node (trio->backward, i);
      AdjNodeId first, original, copy;

      if (!is_call (again))
        continue;
      copy = nth_call (trio->pair, n_fwd_calls + call_number (trio->backward, (AdjNodeId){ i }));
      first = adj_graph_find_node (trio->forward, again->name);
      original = adj_scene_get_original (scene, copy);
      if (!adj_node_id_is_valid (first) ||
          !is_call (adj_graph_get_node (trio->forward, first.index)))
        {
          if (adj_node_id_is_valid (original))
            g_error ("%s: %s is no ghost", title, again->name);
          continue;
        }
      n++;
      if (original.index != nth_call (trio->pair, call_number (trio->forward, first)).index)
        g_error ("%s: the ghost %s is not known", title, again->name);
      check_boxes (scene, trio->pair, original, copy);
      g_assert_cmpuint (adj_scene_get_copy (scene, original).index, ==, copy.index);
    }
  g_test_message ("%s: %u ghosts", title, n);
  return n;
}

/* Returns the number of calls whose names are in both files of the capture. */
static guint
count_recorded (const char *name)
{
  static const struct
  {
    const char *name;
    guint n;
  } counts[] = {
    { "gpt2", 62 }, { "gpt2-inductor", 106 }, { "llama", 17 }, { "lstm", 3 }, { "sac", 101 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    if (g_str_equal (counts[i].name, name))
      return counts[i].n;
  return 0;
}

static void
test_recorded (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  g_auto (Trio) trio = compose (adj_bundle_find_graph (bundle, "forward", NULL)->graph,
                                adj_bundle_find_graph (bundle, "backward", NULL)->graph,
                                (guint) adj_bundle_get_region (bundle, 0)->num_fwd_outputs);

  g_assert_cmpuint (check (&trio, name), ==, count_recorded (name));
}

/* Graphs that Adjoint partitions at a budget of almost nothing. */
static void
test_ours (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (Trio) trio = { NULL };

  options.budget = 0;
  options.num_fwd_outputs = adj_bundle_get_region (bundle, 0)->num_fwd_outputs;
  partition =
      adj_partition (adj_partitioner_find ("min-cut", NULL),
                     adj_bundle_find_graph (bundle, "joint", NULL)->graph, &options, &error);
  g_assert_no_error (error);
  trio = compose (partition->forward, partition->backward, partition->num_fwd_outputs);
  g_assert_cmpuint (check (&trio, name), >, 10);
}

/* Returns the graph read from the text of a log, which has neither steps nor tags. */
static AdjGraph *
through_text (AdjGraph *graph)
{
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);
  AdjGraph *read = adj_test_parse_graph (text);

  return read;
}

static void
test_text (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  g_autoptr (AdjGraph) forward =
      through_text (adj_bundle_find_graph (bundle, "forward", NULL)->graph);
  g_autoptr (AdjGraph) backward =
      through_text (adj_bundle_find_graph (bundle, "backward", NULL)->graph);
  g_auto (Trio) trio =
      compose (forward, backward, (guint) adj_bundle_get_region (bundle, 0)->num_fwd_outputs);

  g_assert_cmpuint (check (&trio, name), ==, count_recorded (name));
}

static void
add_each (const char *title, GTestDataFunc test, const char *const *names)
{
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *path = g_strdup_printf ("/layout/ghosts/%s/%s", title, names[i]);

      g_test_add_data_func (path, names[i], test);
    }
}

int
main (int argc, char *argv[])
{
  static const char *const captures[] = { "mlp",  "gpt2", "gpt2-inductor", "llama", "lstm",
                                          "unet", "sac",  "resnet-block",  NULL };

  g_test_init (&argc, &argv, NULL);
  add_each ("recorded", test_recorded, captures);
  add_each ("ours", test_ours, captures);
  add_each ("text", test_text, captures);
  return g_test_run ();
}
