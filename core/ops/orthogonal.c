/* SPDX-License-Identifier: MIT */
/* Orthogonal factors, as Householder reflectors and as matrices. */

#include <string.h>

#include "ops/spectral-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

static gboolean
qr_meta (AdjOpCall *call)
{
  const char *mode = adj_op_call_string (call, 1, "reduced");
  gboolean complete = strcmp (mode, "complete") == 0, no_q = strcmp (mode, "r") == 0;
  OpSides s;

  if (!complete && !no_q && strcmp (mode, "reduced") != 0)
    return adj_op_call_fail (call,
                             "qr received unrecognized mode '%s' but expected one of 'reduced' "
                             "(default), 'r', or 'complete'",
                             mode);
  if (!op_read_sides (call, 0, &s))
    return FALSE;
  if (no_q)
    op_add_nothing (call, s.meta->dtype);
  else
    op_add_sides (call, &s, s.m, complete ? s.m : s.k);
  op_add_sides (call, &s, complete ? s.m : s.k, s.n);
  return TRUE;
}

static gboolean
geqrf_meta (AdjOpCall *call)
{
  OpSides s;

  if (!op_read_sides (call, 0, &s))
    return FALSE;
  op_add_sides (call, &s, s.m, s.n);
  op_add_vectors (call, s.meta->dtype, &s.meta->shape, s.batch, s.k);
  return TRUE;
}

static gboolean
check_reflectors (const AdjOpCall *call, const OpSides *s)
{
  const AdjTensorMeta *tau = op_matrix_meta (call, 1, 1);
  AdjSymbols *symbols = op_symbols (call);

  if (tau == NULL)
    return FALSE;
  if (tau->dtype != s->meta->dtype || tau->shape.rank + 1 != s->meta->shape.rank ||
      adj_size_test (symbols, ADJ_SIZE_GT, tau->shape.size[tau->shape.rank - 1], s->k))
    return adj_op_call_fail (call, "tau does not fit the reflectors");
  for (guint i = 0; i < s->batch; i++)
    if (!adj_size_test (symbols, ADJ_SIZE_EQ, tau->shape.size[i], s->meta->shape.size[i]))
      return adj_op_call_fail (call, "tau does not fit the reflectors");
  return TRUE;
}

static gboolean
householder_meta (AdjOpCall *call)
{
  OpSides s;

  if (!op_read_sides (call, 0, &s) || !check_reflectors (call, &s))
    return FALSE;
  if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, s.m, s.n))
    return adj_op_call_fail (call, "input.shape[-2] must be greater than or equal to "
                                   "input.shape[-1]");
  op_add_sides (call, &s, s.m, s.n);
  return TRUE;
}

static gboolean
ormqr_meta (AdjOpCall *call)
{
  const AdjTensorMeta *other = op_matrix_meta (call, 2, 2);
  gboolean left = adj_op_call_bool (call, 3);
  OpSides s;

  if (other == NULL || !op_read_sides (call, 0, &s) || !check_reflectors (call, &s))
    return FALSE;
  if (other->shape.rank != s.meta->shape.rank || other->dtype != s.meta->dtype ||
      !adj_size_test (op_symbols (call), ADJ_SIZE_EQ, other->shape.size[s.batch + (left ? 0 : 1)],
                      s.m))
    return adj_op_call_fail (call, "the matrix does not fit the reflectors");
  op_add_matrices (call, other->dtype, &other->shape, s.batch, other->shape.size[s.batch],
                   other->shape.size[s.batch + 1], TRUE);
  return TRUE;
}

/* -- reflectors -- */

/* The upper triangle of the first @rows rows of @a. */
static gboolean
store_r (AdjOpCall *call, const OpMatrices *a, gint rows)
{
  g_auto (OpMatrices) r = { 0 };

  if (!op_matrices_new (call, a->z, a->n, rows, a->columns, &r))
    return FALSE;
  for (gint64 i = 0; i < a->n; i++)
    for (gint column = 0; column < a->columns; column++)
      memcpy (op_matrix_at (&r, op_matrix (&r, i), 0, column),
              op_matrix_at (a, op_matrix (a, i), 0, column),
              (gsize) MIN (MIN (column + 1, rows), a->rows) * (a->z ? 2 : 1) * sizeof (double));
  return op_matrices_store (call, 1, 2, &r);
}

/* @columns columns of Q, from the reflectors in @a. */
static gboolean
store_q (AdjOpCall *call, const OpMatrices *a, const OpMatrices *tau, gint columns)
{
  gint k = MIN (a->rows, a->columns);
  g_auto (OpMatrices) q = { 0 };

  if (!op_matrices_new (call, a->z, a->n, a->rows, columns, &q))
    return FALSE;
  for (gint64 i = 0; i < a->n; i++)
    {
      gint info;

      memcpy (op_matrix (&q, i), op_matrix (a, i),
              (gsize) a->rows * (gsize) MIN (k, columns) * (a->z ? 2 : 1) * sizeof (double));
      info = adj_lapack_orgqr (q.z, q.rows, q.columns, MIN (k, columns), op_matrix (&q, i),
                               op_matrix (tau, i));
      if (info != 0)
        return op_lapack_failed (call, i, info);
    }
  return op_matrices_store (call, 0, 2, &q);
}

/* Factorizes argument 0 into reflectors and R. */
static gboolean
reflect (AdjOpCall *call, OpMatrices *a, OpMatrices *tau)
{
  if (!op_open_lapack (call) || !op_matrices_load (call, 0, NULL, 2, FALSE, a) ||
      !op_matrices_new (call, a->z, a->n, MIN (a->rows, a->columns), 1, tau))
    return FALSE;
  for (gint64 i = 0; i < a->n; i++)
    {
      gint info =
          adj_lapack_geqrf (a->z, a->rows, a->columns, op_matrix (a, i), op_matrix (tau, i));

      if (info != 0)
        return op_lapack_failed (call, i, info);
    }
  return TRUE;
}

static gboolean
qr_kernel (AdjOpCall *call)
{
  const char *mode = adj_op_call_string (call, 1, "reduced");
  gboolean complete = strcmp (mode, "complete") == 0;
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) tau = { 0 };
  gint k;

  if (!reflect (call, &a, &tau))
    return FALSE;
  k = complete ? a.rows : MIN (a.rows, a.columns);
  return store_r (call, &a, k) && (strcmp (mode, "r") == 0 || store_q (call, &a, &tau, k));
}

static gboolean
geqrf_kernel (AdjOpCall *call)
{
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) tau = { 0 };

  return reflect (call, &a, &tau) && op_matrices_store (call, 0, 2, &a) &&
         op_matrices_store (call, 1, 1, &tau);
}

static gboolean
householder_kernel (AdjOpCall *call)
{
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) tau = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, NULL, 2, FALSE, &a) ||
      !op_matrices_load (call, 1, NULL, 1, FALSE, &tau))
    return FALSE;
  for (gint64 i = 0; i < a.n; i++)
    {
      gint info = adj_lapack_orgqr (a.z, a.rows, a.columns, tau.rows, op_matrix (&a, i),
                                    op_matrix (&tau, i));

      if (info != 0)
        return op_lapack_failed (call, i, info);
    }
  return op_matrices_store (call, 0, 2, &a);
}

static gboolean
ormqr_kernel (AdjOpCall *call)
{
  char side = adj_op_call_bool (call, 3) ? 'L' : 'R';
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) tau = { 0 };
  g_auto (OpMatrices) c = { 0 };

  if (!op_open_lapack (call) || !op_matrices_load (call, 0, NULL, 2, FALSE, &a) ||
      !op_matrices_load (call, 1, NULL, 1, FALSE, &tau) ||
      !op_matrices_load (call, 2, NULL, 2, FALSE, &c))
    return FALSE;
  for (gint64 i = 0; i < c.n; i++)
    {
      char trans = !adj_op_call_bool (call, 4) ? 'N' : c.z ? 'C' : 'T';
      gint info = adj_lapack_ormqr (c.z, side, trans, c.rows, c.columns, tau.rows,
                                    op_matrix (&a, i), op_matrix (&tau, i), op_matrix (&c, i));

      if (info != 0)
        return op_lapack_failed (call, i, info);
    }
  return op_matrices_store (call, 0, 2, &c);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/orthogonal.inc"
};

const OpFamily adj_family_orthogonal = { ops, G_N_ELEMENTS (ops) };
