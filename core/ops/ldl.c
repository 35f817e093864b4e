/* SPDX-License-Identifier: MIT */
/* Factors L D Lᵀ of symmetric matrices, and solutions by them. */

#include "ops/matrices-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

static gboolean
ldl_factor_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = op_square_meta (call, 0);

  if (a == NULL)
    return FALSE;
  op_add_square (call, a);
  op_add_pivots (call, a);
  op_add_info (call, a);
  return TRUE;
}

static gboolean
ldl_solve_meta (AdjOpCall *call)
{
  return op_solution_meta (call, 0, 2, TRUE, TRUE);
}

/* -- values -- */

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
check_pivots (const AdjOpCall *call, const gint *pivots, gint64 n, gint rows)
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
  g_autofree gint *pivots = NULL;
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) b = { 0 };

  if (!op_load_system (call, 0, 2, &a, &b) || (pivots = op_load_pivots (call, 1)) == NULL ||
      !check_pivots (call, pivots, a.n * a.rows, a.rows))
    return FALSE;
  for (gint64 i = 0; i < b.n; i++)
    adj_lapack_sytrs (b.z, adj_op_call_bool (call, 3), b.rows, b.columns, op_matrix (&a, i),
                      pivots + i * b.rows, op_matrix (&b, i));
  return op_matrices_store (call, 0, 2, &b);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/ldl.inc"
};

const OpFamily adj_family_ldl = { ops, G_N_ELEMENTS (ops) };
