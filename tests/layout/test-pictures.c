/* SPDX-License-Identifier: MIT */

/* Whether pictures read: of every bundled graph at every budget no node stands outside of its
 * module and no frame is empty; and what a log tells makes as good a picture as names do. */

#include <string.h>

#include "bench/deep.h"
#include "ir/adj-graph.h"
#include "layout/adj-layout.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/layout-metrics.h"
#include "support/pictured-graphs.h"

#define N_LAYERS 12
#define AS_GOOD 1.25f
#define SKIPS 1.5f /* rows and gutters that connections which skip layers are long */

static AdjLayoutMetrics
measure (AdjGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjScene) scene = adj_layout_mirror (graph, NULL, NULL, NULL, &error);

  g_assert_no_error (error);
  return adj_layout_metrics_take (scene, graph);
}

/* Models that are chains of layers.  The others have lines to far away in their nature: connections
 * that skip layers, and sums over steps. */
static gboolean
is_chain (const char *name)
{
  static const char *const chains[] = { "mlp", "dropout", "gpt2", "gpt2-inductor", "llama", "sac" };

  for (guint i = 0; i < G_N_ELEMENTS (chains); i++)
    {
      g_autofree char *joint = g_strdup_printf ("%s#0-0-joint", chains[i]);
      g_autofree char *ours = g_strdup_printf ("%s at ", chains[i]);
      g_autofree char *theirs = g_strdup_printf ("%s, PyTorch at ", chains[i]);

      if (g_str_equal (name, joint) || g_str_has_prefix (name, ours) ||
          g_str_has_prefix (name, theirs))
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_joint (const char *name)
{
  return g_str_has_suffix (name, "#0-0-joint") || strstr (name, " at ") != NULL;
}

static void
check_picture (const char *name, AdjGraph *graph, gpointer n_chains)
{
  AdjLayoutMetrics m = measure (graph);

  if (m.n_outside > 0)
    g_error ("%s: %u cards stand outside of their modules, the first is %s", name, m.n_outside,
             m.outside);
  if (m.n_empty > 0)
    g_error ("%s: %u frames are empty", name, m.n_empty);
  *(guint *) n_chains += is_chain (name);
  if (is_joint (name) && m.p95 > (is_chain (name) ? 1 : SKIPS) * (m.row + m.gutter))
    g_error (
        "%s: of the lines on one side 5 %% are longer than %.0f, a row and the gutter are %.0f",
        name, (double) m.p95, (double) (m.row + m.gutter));
}

static void
test_bundled (void)
{
  guint n_chains = 0;

  adj_test_each_pictured_graph (check_picture, &n_chains);
  g_assert_cmpuint (n_chains, ==, 6 * 23);
}

static AdjGraph *
make_joint (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) dynamo = deep_gpt2_new (N_LAYERS);
  g_autoptr (AdjAotGraph) aot =
      adj_aot_trace_graph (dynamo, &(AdjAotOptions){ .keep_input_mutations = TRUE }, NULL, &error);

  g_assert_no_error (error);
  return adj_graph_ref (adj_aot_graph_get_graph (aot));
}

static void
test_log (gconstpointer log)
{
  g_autoptr (AdjGraph) named = make_joint ();
  g_autoptr (AdjGraph) plain = adj_test_through_log (named, GPOINTER_TO_UINT (log));
  AdjLayoutMetrics names = measure (named), no_names = measure (plain);

  g_assert_cmpfloat (no_names.median, <=, AS_GOOD * names.median);
  g_assert_cmpfloat (no_names.p95, <=, AS_GOOD * names.p95);
  g_assert_cmpfloat (no_names.height, <=, AS_GOOD * names.height);
  g_assert_cmpfloat (no_names.width, <=, AS_GOOD * names.width);
  g_assert_cmpfloat ((double) no_names.n_crossings, <=, AS_GOOD * (double) names.n_crossings);
  g_assert_cmpuint (no_names.n_outside, ==, 0);
}

/* What is computed for a backward that is alone stands below each other where its cards have
 * nothing to do with each other. */
static void
test_backward_alone (void)
{
  g_autoptr (AdjGraph) joint = adj_test_load_graph ("sac", "joint");
  g_autoptr (AdjGraph) backward = adj_test_load_graph ("sac", "backward");

  g_assert_cmpfloat (measure (backward).width, <=, AS_GOOD * measure (joint).width);
}

/* A connection around a wide row does not go round its far end. */
static void
test_skip (void)
{
  g_autoptr (AdjGraph) joint = adj_test_load_graph ("resnet-block", "joint");
  AdjLayoutMetrics metrics = measure (joint);

  g_assert_cmpfloat (metrics.longest, <=, metrics.height);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/layout/pictures/bundled", test_bundled);
  g_test_add_data_func ("/layout/pictures/log-lines", GUINT_TO_POINTER (ADJ_TEST_LOG_LINES),
                        test_log);
  g_test_add_data_func ("/layout/pictures/log-nothing", GUINT_TO_POINTER (ADJ_TEST_LOG_NOTHING),
                        test_log);
  g_test_add_func ("/layout/pictures/backward-alone", test_backward_alone);
  g_test_add_func ("/layout/pictures/skip", test_skip);
  return g_test_run ();
}
