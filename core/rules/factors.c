/* SPDX-License-Identifier: MIT */
/* Gradients of Cholesky, LU and QR factors. */

#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/linalg-private.h"

/* -- Cholesky -- */

/* args: g, L, upper */
gboolean
rule_cholesky_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean upper = adj_op_value_is_true (&args[2]);
  AdjTensor *l = rule_tensor_of (&args[1]), *g = rule_tensor_of (&args[0]), *phi, *lh;

  if (upper)
    {
      l = rule_mH (call, l);
      g = rule_mH (call, g);
    }
  lh = rule_mH (call, l);
  phi = rule_triangle (call, rule_matmul (call, lh, g), FALSE, FALSE);
  phi = rule_scaled (
      call, rule_add (call, phi, rule_mH (call, rule_triangle (call, phi, FALSE, TRUE))), 0.5);
  lh = rule_mH (call, l);
  phi = rule_solve_triangular (call, lh, phi, TRUE, TRUE, FALSE);
  return rule_give (out, rule_solve_triangular (call, l, phi, FALSE, FALSE, FALSE));
}

/* -- Gauss -- */

typedef struct
{
  AdjTensor *gl, *gu, *p, *l, *u; /* @p (nullable) */
} Factors;

static gboolean
fail_alone (AdjRuleCall *call)
{
  return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                         "has a gradient of L or U alone, which is not known unless A is square");
}

static AdjTensor *
square_lu_backward (AdjRuleCall *call, const Factors *f)
{
  AdjTensor *a = NULL, *b = NULL;

  if (f->gl != NULL)
    a = rule_triangle (call, rule_matmul (call, rule_mH (call, f->l), f->gl), FALSE, TRUE);
  if (f->gu != NULL)
    b = rule_triangle (call, rule_matmul (call, f->gu, rule_mH (call, f->u)), TRUE, FALSE);
  if (a != NULL && b != NULL)
    a = rule_add (call, a, b);
  else if (a == NULL)
    a = b;
  a = rule_solve_triangular (call, rule_mH (call, f->u), a, FALSE, FALSE, FALSE);
  return rule_solve_triangular (call, rule_mH (call, f->l), a, TRUE, TRUE, TRUE);
}

/* More columns than rows. */
static AdjTensor *
wide_lu_backward (AdjRuleCall *call, const Factors *f)
{
  AdjSize k = rule_size_of (f->u, -2), n = rule_size_of (f->u, -1);
  AdjTensor *a = NULL, *b = NULL, *rest;

  if (f->gl != NULL)
    a = rule_matmul (call, rule_mH (call, f->l), f->gl);
  if (f->gu != NULL)
    {
      b = rule_matmul (call, rule_triangle (call, f->gu, TRUE, FALSE), rule_mH (call, f->u));
      a = a != NULL ? rule_sub (call, a, b) : rule_neg (call, b);
    }
  a = rule_triangle (call, a, FALSE, TRUE);
  a = rule_solve_triangular (call, rule_mH (call, rule_slice (call, f->u, -1, ADJ_SIZE (0), k)), a,
                             FALSE, FALSE, FALSE);
  if (f->gu == NULL)
    return NULL;
  a = rule_add (call, a,
                rule_triangle (call, rule_slice (call, f->gu, -1, ADJ_SIZE (0), k), TRUE, FALSE));
  rest = rule_slice (call, f->gu, -1, k, n);
  a = rule_join (call, a, rest, -1);
  return rule_solve_triangular (call, rule_mH (call, f->l), a, TRUE, TRUE, TRUE);
}

/* More rows than columns. */
static AdjTensor *
tall_lu_backward (AdjRuleCall *call, const Factors *f)
{
  AdjSize k = rule_size_of (f->l, -1), m = rule_size_of (f->l, -2);
  AdjTensor *a = NULL, *b, *lh, *rest;

  if (f->gu != NULL)
    a = rule_matmul (call, f->gu, rule_mH (call, f->u));
  if (f->gl == NULL)
    return NULL;
  lh = rule_mH (call, f->l);
  b = rule_matmul (call, lh, rule_triangle (call, f->gl, FALSE, TRUE));
  a = rule_triangle (call, a != NULL ? rule_sub (call, a, b) : rule_neg (call, b), TRUE, FALSE);
  a = rule_solve_triangular (call, rule_mH (call, rule_slice (call, f->l, -2, ADJ_SIZE (0), k)), a,
                             TRUE, TRUE, TRUE);
  a = rule_add (call, a,
                rule_triangle (call, rule_slice (call, f->gl, -2, ADJ_SIZE (0), k), FALSE, TRUE));
  rest = rule_slice (call, f->gl, -2, k, m);
  a = rule_join (call, a, rest, -2);
  return rule_solve_triangular (call, rule_mH (call, f->u), a, FALSE, FALSE, FALSE);
}

static gboolean
lu_backward (AdjRuleCall *call, const Factors *f, AdjValue *out)
{
  AdjSize m = rule_size_of (f->l, -2), n = rule_size_of (f->u, -1);
  AdjTensor *a;

  if (rule_is_larger (call, n, m))
    a = wide_lu_backward (call, f);
  else
    a = rule_is_larger (call, m, n) ? tall_lu_backward (call, f) : square_lu_backward (call, f);
  if (a == NULL && !adj_context_has_error (call->cx))
    return fail_alone (call);
  return rule_give (out, f->p != NULL ? rule_matmul (call, f->p, a) : a);
}

/* args: gL, gU, P, L, U, pivot */
gboolean
rule_lu_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const Factors f = { rule_tensor_of (&args[0]), rule_tensor_of (&args[1]),
                      rule_tensor_of (&args[2]), rule_tensor_of (&args[3]),
                      rule_tensor_of (&args[4]) };

  return lu_backward (call, &f, out);
}

/* args: g, LU, pivots, pivot */
gboolean
rule_lu_factor_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *g = rule_tensor_of (&args[0]);
  AdjSize k;
  AdjValue parts;
  Factors f;

  if (g == NULL || !rule_call_several (call, ADJ_OP_lu_unpack, &args[1], 2, &parts))
    return FALSE;
  f.p = rule_tensor_of (&parts.items[0]);
  f.l = rule_tensor_of (&parts.items[1]);
  f.u = rule_tensor_of (&parts.items[2]);
  k = rule_size_of (f.l, -1);
  f.gl = rule_slice (call, g, -1, ADJ_SIZE (0), k);
  f.gu = rule_slice (call, g, -2, ADJ_SIZE (0), k);
  return lu_backward (call, &f, out);
}

/* args: gL, gU, LU */
gboolean
rule_lu_unpack_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = &rule_meta_of (call, &args[2])->shape;
  AdjSize rows = shape->size[shape->rank - 2], columns = shape->size[shape->rank - 1];
  gboolean tall = rule_is_larger (call, rows, columns), wide = rule_is_larger (call, columns, rows);
  AdjTensor *gl = rule_tensor_of (&args[0]), *gu = rule_tensor_of (&args[1]), *l = gl, *u = gu;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if ((tall || wide) && (gl == NULL || gu == NULL))
    return fail_alone (call);
  if (wide)
    u = rule_slice (call, gu, -1, ADJ_SIZE (0), rows);
  u = rule_triangle (call, u, TRUE, FALSE);
  if (tall)
    l = rule_slice (call, gl, -2, ADJ_SIZE (0), columns);
  l = rule_triangle (call, l, FALSE, TRUE);
  if (l != NULL && u != NULL)
    l = rule_add (call, l, u);
  else if (l == NULL)
    l = u;
  if (tall)
    l = rule_join (call, l, rule_slice (call, gl, -2, columns, rows), -2);
  if (wide)
    l = rule_join (call, l, rule_slice (call, gu, -1, rows, columns), -1);
  return rule_give (out, l);
}

/* -- orthogonal -- */

static gboolean
is_complex (const AdjTensor *x)
{
  AdjDType dtype = adj_tensor_get_meta (x)->dtype;

  return adj_dtype_get_real (dtype) != dtype;
}

/* @x with the real (@which 0) or imaginary (1) part of its diagonal halved. */
static AdjTensor *
halve_part (AdjRuleCall *call, AdjTensor *x, gint64 which)
{
  AdjTensor *pairs = rule_apply_one (call, ADJ_OP_view_as_real, rule_diagonal (call, x)), *part;
  AdjValue last = ADJ_INT (pairs != NULL ? (gint64) adj_tensor_get_rank (pairs) - 1 : 0);

  if (pairs == NULL)
    return NULL;
  part = ADJ_APPLY (call->cx, ADJ_OP_select_int, ADJ_TENSOR (pairs), last, ADJ_INT (which));
  part = rule_scaled (call, part, 0.5);
  pairs = rule_apply_one (call, ADJ_OP_view_as_real, rule_diagonal (call, x));
  if (part == NULL || pairs == NULL)
    return NULL;
  pairs = ADJ_APPLY (call->cx, ADJ_OP_select_scatter, ADJ_TENSOR (pairs), ADJ_TENSOR (part), last,
                     ADJ_INT (which));
  return rule_put_diagonal (call, x, rule_apply_one (call, ADJ_OP_view_as_complex, pairs));
}

/* X + Xᴴ for a triangle X, with the diagonal unchanged. */
static AdjTensor *
mirror (AdjRuleCall *call, AdjTensor *x)
{
  AdjTensor *sum = rule_add (call, x, rule_mH (call, x));

  if (sum != NULL && is_complex (sum))
    return halve_part (call, sum, 0);
  return rule_put_diagonal (call, sum, rule_scaled (call, rule_diagonal (call, sum), 0.5));
}

/* args: gQ, gR, Q, R, mode */
gboolean
rule_qr_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *gq = rule_tensor_of (&args[0]), *gr = rule_tensor_of (&args[1]);
  AdjTensor *q = rule_tensor_of (&args[2]), *r = rule_tensor_of (&args[3]), *a = NULL, *b = NULL,
            *rest;
  AdjSize m = rule_size_of (q, -2), columns = rule_size_of (r, -1);
  gboolean wide = rule_is_larger (call, columns, m);

  if (rule_is_larger (call, rule_size_of (q, -1), columns))
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                           "The QR decomposition is not differentiable when mode='complete' and "
                           "nrows > ncols");
  if (gq != NULL)
    a = rule_matmul (call, rule_mH (call, q), gq);
  if (gr != NULL)
    b = rule_matmul (call, gr, rule_mH (call, r));
  if (a != NULL && b != NULL)
    a = rule_sub (call, b, a);
  else
    a = b != NULL ? b : rule_neg (call, a);
  if (!wide)
    {
      a = rule_matmul (call, q, mirror (call, rule_triangle (call, a, TRUE, FALSE)));
      if (gq != NULL)
        a = rule_add (call, a, gq);
      return rule_give (out,
                        rule_solve_triangular (call, rule_mH (call, r), a, FALSE, FALSE, FALSE));
    }
  a = rule_neg (call, a);
  a = rule_triangle (call, rule_sub (call, a, rule_mH (call, a)), FALSE, FALSE);
  if (a != NULL && is_complex (a))
    a = halve_part (call, a, 1);
  a = rule_matmul (call, q, a);
  r = rule_slice (call, r, -1, ADJ_SIZE (0), m);
  a = rule_solve_triangular (call, rule_mH (call, r), a, FALSE, FALSE, FALSE);
  if (a == NULL)
    return FALSE;
  {
    AdjShape zeros = adj_tensor_get_meta (a)->shape;

    zeros.size[zeros.rank - 1] = adj_size_sub (adj_context_get_symbols (call->cx), columns, m);
    rest = ADJ_APPLY (call->cx, ADJ_OP_new_zeros, ADJ_TENSOR (a),
                      adj_rule_list_sizes (call->arena, zeros.size, zeros.rank));
  }
  a = rule_join (call, a, rest, -1);
  return rule_give (out, gr != NULL ? rule_add (call, a, rule_matmul (call, q, gr)) : a);
}
