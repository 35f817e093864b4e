/* SPDX-License-Identifier: MIT */
/* Solutions of square systems and inverses, by LU factors. */

#include <string.h>

#include "ops/lu-private.h"
#include "ops/table-private.h"

/* -- shapes -- */

/* Whether B has one vector for each matrix. */
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

/* Strides as of column-major matrices in the last two sizes. */
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
  else if (!op_solution_meta (call, 0, 1, left, left))
    return FALSE;
  op_add_square (call, a);
  op_add_pivots (call, a);
  op_add_info (call, a);
  return TRUE;
}

/* -- values -- */

/* The factors expanded to the batch of the result. */
static gboolean
spread_factors (const AdjOpCall *call, const OpLu *f, const AdjShape *batch, gint64 *map)
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
  gboolean vectors = is_vector_case (call, a, b), transposed = op_lu_takes_transposes (call);
  AdjShape batch = call->results[0].meta.shape;
  g_autofree gint64 *map = NULL;
  g_auto (OpLu) f = { 0 };
  g_auto (OpMatrices) x = { 0 };

  batch.rank -= vectors ? 1 : 2;
  if (!op_lu_factorize (call, 0, transposed, &f) ||
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
      if (!op_lu_solve (call, &lu, f.pivots + map[i] * op_n_pivots (&f.lu), 1, &one,
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
  gboolean transposed = op_lu_takes_transposes (call);
  g_auto (OpLu) f = { 0 };
  g_auto (OpMatrices) x = { 0 };

  if (!op_lu_factorize (call, 0, transposed, &f) ||
      !op_matrices_new (call, f.lu.z, f.lu.n, f.lu.rows, f.lu.rows, &x))
    return FALSE;
  for (gint64 i = 0; i < x.n; i++)
    for (gint k = 0; k < x.rows; k++)
      *op_matrix_at (&x, op_matrix (&x, i), k, k) = 1;
  return op_lu_solve (call, &f.lu, f.pivots, MAX (f.lu.n, 1), &x, TRUE, transposed) &&
         op_matrices_store (call, 0, 2, &x) && op_integers_store (call, 1, f.info);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/solve.inc"
};

const OpFamily adj_family_solve = { ops, G_N_ELEMENTS (ops) };
