/* SPDX-License-Identifier: MIT */
/* LU factors with pivots, P L U, and solutions by them. */

#include <string.h>

#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "ops/adj-release-facts.h"
#include "ops/lu-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

static AdjSize
smaller_side (const AdjOpCall *call, const AdjShape *shape)
{
  return adj_size_apply (op_symbols (call), ADJ_SIZE_MIN, shape->size[shape->rank - 2],
                         shape->size[shape->rank - 1]);
}

/* Argument 0 as matrices that are factorized with pivots; fails the call. */
static const AdjTensorMeta *
pivoted_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = op_matrix_meta (call, 0, 2);

  if (a == NULL || adj_op_call_bool (call, 1))
    return a;
  adj_op_call_fail (call, "LU without pivoting is not implemented on the CPU");
  return NULL;
}

static gboolean
lu_factor_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = pivoted_meta (call);
  guint batch;

  if (a == NULL)
    return FALSE;
  batch = a->shape.rank - 2;
  op_add_matrices (call, a->dtype, &a->shape, batch, a->shape.size[batch], a->shape.size[batch + 1],
                   TRUE);
  op_add_vectors (call, ADJ_DTYPE_I32, &a->shape, batch, smaller_side (call, &a->shape));
  op_add_info (call, a);
  return TRUE;
}

/* Adds P, L and U of @shape, those that are requested. */
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
  const AdjTensorMeta *a = pivoted_meta (call);

  return a != NULL && add_factors (call, a->dtype, &a->shape, TRUE, TRUE);
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

static gboolean
lu_solve_meta (AdjOpCall *call)
{
  gboolean left = adj_op_call_bool (call, 3);

  return op_solution_meta (call, 0, 2, left, left);
}

/* -- factors -- */

void
op_lu_clear (OpLu *factors)
{
  op_matrices_clear (&factors->lu);
  g_free (factors->pivots);
  g_free (factors->info);
}

gboolean
op_lu_factorize (AdjOpCall *call, guint arg, gboolean transposed, OpLu *out)
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
  out->pivots = g_new0 (gint, MAX (out->lu.n * op_n_pivots (&out->lu), 1));
  out->info = g_new0 (gint, MAX (out->lu.n, 1));
  for (gint64 i = 0; i < out->lu.n; i++)
    out->info[i] =
        adj_lapack_getrf (out->lu.z, out->lu.rows, out->lu.columns, op_matrix (&out->lu, i),
                          out->pivots + i * op_n_pivots (&out->lu));
  return TRUE;
}

gboolean
op_lu_takes_transposes (const AdjOpCall *call)
{
  return !adj_op_release_has (call, ADJ_FACT_FACTORS_ITSELF) &&
         adj_shape_is_contiguous (&adj_op_call_meta (call, 0)->shape, NULL) &&
         !op_argument_is_paired (call, 0);
}

static gboolean
lu_factor_kernel (AdjOpCall *call)
{
  g_auto (OpLu) f = { 0 };

  return op_lu_factorize (call, 0, FALSE, &f) && op_matrices_store (call, 0, 2, &f.lu) &&
         op_integers_store (call, 1, f.pivots) && op_integers_store (call, 2, f.info);
}

/* Permutation matrices: the rows of the identity in the order of @pivots. */
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
      for (gint k = 0; k < op_n_pivots (lu); k++)
        {
          gint other = pivots[i * op_n_pivots (lu) + k] - 1, row = order[k];

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

/* One triangle of the first @rows and @columns of @m; L has ones on its diagonal. */
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
  return !data || (take_triangle (call, lu, lu->rows, op_n_pivots (lu), FALSE, &l) &&
                   take_triangle (call, lu, op_n_pivots (lu), lu->columns, TRUE, &u) &&
                   op_matrices_store (call, 1, 2, &l) && op_matrices_store (call, 2, 2, &u));
}

static gboolean
lu_kernel (AdjOpCall *call)
{
  g_auto (OpLu) f = { 0 };

  return op_lu_factorize (call, 0, FALSE, &f) && store_factors (call, &f.lu, f.pivots, TRUE);
}

/* Whether each matrix has a pivot for each row. */
static gboolean
check_count (const AdjOpCall *call, const OpMatrices *lu)
{
  gint64 n = adj_shape_numel (&adj_op_call_meta (call, 1)->shape, NULL).word;

  return n == lu->n * op_n_pivots (lu) ||
         adj_op_call_fail (call,
                           "LU_pivots has %" G_GINT64_FORMAT " elements, of %" G_GINT64_FORMAT
                           " that LU_data needs",
                           n, lu->n * op_n_pivots (lu));
}

static gboolean
lu_unpack_kernel (AdjOpCall *call)
{
  gboolean wanted = adj_op_call_bool (call, 3);
  g_autofree gint *pivots = NULL;
  g_auto (OpMatrices) lu = { 0 };

  if (!op_matrices_load (call, 0, NULL, 2, FALSE, &lu))
    return FALSE;
  if (wanted &&
      (!check_count (call, &lu) || (pivots = op_integers_load (call, 1, NULL, 1)) == NULL))
    return FALSE;
  return store_factors (call, &lu, pivots, adj_op_call_bool (call, 2));
}

/* -- solutions -- */

/* Pivots come from the caller and may be invalid. */
static gboolean
check_pivots (const AdjOpCall *call, const gint *pivots, gint64 n, gint rows)
{
  for (gint64 i = 0; i < n; i++)
    if (pivots[i] < 1 || pivots[i] > rows)
      return adj_op_call_fail (call, "pivots must be between 1 and the number of rows");
  return TRUE;
}

gboolean
op_lu_solve (const AdjOpCall *call,
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
  g_autofree gint *pivots = NULL;
  g_auto (OpMatrices) lu = { 0 };
  g_auto (OpMatrices) b = { 0 };

  if (!op_load_system (call, 0, 2, &lu, &b) || (pivots = op_load_pivots (call, 1)) == NULL ||
      !check_pivots (call, pivots, lu.n * lu.rows, lu.rows))
    return FALSE;
  return op_lu_solve (call, &lu, pivots, lu.n, &b, adj_op_call_bool (call, 3),
                      adj_op_call_bool (call, 4)) &&
         op_matrices_store (call, 0, 2, &b);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/lu.inc"
};

const OpFamily adj_family_lu = { ops, G_N_ELEMENTS (ops) };
