/* SPDX-License-Identifier: MIT */

/* Reads and writes along one dim at positions from a tensor.  Where positions may repeat, the order
 * is fixed: row-major over the source. */

#include "index.h"

#include <stdlib.h>
#include <string.h>

#include "tile.h"

int64_t
adj_k_index_at (const AdjKView *indices, int64_t offset)
{
  return adj_k_load_one (&adj_k_loops ()->klass[ADJ_K_CLASS_I64], indices, offset).i64;
}

static bool
is_outside (int64_t index, int64_t size, int64_t *bad)
{
  if (index >= 0 && index < size)
    return false;
  *bad = index;
  return true;
}

/* --- sums --------------------------------------------------------------------------------------
 */

void
adj_k_sum_begin (Sum *sum, const AdjKView *out)
{
  int64_t stride = 1;
  AdjKClass klass = class_of (out->type);

  *sum = (Sum){ .out = out, .view = *out, .loops = &adj_k_loops ()->klass[klass] };
  if (out->type == ADJ_K_F16 || out->type == ADJ_K_BF16)
    sum->memory = malloc ((size_t) adj_k_view_count (out) * sizeof (float) + 1);
  if (!sum->memory)
    return;

  sum->view.data = sum->memory;
  sum->view.type = ADJ_K_F32;
  for (int d = out->rank; d-- > 0; stride *= out->size[d])
    sum->view.stride[d] = stride;
  adj_k_copy (&sum->view, out);
}

void
adj_k_sum_end (Sum *sum)
{
  if (!sum->memory)
    return;
  adj_k_copy (sum->out, &sum->view);
  free (sum->memory);
}

void
adj_k_sum_add (const Sum *sum, const SumRun *run)
{
  const ClassLoops *loops = sum->loops;
  const AdjKView *src = run->src, *view = &sum->view;

  for (int64_t i = 0; i < run->n; i += TILE)
    {
      Scalar tile[TILE], other[TILE];
      int n = (int) min_i64 (TILE, run->n - i);
      void *dst = view_at (view, run->at + i * run->stride);

      loops->load[src->type](tile, view_at (src, run->src_at + i * run->src_stride),
                             run->src_stride, n);
      if (run->factor)
        {
          fill_tile (loops, other, run->factor, n);
          loops->op[ADJ_K_OP_MUL](tile, tile, other, NULL, n);
        }
      loops->load[view->type](other, dst, run->stride, n);
      loops->op[ADJ_K_OP_ADD](tile, other, tile, NULL, n);
      loops->store[view->type](dst, run->stride, tile, n);
    }
}

/* --- embedding ---------------------------------------------------------------------------------
 */

bool
adj_k_embedding (const AdjKView *out, const AdjKView *weight, const AdjKView *idx, int64_t *bad)
{
  AdjKView rows = *out;
  int last = out->rank - 1;
  int64_t n = adj_k_view_count (idx);

  rows.rank = last;
  for (int64_t i = 0; i < n; i++)
    {
      int64_t v = adj_k_index_at (idx, adj_k_view_offset (idx, i));

      if (is_outside (v, weight->size[0], bad))
        return false;
      adj_k_copy_run (view_at (out, adj_k_view_offset (&rows, i)), out->stride[last],
                      view_at (weight, v * weight->stride[0]), weight->stride[1], out->size[last],
                      adj_k_type_get_size (out->type));
    }
  return true;
}

/* How often each of @n_rows rows is indexed (a new array); NULL with @bad set when an index is out
 * of range, and with @bad left alone when there is no memory. */
static int64_t *
count_rows (const AdjKView *indices, int64_t n_rows, int64_t *bad)
{
  int64_t *counts = calloc ((size_t) n_rows + 1, sizeof *counts);
  int64_t n = adj_k_view_count (indices);

  if (!counts)
    return NULL;
  for (int64_t i = 0; i < n; i++)
    {
      int64_t v = adj_k_index_at (indices, adj_k_view_offset (indices, i));

      if (is_outside (v, n_rows, bad))
        {
          free (counts);
          return NULL;
        }
      counts[v]++;
    }
  return counts;
}

bool
adj_k_embedding_backward (const AdjKEmbeddingBackward *e, int64_t *bad)
{
  int64_t *counts = count_rows (&e->indices, e->gw.size[0], bad);
  int64_t n = adj_k_view_count (&e->indices);
  AdjKView rows = e->g;
  Sum sum;

  if (!counts)
    return false;

  rows.rank--;
  adj_k_fill_i64 (&e->gw, 0);
  adj_k_sum_begin (&sum, &e->gw);
  for (int64_t i = 0; i < n; i++)
    {
      int64_t v = adj_k_index_at (&e->indices, adj_k_view_offset (&e->indices, i));
      Scalar factor = scalar_of (sum.loops, 1 / (double) counts[v]);
      SumRun run = {
        .src = &e->g,
        .at = v * sum.view.stride[0],
        .stride = sum.view.stride[1],
        .src_at = adj_k_view_offset (&rows, i),
        .src_stride = e->g.stride[rows.rank],
        .n = e->gw.size[1],
        .factor = e->by_freq ? &factor : NULL,
      };

      if (v != e->padding_idx)
        adj_k_sum_add (&sum, &run);
    }
  adj_k_sum_end (&sum);
  free (counts);
  return true;
}

/* --- along one dim -----------------------------------------------------------------------------
 */

/* Position @index of @dim, with that dim of size 1. */
static AdjKView
select_at (const AdjKView *view, int dim, int64_t index)
{
  AdjKView part = *view;

  if (view->rank == 0)
    return part;
  part.data = view_at (view, index * view->stride[dim]);
  part.size[dim] = 1;
  return part;
}

static int64_t
size_of_dim (const AdjKView *view, int dim)
{
  return view->rank > 0 ? view->size[dim] : 1;
}

bool
adj_k_index_select (
    const AdjKView *out, const AdjKView *x, int dim, const AdjKView *idx, int64_t *bad)
{
  int64_t n = adj_k_view_count (idx);

  for (int64_t i = 0; i < n; i++)
    {
      int64_t v = adj_k_index_at (idx, adj_k_view_offset (idx, i));

      if (is_outside (v, size_of_dim (x, dim), bad))
        return false;

      AdjKView to = select_at (out, dim, i), from = select_at (x, dim, v);

      adj_k_copy (&to, &from);
    }
  return true;
}

/* @to += factor · @from, of the same sizes; @to is a part of @sum's view. */
static void
add_view (const Sum *sum, const AdjKView *to, const AdjKView *from, const Scalar *factor)
{
  Walk walk;
  AdjKView outer = *to;
  int last = to->rank - 1;
  int64_t start = (char *) to->data - (char *) sum->view.data;
  SumRun run = { .src = from, .n = 1, .factor = factor };

  start /= (int64_t) adj_k_type_get_size (to->type);
  if (last >= 0)
    {
      outer.rank = last;
      run.n = to->size[last];
      run.stride = to->stride[last];
      run.src_stride = from->stride[last];
    }
  adj_k_walk_begin (&walk, &outer);
  adj_k_walk_add (&walk, to->stride);
  adj_k_walk_add (&walk, from->stride);
  for (; walk.left > 0; adj_k_walk_next (&walk))
    {
      run.at = start + walk.offset[0];
      run.src_at = walk.offset[1];
      adj_k_sum_add (sum, &run);
    }
}

bool
adj_k_index_add (const AdjKView *out,
                 int dim,
                 const AdjKView *idx,
                 const AdjKView *src,
                 double alpha,
                 int64_t *bad)
{
  int64_t n = adj_k_view_count (idx);
  bool ok = true;
  Scalar factor;
  Sum sum;

  adj_k_sum_begin (&sum, out);
  factor = scalar_of (sum.loops, alpha);
  for (int64_t i = 0; ok && i < n; i++)
    {
      int64_t v = adj_k_index_at (idx, adj_k_view_offset (idx, i));

      ok = !is_outside (v, size_of_dim (out, dim), bad);
      if (ok)
        {
          AdjKView to = select_at (&sum.view, dim, v), from = select_at (src, dim, i);

          add_view (&sum, &to, &from, alpha == 1 ? NULL : &factor);
        }
    }
  adj_k_sum_end (&sum);
  return ok;
}

/* --- gather and scatter ------------------------------------------------------------------------
 */

/* Walks idx and a view of the same sizes together with `target`, in which idx gives the position
 * along the indexed dim. */
typedef struct
{
  Walk walk;
  const AdjKView *idx;
  int64_t size, stride; /* of @dim in the target */
} Pointed;

static Pointed
pointed_begin (const AdjKView *idx, const AdjKView *other, const AdjKView *target, int dim)
{
  Pointed p = { .idx = idx, .size = size_of_dim (target, dim) };
  AdjKView base = *target;

  if (target->rank > 0)
    {
      p.stride = target->stride[dim];
      base.stride[dim] = 0;
    }
  adj_k_walk_begin (&p.walk, idx);
  adj_k_walk_add (&p.walk, idx->stride);
  adj_k_walk_add (&p.walk, other->stride);
  adj_k_walk_add (&p.walk, base.stride);
  return p;
}

/* The offset in the target, or -1 when the index is out of range. */
static int64_t
pointed_offset (const Pointed *p, int64_t *bad)
{
  int64_t v = adj_k_index_at (p->idx, p->walk.offset[0]);

  return is_outside (v, p->size, bad) ? -1 : p->walk.offset[2] + v * p->stride;
}

bool
adj_k_gather (const AdjKView *out, const AdjKView *x, int dim, const AdjKView *idx, int64_t *bad)
{
  size_t size = adj_k_type_get_size (out->type);
  Pointed p = pointed_begin (idx, out, x, dim);

  for (; p.walk.left > 0; adj_k_walk_next (&p.walk))
    {
      int64_t at = pointed_offset (&p, bad);

      if (at < 0)
        return false;
      memcpy (view_at (out, p.walk.offset[1]), view_at (x, at), size);
    }
  return true;
}

bool
adj_k_scatter (const AdjKView *out, int dim, const AdjKView *idx, const AdjKView *src, int64_t *bad)
{
  size_t size = adj_k_type_get_size (out->type);
  Pointed p = pointed_begin (idx, src, out, dim);

  for (; p.walk.left > 0; adj_k_walk_next (&p.walk))
    {
      int64_t at = pointed_offset (&p, bad);

      if (at < 0)
        return false;
      memcpy (view_at (out, at), view_at (src, p.walk.offset[1]), size);
    }
  return true;
}

bool
adj_k_scatter_add (
    const AdjKView *out, int dim, const AdjKView *idx, const AdjKView *src, int64_t *bad)
{
  SumRun run = { .src = src, .n = 1 };
  Pointed p;
  Sum sum;

  adj_k_sum_begin (&sum, out);
  p = pointed_begin (idx, src, &sum.view, dim);
  for (; p.walk.left > 0; adj_k_walk_next (&p.walk))
    {
      run.at = pointed_offset (&p, bad);
      run.src_at = p.walk.offset[1];
      if (run.at < 0)
        break;
      adj_k_sum_add (&sum, &run);
    }
  adj_k_sum_end (&sum);
  return p.walk.left == 0;
}
