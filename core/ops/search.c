/* SPDX-License-Identifier: MIT */
/* bucketize and searchsorted: positions in sorted rows: one for all values, or one for each row of
 * values. */

#include <string.h>

#include "ops/kernel-private.h"
#include "ops/table-private.h"

static gboolean
check_rows (const AdjOpCall *call, guint sorted, guint values)
{
  const AdjShape *rows = &adj_op_call_meta (call, sorted)->shape;
  const AdjShape *shape = &adj_op_call_meta (call, values)->shape;
  gboolean fits = rows->rank == 1 || (rows->rank > 1 && rows->rank == shape->rank);

  if (adj_context_has_error (call->cx))
    return FALSE;
  for (guint i = 0; fits && rows->rank > 1 && i + 1 < rows->rank; i++)
    fits = adj_size_test (op_symbols (call), ADJ_SIZE_EQ, rows->size[i], shape->size[i]);
  if (!fits)
    {
      g_autofree char *a = op_sizes_text (call, rows);
      g_autofree char *b = op_sizes_text (call, shape);

      return adj_op_call_fail (call, "%s are no sorted rows for %s", a, b);
    }
  return TRUE;
}

static gboolean
add_indices (AdjOpCall *call, guint values)
{
  const AdjShape *shape = &adj_op_call_meta (call, values)->shape;

  op_add_contiguous (call, adj_op_call_bool (call, 2) ? ADJ_DTYPE_I32 : ADJ_DTYPE_I64, shape->rank,
                     shape->size);
  return TRUE;
}

static gboolean
bucketize_meta (AdjOpCall *call)
{
  if (!check_rows (call, 1, 0))
    return FALSE;
  if (adj_op_call_meta (call, 1)->shape.rank != 1)
    return adj_op_call_fail (call, "the boundaries are no vector");
  return add_indices (call, 0);
}

/* Checks that the sorter has the sizes of the rows. */
static gboolean
check_sorter (AdjOpCall *call)
{
  const AdjTensorMeta *rows = adj_op_call_meta (call, 0), *sorter;

  if (call->args[5].kind != ADJ_VALUE_TENSOR)
    return TRUE;
  sorter = adj_op_call_meta (call, 5);
  if (sorter->dtype != ADJ_DTYPE_I64)
    return adj_op_call_fail (call, "the sorter must be int64, not %s",
                             adj_dtype_info (sorter->dtype)->torch_name);
  if (!adj_shape_same_sizes (&rows->shape, &sorter->shape, op_symbols (call)))
    return adj_op_call_fail (call, "the sorter has other sizes than the rows");
  return TRUE;
}

static gboolean
searchsorted_meta (AdjOpCall *call)
{
  if (!check_rows (call, 0, 1))
    return FALSE;
  if (!check_sorter (call))
    return FALSE;
  return add_indices (call, 1);
}

/* Permutes each row of @numbers by the sorter. */
static gboolean
sort_rows (AdjOpCall *call, double *numbers, gint64 n, gint64 width)
{
  g_autofree gint64 *order = NULL;
  g_autofree double *row = g_new (double, MAX (width, 1));
  AdjKView sorter, dense;

  if (!op_input (call, 5, &sorter))
    return FALSE;
  order = op_temporary (op_queue (call), &sorter, ADJ_K_I64, &dense);
  adj_q_copy (op_queue (call), &dense, &sorter);
  for (gint64 at = 0; at < n; at += width)
    {
      memcpy (row, numbers + at, (gsize) width * sizeof *row);
      for (gint64 i = 0; i < width; i++)
        {
          if (order[at + i] < 0 || order[at + i] >= width)
            return adj_op_call_fail (
                call, "the sorter names place %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                order[at + i], width);
          numbers[at + i] = row[order[at + i]];
        }
    }
  return TRUE;
}

/* The number of @n sorted numbers below @x, or with @right not above it; NaN is largest. */
static gint64
search (const double *sorted, gint64 n, double x, gboolean right)
{
  gint64 low = 0, high = n;

  while (low < high)
    {
      gint64 middle = low + (high - low) / 2;
      gboolean beyond = right ? sorted[middle] > x : sorted[middle] >= x;

      if (beyond)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

static gboolean
search_rows (AdjOpCall *call, guint sorted, guint values, gboolean has_sorter, gboolean right)
{
  AdjKView rows, x, out, dense_rows, dense_x, places;
  g_autofree double *numbers = NULL;
  g_autofree double *wanted = NULL;
  g_autofree gint64 *found = NULL;
  gint64 width, per_row;

  if (!op_output (call, 0, &out) || !op_input (call, sorted, &rows) || !op_input (call, values, &x))
    return FALSE;
  if (!op_check_temporary (call, adj_k_view_count (&rows)) ||
      !op_check_temporary (call, adj_k_view_count (&x)))
    return FALSE;
  numbers = op_temporary (op_queue (call), &rows, ADJ_K_F64, &dense_rows);
  wanted = op_temporary (op_queue (call), &x, ADJ_K_F64, &dense_x);
  found = op_temporary (op_queue (call), &out, ADJ_K_I64, &places);
  adj_q_copy (op_queue (call), &dense_rows, &rows);
  adj_q_copy (op_queue (call), &dense_x, &x);
  width = rows.size[rows.rank - 1];
  if (has_sorter && !sort_rows (call, numbers, adj_k_view_count (&rows), width))
    return FALSE;
  per_row = rows.rank > 1 ? x.size[x.rank - 1] : MAX (adj_k_view_count (&x), 1);
  for (gint64 i = 0; i < adj_k_view_count (&x); i++)
    found[i] = search (numbers + i / per_row * width, width, wanted[i], right);
  adj_q_copy (op_queue (call), &out, &places);
  return TRUE;
}

static gboolean
bucketize_kernel (AdjOpCall *call)
{
  return search_rows (call, 1, 0, FALSE, adj_op_call_bool (call, 3));
}

static gboolean
searchsorted_kernel (AdjOpCall *call)
{
  const AdjValue *side = &call->args[4];
  gboolean right = adj_op_call_bool (call, 3) ||
                   (side->kind == ADJ_VALUE_STRING && g_str_equal (side->text, "right"));

  return search_rows (call, 0, 1, call->args[5].kind == ADJ_VALUE_TENSOR, right);
}

static gboolean
searchsorted_number_meta (AdjOpCall *call)
{
  if (adj_op_call_meta (call, 0)->shape.rank != 1)
    return adj_op_call_fail (call, "a number is looked for in one row");
  if (!check_sorter (call))
    return FALSE;
  op_add_contiguous (call, adj_op_call_bool (call, 2) ? ADJ_DTYPE_I32 : ADJ_DTYPE_I64, 0, NULL);
  return !adj_context_has_error (call->cx);
}

static gboolean
searchsorted_number_kernel (AdjOpCall *call)
{
  const AdjValue *side = &call->args[4];
  gboolean right = adj_op_call_bool (call, 3) ||
                   (side->kind == ADJ_VALUE_STRING && g_str_equal (side->text, "right"));
  double x = adj_op_call_double (call, 1, 0), element = 0;
  AdjKView one = { .data = &element }, number = { .data = &x, .type = ADJ_K_F64 };
  g_autofree double *numbers = NULL;
  AdjKView row, dense, out;

  if (!op_input (call, 0, &row) || !op_output (call, 0, &out) ||
      !op_check_temporary (call, adj_k_view_count (&row)))
    return FALSE;
  numbers = op_temporary (op_queue (call), &row, ADJ_K_F64, &dense);
  adj_q_copy (op_queue (call), &dense, &row);
  if (call->args[5].kind == ADJ_VALUE_TENSOR &&
      !sort_rows (call, numbers, row.size[0], row.size[0]))
    return FALSE;
  one.type = row.type == ADJ_K_BOOL ? ADJ_K_F64 : row.type; /* @number in the type of the rows */
  adj_q_copy (op_queue (call), &one, &number);
  adj_q_copy (op_queue (call), &number, &one);
  adj_q_fill_i64 (op_queue (call), &out, search (numbers, row.size[0], x, right));
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/search.inc"
};

const OpFamily adj_family_search = { ops, G_N_ELEMENTS (ops) };
