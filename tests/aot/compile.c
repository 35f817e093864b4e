/* SPDX-License-Identifier: MIT */
/* Compiles graphs with the partitioner that a test names. */

#include "aot/compile.h"

#include <math.h>

#include "interpreter/adj-interpreter.h"

static guint
count_sizes (const AdjPartition *partition)
{
  guint n = 0;

  for (guint i = 0; i < partition->n_saved; i++)
    n += partition->saved[i].kind == ADJ_SAVED_SIZE;
  return n;
}

AdjFunction *
compile_at_budget (AdjAotGraph *aot, const char *name, double budget, AdjPartition **out)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjFunction) forward = NULL;
  g_autoptr (AdjFunction) backward = NULL;
  const AdjPartitioner *partitioner;
  AdjPartition *partition;

  *out = NULL;
  if (!adj_aot_graph_is_joint (aot))
    {
      forward = adj_graph_function_new (adj_aot_graph_get_graph (aot));
      return adj_aot_compile (aot, forward, NULL, NULL, 0);
    }
  options.budget = budget;
  options.num_fwd_outputs = (gint) adj_aot_graph_get_n_forward (aot);
  partitioner = adj_partitioner_find (name, &error);
  g_assert_no_error (error);
  partition = adj_partition (partitioner, adj_aot_graph_get_graph (aot), &options, &error);
  g_assert_no_error (error);
  *out = partition;
  forward = adj_graph_function_new (partition->forward);
  backward = adj_graph_function_new (partition->backward);
  return adj_aot_compile (aot, forward, backward, partition->backward, count_sizes (partition));
}

AdjFunction *
compile_and_keep (AdjAotGraph *aot, const char *name, AdjPartition **out)
{
  return compile_at_budget (aot, name, NAN, out);
}

AdjFunction *
compile_by (AdjAotGraph *aot, const char *name)
{
  g_autoptr (AdjPartition) partition = NULL;

  return compile_and_keep (aot, name, &partition);
}

AdjFunction *
compile_by_default (AdjAotGraph *aot)
{
  return compile_by (aot, "default");
}
