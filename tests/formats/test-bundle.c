/* SPDX-License-Identifier: MIT */
/* Bundles: roles, candidates in error messages, taps of joint graphs. */

#include <string.h>

#include "formats/adj-bundle.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

static AdjGraph *
make_graph (const char *body)
{
  g_autofree char *text =
      g_strconcat ("class G(torch.nn.Module):\n    def forward(self, ", body, NULL);
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

static gboolean
add_graph_of (
    AdjBundleBuilder *builder, const char *id, const char *role, const char *body, GError **error)
{
  g_autoptr (AdjGraph) graph = make_graph (body);
  AdjBundleGraph entry = { .id = id, .role = role, .rank = -1, .graph = graph };

  return adj_bundle_builder_add_graph (builder, &entry, error);
}

static gboolean
add_graph (AdjBundleBuilder *builder, const char *id, const char *role, GError **error)
{
  return add_graph_of (builder, id, role, "x):\n        return x\n", error);
}

static void
add_call (AdjBundleBuilder *builder, const char *id, guint n)
{
  AdjRecordedCall call = { .n = n };
  g_autoptr (GError) error = NULL;

  adj_bundle_builder_add_call (builder, &call, id, &error);
  g_assert_no_error (error);
}

/* Returns a tap of node "x", 64 for float64 and 32 otherwise; counts its calls. */
static AdjTensorData *
get_tap (const char *node, gboolean float64, gpointer data)
{
  float number = float64 ? 64 : 32;
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (GBytes) bytes = g_bytes_new (&number, sizeof number);

  ++*(guint *) data;
  if (strcmp (node, "x") != 0)
    return NULL;
  adj_shape_init_ints (&meta.shape, 0, NULL);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

static AdjBundleBuilder *
start (void)
{
  static const char *const ids[] = { "0-0-joint", "0-0-forward", "0-0-dynamo" };
  AdjRegion region = { .id = "0-0", .rank = -1, .n_graphs = 3, .num_fwd_outputs = 1 };
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (GError) error = NULL;

  add_graph (builder, "0-0-joint", "joint", &error);
  add_graph (builder, "0-0-forward", "forward", &error);
  add_graph (builder, "0-0-dynamo", "dynamo", &error);
  add_graph (builder, "0-1-forward", "forward", &error);
  adj_bundle_builder_add_region (builder, &region, ids, &error);
  g_assert_no_error (error);
  return builder;
}

static void
test_joint_taps_serve_forward (void)
{
  AdjBundleBuilder *builder = start ();
  g_autoptr (AdjBundle) bundle = NULL;
  const AdjRecordedCall *forward, *other;
  guint n_asked = 0;

  add_call (builder, "0-0-forward", 0);
  add_call (builder, "0-0-joint", 0);
  adj_bundle_builder_set_taps (builder, get_tap, &n_asked, NULL);
  add_call (builder, "0-0-forward", 1);
  add_call (builder, "0-1-forward", 0);
  add_call (builder, "0-0-dynamo", 0);
  bundle = adj_bundle_builder_end (builder, NULL);
  forward = adj_bundle_get_call (bundle, 0);
  g_assert_cmpstr (forward->graph->id, ==, "0-0-forward");
  for (guint i = 0; i < 3; i++)
    {
      AdjTensorData *wide = adj_bundle_get_tap (bundle, forward, "x", TRUE);
      AdjTensorData *narrow = adj_bundle_get_tap (bundle, forward, "x", FALSE);

      g_assert_cmpfloat (adj_tensor_data_get_double (wide, 0), ==, 64);
      g_assert_cmpfloat (adj_tensor_data_get_double (narrow, 0), ==, 32);
      g_assert_null (adj_bundle_get_tap (bundle, forward, "y", TRUE));
    }
  g_assert_cmpuint (n_asked, ==, 3);

  /* No tap for another call, another region, or the graph before tracing, whose "x" is a
   * different node. */
  other = adj_bundle_get_call (bundle, 2);
  g_assert_null (adj_bundle_get_tap (bundle, other, "x", TRUE));
  other = adj_bundle_get_call (bundle, 3);
  g_assert_null (adj_bundle_get_tap (bundle, other, "x", TRUE));
  other = adj_bundle_get_call (bundle, 4);
  g_assert_null (adj_bundle_get_tap (bundle, other, "x", TRUE));
}

/* PyTorch appends nodes that keep the generator state after partitioning.  Their names continue
 * the numbering of the part and belong to other nodes in the joint graph: taps of those do not
 * apply. */
static void
test_added_nodes_have_no_taps (void)
{
  static const char *const ids[] = { "0-0-joint", "0-0-forward", "0-0-backward" };
  static const char annotated[] = "a):\n        x: \"f32[][]cpu\" = a.sin()\n        return x\n";
  AdjRegion region = { .id = "0-0", .rank = -1, .n_graphs = 3, .num_fwd_outputs = 1 };
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (GError) error = NULL;
  guint n_asked = 0;

  add_graph_of (builder, "0-0-joint", "joint", annotated, &error);
  add_graph_of (builder, "0-0-forward", "forward", "a):\n        x = a[0]\n        return x\n",
                &error);
  add_graph_of (builder, "0-0-backward", "backward", annotated, &error);
  adj_bundle_builder_add_region (builder, &region, ids, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    {
      add_call (builder, ids[i], 0);
      adj_bundle_builder_set_taps (builder, get_tap, &n_asked, NULL);
    }
  bundle = adj_bundle_builder_end (builder, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    g_assert_true ((adj_bundle_get_tap (bundle, adj_bundle_get_call (bundle, i), "x", FALSE) !=
                    NULL) == (i != 1));
}

static void
test_lists_candidates (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_builder_end (start (), NULL);

  g_assert_cmpstr (adj_bundle_find_graph (bundle, "joint", NULL)->id, ==, "0-0-joint");
  g_assert_cmpstr (adj_bundle_find_graph (bundle, "", NULL)->id, ==, "0-0-joint");
  g_assert_null (adj_bundle_find_graph (bundle, "forward", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_assert_cmpstr (error->message, ==, "2 graphs are 'forward': 0-0-forward, 0-1-forward");
}

static void
test_refuses (void)
{
  g_autoptr (AdjBundleBuilder) builder = start ();
  AdjRegion region = { .id = "0-1", .rank = -1, .n_graphs = 1 };
  AdjRecordedCall call = { .n = 0 };
  const char *ids[] = { "0-9-joint" };
  g_autofree char *longest = g_strnfill (64, 'a');
  g_autofree char *longer = g_strnfill (65, 'a');
  const char *bad[] = { "", "../x", "A", "a.b", "a b", "0-0-joint", longer };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (add_graph (builder, bad[i], "user", &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY);
    }
  g_assert_true (add_graph (builder, longest, "user", NULL));
  g_assert_false (adj_bundle_builder_add_region (builder, &region, ids, NULL));
  region.id = "0-0";
  g_assert_false (adj_bundle_builder_add_region (builder, &region, NULL, NULL));
  g_assert_false (adj_bundle_builder_add_call (builder, &call, "0-9-joint", NULL));
  add_call (builder, "0-0-joint", 0);
  g_assert_false (adj_bundle_builder_add_call (builder, &call, "0-0-joint", NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/bundle/joint-taps-serve-forward", test_joint_taps_serve_forward);
  g_test_add_func ("/formats/bundle/added-nodes-have-no-taps", test_added_nodes_have_no_taps);
  g_test_add_func ("/formats/bundle/lists-candidates", test_lists_candidates);
  g_test_add_func ("/formats/bundle/refuses", test_refuses);
  return g_test_run ();
}
