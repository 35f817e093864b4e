/* SPDX-License-Identifier: MIT */
/* The memory timeline of a graph, measured from a memory snapshot. */

#include <string.h>

#include "analysis/adj-lifetimes.h"
#include "base/adj-error.h"
#include "ir/adj-graph.h"
#include "report/adj-timeline.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/planted-snapshot.h"

#define BLOCK 512
#define SCRATCH (G_GUINT64_CONSTANT (1) << 30)

static AdjMemorySnapshot *
plant (const AdjGraph *graph, guint scratch_at, guint64 scratch)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "snapshot.pickle", NULL);
  g_autoptr (GBytes) bytes = planted_snapshot_new (graph, scratch_at, scratch);
  g_autoptr (GError) error = NULL;
  AdjMemorySnapshot *snapshot;

  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  snapshot = adj_memory_snapshot_load (path, NULL, &error);
  g_assert_no_error (error);
  return snapshot;
}

/* Live bytes by the annotations: exact sizes for inputs, whole blocks for allocations. */
static guint64
count_live (const AdjGraph *graph, guint step)
{
  const AdjLifetime *lives = adj_graph_get_lifetimes (graph);
  guint64 bytes = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      gboolean is_input = adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_PLACEHOLDER;

      if (lives[i].owner != i)
        continue;
      if (is_input)
        bytes += lives[i].bytes;
      else if (lives[i].first <= step && step <= lives[i].last)
        bytes += (lives[i].bytes + BLOCK - 1) / BLOCK * BLOCK;
    }
  return bytes;
}

static const struct
{
  const char *file, *id;
} graphs[] = {
  { "gpt2", "0-0-joint" },
  { "gpt2", "0-0-forward" },
  { "sac", "0-0-backward" },
};

static void
test_follows (void)
{
  for (guint k = 0; k < G_N_ELEMENTS (graphs); k++)
    {
      g_autoptr (AdjGraph) graph = adj_test_load_graph (graphs[k].file, graphs[k].id);
      guint n = adj_graph_get_n_nodes (graph), scratch_at = n - 3;
      g_autoptr (AdjMemorySnapshot) snapshot = plant (graph, scratch_at, SCRATCH);
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjTimeline) measured = adj_timeline_new_measured (graph, snapshot, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (measured->n_steps, ==, n);
      g_assert_cmpuint (measured->peak, ==, scratch_at);
      for (guint i = 0; i < n; i++)
        g_assert_cmpuint (measured->live[i], ==,
                          count_live (graph, i) + (i == scratch_at ? SCRATCH : 0));
    }
}

/* Each allocation is attributed to its node and lives until its last reader. */
static void
test_holds (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("sac", "0-0-backward");
  const AdjLifetime *lives = adj_graph_get_lifetimes (graph);
  g_autoptr (AdjMemorySnapshot) snapshot = plant (graph, G_MAXUINT, 0);
  g_autoptr (AdjTimeline) measured = adj_timeline_new_measured (graph, snapshot, NULL);

  g_assert_cmpuint (measured->held->len, >, 10);
  for (guint i = 0; i < measured->held->len; i++)
    {
      const AdjHeld *held = &g_array_index (measured->held, AdjHeld, i);
      const AdjLifetime *life = &lives[held->node.index];

      g_assert_cmpuint (life->owner, ==, held->node.index);
      g_assert_cmpint (held->bytes, ==, (life->bytes + BLOCK - 1) / BLOCK * BLOCK);
      g_assert_cmpuint (held->first, ==, held->node.index);
      g_assert_cmpuint (held->last, ==, life->last);
    }
}

static void
test_refuses (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "snapshot.pickle", NULL);
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("gpt2", "0-0-forward");
  g_autoptr (AdjGraph) other = adj_test_load_graph ("sac", "0-0-backward");
  g_autoptr (AdjMemorySnapshot) plain = adj_memory_snapshot_load (path, NULL, NULL);
  g_autoptr (AdjMemorySnapshot) foreign = plant (other, G_MAXUINT, 0);
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_timeline_new_measured (graph, plain, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, "augment_with_fx_traces=True"));
  g_clear_error (&error);
  g_assert_null (adj_timeline_new_measured (graph, foreign, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, "of other graphs"));
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/report/measured-timeline/follows", test_follows);
  g_test_add_func ("/report/measured-timeline/holds", test_holds);
  g_test_add_func ("/report/measured-timeline/refuses", test_refuses);
  return g_test_run ();
}
