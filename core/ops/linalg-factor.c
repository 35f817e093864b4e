/* SPDX-License-Identifier: MIT */
/* Cholesky's, Gauss's and symmetric factors, and solutions by them. */

#include <math.h>
#include <string.h>

#include "ops/matrices-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

static gboolean
square_with_info_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = op_square_meta (call, 0);
  guint batch;

  if (self == NULL)
    return FALSE;
  batch = self->shape.rank - 2;
  op_add_matrices (call, self->dtype, &self->shape, batch, self->shape.size[batch],
                   self->shape.size[batch], TRUE);
  op_add_numbers (call, ADJ_DTYPE_I32, &self->shape, batch);
  return TRUE;
}

static gboolean
cholesky_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = op_square_meta (call, 0);
  guint batch;

  if (self == NULL)
    return FALSE;
  batch = self->shape.rank - 2;
  op_add_matrices (call, self->dtype, &self->shape, batch, self->shape.size[batch],
                   self->shape.size[batch], TRUE);
  return TRUE;
}

/* X of argument @b, whose rows (columns, when not @left) are as many as argument @a has. */
static gboolean
solution_meta (AdjOpCall *call, guint a, guint b, gboolean left, gboolean by_columns)
{
  const AdjTensorMeta *matrix = op_square_meta (call, a);
  const AdjTensorMeta *right = op_matrix_meta (call, b, 2);
  guint n_a, n_b;
  AdjShape batch;

  if (matrix == NULL || right == NULL)
    return FALSE;
  n_a = matrix->shape.rank - 2;
  n_b = right->shape.rank - 2;
  if (matrix->dtype != right->dtype)
    return adj_op_call_fail (call, "dtypes %s and %s differ",
                             adj_dtype_info (matrix->dtype)->torch_name,
                             adj_dtype_info (right->dtype)->torch_name);
  if (!adj_size_test (op_symbols (call), ADJ_SIZE_EQ, matrix->shape.size[n_a],
                      right->shape.size[n_b + (left ? 0 : 1)]))
    return adj_op_call_fail (call, "incompatible shapes of A and B");
  if (!op_broadcast_batches (call, &matrix->shape, n_a, &right->shape, n_b, &batch))
    return FALSE;
  op_add_matrices (call, right->dtype, &batch, batch.rank, right->shape.size[n_b],
                   right->shape.size[n_b + 1], by_columns);
  return TRUE;
}

static gboolean
cholesky_solve_meta (AdjOpCall *call)
{
  return solution_meta (call, 1, 0, TRUE, TRUE);
}

static gboolean
ldl_solve_meta (AdjOpCall *call)
{
  return solution_meta (call, 0, 2, TRUE, TRUE);
}

static gboolean
lu_solve_meta (AdjOpCall *call)
{
  gboolean left = adj_op_call_bool (call, 3);

  return solution_meta (call, 0, 2, left, left);
}

static gboolean
solve_triangular_meta (AdjOpCall *call)
{
  return solution_meta (call, 0, 1, adj_op_call_bool (call, 3), TRUE);
}

static gboolean
triangular_solve_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a;
  AdjShape shape;
  guint batch;

  if (!solution_meta (call, 1, 0, TRUE, TRUE))
    return FALSE;
  a = adj_op_call_meta (call, 1);
  shape = call->results[0].meta.shape;
  batch = shape.rank - 2;
  op_add_matrices (call, a->dtype, &shape, batch, shape.size[batch], shape.size[batch], TRUE);
  return TRUE;
}

static AdjSize
smaller_side (const AdjOpCall *call, const AdjShape *shape)
{
  return adj_size_apply (op_symbols (call), ADJ_SIZE_MIN, shape->size[shape->rank - 2],
                         shape->size[shape->rank - 1]);
}

static gboolean
lu_factor_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = op_matrix_meta (call, 0, 2);
  guint batch;

  if (a == NULL)
    return FALSE;
  if (!adj_op_call_bool (call, 1))
    return adj_op_call_fail (call, "LU without pivoting is not implemented on the CPU");
  batch = a->shape.rank - 2;
  op_add_matrices (call, a->dtype, &a->shape, batch, a->shape.size[batch], a->shape.size[batch + 1],
                   TRUE);
  op_add_vectors (call, ADJ_DTYPE_I32, &a->shape, batch, smaller_side (call, &a->shape));
  op_add_numbers (call, ADJ_DTYPE_I32, &a->shape, batch);
  return TRUE;
}

/* P, L and U of @shape, those that are wanted. */
static gboolean
add_factors (AdjOpCall *call, AdjDType dtype, const AdjShape *shape, gboolean pivots, gboolean data)
{
  guint batch = shape->rank - 2;
  AdjSize m = shape->size[batch], n = shape->size[batch + 1], k = smaller_side (call, shape);

  if (pivots)
    op_add_matrices (call, dtype, shape, batch, m, m, FALSE);
  else
    op_add_nothing (call, dtype);
  if (data)
    {
      op_add_matrices (call, dtype, shape, batch, m, k, FALSE);
      op_add_matrices (call, dtype, shape, batch, k, n, FALSE);
    }
  else
    {
      op_add_nothing (call, dtype);
      op_add_nothing (call, dtype);
    }
  return TRUE;
}

static gboolean
lu_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = op_matrix_meta (call, 0, 2);

  if (a == NULL)
    return FALSE;
  if (!adj_op_call_bool (call, 1))
    return adj_op_call_fail (call, "LU without pivoting is not implemented on the CPU");
  return add_factors (call, a->dtype, &a->shape, TRUE, TRUE);
}

static gboolean
lu_unpack_meta (AdjOpCall *call)
{
  const AdjTensorMeta *data = adj_op_call_meta (call, 0);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (data->shape.rank < 2)
    return adj_op_call_fail (call, "LU_data must have at least 2 dimensions");
  if (adj_op_call_meta (call, 1)->dtype != ADJ_DTYPE_I32)
    return adj_op_call_fail (call, "expected LU_pivots to be an int32 tensor");
  return add_factors (call, data->dtype, &data->shape, adj_op_call_bool (call, 3),
                      adj_op_call_bool (call, 2));
}

/* B is one vector for each matrix. */
static gboolean
is_vector_case (const AdjOpCall *call, const AdjShape *a, const AdjShape *b)
{
  if (b->rank == 1)
    return TRUE;
  if (b->rank + 1 != a->rank)
    return FALSE;
  for (guint i = 0; i < b->rank; i++)
    if (!adj_size_test (op_symbols (call), ADJ_SIZE_EQ, a->size[i], b->size[i]))
      return FALSE;
  return TRUE;
}

/* Strides as if the last two sizes were those of a matrix, column by column. */
static gboolean
add_vector_solution (AdjOpCall *call, const AdjTensorMeta *a, const AdjTensorMeta *b)
{
  AdjShape *shape = &op_add_vectors (call, b->dtype, &a->shape, a->shape.rank - 2,
                                     a->shape.size[a->shape.rank - 1])
                         ->meta.shape;
  guint rank = shape->rank;

  if (rank > 1)
    {
      shape->stride[rank - 2] = ADJ_SIZE (1);
      shape->stride[rank - 1] =
          adj_size_apply (op_symbols (call), ADJ_SIZE_MAX, shape->size[rank - 2], ADJ_SIZE (1));
    }
  return TRUE;
}

static gboolean
solve_ex_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = op_square_meta (call, 0), *b = op_matrix_meta (call, 1, 1);
  gboolean left = adj_op_call_bool (call, 2);
  guint batch;

  if (a == NULL || b == NULL)
    return FALSE;
  if (is_vector_case (call, &a->shape, &b->shape))
    {
      if (!left || a->dtype != b->dtype ||
          !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, b->shape.size[b->shape.rank - 1],
                          a->shape.size[a->shape.rank - 1]))
        return adj_op_call_fail (call, "incompatible shapes or dtypes of A and B");
      add_vector_solution (call, a, b);
    }
  else if (!solution_meta (call, 0, 1, left, left))
    return FALSE;
  batch = a->shape.rank - 2;
  op_add_matrices (call, a->dtype, &a->shape, batch, a->shape.size[batch], a->shape.size[batch],
                   TRUE);
  op_add_vectors (call, ADJ_DTYPE_I32, &a->shape, batch, a->shape.size[batch]);
  op_add_numbers (call, ADJ_DTYPE_I32, &a->shape, batch);
  return TRUE;
}

static gboolean
add_determinants (AdjOpCall *call, guint n)
{
  const AdjTensorMeta *a = op_square_meta (call, 0);
  guint batch;

  if (a == NULL)
    return FALSE;
  batch = a->shape.rank - 2;
  op_add_numbers (call, a->dtype, &a->shape, batch);
  if (n > 1)
    op_add_numbers (call, adj_dtype_get_real (a->dtype), &a->shape, batch);
  op_add_matrices (call, a->dtype, &a->shape, batch, a->shape.size[batch], a->shape.size[batch],
                   TRUE);
  op_add_vectors (call, ADJ_DTYPE_I32, &a->shape, batch, a->shape.size[batch]);
  return TRUE;
}

static gboolean
det_meta (AdjOpCall *call)
{
  return add_determinants (call, 1);
}

static gboolean
slogdet_meta (AdjOpCall *call)
{
  return add_determinants (call, 2);
}

static gboolean
ldl_factor_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = op_square_meta (call, 0);
  guint batch;

  if (self == NULL)
    return FALSE;
  batch = self->shape.rank - 2;
  op_add_matrices (call, self->dtype, &self->shape, batch, self->shape.size[batch],
                   self->shape.size[batch], TRUE);
  op_add_vectors (call, ADJ_DTYPE_I32, &self->shape, batch, self->shape.size[batch]);
  op_add_numbers (call, ADJ_DTYPE_I32, &self->shape, batch);
  return TRUE;
}

/* -- triangles -- */

static char
triangle (gboolean upper)
{
  return upper ? 'U' : 'L';
}

/* -- Cholesky -- */

static gboolean
cholesky_kernel (AdjOpCall *call)
{
  gboolean upper = adj_op_call_bool (call, 1);
  g_autofree gint *info = NULL;
  g_auto (OpMatrices) a = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, NULL, 2, FALSE, &a))
    return FALSE;
  info = g_new0 (gint, MAX (a.n, 1));
  op_matrices_keep_triangle (&a, upper);
  for (gint64 i = 0; i < a.n; i++)
    {
      info[i] = adj_lapack_potrf (a.z, triangle (upper), a.rows, op_matrix (&a, i));
      if (info[i] > 0 && call->n_results == 1)
        return adj_op_call_fail (call,
                                 "(Batch element %" G_GINT64_FORMAT
                                 "): the factorization could not be completed because the input is "
                                 "not positive-definite (the leading minor of order %d is not "
                                 "positive-definite).",
                                 i, info[i]);
    }
  return op_matrices_store (call, 0, 2, &a) &&
         (call->n_results == 1 || op_integers_store (call, 1, info));
}

/* The other triangle as this one. */
static void
mirror (const OpMatrices *m, double *matrix, gboolean upper)
{
  for (gint column = 0; column < m->columns; column++)
    for (gint row = 0; row < column; row++)
      {
        double *high = op_matrix_at (m, matrix, row, column);
        double *low = op_matrix_at (m, matrix, column, row);
        double *from = upper ? high : low, *to = upper ? low : high;

        to[0] = from[0];
        if (m->z)
          to[1] = -from[1];
      }
}

static gboolean
cholesky_inverse_kernel (AdjOpCall *call)
{
  gboolean upper = adj_op_call_bool (call, 1);
  g_auto (OpMatrices) a = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, NULL, 2, FALSE, &a))
    return FALSE;
  for (gint64 i = 0; i < a.n; i++)
    {
      gint info = adj_lapack_potri (a.z, triangle (upper), a.rows, op_matrix (&a, i));

      if (info != 0)
        return op_lapack_failed (call, i, info);
      mirror (&a, op_matrix (&a, i), upper);
    }
  return op_matrices_store (call, 0, 2, &a);
}

/* -- solutions -- */

/* The leading sizes of result 0. */
static AdjShape
batch_of_result (const AdjOpCall *call)
{
  AdjShape batch = call->results[0].meta.shape;

  batch.rank -= 2;
  return batch;
}

static gboolean
cholesky_solve_kernel (AdjOpCall *call)
{
  gboolean upper = adj_op_call_bool (call, 2);
  AdjShape batch = batch_of_result (call);
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) b = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 1, &batch, 2, FALSE, &a) ||
      !op_matrices_load (call, 0, &batch, 2, FALSE, &b))
    return FALSE;
  for (gint64 i = 0; i < b.n; i++)
    for (guint k = 0; k < 2; k++)
      adj_lapack_trsm (b.z, 'L', triangle (upper), (k == 0) == upper ? 'C' : 'N', 'N', b.rows,
                       b.columns, op_matrix (&a, i), op_matrix (&b, i));
  return op_matrices_store (call, 0, 2, &b);
}

static gboolean
solve_triangles (AdjOpCall *call, guint a_arg, guint b_arg, const char *how)
{
  AdjShape batch = batch_of_result (call);
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) b = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, a_arg, &batch, 2, FALSE, &a) ||
      !op_matrices_load (call, b_arg, &batch, 2, FALSE, &b))
    return FALSE;
  for (gint64 i = 0; i < b.n; i++)
    adj_lapack_trsm (b.z, how[0], how[1], how[2], how[3], b.rows, b.columns, op_matrix (&a, i),
                     op_matrix (&b, i));
  return op_matrices_store (call, 0, 2, &b) &&
         (call->n_results == 1 || op_matrices_store (call, 1, 2, &a));
}

static gboolean
solve_triangular_kernel (AdjOpCall *call)
{
  const char how[] = { adj_op_call_bool (call, 3) ? 'L' : 'R',
                       triangle (adj_op_call_bool (call, 2)), 'N',
                       adj_op_call_bool (call, 4) ? 'U' : 'N' };

  return solve_triangles (call, 0, 1, how);
}

static gboolean
triangular_solve_kernel (AdjOpCall *call)
{
  const char how[] = { 'L', triangle (adj_op_call_bool (call, 2)),
                       adj_op_call_bool (call, 3) ? 'T' : 'N',
                       adj_op_call_bool (call, 4) ? 'U' : 'N' };

  return solve_triangles (call, 1, 0, how);
}

/* -- Gauss -- */

/* Their factors in the place of @a. */
typedef struct
{
  OpMatrices lu;
  gint *pivots, *info; /* min (m, n) for each matrix, and one */
} Factors;

static void
factors_clear (Factors *factors)
{
  op_matrices_clear (&factors->lu);
  g_free (factors->pivots);
  g_free (factors->info);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Factors, factors_clear)

static gint
n_pivots (const OpMatrices *m)
{
  return MIN (m->rows, m->columns);
}

/* Of argument @arg; or, as PyTorch's kernels do where that needs no copy, of its transposes. */
static gboolean
factorize (AdjOpCall *call, guint arg, gboolean transposed, Factors *out)
{
  g_auto (OpMatrices) a = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, arg, NULL, 2, FALSE, &a))
    return FALSE;
  if (transposed && !op_matrices_transpose (call, &a, FALSE, &out->lu))
    return FALSE;
  if (!transposed)
    {
      out->lu = a;
      a.data = NULL;
    }
  out->pivots = g_new0 (gint, MAX (out->lu.n * n_pivots (&out->lu), 1));
  out->info = g_new0 (gint, MAX (out->lu.n, 1));
  for (gint64 i = 0; i < out->lu.n; i++)
    out->info[i] =
        adj_lapack_getrf (out->lu.z, out->lu.rows, out->lu.columns, op_matrix (&out->lu, i),
                          out->pivots + i * n_pivots (&out->lu));
  return TRUE;
}

static gboolean
lu_factor_kernel (AdjOpCall *call)
{
  g_auto (Factors) f = { 0 };

  return factorize (call, 0, FALSE, &f) && op_matrices_store (call, 0, 2, &f.lu) &&
         op_integers_store (call, 1, f.pivots) && op_integers_store (call, 2, f.info);
}

/* The rows of a unit matrix in the order that @pivots gives. */
static gboolean
permutations (const AdjOpCall *call, const OpMatrices *lu, const gint *pivots, OpMatrices *out)
{
  g_autofree gint *order = g_new (gint, MAX (lu->rows, 1));

  if (!op_matrices_new (call, lu->z, lu->n, lu->rows, lu->rows, out))
    return FALSE;
  for (gint64 i = 0; i < lu->n; i++)
    {
      for (gint row = 0; row < lu->rows; row++)
        order[row] = row;
      for (gint k = 0; k < n_pivots (lu); k++)
        {
          gint other = pivots[i * n_pivots (lu) + k] - 1, row = order[k];

          if (other < 0 || other >= lu->rows)
            return adj_op_call_fail (call, "pivots must be between 1 and the number of rows");
          order[k] = order[other];
          order[other] = row;
        }
      for (gint row = 0; row < lu->rows; row++)
        *op_matrix_at (out, op_matrix (out, i), order[row], row) = 1;
    }
  return TRUE;
}

/* The first @rows and @columns of @m, of which one triangle stays; L has ones on its diagonal. */
static gboolean
take_triangle (const AdjOpCall *call,
               const OpMatrices *m,
               gint rows,
               gint columns,
               gboolean upper,
               OpMatrices *out)
{
  gsize bytes = (gsize) rows * (m->z ? 2 : 1) * sizeof (double);

  if (!op_matrices_new (call, m->z, m->n, rows, columns, out))
    return FALSE;
  for (gint64 i = 0; i < m->n; i++)
    for (gint column = 0; column < columns; column++)
      memcpy (op_matrix_at (out, op_matrix (out, i), 0, column),
              op_matrix_at (m, op_matrix (m, i), 0, column), bytes);
  op_matrices_keep_triangle (out, upper);
  for (gint64 i = 0; !upper && i < m->n; i++)
    for (gint k = 0; k < columns; k++)
      {
        double *one = op_matrix_at (out, op_matrix (out, i), k, k);

        one[0] = 1;
        if (m->z)
          one[1] = 0;
      }
  return TRUE;
}

static gboolean
store_factors (AdjOpCall *call, const OpMatrices *lu, const gint *pivots, gboolean data)
{
  g_auto (OpMatrices) p = { 0 };
  g_auto (OpMatrices) l = { 0 };
  g_auto (OpMatrices) u = { 0 };

  if (pivots != NULL &&
      (!permutations (call, lu, pivots, &p) || !op_matrices_store (call, 0, 2, &p)))
    return FALSE;
  return !data || (take_triangle (call, lu, lu->rows, n_pivots (lu), FALSE, &l) &&
                   take_triangle (call, lu, n_pivots (lu), lu->columns, TRUE, &u) &&
                   op_matrices_store (call, 1, 2, &l) && op_matrices_store (call, 2, 2, &u));
}

static gboolean
lu_kernel (AdjOpCall *call)
{
  g_auto (Factors) f = { 0 };

  return factorize (call, 0, FALSE, &f) && store_factors (call, &f.lu, f.pivots, TRUE);
}

static gboolean
lu_unpack_kernel (AdjOpCall *call)
{
  gboolean wanted = adj_op_call_bool (call, 3);
  g_autofree gint *pivots = NULL;
  g_auto (OpMatrices) lu = { 0 };

  if (!op_matrices_load (call, 0, NULL, 2, FALSE, &lu))
    return FALSE;
  if (wanted && (pivots = op_integers_load (call, 1, NULL, 1)) == NULL)
    return FALSE;
  return store_factors (call, &lu, pivots, adj_op_call_bool (call, 2));
}

/* Pivots are data of the caller's. */
static gboolean
check_pivots (const AdjOpCall *call, const gint *pivots, gint64 n, gint rows)
{
  for (gint64 i = 0; i < n; i++)
    if (pivots[i] < 1 || pivots[i] > rows)
      return adj_op_call_fail (call, "pivots must be between 1 and the number of rows");
  return TRUE;
}

/* X with A X = B, or X A = B, which is Aᵀ Xᵀ = Bᵀ; A or its transpose by its factors. */
static gboolean
solve (const AdjOpCall *call,
       const OpMatrices *lu,
       const gint *pivots,
       gint64 n_lu,
       OpMatrices *b,
       gboolean left,
       gboolean adjoint)
{
  gint k = lu->rows;
  g_auto (OpMatrices) turned = { 0 };

  if (left)
    {
      for (gint64 i = 0; i < b->n; i++)
        adj_lapack_getrs (b->z, adjoint ? 'C' : 'N', k, b->columns, op_matrix (lu, i % n_lu),
                          pivots + i % n_lu * k, op_matrix (b, i));
      return TRUE;
    }
  /* X A = B: Aᴴ Xᴴ = Bᴴ. */
  if (!op_matrices_transpose (call, b, TRUE, &turned))
    return FALSE;
  for (gint64 i = 0; i < b->n; i++)
    adj_lapack_getrs (b->z, adjoint ? 'N' : 'C', k, turned.columns, op_matrix (lu, i % n_lu),
                      pivots + i % n_lu * k, op_matrix (&turned, i));
  op_matrices_clear (b);
  return op_matrices_transpose (call, &turned, TRUE, b);
}

static gboolean
lu_solve_kernel (AdjOpCall *call)
{
  AdjShape batch = batch_of_result (call);
  g_autofree gint *pivots = NULL;
  g_auto (OpMatrices) lu = { 0 };
  g_auto (OpMatrices) b = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, &batch, 2, FALSE, &lu) ||
      !op_matrices_load (call, 2, &batch, 2, FALSE, &b) ||
      (pivots = op_integers_load (call, 1, &batch, 1)) == NULL ||
      !check_pivots (call, pivots, lu.n * lu.rows, lu.rows))
    return FALSE;
  return solve (call, &lu, pivots, lu.n, &b, adj_op_call_bool (call, 3),
                adj_op_call_bool (call, 4)) &&
         op_matrices_store (call, 0, 2, &b);
}

/* Whether PyTorch factorizes the transposes of argument 0. */
static gboolean
takes_transposes (const AdjOpCall *call)
{
  return adj_shape_is_contiguous (&adj_op_call_meta (call, 0)->shape, NULL) &&
         !op_argument_is_paired (call, 0);
}

/* The factors spread over the batch of the result. */
static gboolean
spread_factors (const AdjOpCall *call, const Factors *f, const AdjShape *batch, gint64 *map)
{
  const AdjShape *own = &adj_op_call_meta (call, 0)->shape;
  guint n_own = own->rank - 2;
  gint64 index[ADJ_MAX_RANK] = { 0 };

  for (gint64 i = 0; i < op_count_batch (batch, 0); i++)
    {
      gint64 at = 0;

      for (guint d = 0; d < n_own; d++)
        {
          gint64 place = index[batch->rank - n_own + d];

          at = at * own->size[d].word + (own->size[d].word == 1 ? 0 : place);
        }
      map[i] = at;
      for (guint d = batch->rank; d-- > 0 && ++index[d] == batch->size[d].word;)
        index[d] = 0;
    }
  return f->lu.n > 0 || op_count_batch (batch, 0) == 0;
}

static gboolean
solve_ex_kernel (AdjOpCall *call)
{
  const AdjShape *a = &adj_op_call_meta (call, 0)->shape, *b = &adj_op_call_meta (call, 1)->shape;
  gboolean vectors = is_vector_case (call, a, b), transposed = takes_transposes (call);
  AdjShape batch = call->results[0].meta.shape;
  g_autofree gint64 *map = NULL;
  g_auto (Factors) f = { 0 };
  g_auto (OpMatrices) x = { 0 };

  batch.rank -= vectors ? 1 : 2;
  if (!factorize (call, 0, transposed, &f) ||
      !op_matrices_load (call, 1, &batch, vectors ? 1 : 2, FALSE, &x))
    return FALSE;
  map = g_new0 (gint64, MAX (x.n, 1));
  spread_factors (call, &f, &batch, map);
  for (gint64 i = 0; i < x.n; i++)
    {
      OpMatrices lu = f.lu, one = x;

      lu.data = op_matrix (&f.lu, map[i]);
      one.n = 1;
      one.data = g_memdup2 (op_matrix (&x, i), op_matrices_step (&x) * sizeof (double));
      if (!solve (call, &lu, f.pivots + map[i] * n_pivots (&f.lu), 1, &one,
                  adj_op_call_bool (call, 2), transposed))
        return FALSE;
      memcpy (op_matrix (&x, i), one.data, op_matrices_step (&x) * sizeof (double));
      op_matrices_clear (&one);
    }
  return op_matrices_store (call, 0, vectors ? 1 : 2, &x) &&
         op_matrices_store (call, 1, 2, &f.lu) && op_integers_store (call, 2, f.pivots) &&
         op_integers_store (call, 3, f.info);
}

static gboolean
inv_ex_kernel (AdjOpCall *call)
{
  gboolean transposed = takes_transposes (call);
  g_auto (Factors) f = { 0 };
  g_auto (OpMatrices) x = { 0 };

  if (!factorize (call, 0, transposed, &f) ||
      !op_matrices_new (call, f.lu.z, f.lu.n, f.lu.rows, f.lu.rows, &x))
    return FALSE;
  for (gint64 i = 0; i < x.n; i++)
    for (gint k = 0; k < x.rows; k++)
      *op_matrix_at (&x, op_matrix (&x, i), k, k) = 1;
  return solve (call, &f.lu, f.pivots, MAX (f.lu.n, 1), &x, TRUE, transposed) &&
         op_matrices_store (call, 0, 2, &x) && op_integers_store (call, 1, f.info);
}

/* -- determinants -- */

/* Of each the sign, as a number or a pair of absolute value 1, or 0, and the logarithm of the
 * absolute value; or the determinant as the product when @whole. */
static void
take_determinants (const Factors *f, gboolean whole, OpMatrices *sign, OpMatrices *logarithm)
{
  const OpMatrices *lu = &f->lu;

  for (gint64 i = 0; i < lu->n; i++)
    {
      double re = 1, im = 0, sum = 0;

      for (gint k = 0; k < lu->rows; k++)
        {
          const double *u = op_matrix_at (lu, op_matrix (lu, i), k, k);
          double x = u[0], y = lu->z ? u[1] : 0, size = hypot (x, y), turned;

          if (f->pivots[i * lu->rows + k] != k + 1)
            {
              re = -re;
              im = -im;
            }
          sum += log (size);
          if (!whole)
            {
              x = size > 0 ? x / size : 0;
              y = size > 0 ? y / size : 0;
            }
          turned = lu->z ? re * y + im * x : 0;
          re = lu->z ? re * x - im * y : re * x;
          im = turned;
        }
      op_matrix (sign, i)[0] = re;
      if (lu->z)
        op_matrix (sign, i)[1] = im;
      if (logarithm != NULL)
        op_matrix (logarithm, i)[0] = sum;
    }
}

static gboolean
det_kernel (AdjOpCall *call)
{
  g_auto (Factors) f = { 0 };
  g_auto (OpMatrices) d = { 0 };

  if (!factorize (call, 0, takes_transposes (call), &f) ||
      !op_matrices_new (call, f.lu.z, f.lu.n, 1, 1, &d))
    return FALSE;
  take_determinants (&f, TRUE, &d, NULL);
  return op_matrices_store (call, 0, 0, &d) && op_matrices_store (call, 1, 2, &f.lu) &&
         op_integers_store (call, 2, f.pivots);
}

static gboolean
slogdet_kernel (AdjOpCall *call)
{
  g_auto (Factors) f = { 0 };
  g_auto (OpMatrices) sign = { 0 };
  g_auto (OpMatrices) logarithm = { 0 };

  if (!factorize (call, 0, takes_transposes (call), &f) ||
      !op_matrices_new (call, f.lu.z, f.lu.n, 1, 1, &sign) ||
      !op_matrices_new (call, FALSE, f.lu.n, 1, 1, &logarithm))
    return FALSE;
  take_determinants (&f, FALSE, &sign, &logarithm);
  return op_matrices_store (call, 0, 0, &sign) && op_matrices_store (call, 1, 0, &logarithm) &&
         op_matrices_store (call, 2, 2, &f.lu) && op_integers_store (call, 3, f.pivots);
}

/* -- symmetric -- */

static gboolean
ldl_factor_kernel (AdjOpCall *call)
{
  g_autofree gint *pivots = NULL;
  g_autofree gint *info = NULL;
  g_auto (OpMatrices) a = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, NULL, 2, FALSE, &a))
    return FALSE;
  op_matrices_keep_triangle (&a, FALSE);
  pivots = g_new0 (gint, MAX (a.n * a.rows, 1));
  info = g_new0 (gint, MAX (a.n, 1));
  for (gint64 i = 0; i < a.n; i++)
    info[i] = adj_lapack_sytrf (a.z, adj_op_call_bool (call, 1), a.rows, op_matrix (&a, i),
                                pivots + i * a.rows);
  return op_matrices_store (call, 0, 2, &a) && op_integers_store (call, 1, pivots) &&
         op_integers_store (call, 2, info);
}

static gboolean
check_symmetric_pivots (const AdjOpCall *call, const gint *pivots, gint64 n, gint rows)
{
  for (gint64 i = 0; i < n; i++)
    if (pivots[i] == 0 || pivots[i] < -rows || pivots[i] > rows)
      return adj_op_call_fail (call, "pivots must be between 1 and the number of rows, or "
                                     "negative");
  return TRUE;
}

static gboolean
ldl_solve_kernel (AdjOpCall *call)
{
  AdjShape batch = batch_of_result (call);
  g_autofree gint *pivots = NULL;
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) b = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, &batch, 2, FALSE, &a) ||
      !op_matrices_load (call, 2, &batch, 2, FALSE, &b) ||
      (pivots = op_integers_load (call, 1, &batch, 1)) == NULL ||
      !check_symmetric_pivots (call, pivots, a.n * a.rows, a.rows))
    return FALSE;
  for (gint64 i = 0; i < b.n; i++)
    adj_lapack_sytrs (b.z, adj_op_call_bool (call, 3), b.rows, b.columns, op_matrix (&a, i),
                      pivots + i * b.rows, op_matrix (&b, i));
  return op_matrices_store (call, 0, 2, &b);
}

/* -- costs -- */

static gint64
hint_of (const AdjOpCall *call, AdjSize size)
{
  gint64 hint = 0;

  adj_size_get_hint (op_symbols (call), size, &hint);
  return hint;
}

/* The order of the last matrix of the arguments. */
static double
order_reduction (const AdjOpCall *call)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;

  return shape->rank > 1 ? (double) MAX (hint_of (call, shape->size[shape->rank - 1]),
                                         hint_of (call, shape->size[shape->rank - 2]))
                         : 1;
}

static double
count_elements (const AdjOpCall *call)
{
  return (double) hint_of (call, adj_shape_numel (&call->results[0].meta.shape, op_symbols (call)));
}

static double
factor_flops (const AdjOpCall *call)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;
  double n = order_reduction (call);

  return 2.0 / 3 * n * (double) hint_of (call, adj_shape_numel (shape, op_symbols (call)));
}

static double
solve_flops (const AdjOpCall *call)
{
  return 2 * order_reduction (call) * count_elements (call);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/linalg-factor.inc"
};

const OpFamily adj_family_linalg_factor = { ops, G_N_ELEMENTS (ops) };
