/* SPDX-License-Identifier: MIT */
/* median, nanmedian, kthvalue, mode: for each row the element of a rank, or the most frequent
 * one. */

#include <math.h>
#include <stdlib.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

static guint
dim_of (const AdjOpCall *call)
{
  return op_dim (call, adj_op_call_find (call, "dim"), adj_op_call_meta (call, 0)->shape.rank);
}

static gboolean
whole_meta (AdjOpCall *call)
{
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, 0, NULL);
  return !adj_context_has_error (call->cx);
}

static gboolean
along_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  gboolean keep = adj_op_call_bool (call, adj_op_call_find (call, "keepdim"));
  guint dim = dim_of (call), rank = 0;
  AdjSize sizes[ADJ_MAX_RANK];

  if (self->shape.rank > 0 && adj_size_is (op_symbols (call), self->shape.size[dim], 0))
    return adj_op_call_fail (call, "dimension %u has no elements", dim);
  for (guint i = 0; i < self->shape.rank; i++)
    if (i != dim)
      sizes[rank++] = self->shape.size[i];
    else if (keep)
      sizes[rank++] = ADJ_SIZE (1);
  op_add_contiguous (call, self->dtype, rank, sizes);
  op_add_contiguous (call, ADJ_DTYPE_I64, rank, sizes);
  return !adj_context_has_error (call->cx);
}

static gboolean
kthvalue_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  AdjSize k = adj_op_call_size (call, 1, ADJ_SIZE (1));
  guint dim = dim_of (call);
  AdjSize n = self->rank > 0 ? self->size[dim] : ADJ_SIZE (1);

  if (adj_size_test (symbols, ADJ_SIZE_LT, k, ADJ_SIZE (1)) ||
      adj_size_test (symbols, ADJ_SIZE_GT, k, n))
    return adj_op_call_fail (call, "dimension %u has not so many elements", dim);
  return along_meta (call);
}

/* -- rows -- */

/* Dense rows of elements, converted to the type of one class. */
typedef struct
{
  gboolean is_float;
  const double *floats;
  const gint64 *ints;
  gint64 n; /* elements in a row */
} Rows;

static gboolean
is_missing (const Rows *rows, gint64 at)
{
  return rows->is_float && isnan (rows->floats[at]);
}

/* NaN is larger than any number; of equal elements the first is smaller. */
static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const Rows *rows = data;
  gint64 i = *(const gint64 *) a, j = *(const gint64 *) b;

  if (rows->is_float)
    {
      double x = rows->floats[i], y = rows->floats[j];

      if (isnan (x) != isnan (y))
        return isnan (x) ? 1 : -1;
      if (x < y || x > y)
        return x < y ? -1 : 1;
    }
  else if (rows->ints[i] != rows->ints[j])
    return rows->ints[i] < rows->ints[j] ? -1 : 1;
  return i < j ? -1 : i > j;
}

static gboolean
is_equal (const Rows *rows, gint64 i, gint64 j)
{
  return rows->is_float
             ? !(rows->floats[i] < rows->floats[j] || rows->floats[i] > rows->floats[j]) &&
                   !is_missing (rows, i) && !is_missing (rows, j)
             : rows->ints[i] == rows->ints[j];
}

/* Selects an element of a row, given the positions of its elements in ascending order. */
typedef gint64 (*Pick) (const AdjOpCall *call, const Rows *rows, const gint64 *sorted);

static gint64
pick_median (const AdjOpCall *call, const Rows *rows, const gint64 *sorted)
{
  gint64 first = rows->n;

  for (gint64 i = rows->n; i-- > 0 && is_missing (rows, sorted[i]);)
    first = i;
  return sorted[first < rows->n ? first : (rows->n - 1) / 2];
}

static gint64
pick_nanmedian (const AdjOpCall *call, const Rows *rows, const gint64 *sorted)
{
  gint64 n = rows->n;

  while (n > 0 && is_missing (rows, sorted[n - 1]))
    n--;
  return sorted[MAX (n - 1, 0) / 2];
}

static gboolean
is_greater (const Rows *rows, gint64 i, gint64 j)
{
  if (!rows->is_float)
    return rows->ints[i] > rows->ints[j];
  return rows->floats[i] > rows->floats[j] || (is_missing (rows, i) && !is_missing (rows, j));
}

static void
swap (gint64 *order, gint64 i, gint64 j)
{
  gint64 kept = order[i];

  order[i] = order[j];
  order[j] = kept;
}

/* Moves the pivot, the median of three positions, to @low. */
static void
choose_pivot (const Rows *rows, gint64 *order, gint64 low, gint64 high)
{
  swap (order, (low + high) / 2, low + 1);
  if (is_greater (rows, order[low + 1], order[high]))
    swap (order, low + 1, high);
  if (is_greater (rows, order[low], order[high]))
    swap (order, low, high);
  if (is_greater (rows, order[low + 1], order[low]))
    swap (order, low + 1, low);
}

/* Finds the k-th by quickselect with PyTorch's steps, which determine the index among equal
 * elements. */
static gint64
pick_kth (const AdjOpCall *call, const Rows *rows, const gint64 *sorted)
{
  gint64 k = adj_op_call_int (call, 1, 1) - 1, low = 0, high = rows->n - 1;
  g_autofree gint64 *order = g_new (gint64, rows->n);

  for (gint64 i = 0; i < rows->n; i++)
    order[i] = i;
  while (high > low + 1)
    {
      gint64 i = low + 1, j = high;

      choose_pivot (rows, order, low, high);
      for (;;)
        {
          while (is_greater (rows, order[low], order[++i]))
            ;
          while (is_greater (rows, order[--j], order[low]))
            ;
          if (j < i)
            break;
          swap (order, i, j);
        }
      swap (order, low, j);
      if (j >= k)
        high = j - 1;
      if (j <= k)
        low = i;
    }
  if (high == low + 1 && is_greater (rows, order[low], order[high]))
    swap (order, low, high);
  return order[k];
}

static gint64
pick_mode (const AdjOpCall *call, const Rows *rows, const gint64 *sorted)
{
  gint64 most = 0, best = 0, start = 0;

  for (gint64 i = 1; i <= rows->n; i++)
    if (i == rows->n || !is_equal (rows, sorted[i - 1], sorted[i]))
      {
        if (i - start > most)
          {
            most = i - start;
            best = i - 1;
          }
        start = i;
      }
  return sorted[best];
}

/* Returns @view with @dim moved to the end. */
static AdjKView
with_last (const AdjKView *view, guint dim)
{
  AdjKView moved = *view;

  for (gint i = (gint) dim; i + 1 < view->rank; i++)
    {
      moved.size[i] = view->size[i + 1];
      moved.stride[i] = view->stride[i + 1];
    }
  moved.size[view->rank - 1] = view->size[dim];
  moved.stride[view->rank - 1] = view->stride[dim];
  return moved;
}

/* Returns all elements as one row. */
static AdjKView
flat (const AdjKView *dense)
{
  AdjKView view = *dense;

  view.rank = 1;
  view.size[0] = adj_k_view_count (dense);
  view.stride[0] = 1;
  return view;
}

/* Reads the input of @call as rows of one class; the caller frees the memory. */
static gpointer
read_rows (const AdjOpCall *call, AdjKView *dense)
{
  gboolean whole = call->n_results == 1;
  AdjKView in;
  AdjKType type;
  gpointer memory;

  if (!op_input (call, 0, &in) || !op_check_temporary (call, adj_k_view_count (&in)))
    return NULL;
  op_need_dim (&in);
  if (!whole)
    in = with_last (&in, dim_of (call));
  type = adj_k_type_is_float (in.type) ? ADJ_K_F64 : ADJ_K_I64;
  memory = op_temporary (op_queue (call), &in, type, dense);
  adj_q_copy (op_queue (call), dense, &in);
  if (whole)
    *dense = flat (dense);
  return memory;
}

static void
copy_element (
    const AdjOpCall *call, const AdjKView *out, gint64 to, const AdjKView *dense, gint64 from)
{
  AdjKView a = { .type = out->type }, b = { .type = dense->type };

  a.data = (char *) out->data + (gsize) to * adj_k_type_get_size (out->type);
  b.data = (char *) dense->data + (gsize) from * adj_k_type_get_size (dense->type);
  adj_q_copy (op_queue (call), &a, &b);
}

static gboolean
pick_rows (AdjOpCall *call, Pick pick)
{
  AdjKView dense, values, indices;
  g_autofree gpointer memory = read_rows (call, &dense);
  g_autofree gint64 *sorted = NULL;
  gint64 n, n_rows;

  if (memory == NULL || !op_output (call, 0, &values) ||
      (call->n_results > 1 && !op_output (call, 1, &indices)))
    return FALSE;
  n = dense.size[dense.rank - 1];
  n_rows = adj_k_view_count (&dense) / MAX (n, 1);
  sorted = g_new (gint64, MAX (n, 1));
  if (n == 0 && call->n_results == 1)
    adj_q_fill_f64 (op_queue (call), &values, NAN);
  for (gint64 row = 0; row < n_rows; row++)
    {
      Rows rows = { .is_float = dense.type == ADJ_K_F64, .n = n };
      gint64 at;

      rows.floats = (const double *) dense.data + row * n;
      rows.ints = (const gint64 *) dense.data + row * n;
      for (gint64 i = 0; i < n; i++)
        sorted[i] = i;
      qsort_r (sorted, (gsize) n, sizeof *sorted, compare, &rows);
      at = pick (call, &rows, sorted);
      copy_element (call, &values, row, &dense, row * n + at);
      if (call->n_results > 1)
        ((gint64 *) indices.data)[row] = at;
    }
  return TRUE;
}

static gboolean
median_kernel (AdjOpCall *call)
{
  return pick_rows (call, pick_median);
}

static gboolean
nanmedian_kernel (AdjOpCall *call)
{
  return pick_rows (call, pick_nanmedian);
}

static gboolean
kthvalue_kernel (AdjOpCall *call)
{
  return pick_rows (call, pick_kth);
}

static gboolean
mode_kernel (AdjOpCall *call)
{
  return pick_rows (call, pick_mode);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/median.inc"
};

const OpFamily adj_family_median = { ops, G_N_ELEMENTS (ops) };
