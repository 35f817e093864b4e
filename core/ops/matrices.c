/* SPDX-License-Identifier: MIT */
/* Batches of matrices: shapes of results, copies for LAPACK and back. */

#include <string.h>

#include "ops/adj-ops.h"
#include "ops/matrices-private.h"

/* -- shapes -- */

const AdjTensorMeta *
op_matrix_meta (const AdjOpCall *call, guint arg, guint rank)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, arg);
  AdjDType real = adj_dtype_get_real (meta->dtype);

  if (adj_context_has_error (call->cx))
    return NULL;
  if (meta->shape.rank < rank)
    adj_op_call_fail (call, "argument '%s' must have at least %u dimensions, not %u",
                      call->schema->arguments[arg].name, rank, meta->shape.rank);
  else if (real != ADJ_DTYPE_F32 && real != ADJ_DTYPE_F64)
    adj_op_call_fail (call, "expected a floating point or complex tensor as '%s', but got %s",
                      call->schema->arguments[arg].name, adj_dtype_info (meta->dtype)->torch_name);
  else
    return meta;
  return NULL;
}

const AdjTensorMeta *
op_square_meta (const AdjOpCall *call, guint arg)
{
  const AdjTensorMeta *meta = op_matrix_meta (call, arg, 2);
  guint rank = meta != NULL ? meta->shape.rank : 0;

  if (meta == NULL || adj_size_test (op_symbols (call), ADJ_SIZE_EQ, meta->shape.size[rank - 1],
                                     meta->shape.size[rank - 2]))
    return meta;
  adj_op_call_fail (call, "argument '%s' must be batches of square matrices",
                    call->schema->arguments[arg].name);
  return NULL;
}

AdjOpResult *
op_add_matrices (AdjOpCall *call,
                 AdjDType dtype,
                 const AdjShape *batch,
                 guint n_batch,
                 AdjSize rows,
                 AdjSize columns,
                 gboolean by_columns)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize sizes[ADJ_MAX_RANK];
  AdjShape shape;

  n_batch = MIN (n_batch, ADJ_MAX_RANK - 2);
  memcpy (sizes, batch->size, n_batch * sizeof *sizes);
  sizes[n_batch] = rows;
  sizes[n_batch + 1] = columns;
  adj_shape_init (&shape, symbols, n_batch + 2, sizes);
  if (by_columns)
    {
      shape.stride[n_batch] = ADJ_SIZE (1);
      shape.stride[n_batch + 1] = adj_size_apply (symbols, ADJ_SIZE_MAX, rows, ADJ_SIZE (1));
    }
  return adj_op_call_add (call, dtype, &shape);
}

AdjOpResult *
op_add_vectors (AdjOpCall *call, AdjDType dtype, const AdjShape *batch, guint n_batch, AdjSize size)
{
  AdjSize sizes[ADJ_MAX_RANK];

  memcpy (sizes, batch->size, n_batch * sizeof *sizes);
  sizes[n_batch] = size;
  return op_add_contiguous (call, dtype, n_batch + 1, sizes);
}

AdjOpResult *
op_add_numbers (AdjOpCall *call, AdjDType dtype, const AdjShape *batch, guint n_batch)
{
  return op_add_contiguous (call, dtype, n_batch, batch->size);
}

void
op_add_square (AdjOpCall *call, const AdjTensorMeta *a)
{
  guint batch = a->shape.rank - 2;
  AdjSize n = a->shape.size[batch];

  op_add_matrices (call, a->dtype, &a->shape, batch, n, n, TRUE);
}

void
op_add_pivots (AdjOpCall *call, const AdjTensorMeta *a)
{
  guint batch = a->shape.rank - 2;

  op_add_vectors (call, ADJ_DTYPE_I32, &a->shape, batch, a->shape.size[batch]);
}

void
op_add_info (AdjOpCall *call, const AdjTensorMeta *a)
{
  op_add_numbers (call, ADJ_DTYPE_I32, &a->shape, a->shape.rank - 2);
}

AdjOpResult *
op_add_nothing (AdjOpCall *call, AdjDType dtype)
{
  const AdjSize none = ADJ_SIZE (0);

  return op_add_contiguous (call, dtype, 1, &none);
}

gboolean
op_broadcast_batches (const AdjOpCall *call,
                      const AdjShape *a,
                      guint n_a,
                      const AdjShape *b,
                      guint n_b,
                      AdjShape *out)
{
  AdjShape left, right;
  const AdjShape *both[] = { &left, &right };
  GError *error = NULL;

  adj_shape_init (&left, op_symbols (call), n_a, a->size);
  adj_shape_init (&right, op_symbols (call), n_b, b->size);
  return adj_shape_pointwise (out, op_symbols (call), both, 2, &error) ||
         adj_op_call_fail_with (call, error);
}

/* -- copies -- */

gboolean
op_open_lapack (const AdjOpCall *call)
{
  const char *why;

  return adj_lapack_open (&why) ||
         adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "needs LAPACK: %s", why);
}

const char *
adj_ops_describe_lapack (gboolean *available)
{
  const char *why;

  *available = adj_lapack_open (&why);
  if (!*available)
    return why;
  return adj_lapack_is_serial () ? "linear algebra, in one thread"
                                 : "linear algebra; its BLAS chooses its threads itself, and with "
                                   "them the last bits";
}

gboolean
op_lapack_failed (const AdjOpCall *call, gint64 i, gint info)
{
  if (info < 0)
    return op_no_memory (call);
  return adj_op_call_fail (call, "(Batch element %" G_GINT64_FORMAT "): LAPACK ended with %d", i,
                           info);
}

gboolean
op_argument_is_paired (const AdjOpCall *call, guint arg)
{
  return op_is_complex (adj_op_call_meta (call, arg)->dtype);
}

gint64
op_count_batch (const AdjShape *shape, guint n_dims)
{
  gint64 n = 1;

  for (guint i = 0; i + n_dims < shape->rank; i++)
    n *= shape->size[i].word;
  return n;
}

gboolean
op_matrices_new (
    const AdjOpCall *call, gboolean z, gint64 n, gint64 rows, gint64 columns, OpMatrices *out)
{
  gint64 numel;

  *out = (OpMatrices){ .z = z, .n = n, .rows = (gint) rows, .columns = (gint) columns };
  if (rows > G_MAXINT / 4 || columns > G_MAXINT / 4 ||
      __builtin_mul_overflow (n, rows * columns, &numel))
    return adj_op_call_fail_as (call, ADJ_ERROR_LIMIT, "has matrices too large for LAPACK");
  if (!op_check_temporary (call, 2 * numel))
    return FALSE;
  out->data = g_malloc0_n ((gsize) MAX (numel, 1), (z ? 2 : 1) * sizeof (double));
  return TRUE;
}

void
op_matrices_clear (OpMatrices *matrices)
{
  g_clear_pointer (&matrices->data, g_free);
}

/* All of @m as a view with the sizes of @like, of which the last @n_dims are rows and columns. */
static AdjKView
view_matrices (const OpMatrices *m, const AdjKView *like, guint n_dims, guint part)
{
  gint64 width = m->z ? 2 : 1, step = (gint64) op_matrices_step (m);
  AdjKView out = *like;

  out.type = ADJ_K_F64;
  out.data = m->data + part;
  if (n_dims > 1)
    out.stride[out.rank - 1] = width * m->rows;
  if (n_dims > 0)
    out.stride[out.rank - (gint) n_dims] = width;
  for (gint i = out.rank - (gint) n_dims; i-- > 0;)
    {
      out.stride[i] = step;
      step *= out.size[i];
    }
  return out;
}

static AdjPart
nth_part (gboolean paired, guint part)
{
  if (!paired)
    return ADJ_PART_NONE;
  return part == 0 ? ADJ_PART_REAL : ADJ_PART_IMAGINARY;
}

/* The shape of argument @arg with leading sizes of @batch. */
static AdjShape
spread (const AdjOpCall *call, guint arg, const AdjShape *batch, guint n_dims)
{
  const AdjShape *own = &adj_op_call_meta (call, arg)->shape;
  AdjSize sizes[ADJ_MAX_RANK];
  AdjShape shape;

  if (batch == NULL)
    return *own;
  memcpy (sizes, batch->size, batch->rank * sizeof *sizes);
  memcpy (sizes + batch->rank, own->size + own->rank - n_dims, n_dims * sizeof *sizes);
  adj_shape_init (&shape, NULL, batch->rank + n_dims, sizes);
  return shape;
}

gboolean
op_matrices_load (
    AdjOpCall *call, guint arg, const AdjShape *batch, guint n_dims, gboolean z, OpMatrices *out)
{
  AdjShape shape = spread (call, arg, batch, n_dims);
  gboolean paired = op_argument_is_paired (call, arg);
  gint64 rows = n_dims > 0 ? shape.size[shape.rank - n_dims].word : 1;
  gint64 columns = n_dims > 1 ? shape.size[shape.rank - 1].word : 1;

  if (!op_matrices_new (call, z || paired, op_count_batch (&shape, n_dims), rows, columns, out))
    return FALSE;
  for (guint part = 0; part <= (paired ? 1 : 0); part++)
    {
      AdjKView in, to;
      double number;
      gboolean done;

      call->part = nth_part (paired, part);
      done = op_input_as (call, arg, &shape, &in, &number);
      call->part = ADJ_PART_NONE;
      if (!done)
        return FALSE;
      to = view_matrices (out, &in, n_dims, part);
      adj_q_copy (op_queue (call), &to, &in);
    }
  return TRUE;
}

gboolean
op_matrices_store (AdjOpCall *call, guint result, guint n_dims, const OpMatrices *from)
{
  gboolean paired = op_is_complex (call->results[result].meta.dtype);

  for (guint part = 0; part <= (paired ? 1 : 0); part++)
    {
      AdjKView out, in;
      gboolean done;

      call->part = nth_part (paired, part);
      done = op_output (call, result, &out);
      call->part = ADJ_PART_NONE;
      if (!done)
        return FALSE;
      in = view_matrices (from, &out, n_dims, part);
      adj_q_copy (op_queue (call), &out, &in);
    }
  return TRUE;
}

gint *
op_integers_load (const AdjOpCall *call, guint arg, const AdjShape *batch, guint n_dims)
{
  AdjShape shape = spread (call, arg, batch, n_dims);
  AdjKView in, to;
  double number;

  if (!op_check_temporary (call, op_count_batch (&shape, 0)) ||
      !op_input_as (call, arg, &shape, &in, &number))
    return NULL;
  op_temporary (NULL, &in, ADJ_K_I32, &to);
  adj_q_copy (op_queue (call), &to, &in);
  return to.data;
}

gboolean
op_integers_store (const AdjOpCall *call, guint result, const gint *integers)
{
  gint64 step = 1;
  AdjKView out, from;

  if (!op_output (call, result, &out))
    return FALSE;
  from = out;
  from.type = ADJ_K_I32;
  from.data = (gpointer) integers;
  for (gint i = out.rank; i-- > 0;)
    {
      from.stride[i] = step;
      step *= out.size[i];
    }
  adj_q_copy (op_queue (call), &out, &from);
  return TRUE;
}

/* -- in place, and turned -- */

void
op_matrices_keep_triangle (const OpMatrices *m, gboolean upper)
{
  for (gint64 i = 0; i < m->n; i++)
    for (gint column = 0; column < m->columns; column++)
      for (gint row = 0; row < m->rows; row++)
        if (upper ? row > column : row < column)
          memset (op_matrix_at (m, op_matrix (m, i), row, column), 0,
                  (m->z ? 2 : 1) * sizeof (double));
}

gboolean
op_matrices_transpose (const AdjOpCall *call,
                       const OpMatrices *m,
                       gboolean conjugate,
                       OpMatrices *out)
{
  if (!op_matrices_new (call, m->z, m->n, m->columns, m->rows, out))
    return FALSE;
  for (gint64 i = 0; i < m->n; i++)
    for (gint column = 0; column < m->columns; column++)
      for (gint row = 0; row < m->rows; row++)
        {
          double *from = op_matrix_at (m, op_matrix (m, i), row, column);
          double *to = op_matrix_at (out, op_matrix (out, i), column, row);

          to[0] = from[0];
          if (m->z)
            to[1] = conjugate ? -from[1] : from[1];
        }
  return TRUE;
}
