/* SPDX-License-Identifier: MIT */

/* Partitions the joint graph of a capture into forward and backward, without a memory limit and
 * with a fifth of the memory, and prints the decision about one node. */

#include <adjoint.h>
#include <stdio.h>

static gboolean
partition (AdjGraph *joint, double budget, GError **error)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  const AdjPartitioner *partitioner = adj_partitioner_find ("min-cut", error);
  g_autoptr (AdjPartition) made = NULL;
  g_autofree char *why = NULL;

  options.budget = budget;
  if (partitioner != NULL)
    made = adj_partition (partitioner, joint, &options, error);
  if (made == NULL)
    return FALSE;
  printf ("budget %.1f: %u values saved, %" G_GUINT64_FORMAT " bytes, %u calls made again\n",
          budget, made->n_saved, made->saved_bytes, made->cost.n_recomputed);
  why = adj_partition_explain (made, adj_graph_find_node (joint, "relu"));
  printf ("  relu: %s\n", why);
  return TRUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = argc > 1 ? adj_bundle_load (argv[1], NULL, &error) : NULL;
  const AdjBundleGraph *joint = NULL;

  if (bundle != NULL)
    joint = adj_bundle_find_graph (bundle, "joint", &error);
  if (joint != NULL && partition (joint->graph, 1, &error) && partition (joint->graph, 0.2, &error))
    return 0;
  fprintf (stderr, "%s\n", error != NULL ? error->message : "usage: partition FILE");
  return 1;
}
