/* SPDX-License-Identifier: MIT */
/* Solutions of triangular systems. */

#include "ops/matrices-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

static gboolean
solve_triangular_meta (AdjOpCall *call)
{
  return op_solution_meta (call, 0, 1, adj_op_call_bool (call, 3), TRUE);
}

static gboolean
triangular_solve_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a;
  AdjShape shape;
  guint batch;

  if (!op_solution_meta (call, 1, 0, TRUE, TRUE))
    return FALSE;
  a = adj_op_call_meta (call, 1);
  shape = call->results[0].meta.shape;
  batch = shape.rank - 2;
  op_add_matrices (call, a->dtype, &shape, batch, shape.size[batch], shape.size[batch], TRUE);
  return TRUE;
}

/* -- values -- */

static gboolean
solve_triangles (AdjOpCall *call, guint a_arg, guint b_arg, const char *how)
{
  g_auto (OpMatrices) a = { 0 };
  g_auto (OpMatrices) b = { 0 };

  if (!op_load_system (call, a_arg, b_arg, &a, &b))
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
                       op_triangle (adj_op_call_bool (call, 2)), 'N',
                       adj_op_call_bool (call, 4) ? 'U' : 'N' };

  return solve_triangles (call, 0, 1, how);
}

static gboolean
triangular_solve_kernel (AdjOpCall *call)
{
  const char how[] = { 'L', op_triangle (adj_op_call_bool (call, 2)),
                       adj_op_call_bool (call, 3) ? 'T' : 'N',
                       adj_op_call_bool (call, 4) ? 'U' : 'N' };

  return solve_triangles (call, 1, 0, how);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/triangular.inc"
};

const OpFamily adj_family_triangular = { ops, G_N_ELEMENTS (ops) };
