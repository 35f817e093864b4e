/* SPDX-License-Identifier: MIT */
/* Systems A X = B: shapes, operands for LAPACK, and costs of factors and solutions. */

#include "ops/matrices-private.h"

gboolean
op_solution_meta (AdjOpCall *call, guint a, guint b, gboolean left, gboolean by_columns)
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

gboolean
op_square_with_info_meta (AdjOpCall *call)
{
  const AdjTensorMeta *a = op_square_meta (call, 0);

  if (a == NULL)
    return FALSE;
  op_add_square (call, a);
  op_add_info (call, a);
  return TRUE;
}

/* The leading sizes of result 0. */
static AdjShape
batch_of_result (const AdjOpCall *call)
{
  AdjShape batch = call->results[0].meta.shape;

  batch.rank -= 2;
  return batch;
}

gboolean
op_load_system (AdjOpCall *call, guint a_arg, guint b_arg, OpMatrices *a, OpMatrices *b)
{
  AdjShape batch = batch_of_result (call);

  return op_open_lapack (call) && op_matrices_load (call, a_arg, &batch, 2, FALSE, a) &&
         op_matrices_load (call, b_arg, &batch, 2, FALSE, b);
}

gint *
op_load_pivots (const AdjOpCall *call, guint arg)
{
  AdjShape batch = batch_of_result (call);

  return op_integers_load (call, arg, &batch, 1);
}

/* -- costs -- */

static gint64
hint_of (const AdjOpCall *call, AdjSize size)
{
  gint64 hint = 0;

  adj_size_get_hint (op_symbols (call), size, &hint);
  return hint;
}

double
op_order_reduction (const AdjOpCall *call)
{
  const AdjShape *shape = &adj_op_call_meta (call, 0)->shape;

  return shape->rank > 1 ? (double) MAX (hint_of (call, shape->size[shape->rank - 1]),
                                         hint_of (call, shape->size[shape->rank - 2]))
                         : 1;
}

double
op_factor_flops (const AdjOpCall *call)
{
  double n = op_order_reduction (call);

  return 2.0 / 3 * n * op_count (call, &adj_op_call_meta (call, 0)->shape);
}

double
op_solve_flops (const AdjOpCall *call)
{
  return 2 * op_order_reduction (call) * op_count (call, &call->results[0].meta.shape);
}
