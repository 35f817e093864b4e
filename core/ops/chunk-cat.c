/* SPDX-License-Identifier: MIT */
/* _chunk_cat: concatenates the chunks of many tensors, for sharded training. */

#include <string.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* One tensor: rows along the dimension, in chunks of a fixed number of rows, and elements per row.
 */
typedef struct
{
  AdjSize rows, per_chunk, width;
} Cut;

static const AdjTensorMeta *
item_of (const AdjOpCall *call, guint i)
{
  return adj_tensor_get_meta (call->args[0].items[i].tensor);
}

static Cut
cut_of (const AdjOpCall *call, const AdjShape *shape, guint dim, gint64 n_chunks)
{
  AdjSymbols *symbols = op_symbols (call);
  Cut cut = { .rows = shape->size[dim], .width = ADJ_SIZE (1) };

  cut.per_chunk = adj_size_floordiv (
      symbols, adj_size_add (symbols, cut.rows, ADJ_SIZE (n_chunks - 1)), ADJ_SIZE (n_chunks));
  for (guint i = dim + 1; i < shape->rank; i++)
    cut.width = adj_size_mul (symbols, cut.width, shape->size[i]);
  return cut;
}

static gboolean
check_item (AdjOpCall *call, const AdjTensorMeta *first, const AdjTensorMeta *item, guint dim)
{
  if (item->dtype != first->dtype)
    return adj_op_call_fail (call, "takes tensors of one dtype");
  if (item->shape.rank <= dim)
    return adj_op_call_fail (call, "a tensor has no dimension %u", dim);
  for (guint i = 0; i < dim; i++)
    if (!adj_size_test (op_symbols (call), ADJ_SIZE_EQ, item->shape.size[i], first->shape.size[i]))
      return adj_op_call_fail (call, "the tensors differ before dimension %u", dim);
  return TRUE;
}

static gboolean
chunk_cat_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  gint64 n_chunks = adj_op_call_int (call, 2, 1);
  AdjSize sizes[ADJ_MAX_RANK], total = ADJ_SIZE (0);
  guint dim;

  if (call->args[0].n == 0 || n_chunks < 1)
    return adj_op_call_fail (call, "needs tensors, and at least one chunk");
  if (item_of (call, 0)->shape.rank == 0 || item_of (call, 0)->shape.rank + 1 > ADJ_MAX_RANK)
    return adj_op_call_fail (call, "cannot cut a tensor of rank %u", item_of (call, 0)->shape.rank);
  dim = op_dim (call, 1, item_of (call, 0)->shape.rank);
  for (guint i = 0; i < call->args[0].n; i++)
    {
      Cut cut;

      if (!check_item (call, item_of (call, 0), item_of (call, i), dim))
        return FALSE;
      cut = cut_of (call, &item_of (call, i)->shape, dim, n_chunks);
      total = adj_size_add (symbols, total, adj_size_mul (symbols, cut.per_chunk, cut.width));
    }
  for (guint i = 0; i < dim; i++)
    sizes[i] = item_of (call, 0)->shape.size[i];
  sizes[dim] = ADJ_SIZE (n_chunks);
  sizes[dim + 1] = total;
  op_add_contiguous (call, item_of (call, 0)->dtype, dim + 2, sizes);
  return !adj_context_has_error (call->cx);
}

/* @n elements of @x, which is contiguous, from @start on. */
static AdjKView
run_of (const AdjKView *x, gint64 start, gint64 n)
{
  gint64 step = x->rank > 0 ? x->stride[x->rank - 1] : 1;
  AdjKView run = { .type = x->type, .rank = 1, .size = { n }, .stride = { step } };

  run.data = (char *) x->data + (gssize) (start * step) * (gssize) adj_k_type_get_size (x->type);
  return run;
}

/* Copies one tensor to offset @at of each row of the contiguous @out; returns the number of
 * elements that it takes per row. */
static gint64
put_item (AdjOpCall *call, guint i, const AdjKView *out, gint64 at, gint64 width)
{
  guint dim = out->rank - 2;
  gint64 n_chunks = out->size[dim], n_before = 1, taken;
  Cut cut = cut_of (call, &item_of (call, i)->shape, dim, n_chunks);
  g_autofree gpointer memory = NULL;
  AdjKView in, dense;

  if (!op_view (call, call->args[0].items[i].tensor, item_of (call, i), &in))
    return -1;
  memory = op_temporary (op_queue (call), &in, out->type, &dense);
  adj_q_copy (op_queue (call), &dense, &in);
  dense.rank = 0;
  for (guint k = 0; k < dim; k++)
    n_before *= out->size[k];
  taken = cut.per_chunk.word * cut.width.word;
  for (gint64 row = 0; row < n_before * n_chunks; row++)
    {
      gint64 first = row % n_chunks * cut.per_chunk.word;
      gint64 n_rows = CLAMP (cut.rows.word - first, 0, cut.per_chunk.word);
      gint64 from = (row / n_chunks * cut.rows.word + first) * cut.width.word;
      AdjKView a = run_of (out, row * width + at, n_rows * cut.width.word);
      AdjKView b = run_of (&dense, from, n_rows * cut.width.word);

      adj_q_copy (op_queue (call), &a, &b);
    }
  return taken;
}

static gboolean
chunk_cat_kernel (AdjOpCall *call)
{
  AdjKView out;
  gint64 at = 0;

  if (!op_output (call, 0, &out))
    return FALSE;
  op_clear (call, 0);
  for (guint i = 0; i < call->args[0].n; i++)
    {
      gint64 taken = put_item (call, i, &out, at, out.size[out.rank - 1]);

      if (taken < 0)
        return FALSE;
      at += taken;
    }
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/chunk-cat.inc"
};

const OpFamily adj_family_chunk_cat = { ops, G_N_ELEMENTS (ops) };
