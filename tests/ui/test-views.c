/* SPDX-License-Identifier: MIT */

/* Views of a document without a display: flow, undo, pairs, and the timeline of held tensors. */

#include "ir/adj-graph.h"
#include "model/adj-document.h"
#include "report/adj-timeline.h"
#include "support/adj-test.h"
#include "ui/adj-wait.h"

static AdjNodeId
find (AdjDocument *document, const char *name)
{
  return adj_graph_find_node (adj_document_get_graph (document)->graph, name);
}

static void
test_undoes (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/gpt2.adjoint", "joint");
  guint n_open = adj_scene_get_n_boxes (adj_document_get_scene (document)), n_closed;

  g_assert_false (adj_document_can_undo (document, -1));
  adj_document_toggle_module (document, "h.0");
  adj_wait_for (document);
  n_closed = adj_scene_get_n_boxes (adj_document_get_scene (document));
  g_assert_cmpuint (n_closed, <, n_open);
  adj_document_set_coloring (document, ADJ_COLOR_BY_BYTES);

  adj_document_undo (document, -1);
  g_assert_cmpint (adj_document_get_arrangement (document)->coloring, ==, ADJ_COLOR_BY_ROLE);
  g_assert_false (adj_document_is_busy (document));
  adj_document_undo (document, -1);
  adj_wait_for (document);
  g_assert_cmpuint (adj_scene_get_n_boxes (adj_document_get_scene (document)), ==, n_open);
  g_assert_false (adj_document_can_undo (document, -1));

  adj_document_undo (document, 1);
  adj_wait_for (document);
  g_assert_cmpuint (adj_scene_get_n_boxes (adj_document_get_scene (document)), ==, n_closed);
  /* A new change clears the redo history. */
  adj_document_set_fold_depth (document, 1);
  adj_wait_for (document);
  g_assert_false (adj_document_can_undo (document, 1));
}

static void
test_follows (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/mlp.adjoint", "joint");
  const AdjScene *scene;

  /* Without a selection there is no flow to show. */
  adj_document_set_view (document, ADJ_VIEW_FLOW);
  g_assert_cmpint (adj_document_get_arrangement (document)->view, ==, ADJ_VIEW_MIRROR);
  adj_document_set_selected (document, find (document, "relu"));
  adj_document_set_view (document, ADJ_VIEW_FLOW);
  adj_wait_for (document);
  scene = adj_document_get_scene (document);
  g_assert_cmpuint (adj_scene_find_node (scene, find (document, "addmm")), !=, ADJ_NO_BOX);
  g_assert_cmpuint (adj_scene_find_node (scene, find (document, "primals_8")), ==, ADJ_NO_BOX);
  /* The other graph lacks the node. */
  adj_document_set_graph_index (document, 0);
  adj_wait_for (document);
  g_assert_cmpint (adj_document_get_arrangement (document)->view, ==, ADJ_VIEW_MIRROR);
}

/* The partitioned pair is one picture, runs on the joint graph's recorded inputs, and computes
 * the same. */
static void
test_pairs (void)
{
  g_autoptr (AdjDocument) document = adj_wait_open ("graphs/mlp.adjoint", "forward+backward");
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  const AdjComparison *comparison;
  guint n[3] = { 0 };

  for (guint i = 0; i < adj_scene_get_n_boxes (adj_document_get_scene (document)); i++)
    n[adj_scene_get_box (adj_document_get_scene (document), i)->side]++;
  g_assert_cmpuint (n[ADJ_SIDE_FORWARD], >, 5);
  g_assert_cmpuint (n[ADJ_SIDE_BACKWARD], >, 5);

  adj_document_run_against (document, graphs,
                            adj_graph_set_get (graphs, adj_graph_set_find (graphs, "joint", NULL)));
  adj_wait_for (document);
  comparison = adj_evaluation_get_comparison (adj_document_get_evaluation (document));
  g_assert_nonnull (comparison);
  g_assert_cmpint (comparison->first, ==, -1);
  /* The loss, and a gradient or None for each of eight inputs. */
  g_assert_cmpuint (comparison->n_outputs, ==, 1 + 8);
  adj_document_run (document, TRUE);
  adj_wait_for (document);
  comparison = adj_evaluation_get_comparison (adj_document_get_evaluation (document));
  g_assert_cmpint (comparison->verdict, !=, ADJ_VERDICT_DIFFERS);
}

/* x and y have six floats each and are alive from the beginning; view shares relu's storage. */
static void
test_timeline (void)
{
  static const char text[] = "class GraphModule(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[2, 3]\", y: \"f32[2, 3]\"):\n"
                             "        relu: \"f32[2, 3]\" = torch.ops.aten.relu.default(x)\n"
                             "        view: \"f32[6]\" = torch.ops.aten.view.default(relu, [6])\n"
                             "        sin: \"f32[6]\" = torch.ops.aten.sin.default(view)\n"
                             "        add: \"f32[2, 3]\" = torch.ops.aten.add.Tensor(y, y)\n"
                             "        return (sin, add)\n";
  /* x y relu view sin add output */
  const gint64 live[] = { 48, 48, 72, 48, 72, 72, 48 };
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autoptr (GBytes) bytes = g_bytes_new_static (text, sizeof text - 1);
  g_autoptr (AdjTimeline) timeline = NULL;
  g_autoptr (GArray) at_sin = NULL;

  adj_document_open_text (document, bytes);
  adj_wait_for (document);
  timeline = adj_timeline_new (adj_document_get_graph (document)->graph);
  g_assert_cmpuint (timeline->n_steps, ==, G_N_ELEMENTS (live));
  for (guint i = 0; i < G_N_ELEMENTS (live); i++)
    g_assert_cmpint (timeline->live[i], ==, live[i]);
  g_assert_cmpuint (timeline->peak, ==, 2);
  g_assert_cmpuint (timeline->turn, ==, timeline->n_steps);
  at_sin = adj_timeline_get_live (timeline, 4);
  g_assert_cmpuint (at_sin->len, ==, 3);
  /* y is held longest: six steps of 24 bytes. */
  g_assert_cmpuint (g_array_index (timeline->held, AdjHeld, 0).node.index, ==, 1);
  g_assert_cmpint (g_array_index (timeline->held, AdjHeld, 0).weight, ==, 6 * 24);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/views/undoes", test_undoes);
  g_test_add_func ("/ui/views/follows", test_follows);
  g_test_add_func ("/ui/views/pairs", test_pairs);
  g_test_add_func ("/ui/views/timeline", test_timeline);
  return g_test_run ();
}
