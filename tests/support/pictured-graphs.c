/* SPDX-License-Identifier: MIT */
/* The graphs used for pictures, with and without module names. */

#include "support/pictured-graphs.h"

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "partition/adj-partition.h"
#include "passes/adj-compose.h"
#include "support/adj-test.h"
#include "support/graphs.h"

#define N_BUDGETS 11

static AdjGraph *
compose (AdjGraph *forward, AdjGraph *backward, guint num_fwd_outputs)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *whole = adj_graph_compose (forward, backward, num_fwd_outputs, &error);

  g_assert_no_error (error);
  return whole;
}

static void
each_budget (const char *capture, AdjGraph *joint, AdjTestPicture each, gpointer data)
{
  const AdjPartitioner *partitioner = adj_partitioner_find ("min-cut", NULL);

  for (guint k = 0; k < 2 * N_BUDGETS; k++)
    {
      g_autoptr (GError) error = NULL;
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (AdjPartition) plan = NULL;
      g_autoptr (AdjGraph) whole = NULL;
      g_autofree char *name = NULL;

      options.budget = k / 2 / (N_BUDGETS - 1.0);
      options.compat = k % 2;
      name = g_strdup_printf ("%s%s at %.1f", capture, options.compat ? ", PyTorch" : "",
                              options.budget);
      plan = adj_partition (partitioner, joint, &options, &error);
      g_assert_no_error (error);
      whole = compose (plan->forward, plan->backward, plan->num_fwd_outputs);
      each (name, whole, data);
    }
}

static void
each_of_capture (const char *capture, AdjTestPicture each, gpointer data)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (capture);

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *g = adj_bundle_get_graph (bundle, i);
      const AdjRegion *region = adj_bundle_find_region (bundle, g);
      g_autofree char *name = g_strdup_printf ("%s#%s", capture, g->id);

      each (name, g->graph, data);
      if (strcmp (g->role, "joint") == 0)
        each_budget (capture, g->graph, each, data);
      if (strcmp (g->role, "forward") == 0 && region && region->num_fwd_outputs >= 0)
        for (guint k = 0; k < adj_bundle_get_n_graphs (bundle); k++)
          {
            const AdjBundleGraph *b = adj_bundle_get_graph (bundle, k);

            if (strcmp (b->role, "backward") == 0 && adj_bundle_find_region (bundle, b) == region)
              {
                g_autoptr (AdjGraph) whole =
                    compose (g->graph, b->graph, (guint) region->num_fwd_outputs);
                g_autofree char *both = g_strdup_printf ("%s + backward", name);

                each (both, whole, data);
              }
          }
    }
}

void
adj_test_each_pictured_graph (AdjTestPicture each, gpointer data)
{
  g_autoptr (GPtrArray) names = adj_test_list_captures ();

  for (guint i = 0; i < names->len; i++)
    each_of_capture (g_ptr_array_index (names, i), each, data);
}

AdjGraph *
adj_test_through_log (const AdjGraph *graph, AdjTestLog log)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = adj_graph_print (
      graph, ADJ_PRINT_NO_METADATA | (log == ADJ_TEST_LOG_NOTHING ? ADJ_PRINT_NO_COMMENTS : 0),
      NULL);
  AdjGraph *again = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_nodes (again), ==, adj_graph_get_n_nodes (graph));
  return again;
}
