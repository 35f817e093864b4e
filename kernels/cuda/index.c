/* SPDX-License-Identifier: MIT */
/* Launches reading and writing at given positions. */

#include <string.h>

#include "launch.h"

static int64_t
size_of_dim (const AdjKView *view, int dim)
{
  return view->rank > 0 ? view->size[dim] : 1;
}

static int64_t
stride_of_dim (const AdjKView *view, int dim)
{
  return view->rank > 0 ? view->stride[dim] : 0;
}

/* @view with the sizes of @shape, to which its dims belong in order from @first on; the others
 * repeat it. */
static AdjKView
spread (const AdjKView *view, const AdjKView *shape, int first)
{
  AdjKView out = *shape;

  out.data = view->data;
  out.type = view->type;
  memset (out.stride, 0, sizeof out.stride);
  for (int d = 0; d < view->rank && first + d < shape->rank; d++)
    out.stride[first + d] = view->stride[d];
  return out;
}

static bool
gather_along (
    AdjKQueue *queue, const AdjKView *out, const AdjKView *x, int dim, const AdjKView *idx)
{
  GatherArgs args = { .out = *out,
                      .x = *x,
                      .idx = *idx,
                      .faults = queue->faults,
                      .n = adj_k_view_count (out),
                      .size = size_of_dim (x, dim),
                      .stride = stride_of_dim (x, dim) };

  memcpy (args.x.size, out->size, sizeof args.x.size);
  if (x->rank > 0)
    args.x.stride[dim] = 0;
  RUN (queue, "adj_gather", args.n, args);
  return true;
}

bool
adj_k_cuda_gather (AdjKQueue *queue,
                   const AdjKView *out,
                   const AdjKView *x,
                   int dim,
                   const AdjKView *idx,
                   int64_t *bad)
{
  return gather_along (queue, out, x, dim, idx);
}

bool
adj_k_cuda_index_select (AdjKQueue *queue,
                         const AdjKView *out,
                         const AdjKView *x,
                         int dim,
                         const AdjKView *idx,
                         int64_t *bad)
{
  AdjKView places = spread (idx, out, dim);

  return gather_along (queue, out, x, dim, &places);
}

bool
adj_k_cuda_embedding (AdjKQueue *queue,
                      const AdjKView *out,
                      const AdjKView *weight,
                      const AdjKView *idx,
                      int64_t *bad)
{
  AdjKView places = spread (idx, out, 0);
  GatherArgs args = { .out = *out,
                      .x = *out,
                      .idx = places,
                      .faults = queue->faults,
                      .n = adj_k_view_count (out),
                      .size = weight->size[0],
                      .stride = weight->stride[0] };

  args.x.data = weight->data;
  memset (args.x.stride, 0, sizeof args.x.stride);
  args.x.stride[out->rank - 1] = weight->stride[1];
  RUN (queue, "adj_gather", args.n, args);
  return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Sums in 16-bit floats are kept in f32, and rounded once. */
static AdjKView
begin_sum (AdjKQueue *queue, const AdjKView *out, bool add)
{
  AdjKView sum = *out;

  if (!add || (out->type != ADJ_K_F16 && out->type != ADJ_K_BF16))
    return sum;
  sum = adj_k_cuda_temporary (queue, out, ADJ_K_F32);
  if (sum.data != NULL)
    adj_k_cuda_copy (queue, &sum, out);
  return sum;
}

static void
end_sum (AdjKQueue *queue, const AdjKView *out, const AdjKView *sum)
{
  if (sum->data != out->data)
    adj_k_cuda_copy (queue, out, sum);
}

/* out[…, idx[j], …] = or += src[…, j, …] over the sizes of @src, which @idx has too. */
static bool
scatter_along (AdjKQueue *queue,
               const AdjKView *out,
               int dim,
               const AdjKView *idx,
               const AdjKView *src,
               const ScatterArgs *how)
{
  uint32_t others = src->rank > 0 ? ~(UINT32_C (1) << dim) : UINT32_MAX;
  AdjKView sum = begin_sum (queue, out, how->add), lines = sum;
  ScatterArgs args = *how;

  if (sum.data == NULL)
    return adj_k_view_count (out) == 0;
  memcpy (lines.size, src->size, sizeof lines.size);
  args.lines = adj_k_view_keep (&lines, others);
  args.src = adj_k_view_keep (src, others);
  args.idx = adj_k_view_keep (idx, others);
  args.data = sum.data;
  args.type = sum.type;
  args.faults = queue->faults;
  args.n_lines = adj_k_view_count (&args.src);
  args.n = size_of_dim (src, dim);
  args.size = size_of_dim (out, dim);
  args.stride = stride_of_dim (&sum, dim);
  args.src_stride = stride_of_dim (src, dim);
  args.idx_stride = stride_of_dim (idx, dim);
  RUN (queue, "adj_scatter", args.n > 0 ? args.n_lines : 0, args);
  end_sum (queue, out, &sum);
  return true;
}

/* @src with the sizes of @idx, which may be smaller. */
static AdjKView
cut (const AdjKView *src, const AdjKView *idx)
{
  AdjKView out = *src;

  memcpy (out.size, idx->size, sizeof out.size);
  return out;
}

bool
adj_k_cuda_scatter (AdjKQueue *queue,
                    const AdjKView *out,
                    int dim,
                    const AdjKView *idx,
                    const AdjKView *src,
                    int64_t *bad)
{
  AdjKView from = cut (src, idx);

  return scatter_along (queue, out, dim, idx, &from, &(ScatterArgs){ .skipped = -1 });
}

bool
adj_k_cuda_scatter_add (AdjKQueue *queue,
                        const AdjKView *out,
                        int dim,
                        const AdjKView *idx,
                        const AdjKView *src,
                        int64_t *bad)
{
  AdjKView from = cut (src, idx);

  return scatter_along (queue, out, dim, idx, &from, &(ScatterArgs){ .skipped = -1, .add = true });
}

bool
adj_k_cuda_index_add (AdjKQueue *queue,
                      const AdjKView *out,
                      int dim,
                      const AdjKView *idx,
                      const AdjKView *src,
                      double alpha,
                      int64_t *bad)
{
  AdjKView places = spread (idx, src, dim);

  return scatter_along (
      queue, out, dim, &places, src,
      &(ScatterArgs){ .skipped = -1, .add = true, .scaled = alpha != 1, .factor = alpha });
}

/* How often each row is named; NULL without memory. */
static const int64_t *
count_rows (AdjKQueue *queue, const AdjKView *indices, int64_t n_rows)
{
  AdjKView counts = { .type = ADJ_K_I64, .rank = 1, .size = { n_rows }, .stride = { 1 } };
  CountArgs args = {
    .idx = *indices, .faults = queue->faults, .n = adj_k_view_count (indices), .size = n_rows
  };

  counts = adj_k_cuda_temporary (queue, &counts, ADJ_K_I64);
  if (counts.data == NULL)
    return NULL;
  adj_k_cuda_fill_i64 (queue, &counts, 0);
  args.counts = counts.data;
  RUN (queue, "adj_count", args.n, args);
  return args.counts;
}

bool
adj_k_cuda_embedding_backward (AdjKQueue *queue, const AdjKEmbeddingBackward *e, int64_t *bad)
{
  AdjKView sum = begin_sum (queue, &e->gw, true), rows = e->g;
  AdjKView column = { .rank = 1, .size = { e->gw.size[1] }, .stride = { sum.stride[1] } };
  ScatterArgs args = { .lines = column, .src = column, .idx = column, .skipped = e->padding_idx };
  AdjKView flat_g, flat_idx;

  adj_k_cuda_fill_i64 (queue, &e->gw, 0);
  rows.rank--;
  flat_idx = adj_k_cuda_temporary (queue, &e->indices, ADJ_K_I64);
  flat_g = adj_k_cuda_temporary (queue, &e->g, e->g.type);
  if (sum.data == NULL || flat_idx.data == NULL || flat_g.data == NULL)
    return false;
  if (sum.data != e->gw.data)
    adj_k_cuda_fill_i64 (queue, &sum, 0);
  adj_k_cuda_copy (queue, &flat_idx, &e->indices);
  adj_k_cuda_copy (queue, &flat_g, &e->g);
  args.src.data = flat_g.data;
  args.src.type = flat_g.type;
  args.src.stride[0] = 1;
  args.idx.data = flat_idx.data;
  args.idx.type = ADJ_K_I64;
  args.idx.stride[0] = 0;
  args.data = sum.data;
  args.type = sum.type;
  args.faults = queue->faults;
  args.n_lines = e->gw.size[1];
  args.n = adj_k_view_count (&e->indices);
  args.size = e->gw.size[0];
  args.stride = sum.stride[0];
  args.src_stride = e->gw.size[1];
  args.idx_stride = 1;
  args.add = true;
  args.scaled = e->by_freq;
  if (e->by_freq && (args.counts = count_rows (queue, &e->indices, args.size)) == NULL)
    return false;
  RUN (queue, "adj_scatter", args.n > 0 ? args.n_lines : 0, args);
  end_sum (queue, &e->gw, &sum);
  return true;
}

/* --- several index tensors -------------------------------------------------------------------- */

/* Takes the dims of values apart into those of the index tensors and those of x. */
static void
split_values (const AdjKIndex *index, const AdjKView *x, ManyArgs *args)
{
  int dims[ADJ_K_MAX_RANK], n = 0, place = 0, rank = 0, to = 0;

  for (int d = 0; d < x->rank; d++)
    if (index->idx[d])
      dims[n++] = d;
  if (n > 0)
    {
      place = dims[n - 1] - dims[0] + 1 == n ? dims[0] : 0;
      rank = index->idx[dims[0]]->rank;
    }
  args->places = adj_k_view_keep (&index->values, ((UINT32_C (1) << rank) - 1) << place);
  args->rest = adj_k_view_keep (&index->values, ~(((UINT32_C (1) << rank) - 1) << place));
  args->x_rest = args->rest;
  for (int d = 0; d < x->rank; d++)
    if (!index->idx[d])
      args->x_rest.stride[to++] = x->stride[d];
  for (int k = 0; k < n; k++)
    {
      args->size[k] = x->size[dims[k]];
      args->stride[k] = x->stride[dims[k]];
    }
  args->n_idx = n;
}

static bool
run_many (AdjKQueue *queue, const AdjKIndex *index, bool put)
{
  bool add = put && index->accumulate;
  AdjKView x = begin_sum (queue, &index->x, add), views[ADJ_K_MAX_RANK];
  ManyArgs args = { .values = index->values.data,
                    .faults = queue->faults,
                    .type = (int) index->values.type,
                    .put = put,
                    .add = add };
  int n = 0;

  if (x.data == NULL)
    return adj_k_view_count (&index->x) == 0;
  split_values (index, &x, &args);
  args.x = x.data;
  args.x_type = (int) x.type;
  for (int d = 0; d < index->x.rank; d++)
    if (index->idx[d])
      views[n++] = *index->idx[d];
  args.idx = queue->device->constant (queue, views, (size_t) (n > 0 ? n : 1) * sizeof *views);
  args.n_places = adj_k_view_count (&args.places);
  args.n_rest = adj_k_view_count (&args.rest);
  if (args.idx != NULL)
    RUN (queue, "adj_many", put && args.n_places > 0 ? args.n_rest : args.n_rest * args.n_places,
         args);
  end_sum (queue, &index->x, &x);
  return true;
}

bool
adj_k_cuda_index (AdjKQueue *queue, const AdjKIndex *index, int64_t *bad)
{
  return run_many (queue, index, false);
}

bool
adj_k_cuda_index_put (AdjKQueue *queue, const AdjKIndex *index, int64_t *bad)
{
  return run_many (queue, index, true);
}
