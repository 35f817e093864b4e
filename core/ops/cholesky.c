/* SPDX-License-Identifier: MIT */
/* Cholesky's factor, inverses and solutions by it. */

#include "ops/matrices-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

static gboolean
cholesky_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = op_square_meta (call, 0);

  if (a == NULL)
    return FALSE;
  op_add_square (call, a);
  return TRUE;
}

static gboolean
cholesky_solve_meta (AdjOpCall *call)
{
  return op_solution_meta (call, 1, 0, TRUE, TRUE);
}

/* -- values -- */

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
      info[i] = adj_lapack_potrf (a.z, op_triangle (upper), a.rows, op_matrix (&a, i));
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

/* Copies one triangle to the other. */
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
      gint info = adj_lapack_potri (a.z, op_triangle (upper), a.rows, op_matrix (&a, i));

      if (info != 0)
        return op_lapack_failed (call, i, info);
      mirror (&a, op_matrix (&a, i), upper);
    }
  return op_matrices_store (call, 0, 2, &a);
}

static gboolean
cholesky_solve_kernel (AdjOpCall *call)
{
  gboolean upper = adj_op_call_bool (call, 2);
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) b = { 0 };

  if (!op_load_system (call, 1, 0, &a, &b))
    return FALSE;
  for (gint64 i = 0; i < b.n; i++)
    for (guint k = 0; k < 2; k++)
      adj_lapack_trsm (b.z, 'L', op_triangle (upper), (k == 0) == upper ? 'C' : 'N', 'N', b.rows,
                       b.columns, op_matrix (&a, i), op_matrix (&b, i));
  return op_matrices_store (call, 0, 2, &b);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/cholesky.inc"
};

const OpFamily adj_family_cholesky = { ops, G_N_ELEMENTS (ops) };
