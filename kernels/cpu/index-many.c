/* SPDX-License-Identifier: MIT */

/* Advanced indexing: several index tensors at once.  Both directions walk the elements of `values`
 * (runs of its last dim, when that dim is taken whole) beside the index tensors and x. */

#include <string.h>

#include "index.h"

typedef struct
{
  Walk walk; /* offsets: values, x without the indexed dims, then each index tensor */
  const AdjKIndex *index;
  int dims[ADJ_K_MAX_RANK]; /* of x, which are indexed */
  int n_dims;
  int64_t run, run_stride, x_run_stride; /* of the last dim of values; 1 element when indexed */
} Many;

/* Where the dims of the index tensors stand among those of values: in place of the indexed dims
 * when these are neighbours, else first. */
static int
place_of_indices (const Many *many)
{
  int first = many->dims[0], last = many->dims[many->n_dims - 1];

  return last - first + 1 == many->n_dims ? first : 0;
}

static Many
many_begin (const AdjKIndex *index)
{
  Many many = { .index = index, .run = 1 };
  int64_t x_stride[ADJ_K_MAX_RANK] = { 0 }, idx_stride[ADJ_K_MAX_RANK][ADJ_K_MAX_RANK] = { 0 };
  AdjKView shape = index->values;
  int to = 0;

  for (int d = 0; d < index->x.rank; d++)
    if (index->idx[d])
      many.dims[many.n_dims++] = d;

  int place = many.n_dims ? place_of_indices (&many) : -1;
  int rank = many.n_dims ? index->idx[many.dims[0]]->rank : 0;

  if (place == 0)
    to = rank;
  for (int d = 0; d < index->x.rank; d++)
    if (!index->idx[d])
      {
        if (place > 0 && to == place)
          to += rank;
        x_stride[to++] = index->x.stride[d];
      }
  for (int i = 0; i < many.n_dims; i++)
    memcpy (&idx_stride[i][place], index->idx[many.dims[i]]->stride,
            (size_t) rank * sizeof (int64_t));

  /* The last dim of values is a run unless it belongs to the index tensors. */
  if (shape.rank > 0 && (rank == 0 || place + rank < shape.rank))
    {
      shape.rank--;
      many.run = shape.size[shape.rank];
      many.run_stride = shape.stride[shape.rank];
      many.x_run_stride = x_stride[shape.rank];
    }

  adj_k_walk_begin (&many.walk, &shape);
  adj_k_walk_add (&many.walk, shape.stride);
  adj_k_walk_add (&many.walk, x_stride);
  for (int i = 0; i < many.n_dims; i++)
    adj_k_walk_add (&many.walk, idx_stride[i]);
  return many;
}

/* Offset in x with the strides @x_stride for the indexed dims, or -1 when an index is outside. */
static int64_t
many_offset (const Many *many, int64_t *bad)
{
  const AdjKView *x = &many->index->x;
  int64_t offset = many->walk.offset[1];

  for (int i = 0; i < many->n_dims; i++)
    {
      int d = many->dims[i];
      int64_t v = adj_k_index_at (many->index->idx[d], many->walk.offset[2 + i]);

      if (v < -x->size[d] || v >= x->size[d])
        {
          *bad = v;
          return -1;
        }
      offset += (v < 0 ? v + x->size[d] : v) * x->stride[d];
    }
  return offset;
}

static bool
copy_many (const AdjKIndex *index, bool put, int64_t *bad)
{
  Many many = many_begin (index);
  size_t size = adj_k_type_get_size (index->x.type);

  for (; many.walk.left > 0; adj_k_walk_next (&many.walk))
    {
      int64_t at = many_offset (&many, bad);
      void *value = view_at (&index->values, many.walk.offset[0]);

      if (at < 0)
        return false;
      if (put)
        adj_k_copy_run (view_at (&index->x, at), many.x_run_stride, value, many.run_stride,
                        many.run, size);
      else
        adj_k_copy_run (value, many.run_stride, view_at (&index->x, at), many.x_run_stride,
                        many.run, size);
    }
  return true;
}

bool
adj_k_index (const AdjKIndex *index, int64_t *bad)
{
  return copy_many (index, false, bad);
}

bool
adj_k_index_put (const AdjKIndex *index, int64_t *bad)
{
  AdjKIndex into = *index;
  Many many;
  Sum sum;

  if (!index->accumulate)
    return copy_many (index, true, bad);

  adj_k_sum_begin (&sum, &index->x);
  into.x = sum.view;
  many = many_begin (&into);
  for (; many.walk.left > 0; adj_k_walk_next (&many.walk))
    {
      SumRun run = {
        .src = &into.values,
        .at = many_offset (&many, bad),
        .stride = many.x_run_stride,
        .src_at = many.walk.offset[0],
        .src_stride = many.run_stride,
        .n = many.run,
      };

      if (run.at < 0)
        break;
      adj_k_sum_add (&sum, &run);
    }
  adj_k_sum_end (&sum);
  return many.walk.left == 0;
}
