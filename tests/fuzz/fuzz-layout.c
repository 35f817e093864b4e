/* SPDX-License-Identifier: MIT */

/* Fuzzes the messages between the library and its layout helper: a block, then a placement of
 * it, each after its length in four bytes. */

#include <math.h>
#include <string.h>

#include "layout/adj-placement.h"

#define MAX_NODES 1000

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static GBytes *
take_message (const guint8 **data, gsize *size)
{
  guint32 length = 0;
  GBytes *message;

  if (*size < sizeof length)
    return g_bytes_new (NULL, 0);
  memcpy (&length, *data, sizeof length);
  *data += sizeof length;
  *size -= sizeof length;
  length = MIN (length, *size);
  message = g_bytes_new (*data, length);
  *data += length;
  *size -= length;
  return message;
}

static void
check_placement (const AdjPlacement *placement, const AdjBlockGraph *graph)
{
  g_autoptr (GBytes) bytes = adj_placement_to_bytes (placement);
  g_autoptr (AdjPlacement) again = adj_placement_from_bytes (bytes, graph);
  g_autoptr (GBytes) twice = NULL;

  g_assert_nonnull (again);
  twice = adj_placement_to_bytes (again);
  g_assert_true (g_bytes_equal (bytes, twice));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) question = take_message (&data, &size);
  g_autoptr (GBytes) answer = take_message (&data, &size);
  g_autoptr (AdjBlockGraph) graph = adj_block_graph_from_bytes (question);
  g_autoptr (AdjPlacement) ours = NULL;
  g_autoptr (AdjPlacement) theirs = NULL;

  /* A few bytes can declare many nodes without data, which is only slow. */
  if (graph == NULL || adj_block_graph_n_nodes (graph) > MAX_NODES)
    return 0;
  theirs = adj_placement_from_bytes (answer, graph);
  if (theirs != NULL)
    check_placement (theirs, graph);
  ours = adj_placement_layer (graph);
  for (guint i = 0; i < ours->n_nodes; i++)
    g_assert_true (isfinite (ours->x[i]));
  return 0;
}
