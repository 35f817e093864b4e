/* SPDX-License-Identifier: MIT */

/* Advanced indexing with several index tensors.  Both directions walk the lines of `values` along
 * its last dim, together with the index tensors and x: if index tensors cover that dim, each
 * element of a line has its own place in x, else the places are a run. */

#include <string.h>

#include "index.h"

typedef struct
{
  Walk walk; /* of lines; offsets: values, x without the indexed dims, then each index tensor */
  const AdjKIndex *index;
  int dims[ADJ_K_MAX_RANK]; /* indexed dims of x */
  int n_dims;
  int64_t length, stride;             /* of a line of values */
  int64_t x_stride;                   /* along the line, if no index tensor covers the last dim */
  bool pointed;                       /* else true */
  int64_t idx_stride[ADJ_K_MAX_RANK]; /* along the line, of each index tensor */
} Many;

/* The position of the index tensors' dims in values: in place of the indexed dims if these are
 * adjacent, else first. */
static int
place_of_indices (const Many *many)
{
  int first = many->dims[0], last = many->dims[many->n_dims - 1];

  return last - first + 1 == many->n_dims ? first : 0;
}

static Many
many_begin (const AdjKIndex *index)
{
  Many many = { .index = index, .length = 1 };
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

  many.pointed = many.n_dims > 0 && (shape.rank == 0 || (rank > 0 && place + rank == shape.rank));
  if (shape.rank > 0)
    {
      shape.rank--;
      many.length = shape.size[shape.rank];
      many.stride = shape.stride[shape.rank];
      many.x_stride = x_stride[shape.rank];
      for (int i = 0; i < many.n_dims; i++)
        many.idx_stride[i] = idx_stride[i][shape.rank];
    }

  adj_k_walk_begin (&many.walk, &shape);
  adj_k_walk_add (&many.walk, shape.stride);
  adj_k_walk_add (&many.walk, x_stride);
  for (int i = 0; i < many.n_dims; i++)
    adj_k_walk_add (&many.walk, idx_stride[i]);
  return many;
}

/* Loads the indices of tensor @i for elements @first … @first + @n - 1 of the line. */
static void
load_indices (const Many *many, int i, int64_t first, int n, int64_t *out)
{
  const AdjKView *idx = many->index->idx[many->dims[i]];
  int64_t stride = many->idx_stride[i];

  adj_k_loops ()->klass[ADJ_K_CLASS_I64].load[idx->type](
      out, view_at (idx, many->walk.offset[2 + i] + first * stride), stride, n);
}

/* The offsets in x of elements @first … @first + @n - 1 of the line; false with the first index out
 * of range. */
static bool
find_places (const Many *many, int64_t first, int n, int64_t *at, int64_t *bad)
{
  const AdjKView *x = &many->index->x;
  int64_t indices[TILE], n_good = n;

  for (int j = 0; j < n; j++)
    at[j] = many->walk.offset[1];
  for (int i = 0; i < many->n_dims; i++)
    {
      int64_t size = x->size[many->dims[i]], stride = x->stride[many->dims[i]];

      load_indices (many, i, first, n, indices);
      for (int64_t j = 0; j < n_good; j++)
        {
          int64_t v = indices[j];

          at[j] += (v < 0 ? v + size : v) * stride;
          if (v < -size || v >= size)
            {
              *bad = v;
              n_good = j;
            }
        }
    }
  return n_good == n;
}

#define MOVE_POINTED(type)                                                                         \
  static void move_##type (type *x, type *values, int64_t stride, const int64_t *at, int n,        \
                           bool put)                                                               \
  {                                                                                                \
    for (int j = 0; j < n && put; j++)                                                             \
      x[at[j]] = values[j * stride];                                                               \
    for (int j = 0; j < n && !put; j++)                                                            \
      values[j * stride] = x[at[j]];                                                               \
  }

MOVE_POINTED (uint8_t)
MOVE_POINTED (uint16_t)
MOVE_POINTED (uint32_t)
MOVE_POINTED (uint64_t)

static void
move_pointed (const Many *many, int64_t first, const int64_t *at, int n, bool put)
{
  const AdjKIndex *index = many->index;
  void *x = index->x.data;
  void *values = view_at (&index->values, many->walk.offset[0] + first * many->stride);
  size_t size = adj_k_type_get_size (index->x.type);

  if (size == 1)
    move_uint8_t (x, values, many->stride, at, n, put);
  else if (size == 2)
    move_uint16_t (x, values, many->stride, at, n, put);
  else if (size == 4)
    move_uint32_t (x, values, many->stride, at, n, put);
  else
    move_uint64_t (x, values, many->stride, at, n, put);
}

/* Moves a line that is one run in x. */
static void
move_run (const Many *many, int64_t at, bool put)
{
  const AdjKIndex *index = many->index;
  void *value = view_at (&index->values, many->walk.offset[0]), *x = view_at (&index->x, at);
  size_t size = adj_k_type_get_size (index->x.type);

  if (put)
    adj_k_copy_run (x, many->x_stride, value, many->stride, many->length, size);
  else
    adj_k_copy_run (value, many->stride, x, many->x_stride, many->length, size);
}

static bool
copy_line (const Many *many, bool put, int64_t *bad)
{
  int64_t at[TILE];

  if (!many->pointed)
    {
      if (!find_places (many, 0, 1, at, bad))
        return false;
      move_run (many, at[0], put);
      return true;
    }
  for (int64_t first = 0; first < many->length; first += TILE)
    {
      int n = (int) min_i64 (TILE, many->length - first);

      if (!find_places (many, first, n, at, bad))
        return false;
      move_pointed (many, first, at, n, put);
    }
  return true;
}

static bool
copy_many (const AdjKIndex *index, bool put, int64_t *bad)
{
  Many many = many_begin (index);

  for (; many.walk.left > 0; adj_k_walk_next (&many.walk))
    if (!copy_line (&many, put, bad))
      return false;
  return true;
}

bool
adj_k_index (const AdjKIndex *index, int64_t *bad)
{
  return copy_many (index, false, bad);
}

/* --- sums --------------------------------------------------------------------------------------
 */

static void
add_pointed (const Sum *sum, const Many *many, int64_t first, const int64_t *at, int n)
{
  const AdjKView *values = &many->index->values;
  int64_t start = many->walk.offset[0] + first * many->stride;
  Scalar tile[TILE];

  if (sum->view.type == sum->loops->type)
    {
      sum->loops->load[values->type](tile, view_at (values, start), many->stride, n);
      sum->loops->add_at (sum->view.data, at, tile, n);
      return;
    }
  for (int j = 0; j < n; j++)
    adj_k_sum_add (
        sum, &(SumRun){ .src = values, .at = at[j], .src_at = start + j * many->stride, .n = 1 });
}

static bool
add_line (const Sum *sum, const Many *many, int64_t *bad)
{
  int64_t at[TILE];

  if (!many->pointed)
    {
      if (!find_places (many, 0, 1, at, bad))
        return false;
      adj_k_sum_add (sum, &(SumRun){ .src = &many->index->values,
                                     .at = at[0],
                                     .stride = many->x_stride,
                                     .src_at = many->walk.offset[0],
                                     .src_stride = many->stride,
                                     .n = many->length });
      return true;
    }
  for (int64_t first = 0; first < many->length; first += TILE)
    {
      int n = (int) min_i64 (TILE, many->length - first);

      if (!find_places (many, first, n, at, bad))
        return false;
      add_pointed (sum, many, first, at, n);
    }
  return true;
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
  while (many.walk.left > 0 && add_line (&sum, &many, bad))
    adj_k_walk_next (&many.walk);
  adj_k_sum_end (&sum);
  return many.walk.left == 0;
}
