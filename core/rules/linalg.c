/* SPDX-License-Identifier: MIT */
/* Gradients of linear algebra, in PyTorch's steps and their order. */

#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/rule-arguments-private.h"

/* -- steps: each gives NULL for NULL, and when it fails -- */

static AdjTensor *
tensor_of (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TENSOR ? value->tensor : NULL;
}

static gboolean
truth_of (const AdjValue *value)
{
  return (value->kind == ADJ_VALUE_BOOL || value->kind == ADJ_VALUE_INT) && value->integer != 0;
}

static AdjTensor *
one (AdjRuleCall *call, AdjOpId op, AdjTensor *x)
{
  return x != NULL ? ADJ_APPLY (call->cx, op, ADJ_TENSOR (x)) : NULL;
}

static AdjTensor *
two (AdjRuleCall *call, AdjOpId op, AdjTensor *x, AdjTensor *y)
{
  return x != NULL && y != NULL ? ADJ_APPLY (call->cx, op, ADJ_TENSOR (x), ADJ_TENSOR (y)) : NULL;
}

static AdjTensor *
with_int (AdjRuleCall *call, AdjOpId op, AdjTensor *x, gint64 number)
{
  return x != NULL ? ADJ_APPLY (call->cx, op, ADJ_TENSOR (x), ADJ_INT (number)) : NULL;
}

static AdjTensor *
mul (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  return two (call, ADJ_OP_matmul, x, y);
}

static AdjTensor *
times (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  return two (call, ADJ_OP_mul_Tensor, x, y);
}

static AdjTensor *
add (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  return two (call, ADJ_OP_add_Tensor, x, y);
}

static AdjTensor *
sub (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  return two (call, ADJ_OP_sub_Tensor, x, y);
}

static AdjTensor *
neg (AdjRuleCall *call, AdjTensor *x)
{
  return one (call, ADJ_OP_neg, x);
}

static AdjTensor *
mH (AdjRuleCall *call, AdjTensor *x)
{
  return one (call, ADJ_OP_mH, x);
}

/* The lower or upper triangle, without the diagonal when @without. */
static AdjTensor *
triangle (AdjRuleCall *call, AdjTensor *x, gboolean upper, gboolean without)
{
  AdjOpId op = upper ? ADJ_OP_triu : ADJ_OP_tril;

  return without ? with_int (call, op, x, upper ? 1 : -1) : one (call, op, x);
}

static AdjTensor *
unsqueeze (AdjRuleCall *call, AdjTensor *x, gint64 dim)
{
  return with_int (call, ADJ_OP_unsqueeze, x, dim);
}

static AdjTensor *
scaled (AdjRuleCall *call, AdjTensor *x, double factor)
{
  return x != NULL ? ADJ_APPLY (call->cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (x), ADJ_FLOAT (factor))
                   : NULL;
}

static AdjTensor *
diagonal (AdjRuleCall *call, AdjTensor *x)
{
  return x != NULL ? ADJ_APPLY (call->cx, ADJ_OP_diagonal, ADJ_TENSOR (x), ADJ_INT (0),
                                ADJ_INT (-2), ADJ_INT (-1))
                   : NULL;
}

static AdjTensor *
put_diagonal (AdjRuleCall *call, AdjTensor *x, AdjTensor *on)
{
  return x != NULL && on != NULL
             ? ADJ_APPLY (call->cx, ADJ_OP_diagonal_scatter, ADJ_TENSOR (x), ADJ_TENSOR (on),
                          ADJ_INT (0), ADJ_INT (-2), ADJ_INT (-1))
             : NULL;
}

/* @x with @number on its diagonals. */
static AdjTensor *
fill_diagonal (AdjRuleCall *call, AdjTensor *x, AdjValue number)
{
  AdjTensor *on = diagonal (call, x);

  if (on != NULL)
    on = ADJ_APPLY (call->cx, ADJ_OP_fill_Scalar, ADJ_TENSOR (on), number);
  return put_diagonal (call, x, on);
}

static AdjSize
size_of (const AdjTensor *x, gint dim)
{
  const AdjShape *shape = &adj_tensor_get_meta (x)->shape;

  return shape->rank >= (guint) -dim ? shape->size[(gint) shape->rank + dim] : ADJ_SIZE (1);
}

static gboolean
is_larger (AdjRuleCall *call, AdjSize a, AdjSize b)
{
  return adj_size_test (adj_context_get_symbols (call->cx), ADJ_SIZE_GT, a, b);
}

static AdjTensor *
slice (AdjRuleCall *call, AdjTensor *x, gint dim, AdjSize start, AdjSize end)
{
  return x != NULL ? ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (dim),
                                adj_value_from_size (start), adj_value_from_size (end))
                   : NULL;
}

static AdjTensor *
join (AdjRuleCall *call, AdjTensor *a, AdjTensor *b, gint dim)
{
  AdjValue items[] = { ADJ_TENSOR (a), ADJ_TENSOR (b) };
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = 2, .items = items };

  return a != NULL && b != NULL ? ADJ_APPLY (call->cx, ADJ_OP_cat, list, ADJ_INT (dim)) : NULL;
}

typedef struct
{
  const char *name;
  gboolean on;
} Switch;

/* Calls an operator of whose keyword arguments those are true (or, of `left`, false) that are not
 * the default. */
static AdjTensor *
with_switches (AdjRuleCall *call,
               AdjOpId op,
               const AdjValue *args,
               guint n_args,
               const Switch *switches,
               guint n)
{
  AdjValue words[6];
  AdjValue result;
  guint n_words = 0;

  for (guint i = 0; i < n; i++)
    {
      words[n_words++] = (AdjValue){ .kind = ADJ_VALUE_STRING,
                                     .n = (guint) strlen (switches[i].name),
                                     .text = switches[i].name };
      words[n_words++] = ADJ_BOOL (switches[i].on);
    }
  if (!adj_call (call->cx, adj_op (op),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n_args, .items = (AdjValue *) args },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = n_words, .items = words }, &result))
    return NULL;
  return tensor_of (&result);
}

static AdjTensor *
solve_triangular (
    AdjRuleCall *call, AdjTensor *a, AdjTensor *b, gboolean upper, gboolean left, gboolean unit)
{
  const Switch switches[] = { { "upper", upper }, { "left", left }, { "unitriangular", unit } };
  const AdjValue args[] = { ADJ_TENSOR (a), ADJ_TENSOR (b) };

  return a != NULL && b != NULL
             ? with_switches (call, ADJ_OP_linalg_solve_triangular, args, 2, switches, 3)
             : NULL;
}

static AdjTensor *
lu_solve (AdjRuleCall *call,
          const AdjValue *lu,
          const AdjValue *pivots,
          AdjTensor *b,
          gboolean left,
          gboolean adjoint)
{
  const Switch switches[] = { { "left", left }, { "adjoint", adjoint } };
  const AdjValue args[] = { *lu, *pivots, ADJ_TENSOR (b) };

  return b != NULL ? with_switches (call, ADJ_OP_linalg_lu_solve, args, 3, switches, 2) : NULL;
}

/* Results of a call that gives several, by number. */
static gboolean
call_several (AdjRuleCall *call, AdjOpId op, const AdjValue *args, guint n, AdjValue *out)
{
  return adj_call (call->cx, adj_op (op),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args }, NULL,
                   out);
}

static gboolean
give_both (AdjRuleCall *call, AdjTensor *a, AdjTensor *b, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2 };
  out->items = adj_arena_new0 (call->arena, AdjValue, 2);
  out->items[0] = ADJ_TENSOR (a);
  out->items[1] = ADJ_TENSOR (b);
  return a != NULL && b != NULL;
}

/* -- Cholesky -- */

/* args: g, L, upper */
static gboolean
builtin_cholesky_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean upper = truth_of (&args[2]);
  AdjTensor *l = tensor_of (&args[1]), *g = tensor_of (&args[0]), *phi, *lh;

  if (upper)
    {
      l = mH (call, l);
      g = mH (call, g);
    }
  lh = mH (call, l);
  phi = triangle (call, mul (call, lh, g), FALSE, FALSE);
  phi = scaled (call, add (call, phi, mH (call, triangle (call, phi, FALSE, TRUE))), 0.5);
  lh = mH (call, l);
  phi = solve_triangular (call, lh, phi, TRUE, TRUE, FALSE);
  return rule_give (out, solve_triangular (call, l, phi, FALSE, FALSE, FALSE));
}

/* args: g, X, L, upper */
static gboolean
builtin_cholesky_solve_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean upper = truth_of (&args[3]);
  AdjTensor *l = tensor_of (&args[2]), *gb, *common;

  gb = ADJ_APPLY (call->cx, ADJ_OP_cholesky_solve, args[0], args[2], ADJ_BOOL (upper));
  common = mul (call, gb, mH (call, tensor_of (&args[1])));
  common = add (call, common, mH (call, common));
  common = upper ? mul (call, l, common) : mul (call, common, l);
  return give_both (call, gb, neg (call, common), out);
}

/* -- Gauss -- */

typedef struct
{
  AdjTensor *gl, *gu, *p, *l, *u; /* @p (nullable) */
} Factors;

static AdjTensor *
square_lu_backward (AdjRuleCall *call, const Factors *f)
{
  AdjTensor *a = NULL, *b = NULL;

  if (f->gl != NULL)
    a = triangle (call, mul (call, mH (call, f->l), f->gl), FALSE, TRUE);
  if (f->gu != NULL)
    b = triangle (call, mul (call, f->gu, mH (call, f->u)), TRUE, FALSE);
  if (a != NULL && b != NULL)
    a = add (call, a, b);
  else if (a == NULL)
    a = b;
  a = solve_triangular (call, mH (call, f->u), a, FALSE, FALSE, FALSE);
  return solve_triangular (call, mH (call, f->l), a, TRUE, TRUE, TRUE);
}

/* More columns than rows. */
static AdjTensor *
wide_lu_backward (AdjRuleCall *call, const Factors *f)
{
  AdjSize k = size_of (f->u, -2), n = size_of (f->u, -1);
  AdjTensor *a = NULL, *b = NULL, *rest;

  if (f->gl != NULL)
    a = mul (call, mH (call, f->l), f->gl);
  if (f->gu != NULL)
    {
      b = mul (call, triangle (call, f->gu, TRUE, FALSE), mH (call, f->u));
      a = a != NULL ? sub (call, a, b) : neg (call, b);
    }
  a = triangle (call, a, FALSE, TRUE);
  a = solve_triangular (call, mH (call, slice (call, f->u, -1, ADJ_SIZE (0), k)), a, FALSE, FALSE,
                        FALSE);
  if (f->gu == NULL)
    return NULL;
  a = add (call, a, triangle (call, slice (call, f->gu, -1, ADJ_SIZE (0), k), TRUE, FALSE));
  rest = slice (call, f->gu, -1, k, n);
  a = join (call, a, rest, -1);
  return solve_triangular (call, mH (call, f->l), a, TRUE, TRUE, TRUE);
}

/* More rows than columns. */
static AdjTensor *
tall_lu_backward (AdjRuleCall *call, const Factors *f)
{
  AdjSize k = size_of (f->l, -1), m = size_of (f->l, -2);
  AdjTensor *a = NULL, *b, *lh, *rest;

  if (f->gu != NULL)
    a = mul (call, f->gu, mH (call, f->u));
  if (f->gl == NULL)
    return NULL;
  lh = mH (call, f->l);
  b = mul (call, lh, triangle (call, f->gl, FALSE, TRUE));
  a = triangle (call, a != NULL ? sub (call, a, b) : neg (call, b), TRUE, FALSE);
  a = solve_triangular (call, mH (call, slice (call, f->l, -2, ADJ_SIZE (0), k)), a, TRUE, TRUE,
                        TRUE);
  a = add (call, a, triangle (call, slice (call, f->gl, -2, ADJ_SIZE (0), k), FALSE, TRUE));
  rest = slice (call, f->gl, -2, k, m);
  a = join (call, a, rest, -2);
  return solve_triangular (call, mH (call, f->u), a, FALSE, FALSE, FALSE);
}

static gboolean
lu_backward (AdjRuleCall *call, const Factors *f, AdjValue *out)
{
  AdjSize m = size_of (f->l, -2), n = size_of (f->u, -1);
  AdjTensor *a;

  if (is_larger (call, n, m))
    a = wide_lu_backward (call, f);
  else
    a = is_larger (call, m, n) ? tall_lu_backward (call, f) : square_lu_backward (call, f);
  if (a == NULL && !adj_context_has_error (call->cx))
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                           "has a gradient of L or U alone, which is not known unless A is square");
  return rule_give (out, f->p != NULL ? mul (call, f->p, a) : a);
}

/* args: gL, gU, P, L, U, pivot */
static gboolean
builtin_lu_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const Factors f = { tensor_of (&args[0]), tensor_of (&args[1]), tensor_of (&args[2]),
                      tensor_of (&args[3]), tensor_of (&args[4]) };

  return lu_backward (call, &f, out);
}

/* args: g, LU, pivots, pivot */
static gboolean
builtin_lu_factor_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *g = tensor_of (&args[0]);
  AdjSize k;
  AdjValue parts;
  Factors f;

  if (g == NULL || !call_several (call, ADJ_OP_lu_unpack, &args[1], 2, &parts))
    return FALSE;
  f.p = tensor_of (&parts.items[0]);
  f.l = tensor_of (&parts.items[1]);
  f.u = tensor_of (&parts.items[2]);
  k = size_of (f.l, -1);
  f.gl = slice (call, g, -1, ADJ_SIZE (0), k);
  f.gu = slice (call, g, -2, ADJ_SIZE (0), k);
  return lu_backward (call, &f, out);
}

/* args: gL, gU, LU */
static gboolean
builtin_lu_unpack_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = &rule_meta_of (call, &args[2])->shape;
  AdjSize rows = shape->size[shape->rank - 2], columns = shape->size[shape->rank - 1];
  gboolean tall = is_larger (call, rows, columns), wide = is_larger (call, columns, rows);
  AdjTensor *gl = tensor_of (&args[0]), *gu = tensor_of (&args[1]), *l = gl, *u = gu;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if ((tall || wide) && (gl == NULL || gu == NULL))
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                           "has a gradient of L or U alone, which is not known unless A is square");
  if (wide)
    u = slice (call, gu, -1, ADJ_SIZE (0), rows);
  u = triangle (call, u, TRUE, FALSE);
  if (tall)
    l = slice (call, gl, -2, ADJ_SIZE (0), columns);
  l = triangle (call, l, FALSE, TRUE);
  if (l != NULL && u != NULL)
    l = add (call, l, u);
  else if (l == NULL)
    l = u;
  if (tall)
    l = join (call, l, slice (call, gl, -2, columns, rows), -2);
  if (wide)
    l = join (call, l, slice (call, gu, -1, rows, columns), -1);
  return rule_give (out, l);
}

/* args: gX, X, LU, pivots, left; with left != adjoint */
static gboolean
builtin_lu_solve_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjValue parts, unpack[] = { args[2], args[3], ADJ_BOOL (TRUE), ADJ_BOOL (FALSE) };
  AdjTensor *l, *u, *r;

  if (!truth_of (&args[4]))
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "has a gradient that is not known here");
  if (!call_several (call, ADJ_OP_lu_unpack, unpack, 4, &parts))
    return FALSE;
  l = tensor_of (&parts.items[1]);
  u = tensor_of (&parts.items[2]);
  r = neg (call, mul (call, tensor_of (&args[0]), mH (call, tensor_of (&args[1]))));
  r = solve_triangular (call, mH (call, u), r, FALSE, TRUE, FALSE);
  u = mul (call, r, mH (call, u));
  l = solve_triangular (call, mH (call, l), u, TRUE, TRUE, TRUE);
  l = triangle (call, l, FALSE, TRUE);
  r = triangle (call, r, TRUE, FALSE);
  return rule_give (out, add (call, l, r));
}

/* Whether the factors are those of the transpose (ops/linalg-factor.c). */
static gboolean
is_factor_of_transpose (AdjRuleCall *call, const AdjValue *a)
{
  const AdjTensorMeta *meta = rule_meta_of (call, a);

  return adj_shape_is_contiguous (&meta->shape, adj_context_get_symbols (call->cx)) &&
         adj_dtype_get_real (meta->dtype) == meta->dtype;
}

/* Where the gradient is differentiated in turn the factors, which have none, do not do: PyTorch
 * then solves anew with A. */
static AdjTensor *
solve_transposed (AdjRuleCall *call,
                  const AdjValue *a,
                  const AdjValue *lu,
                  const AdjValue *pivots,
                  AdjTensor *b,
                  gboolean left)
{
  AdjValue args[] = { ADJ_NONE, ADJ_TENSOR (b) }, words[2], results;

  if (!adj_context_get_grad_enabled (call->cx))
    return lu_solve (call, lu, pivots, b, left, !is_factor_of_transpose (call, a));
  args[0] = ADJ_TENSOR (mH (call, tensor_of (a)));
  if (args[0].tensor == NULL || b == NULL)
    return NULL;
  words[0] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 4, .text = "left" };
  words[1] = ADJ_BOOL (left);
  if (!adj_call (call->cx, adj_op (ADJ_OP__linalg_solve_ex),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = words }, &results))
    return NULL;
  return tensor_of (&results.items[0]);
}

/* args: g, X, A, B, LU, pivots, left */
static gboolean
builtin_solve_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *b = &rule_meta_of (call, &args[3])->shape;
  const AdjShape *a = &rule_meta_of (call, &args[2])->shape;
  gboolean left = truth_of (&args[6]), vectors = b->rank == 1;
  AdjTensor *g = tensor_of (&args[0]), *x = tensor_of (&args[1]), *gb, *ga;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (b->rank + 1 == a->rank)
    {
      vectors = TRUE;
      for (guint i = 0; i < b->rank; i++)
        vectors &=
            adj_size_test (adj_context_get_symbols (call->cx), ADJ_SIZE_EQ, a->size[i], b->size[i]);
    }
  if (vectors)
    g = unsqueeze (call, g, -1);
  gb = solve_transposed (call, &args[2], &args[4], &args[5], g, left);
  if (vectors)
    x = unsqueeze (call, x, -1);
  x = mH (call, x);
  ga = neg (call, left ? mul (call, gb, x) : mul (call, x, gb));
  if (vectors)
    gb = with_int (call, ADJ_OP_squeeze_dim, gb, -1);
  return give_both (call, ga, gb, out);
}

/* @d on the diagonals of as many matrices as it has numbers, of the order of @a. */
static AdjTensor *
spread_diagonal (AdjRuleCall *call, AdjTensor *d, const AdjValue *a)
{
  const AdjShape *shape = &rule_meta_of (call, a)->shape;

  d = unsqueeze (call, d, -1);
  if (d == NULL)
    return NULL;
  d = ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (d),
                 adj_rule_list_sizes (call->arena, shape->size, shape->rank - 1));
  d = one (call, ADJ_OP_diag_embed, d);
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
  return tensor_of (&result);
}

/* @lu without zeros on its diagonals. */
static AdjTensor *
make_regular (AdjRuleCall *call, AdjTensor *lu)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (lu);
  double epsilon = adj_dtype_get_real (meta->dtype) == ADJ_DTYPE_F64 ? 0x1p-52 : 0x1p-23;
  AdjTensor *is_zero = diagonal (call, lu), *zero, *least;

  if (is_zero != NULL)
    is_zero = ADJ_APPLY (call->cx, ADJ_OP_eq_Scalar, ADJ_TENSOR (is_zero), ADJ_FLOAT (0));
  zero = is_zero != NULL ? number_like (call, 0, meta) : NULL;
  least = zero != NULL ? number_like (call, epsilon, meta) : NULL;
  if (least == NULL)
    return NULL;
  least = ADJ_APPLY (call->cx, ADJ_OP_where_self, ADJ_TENSOR (is_zero), ADJ_TENSOR (least),
                     ADJ_TENSOR (zero));
  return add (call, lu, one (call, ADJ_OP_diag_embed, least));
}

/* args: g, det, A, LU, pivots */
static gboolean
builtin_det_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *factor =
      times (call, tensor_of (&args[0]), one (call, ADJ_OP_conj, tensor_of (&args[1])));
  AdjTensor *lu = tensor_of (&args[3]), *d, *inverse;

  if (factor == NULL)
    return FALSE;
  if (!adj_context_get_grad_enabled (call->cx))
    {
      d = spread_diagonal (call, factor, &args[2]);
      lu = d != NULL ? make_regular (call, lu) : NULL;
      return lu != NULL && rule_give (out, lu_solve (call, &ADJ_TENSOR (lu), &args[4], d, TRUE,
                                                     !is_factor_of_transpose (call, &args[2])));
    }
  d = spread_diagonal (call, one (call, ADJ_OP_ones_like, factor), &args[2]);
  inverse = solve_transposed (call, &args[2], &args[3], &args[4], d, TRUE);
  factor = unsqueeze (call, unsqueeze (call, factor, -1), -1);
  return rule_give (out, times (call, inverse, factor));
}

/* args: g of the logarithm, A, LU, pivots, g of the sign, which does not change */
static gboolean
builtin_slogdet_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *g = tensor_of (&args[0]);
  AdjTensor *d = spread_diagonal (call, g, &args[1]);

  if (g == NULL)
    {
      *out = ADJ_TENSOR (NULL);
      return !adj_context_has_error (call->cx);
    }
  return rule_give (
      out, lu_solve (call, &args[2], &args[3], d, TRUE, !is_factor_of_transpose (call, &args[1])));
}

/* args: g, X, A, left, upper, unitriangular */
static gboolean
builtin_solve_triangular_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean left = truth_of (&args[3]), upper = truth_of (&args[4]), unit = truth_of (&args[5]);
  AdjTensor *gb, *ga, *xh;

  gb = solve_triangular (call, mH (call, tensor_of (&args[2])), tensor_of (&args[0]), !upper, left,
                         unit);
  xh = mH (call, tensor_of (&args[1]));
  ga = neg (call, left ? mul (call, gb, xh) : mul (call, xh, gb));
  return give_both (call, triangle (call, ga, upper, unit), gb, out);
}

/* args: gX, gA, X, A, upper, transpose, unitriangular */
static gboolean
builtin_triangular_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean upper = truth_of (&args[4]), turned = truth_of (&args[5]), unit = truth_of (&args[6]);
  AdjTensor *x = tensor_of (&args[2]), *gm = tensor_of (&args[1]), *gb, *ga;
  AdjValue solved,
      solve[] = { args[0], args[3], ADJ_BOOL (upper), ADJ_BOOL (!turned), ADJ_BOOL (unit) };

  if (tensor_of (&args[0]) == NULL)
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "has a gradient of the matrix alone");
  solve[1] = ADJ_TENSOR (one (call, ADJ_OP_conj, tensor_of (&args[3])));
  if (solve[1].tensor == NULL ||
      !call_several (call, ADJ_OP_triangular_solve, solve, unit ? 5 : 4, &solved))
    return FALSE;
  gb = tensor_of (&solved.items[0]);
  if (turned)
    ga = mul (call, one (call, ADJ_OP_conj, x), one (call, ADJ_OP_mT, gb));
  else
    ga = mul (call, gb, mH (call, x));
  ga = triangle (call, neg (call, ga), upper, unit);
  if (gm != NULL)
    ga = add (call, ga, gm);
  return give_both (call, gb, ga, out);
}

/* -- orthogonal factors -- */

/* X + Xᴴ of a triangle, with the diagonal as it was. */
static AdjTensor *
mirror (AdjRuleCall *call, AdjTensor *x)
{
  AdjTensor *sum = add (call, x, mH (call, x));

  return put_diagonal (call, sum, scaled (call, diagonal (call, sum), 0.5));
}

/* args: gQ, gR, Q, R, mode */
static gboolean
builtin_qr_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *gq = tensor_of (&args[0]), *gr = tensor_of (&args[1]);
  AdjTensor *q = tensor_of (&args[2]), *r = tensor_of (&args[3]), *a = NULL, *b = NULL, *rest;
  AdjSize m = size_of (q, -2), columns = size_of (r, -1);
  gboolean wide = is_larger (call, columns, m);

  if (is_larger (call, size_of (q, -1), columns))
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                           "The QR decomposition is not differentiable when mode='complete' and "
                           "nrows > ncols");
  if (gq != NULL)
    a = mul (call, mH (call, q), gq);
  if (gr != NULL)
    b = mul (call, gr, mH (call, r));
  if (a != NULL && b != NULL)
    a = sub (call, b, a);
  else
    a = b != NULL ? b : neg (call, a);
  if (!wide)
    {
      a = mul (call, q, mirror (call, triangle (call, a, TRUE, FALSE)));
      if (gq != NULL)
        a = add (call, a, gq);
      return rule_give (out, solve_triangular (call, mH (call, r), a, FALSE, FALSE, FALSE));
    }
  a = neg (call, a);
  a = triangle (call, sub (call, a, mH (call, a)), FALSE, FALSE);
  a = mul (call, q, a);
  r = slice (call, r, -1, ADJ_SIZE (0), m);
  a = solve_triangular (call, mH (call, r), a, FALSE, FALSE, FALSE);
  if (a == NULL)
    return FALSE;
  {
    AdjShape zeros = adj_tensor_get_meta (a)->shape;

    zeros.size[zeros.rank - 1] = adj_size_sub (adj_context_get_symbols (call->cx), columns, m);
    rest = ADJ_APPLY (call->cx, ADJ_OP_new_zeros, ADJ_TENSOR (a),
                      adj_rule_list_sizes (call->arena, zeros.size, zeros.rank));
  }
  a = join (call, a, rest, -1);
  return rule_give (out, gr != NULL ? add (call, a, mul (call, q, gr)) : a);
}

/* -- eigenvalues and singular values -- */

/* λ_j - λ_i, with 1 on the diagonal. */
static AdjTensor *
differences (AdjRuleCall *call, AdjTensor *values, AdjValue unit)
{
  AdjTensor *rows = unsqueeze (call, values, -1), *columns = unsqueeze (call, values, -2);

  return fill_diagonal (call, sub (call, columns, rows), unit);
}

/* args: gL, gV, L, V */
static gboolean
builtin_eigh_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *gl = tensor_of (&args[0]), *gv = tensor_of (&args[1]), *v = tensor_of (&args[3]);
  AdjTensor *vh = mH (call, v), *a;

  if (gv == NULL)
    return rule_give (out, mul (call, times (call, v, unsqueeze (call, gl, -2)), vh));
  a = mul (call, vh, gv);
  a = scaled (call, sub (call, a, mH (call, a)), 0.5);
  a = two (call, ADJ_OP_div_Tensor, a, differences (call, tensor_of (&args[2]), ADJ_FLOAT (1)));
  if (gl != NULL)
    a = put_diagonal (call, a, gl);
  a = mul (call, a, mH (call, v));
  return rule_give (out, mul (call, v, a));
}

/* The X with Vᴴ X = @b. */
static AdjTensor *
solve_adjoint (AdjRuleCall *call, AdjTensor *v, AdjTensor *b)
{
  AdjValue args[] = { ADJ_TENSOR (mH (call, v)), ADJ_TENSOR (b) }, results;

  if (args[0].tensor == NULL || b == NULL ||
      !call_several (call, ADJ_OP__linalg_solve_ex, args, 2, &results))
    return NULL;
  return tensor_of (&results.items[0]);
}

/* args: gL, gV, L, V */
static gboolean
builtin_eig_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *gl = tensor_of (&args[0]), *gv = tensor_of (&args[1]), *v = tensor_of (&args[3]);
  AdjTensor *a, *real, *l;

  if (gv == NULL)
    {
      a = mH (call, v);
      a = times (call, unsqueeze (call, gl, -1), a);
      return rule_give (out, solve_adjoint (call, v, a));
    }
  a = mul (call, mH (call, v), gv);
  real = one (call, ADJ_OP_real, diagonal (call, a));
  real = times (call, v, unsqueeze (call, real, -2));
  a = sub (call, a, mul (call, mH (call, v), real));
  l = one (call, ADJ_OP_conj, tensor_of (&args[2]));
  a = two (call, ADJ_OP_div_Tensor, a, differences (call, l, ADJ_FLOAT (1)));
  if (gl != NULL)
    a = put_diagonal (call, a, gl);
  a = mul (call, a, mH (call, v));
  return rule_give (out, solve_adjoint (call, v, a));
}

typedef struct
{
  AdjTensor *gu, *gs, *gvh, *u, *s, *vh;
  AdjSize m, n, k;
} Singular;

static AdjTensor *
skew (AdjRuleCall *call, AdjTensor *x)
{
  return x != NULL ? sub (call, x, mH (call, x)) : NULL;
}

/* What is between U and Vᴴ. */
static AdjTensor *
svd_inner (AdjRuleCall *call, const Singular *f)
{
  AdjTensor *a = NULL, *b = NULL, *e, *square;

  if (f->gu != NULL)
    a = skew (call, mul (call, mH (call, f->u), f->gu));
  if (f->gvh != NULL)
    {
      b = mH (call, f->gvh);
      b = skew (call, mul (call, f->vh, b));
    }
  square = times (call, f->s, f->s);
  e = differences (call, square, ADJ_INT (1));
  if (b != NULL)
    b = times (call, unsqueeze (call, f->s, -1), b);
  if (a != NULL)
    a = times (call, a, unsqueeze (call, f->s, -2));
  if (a != NULL && b != NULL)
    a = add (call, a, b);
  else if (a == NULL)
    a = b;
  a = two (call, ADJ_OP_div_Tensor, a, e);
  return f->gs != NULL ? add (call, a, one (call, ADJ_OP_diag_embed, f->gs)) : a;
}

static AdjTensor *
svd_outer (AdjRuleCall *call, const Singular *f, AdjTensor *a)
{
  AdjTensor *rest, *along;

  if (is_larger (call, f->m, f->k) && f->gu != NULL)
    {
      a = mul (call, f->u, a);
      rest = two (call, ADJ_OP_div_Tensor, f->gu, unsqueeze (call, f->s, -2));
      along = mul (call, f->u, mul (call, mH (call, f->u), rest));
      return mul (call, sub (call, add (call, a, rest), along), f->vh);
    }
  if (is_larger (call, f->n, f->k) && f->gvh != NULL)
    {
      a = mul (call, a, f->vh);
      rest = two (call, ADJ_OP_div_Tensor, f->gvh, unsqueeze (call, f->s, -1));
      along = mH (call, f->vh);
      along = mul (call, mul (call, rest, along), f->vh);
      return mul (call, f->u, sub (call, add (call, a, rest), along));
    }
  if (is_larger (call, f->n, f->m))
    return mul (call, mul (call, f->u, a), f->vh);
  return mul (call, f->u, mul (call, a, f->vh));
}

/* args: gU, gS, gVh, U, S, Vh, full_matrices */
static gboolean
builtin_svd_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  Singular f = { tensor_of (&args[0]), tensor_of (&args[1]), tensor_of (&args[2]),
                 tensor_of (&args[3]), tensor_of (&args[4]), tensor_of (&args[5]),
                 ADJ_SIZE (0),         ADJ_SIZE (0),         ADJ_SIZE (0) };

  f.m = size_of (f.u, -2);
  f.n = size_of (f.vh, -1);
  f.k = size_of (f.s, -1);
  if (f.gu == NULL && f.gvh == NULL)
    {
      if (is_larger (call, f.n, f.m))
        return rule_give (out, mul (call, times (call, f.u, unsqueeze (call, f.gs, -2)), f.vh));
      return rule_give (out, mul (call, f.u, times (call, unsqueeze (call, f.gs, -1), f.vh)));
    }
  if (truth_of (&args[6]))
    {
      const AdjSize none = ADJ_SIZE (0);

      f.vh = slice (call, f.vh, -2, none, f.k);
      f.u = slice (call, f.u, -1, none, f.k);
      f.gvh = slice (call, f.gvh, -2, none, f.k);
      f.gu = slice (call, f.gu, -1, none, f.k);
    }
  return rule_give (out, svd_outer (call, &f, svd_inner (call, &f)));
}

/* -- powers -- */

/* args: A, n ≥ 1 */
static gboolean
builtin_matrix_power (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gint64 power = args[1].kind == ADJ_VALUE_INT ? args[1].integer : 1;
  AdjTensor *a = tensor_of (&args[0]), *z = a, *result = NULL;

  if (power == 3)
    return rule_give (out, mul (call, mul (call, a, a), a));
  for (gboolean first = TRUE; power > 0 && z != NULL; power /= 2, first = FALSE)
    {
      if (!first)
        z = mul (call, z, z);
      if (power % 2 != 0)
        result = result != NULL ? mul (call, result, z) : z;
    }
  return rule_give (out, z != NULL ? result : NULL);
}

/* -- the table -- */

static const RuleBuiltin rows[] = {
#define BUILTIN(word, help) { #word, builtin_##word },
#include "ops/linalg-builtins.inc"
#undef BUILTIN
};

const RuleBuiltinTable rule_linalg_builtins = { rows, G_N_ELEMENTS (rows) };

guint32
rule_linalg_builtin_describes (const RuleBuiltin *builtin)
{
  if (builtin->func == builtin_solve_backward)
    return 1 << 3;
  return builtin->func == builtin_lu_unpack_backward ? 1 << 2 : 0;
}
