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

/* @view broadcast to the sizes of @shape; its dims are those of @shape from @first on. */
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

/* Sums of 16-bit floats are kept in f32, and rounded once at the end. */
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
               bool add)
{
  uint32_t others = src->rank > 0 ? ~(UINT32_C (1) << dim) : UINT32_MAX;
  AdjKView sum = begin_sum (queue, out, add), lines = sum;
  ScatterArgs args = { .add = add };

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

/* The part of @src with the sizes of @idx, which may be smaller. */
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

  return scatter_along (queue, out, dim, idx, &from, false);
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

  return scatter_along (queue, out, dim, idx, &from, true);
}

/* --- writing whole slices at sorted positions ------------------------------------------------- */

/* [n] of I64; without data when memory ran out. */
static AdjKView
new_numbers (AdjKQueue *queue, int64_t n)
{
  AdjKView numbers = { .type = ADJ_K_I64, .rank = 1, .size = { n }, .stride = { 1 } };

  return adj_k_cuda_temporary (queue, &numbers, ADJ_K_I64);
}

/* Sorts the places of @args by @keys. */
static bool
put_in_order (AdjKQueue *queue, PutArgs *args, const AdjKView *keys)
{
  AdjKView sorted = new_numbers (queue, args->n_places),
           order = new_numbers (queue, args->n_places);

  if (sorted.data == NULL || order.data == NULL ||
      !adj_k_cuda_sort (queue, &sorted, &order, keys, 0, false))
    return false;
  args->keys = sorted.data;
  args->order = order.data;
  RUN (queue, "adj_put", args->n_places * args->n_rest, *args);
  return true;
}

/* Slices of @args at the elements of @idx, below @size. */
static bool
put_at (AdjKQueue *queue, PutArgs *args, const AdjKView *idx, int64_t size, int64_t skipped)
{
  AdjKView keys;
  KeysArgs keys_args = { .idx = *idx,
                         .faults = queue->faults,
                         .n = adj_k_view_count (idx),
                         .size = size,
                         .skipped = skipped };

  args->n_places = keys_args.n;
  args->n_rest = adj_k_view_count (&args->rest);
  if (args->n_places == 0 || args->n_rest == 0)
    return true;
  keys = new_numbers (queue, keys_args.n);
  keys_args.keys = keys.data;
  if (keys.data == NULL)
    return false;
  RUN (queue, "adj_keys", keys_args.n, keys_args);
  return put_in_order (queue, args, &keys);
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
  uint32_t dims = src->rank > 0 ? UINT32_C (1) << dim : 0;
  AdjKView sum = begin_sum (queue, out, true), places = adj_k_view_keep (src, dims);
  PutArgs args = { .places = places,
                   .rest = adj_k_view_keep (src, ~dims),
                   .x_rest = adj_k_view_keep (&sum, ~dims),
                   .x = sum.data,
                   .x_type = (int) sum.type,
                   .stride = stride_of_dim (&sum, dim),
                   .factor = alpha,
                   .add = true,
                   .scaled = alpha != 1 };
  AdjKView at = spread (idx, &places, 0);

  if (sum.data == NULL)
    return adj_k_view_count (out) == 0;
  if (!put_at (queue, &args, &at, size_of_dim (out, dim), -1))
    return false;
  end_sum (queue, out, &sum);
  return true;
}

/* How often each row is indexed; NULL when memory ran out. */
static const int64_t *
count_rows (AdjKQueue *queue, const AdjKView *indices, int64_t n_rows)
{
  AdjKView counts = new_numbers (queue, n_rows);
  CountArgs args = {
    .idx = *indices, .faults = queue->faults, .n = adj_k_view_count (indices), .size = n_rows
  };

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
  AdjKView sum = begin_sum (queue, &e->gw, true);
  uint32_t last = UINT32_C (1) << (e->g.rank - 1);
  PutArgs args = { .places = adj_k_view_keep (&e->g, ~last),
                   .rest = adj_k_view_keep (&e->g, last),
                   .x_rest = adj_k_view_keep (&sum, 2),
                   .x = sum.data,
                   .x_type = (int) sum.type,
                   .stride = sum.stride[0],
                   .add = true,
                   .scaled = e->by_freq };

  if (sum.data == NULL)
    return adj_k_view_count (&e->gw) == 0;
  adj_k_cuda_fill_i64 (queue, &sum, 0);
  if (e->by_freq && (args.counts = count_rows (queue, &e->indices, e->gw.size[0])) == NULL)
    return false;
  if (!put_at (queue, &args, &e->indices, e->gw.size[0], e->padding_idx))
    return false;
  end_sum (queue, &e->gw, &sum);
  return true;
}

/* --- several index tensors -------------------------------------------------------------------- */

/* Splits the dims of values into those of the index tensors and those of x. */
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

/* The common arguments of reading and writing, for @x, the index's own or a replacement. */
static ManyArgs
many_args (AdjKQueue *queue, const AdjKIndex *index, const AdjKView *x)
{
  ManyArgs args = { .values = index->values.data,
                    .x = x->data,
                    .faults = queue->faults,
                    .type = (int) index->values.type };
  AdjKView views[ADJ_K_MAX_RANK];
  int n = 0;

  split_values (index, x, &args);
  for (int d = 0; d < index->x.rank; d++)
    if (index->idx[d])
      views[n++] = *index->idx[d];
  args.idx = queue->device->constant (queue, views, (size_t) (n > 0 ? n : 1) * sizeof *views);
  args.n_places = adj_k_view_count (&args.places);
  args.n_rest = adj_k_view_count (&args.rest);
  return args;
}

bool
adj_k_cuda_index (AdjKQueue *queue, const AdjKIndex *index, int64_t *bad)
{
  ManyArgs args = many_args (queue, index, &index->x);

  if (args.idx != NULL)
    RUN (queue, "adj_many", args.n_rest * args.n_places, args);
  return true;
}

bool
adj_k_cuda_index_put (AdjKQueue *queue, const AdjKIndex *index, int64_t *bad)
{
  AdjKView x = begin_sum (queue, &index->x, index->accumulate), keys;
  ManyArgs many;
  PutArgs put = { .add = index->accumulate, .stride = 1 };

  if (x.data == NULL)
    return adj_k_view_count (&index->x) == 0;
  many = many_args (queue, index, &x);
  if (many.idx == NULL || many.n_places == 0 || many.n_rest == 0)
    return true;
  keys = new_numbers (queue, many.n_places);
  if (keys.data == NULL)
    return false;
  many.keys = keys.data;
  RUN (queue, "adj_many_keys", many.n_places, many);
  put.places = many.places;
  put.rest = many.rest;
  put.x_rest = many.x_rest;
  put.x = x.data;
  put.x_type = (int) x.type;
  put.n_places = many.n_places;
  put.n_rest = many.n_rest;
  if (!put_in_order (queue, &put, &keys))
    return false;
  end_sum (queue, &index->x, &x);
  return true;
}
