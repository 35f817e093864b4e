/* SPDX-License-Identifier: MIT */
/* Unique entries of a dimension, or elements; also without consecutive repeats only. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

/* self as @n rows of @width numbers, one per entry. */
typedef struct
{
  gint64 n, width;
  double *rows;  /* (owned) */
  gint64 *order; /* (owned): row indices, equal rows adjacent */
  gint64 *place; /* (owned): by row: index of the equal kept entry */
  gint64 n_kept;
} Entries;

static void
entries_clear (Entries *self)
{
  g_free (self->rows);
  g_free (self->order);
  g_free (self->place);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Entries, entries_clear)

/* The dimension of the entries; -1: elements. */
static gint
find_dim (const AdjOpCall *call)
{
  guint arg = adj_op_call_find (call, "dim");

  if (call->args[arg].kind == ADJ_VALUE_NONE)
    return -1;
  return (gint) op_dim (call, arg, MAX (adj_op_call_meta (call, 0)->shape.rank, 1));
}

/* NaN compares as equal, so that the next number decides, as in PyTorch. */
static int
compare_rows (const double *a, const double *b, gint64 width)
{
  for (gint64 i = 0; i < width; i++)
    if (a[i] < b[i] || a[i] > b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

static gboolean
are_equal (const double *a, const double *b, gint64 width)
{
  for (gint64 i = 0; i < width; i++)
    if (a[i] != b[i])
      return FALSE;
  return TRUE;
}

static int
compare_order (gconstpointer a, gconstpointer b, gpointer data)
{
  const Entries *entries = data;
  gint64 i = *(const gint64 *) a, k = *(const gint64 *) b;
  int order = compare_rows (entries->rows + i * entries->width, entries->rows + k * entries->width,
                            entries->width);

  return order != 0 ? order : (i > k) - (i < k);
}

/* Moves dimension @dim of @view to the front; -1 is 0. */
static void
bring_to_front (AdjKView *view, gint dim)
{
  for (gint d = dim; d > 0; d--)
    {
      gint64 size = view->size[d], stride = view->stride[d];

      view->size[d] = view->size[d - 1];
      view->stride[d] = view->stride[d - 1];
      view->size[d - 1] = size;
      view->stride[d - 1] = stride;
    }
}

static gboolean
read_rows (const AdjOpCall *call, gint dim, Entries *out)
{
  AdjKView view, dense;

  *out = (Entries){ 0 };
  if (!op_input (call, 0, &view) || !op_check_temporary (call, adj_k_view_count (&view)))
    return FALSE;
  op_need_dim (&view);
  bring_to_front (&view, dim);
  out->rows = op_temporary (NULL, &view, ADJ_K_F64, &dense);
  adj_q_copy (op_queue (call), &dense, &view);
  out->n = dim < 0 ? adj_k_view_count (&view) : view.size[0];
  out->width = dim < 0 ? 1 : adj_k_view_count (&view) / MAX (out->n, 1);
  return TRUE;
}

/* Finds the kept entries: the first of each run of equal ones, sorted first if @sorted. */
static gboolean
find_entries (const AdjOpCall *call, gboolean sorted, Entries *out)
{
  if (!read_rows (call, find_dim (call), out))
    return FALSE;
  out->order = g_new (gint64, (gsize) out->n + 1);
  out->place = g_new (gint64, (gsize) out->n + 1);
  for (gint64 i = 0; i < out->n; i++)
    out->order[i] = i;
  if (sorted)
    qsort_r (out->order, (gsize) out->n, sizeof *out->order, compare_order, out);
  for (gint64 i = 0; i < out->n; i++)
    {
      const double *row = out->rows + out->order[i] * out->width;

      if (i == 0 || !are_equal (row, out->rows + out->order[i - 1] * out->width, out->width))
        out->n_kept++;
      out->place[out->order[i]] = out->n_kept - 1;
    }
  return TRUE;
}

static gboolean
is_sorted (const AdjOpCall *call)
{
  return g_str_equal (call->schema->name, "unique_dim");
}

/* How many entries are kept, at most @most. */
static gboolean
count_kept (const AdjOpCall *call, AdjSize most, AdjSize *out)
{
  g_auto (Entries) entries = { 0 };

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (op_is_fake (call, 0))
    return op_unbacked_size (call, 0, adj_size_is_int (most) ? most.word : G_MAXINT64, out);
  if (!find_entries (call, is_sorted (call), &entries))
    return FALSE;
  *out = ADJ_SIZE (entries.n_kept);
  return TRUE;
}

static gboolean
elements_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSize none = ADJ_SIZE (0), kept;

  if (!count_kept (call, adj_shape_numel (&self->shape, op_symbols (call)), &kept))
    return FALSE;
  op_add_contiguous (call, self->dtype, 1, &kept);
  if (adj_op_call_bool (call, 1))
    op_add_contiguous (call, ADJ_DTYPE_I64, self->shape.rank, self->shape.size);
  else
    op_add_contiguous (call, ADJ_DTYPE_I64, 1, &none);
  op_add_contiguous (call, ADJ_DTYPE_I64, 1, adj_op_call_bool (call, 2) ? &kept : &none);
  return TRUE;
}

/* Kept entries are contiguous in memory, whatever their dimension. */
static gboolean
dim_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  gint dim = find_dim (call);
  AdjSize sizes[ADJ_MAX_RANK], kept, of = ADJ_SIZE (1);
  guint rank = self->shape.rank;
  AdjShape shape, front;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (rank == 0)
    return adj_op_call_fail (call, "needs a dimension");
  of = self->shape.size[dim];
  if (!count_kept (call, of, &kept))
    return FALSE;
  sizes[0] = kept;
  for (guint i = 0, at = 1; i < rank; i++)
    if ((gint) i != dim)
      sizes[at++] = self->shape.size[i];
  adj_shape_init (&front, op_symbols (call), rank, sizes);
  shape = front;
  for (guint i = 0; i < rank; i++)
    {
      guint from = (gint) i == dim ? 0 : (gint) i < dim ? i + 1 : i;

      shape.size[i] = front.size[from];
      shape.stride[i] = front.stride[from];
    }
  adj_op_call_add (call, self->dtype, &shape);
  op_add_contiguous (call, ADJ_DTYPE_I64, 1, &of);
  op_add_contiguous (call, ADJ_DTYPE_I64, 1, &kept);
  return TRUE;
}

static gboolean
consecutive_meta (AdjOpCall *call)
{
  return call->args[3].kind == ADJ_VALUE_NONE ? elements_meta (call) : dim_meta (call);
}

/* Results that are not requested are empty. */
static gboolean
write_entries (AdjOpCall *call, const Entries *entries)
{
  g_autofree double *kept = NULL;
  AdjKView out, inverse, counts, dense;

  if (!op_output (call, 0, &out) || !op_output (call, 1, &inverse) || !op_output (call, 2, &counts))
    return FALSE;
  bring_to_front (&out, find_dim (call));
  kept = op_temporary (NULL, &out, ADJ_K_F64, &dense);
  op_clear (call, 2);
  for (gint64 i = 0; i < entries->n; i++)
    {
      gint64 row = entries->order[i], place = entries->place[row];

      memcpy (kept + place * entries->width, entries->rows + row * entries->width,
              (gsize) entries->width * sizeof *kept);
      if (adj_k_view_count (&counts) > 0)
        ((gint64 *) counts.data)[place]++;
    }
  if (adj_k_view_count (&inverse) > 0)
    memcpy (inverse.data, entries->place, (gsize) entries->n * sizeof *entries->place);
  adj_q_copy (op_queue (call), &out, &dense);
  return TRUE;
}

static gboolean
unique_kernel (AdjOpCall *call)
{
  g_auto (Entries) entries = { 0 };

  return find_entries (call, is_sorted (call), &entries) && write_entries (call, &entries);
}

/* -- elements in ascending order -- */

/* Removes repeats from ascending numbers. */
static gint64
squeeze (double *sorted, gint64 n)
{
  gint64 kept = 0;

  qsort (sorted, (gsize) n, sizeof *sorted, op_compare_numbers);
  for (gint64 i = 0; i < n; i++)
    if (kept == 0 || isnan (sorted[i]) || sorted[i] != sorted[kept - 1])
      sorted[kept++] = sorted[i];
  return kept;
}

static gboolean
sorted_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  gboolean inverse = adj_op_call_bool (call, 2), counts = call->schema->n_arguments > 3;
  AdjSize none = ADJ_SIZE (0), size;
  AdjKView view;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (op_is_fake (call, 0))
    {
      if (!op_unbacked_size (call, 0, G_MAXINT64, &size))
        return FALSE;
    }
  else
    {
      g_autofree double *x = op_read_numbers (call, 0);

      if (x == NULL || !op_input (call, 0, &view))
        return FALSE;
      size = ADJ_SIZE (squeeze (x, adj_k_view_count (&view)));
    }
  op_add_contiguous (call, self->dtype, 1, &size);
  if (inverse)
    op_add_contiguous (call, ADJ_DTYPE_I64, self->shape.rank, self->shape.size);
  else
    op_add_contiguous (call, ADJ_DTYPE_I64, 1, &none);
  if (counts)
    op_add_contiguous (call, ADJ_DTYPE_I64, 1, adj_op_call_bool (call, 3) ? &size : &none);
  return TRUE;
}

static gboolean
sorted_kernel (AdjOpCall *call)
{
  gint64 n, n_sorted;
  g_autofree double *x = op_read_numbers (call, 0);
  g_autofree double *sorted = NULL;
  AdjKView self, out, from, inverse, counts = { .rank = 0 };

  if (x == NULL || !op_input (call, 0, &self) || !op_output (call, 0, &out) ||
      !op_output (call, 1, &inverse) || (call->n_results > 2 && !op_output (call, 2, &counts)))
    return FALSE;
  n = adj_k_view_count (&self);
  sorted = g_memdup2 (x, (gsize) n * sizeof *x);
  n_sorted = squeeze (sorted, n);
  if (counts.rank > 0 && counts.size[0] > 0)
    memset (counts.data, 0, (gsize) n_sorted * sizeof (gint64));
  for (gint64 i = 0; i < n && n_sorted > 0; i++)
    {
      const double *found =
          bsearch (&x[i], sorted, (gsize) n_sorted, sizeof *x, op_compare_numbers);

      if (adj_k_view_count (&inverse) == n)
        ((gint64 *) inverse.data)[i] = found - sorted;
      if (counts.rank > 0 && counts.size[0] > 0)
        ((gint64 *) counts.data)[found - sorted]++;
    }
  from = out;
  from.type = ADJ_K_F64;
  from.data = sorted;
  if (n_sorted > 0)
    adj_q_copy (op_queue (call), &out, &from);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/unique.inc"
};

const OpFamily adj_family_unique = { ops, G_N_ELEMENTS (ops) };
