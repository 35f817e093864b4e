/* SPDX-License-Identifier: MIT */
/* Gradients of solutions of linear systems and of determinants. */

#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/linalg-private.h"

/* -- by factors -- */

/* args: g, X, L, upper */
gboolean
rule_cholesky_solve_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean upper = adj_op_value_is_true (&args[3]);
  AdjTensor *l = rule_tensor_of (&args[2]), *gb, *common;

  gb = ADJ_APPLY (call->cx, ADJ_OP_cholesky_solve, args[0], args[2], ADJ_BOOL (upper));
  common = rule_matmul (call, gb, rule_mH (call, rule_tensor_of (&args[1])));
  common = rule_add (call, common, rule_mH (call, common));
  common = upper ? rule_matmul (call, l, common) : rule_matmul (call, common, l);
  return rule_give_both (call, gb, rule_neg (call, common), out);
}

/* args: gX, X, LU, pivots, left; with left != adjoint */
gboolean
rule_lu_solve_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjValue parts, unpack[] = { args[2], args[3], ADJ_BOOL (TRUE), ADJ_BOOL (FALSE) };
  AdjTensor *l, *u, *r;

  if (!adj_op_value_is_true (&args[4]))
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "has a gradient that is not known here");
  if (!rule_call_several (call, ADJ_OP_lu_unpack, unpack, 4, &parts))
    return FALSE;
  l = rule_tensor_of (&parts.items[1]);
  u = rule_tensor_of (&parts.items[2]);
  r = rule_neg (call, rule_matmul (call, rule_tensor_of (&args[0]),
                                   rule_mH (call, rule_tensor_of (&args[1]))));
  r = rule_solve_triangular (call, rule_mH (call, u), r, FALSE, TRUE, FALSE);
  u = rule_matmul (call, r, rule_mH (call, u));
  l = rule_solve_triangular (call, rule_mH (call, l), u, TRUE, TRUE, TRUE);
  l = rule_triangle (call, l, FALSE, TRUE);
  r = rule_triangle (call, r, TRUE, FALSE);
  return rule_give (out, rule_add (call, l, r));
}

/* -- systems -- */

/* Whether LU has the factors of the transpose of @a (ops/lu.c). */
static gboolean
is_factor_of_transpose (AdjRuleCall *call, const AdjValue *a)
{
  const AdjTensorMeta *meta = rule_meta_of (call, a);

  return adj_shape_is_contiguous (&meta->shape, adj_context_get_symbols (call->cx)) &&
         adj_dtype_get_real (meta->dtype) == meta->dtype;
}

/* If the gradient is differentiated again, the factors cannot be used, since they have no gradient:
 * as PyTorch, solves with A again.  @itself: the factors are those of A in any layout. */
static AdjTensor *
solve_transposed (AdjRuleCall *call,
                  const AdjValue *a,
                  const AdjValue *lu,
                  const AdjValue *pivots,
                  AdjTensor *b,
                  gboolean left,
                  gboolean itself)
{
  AdjValue args[] = { ADJ_NONE, ADJ_TENSOR (b) }, words[2], results;

  if (!adj_context_get_grad_enabled (call->cx))
    return rule_lu_solve (call, lu, pivots, b, left, itself || !is_factor_of_transpose (call, a));
  args[0] = ADJ_TENSOR (rule_mH (call, rule_tensor_of (a)));
  if (args[0].tensor == NULL || b == NULL)
    return NULL;
  words[0] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 4, .text = "left" };
  words[1] = ADJ_BOOL (left);
  if (!adj_call (call->cx, adj_op (ADJ_OP__linalg_solve_ex),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = words }, &results))
    return NULL;
  return rule_tensor_of (&results.items[0]);
}

/* args: g, X, A, LU, pivots, left, and whether the factors are those of A in any layout.  X is a
 * vector if B was. */
gboolean
rule_solve_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *solution = &rule_meta_of (call, &args[1])->shape;
  const AdjShape *a = &rule_meta_of (call, &args[2])->shape;
  gboolean left = adj_op_value_is_true (&args[5]), vectors = solution->rank == 1;
  AdjTensor *g = rule_tensor_of (&args[0]), *x = rule_tensor_of (&args[1]), *gb, *ga;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (solution->rank + 1 == a->rank)
    {
      vectors = TRUE;
      for (guint i = 0; i < solution->rank; i++)
        vectors &= adj_size_test (adj_context_get_symbols (call->cx), ADJ_SIZE_EQ, a->size[i],
                                  solution->size[i]);
    }
  if (vectors)
    g = rule_unsqueeze (call, g, -1);
  gb = solve_transposed (call, &args[2], &args[3], &args[4], g, left, rule_is_true (args, n, 6));
  if (vectors)
    x = rule_unsqueeze (call, x, -1);
  x = rule_mH (call, x);
  ga = rule_neg (call, left ? rule_matmul (call, gb, x) : rule_matmul (call, x, gb));
  if (vectors)
    gb = rule_apply_int (call, ADJ_OP_squeeze_dim, gb, -1);
  return rule_give_both (call, ga, gb, out);
}

/* -- determinants -- */

/* Diagonal matrices, of the order of @a, with the numbers @d. */
static AdjTensor *
spread_diagonal (AdjRuleCall *call, AdjTensor *d, const AdjValue *a)
{
  const AdjShape *shape = &rule_meta_of (call, a)->shape;

  d = rule_unsqueeze (call, d, -1);
  if (d == NULL)
    return NULL;
  d = ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (d),
                 adj_rule_list_sizes (call->arena, shape->size, shape->rank - 1));
  d = rule_apply_one (call, ADJ_OP_diag_embed, d);
  return d != NULL ? ADJ_APPLY (call->cx, ADJ_OP_transpose_int, ADJ_TENSOR (d), ADJ_INT (-2),
                                ADJ_INT (-1))
                   : NULL;
}

static AdjTensor *
number_like (AdjRuleCall *call, double number, const AdjTensorMeta *like)
{
  AdjValue words[6] = {
    { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
    ADJ_DTYPE (like->dtype),
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "layout" },
    { .kind = ADJ_VALUE_LAYOUT, .layout = ADJ_LAYOUT_STRIDED },
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" },
    { .kind = ADJ_VALUE_DEVICE, .device = like->device },
  };
  AdjValue result;

  if (!adj_call (call->cx, adj_op (ADJ_OP_scalar_tensor),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &ADJ_FLOAT (number) },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 6, .items = words }, &result))
    return NULL;
  return rule_tensor_of (&result);
}

/* @lu with zeros on the diagonals replaced. */
static AdjTensor *
make_regular (AdjRuleCall *call, AdjTensor *lu)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (lu);
  double epsilon = adj_dtype_get_real (meta->dtype) == ADJ_DTYPE_F64 ? 0x1p-52 : 0x1p-23;
  AdjTensor *is_zero = rule_diagonal (call, lu), *zero, *least;

  if (is_zero != NULL)
    is_zero = ADJ_APPLY (call->cx, ADJ_OP_eq_Scalar, ADJ_TENSOR (is_zero), ADJ_FLOAT (0));
  zero = is_zero != NULL ? number_like (call, 0, meta) : NULL;
  least = zero != NULL ? number_like (call, epsilon, meta) : NULL;
  if (least == NULL)
    return NULL;
  least = ADJ_APPLY (call->cx, ADJ_OP_where_self, ADJ_TENSOR (is_zero), ADJ_TENSOR (least),
                     ADJ_TENSOR (zero));
  return rule_add (call, lu, rule_apply_one (call, ADJ_OP_diag_embed, least));
}

/* args: g, det, A, LU, pivots */
gboolean
rule_det_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *factor = rule_times (call, rule_tensor_of (&args[0]),
                                  rule_apply_one (call, ADJ_OP_conj, rule_tensor_of (&args[1])));
  AdjTensor *lu = rule_tensor_of (&args[3]), *d, *inverse;

  if (factor == NULL)
    return FALSE;
  if (!adj_context_get_grad_enabled (call->cx))
    {
      d = spread_diagonal (call, factor, &args[2]);
      lu = d != NULL ? make_regular (call, lu) : NULL;
      return lu != NULL &&
             rule_give (out, rule_lu_solve (call, &ADJ_TENSOR (lu), &args[4], d, TRUE,
                                            !is_factor_of_transpose (call, &args[2])));
    }
  d = spread_diagonal (call, rule_apply_one (call, ADJ_OP_ones_like, factor), &args[2]);
  inverse = solve_transposed (call, &args[2], &args[3], &args[4], d, TRUE, FALSE);
  factor = rule_unsqueeze (call, rule_unsqueeze (call, factor, -1), -1);
  return rule_give (out, rule_times (call, inverse, factor));
}

/* For complex matrices, adds the gradient of the sign: g of the logarithm − i Im (g̅ of the sign ·
 * sign). */
static AdjTensor *
add_turn (AdjRuleCall *call, AdjTensor *g, AdjTensor *g_sign, AdjTensor *sign)
{
  AdjValue numbers[] = { g != NULL ? ADJ_FLOAT (0) : ADJ_FLOAT (-0.0),
                         ADJ_FLOAT (g != NULL ? 1 : -1) };
  AdjValue unit = { .kind = ADJ_VALUE_COMPLEX, .n = 2, .items = numbers };
  AdjTensor *turn;

  if (g_sign == NULL)
    return g != NULL ? ADJ_APPLY (call->cx, ADJ_OP_to_dtype, ADJ_TENSOR (g),
                                  ADJ_DTYPE (adj_tensor_get_meta (sign)->dtype))
                     : NULL;
  turn = rule_times (call, rule_apply_one (call, ADJ_OP_conj, g_sign), sign);
  turn = rule_apply_one (call, ADJ_OP_imag, turn);
  if (turn != NULL)
    turn = ADJ_APPLY (call->cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (turn), unit);
  return g != NULL ? rule_sub (call, g, turn) : turn;
}

/* args: g of the logarithm, A, LU, pivots, g of the sign, the sign (which is constant for real
 * matrices) */
gboolean
rule_slogdet_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjDType dtype = rule_meta_of (call, &args[1])->dtype;
  AdjTensor *g = rule_tensor_of (&args[0]), *d;

  if (adj_dtype_get_real (dtype) != dtype)
    g = add_turn (call, g, rule_tensor_of (&args[4]), rule_tensor_of (&args[5]));
  d = spread_diagonal (call, g, &args[1]);
  if (g == NULL)
    {
      *out = ADJ_TENSOR (NULL);
      return !adj_context_has_error (call->cx);
    }
  return rule_give (out, solve_transposed (call, &args[1], &args[2], &args[3], d, TRUE, FALSE));
}

/* -- triangles -- */

/* args: g, X, A, left, upper, unitriangular */
gboolean
rule_solve_triangular_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean left = adj_op_value_is_true (&args[3]), upper = adj_op_value_is_true (&args[4]),
           unit = adj_op_value_is_true (&args[5]);
  AdjTensor *gb, *ga, *xh;

  gb = rule_solve_triangular (call, rule_mH (call, rule_tensor_of (&args[2])),
                              rule_tensor_of (&args[0]), !upper, left, unit);
  xh = rule_mH (call, rule_tensor_of (&args[1]));
  ga = rule_neg (call, left ? rule_matmul (call, gb, xh) : rule_matmul (call, xh, gb));
  return rule_give_both (call, rule_triangle (call, ga, upper, unit), gb, out);
}

/* args: gX, gA, X, A, upper, transpose, unitriangular */
gboolean
rule_triangular_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean upper = adj_op_value_is_true (&args[4]), turned = adj_op_value_is_true (&args[5]),
           unit = adj_op_value_is_true (&args[6]);
  AdjTensor *x = rule_tensor_of (&args[2]), *gm = rule_tensor_of (&args[1]), *gb, *ga;
  AdjValue solved,
      solve[] = { args[0], args[3], ADJ_BOOL (upper), ADJ_BOOL (!turned), ADJ_BOOL (unit) };

  if (rule_tensor_of (&args[0]) == NULL)
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "has a gradient of the matrix alone");
  solve[1] = ADJ_TENSOR (rule_apply_one (call, ADJ_OP_conj, rule_tensor_of (&args[3])));
  if (solve[1].tensor == NULL ||
      !rule_call_several (call, ADJ_OP_triangular_solve, solve, unit ? 5 : 4, &solved))
    return FALSE;
  gb = rule_tensor_of (&solved.items[0]);
  if (turned)
    ga = rule_matmul (call, rule_apply_one (call, ADJ_OP_conj, x),
                      rule_apply_one (call, ADJ_OP_mT, gb));
  else
    ga = rule_matmul (call, gb, rule_mH (call, x));
  ga = rule_triangle (call, rule_neg (call, ga), upper, unit);
  if (gm != NULL)
    ga = rule_add (call, ga, gm);
  return rule_give_both (call, gb, ga, out);
}
