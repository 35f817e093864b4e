/* SPDX-License-Identifier: MIT */
/* Launches sorting: items are loaded, merged pass by pass, and stored. */

#include "launch.h"

bool
adj_k_cuda_sort (AdjKQueue *queue,
                 const AdjKView *values,
                 const AdjKView *indices,
                 const AdjKView *in,
                 int dim,
                 bool descending)
{
  uint32_t dims = UINT32_C (1) << dim;
  SortArgs args = { .in = adj_k_view_keep (in, dims),
                    .in_kept = adj_k_view_keep (in, ~dims),
                    .values = adj_k_view_keep (values, dims),
                    .values_kept = adj_k_view_keep (values, ~dims),
                    .indices = adj_k_view_keep (indices, dims),
                    .indices_kept = adj_k_view_keep (indices, ~dims),
                    .n = in->size[dim],
                    .k = values->size[dim],
                    .is_float = adj_k_type_is_float (in->type),
                    .descending = descending };
  size_t bytes;
  int64_t n;

  args.n_rows = adj_k_view_count (&args.in_kept);
  n = args.n_rows * args.n;
  if (n == 0)
    return true;
  bytes = (size_t) n * sizeof (SortItem);
  args.from = queue->device->scratch (queue, bytes);
  args.to = queue->device->scratch (queue, bytes);
  if (args.from == NULL || args.to == NULL)
    return false;
  RUN_AS_IT_IS (queue, "adj_sort_load", n, args);
  for (args.run = 1; args.run < args.n; args.run *= 2)
    {
      SortItem *items = args.from;

      args.from = args.to;
      args.to = items;
      RUN_AS_IT_IS (queue, "adj_sort_merge", n, args);
    }
  args.from = args.to;
  RUN_AS_IT_IS (queue, "adj_sort_store", args.n_rows * args.k, args);
  return true;
}
