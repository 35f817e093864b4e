/* SPDX-License-Identifier: MIT */
/* Gradients of eigenvalues, singular values and their vectors. */

#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/linalg-private.h"

/* -- eigenvalues -- */

/* @x with @number on its diagonals. */
static AdjTensor *
fill_diagonal (AdjRuleCall *call, AdjTensor *x, AdjValue number)
{
  AdjTensor *on = rule_diagonal (call, x);

  if (on != NULL)
    on = ADJ_APPLY (call->cx, ADJ_OP_fill_Scalar, ADJ_TENSOR (on), number);
  return rule_put_diagonal (call, x, on);
}

/* λ_j - λ_i, with 1 on the diagonal. */
static AdjTensor *
differences (AdjRuleCall *call, AdjTensor *values, AdjValue unit)
{
  AdjTensor *rows = rule_unsqueeze (call, values, -1), *columns = rule_unsqueeze (call, values, -2);

  return fill_diagonal (call, rule_sub (call, columns, rows), unit);
}

/* args: gL, gV, L, V */
gboolean
rule_eigh_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *gl = rule_tensor_of (&args[0]), *gv = rule_tensor_of (&args[1]),
            *v = rule_tensor_of (&args[3]);
  AdjTensor *vh = rule_mH (call, v), *a;

  if (gv == NULL)
    return rule_give (out,
                      rule_matmul (call, rule_times (call, v, rule_unsqueeze (call, gl, -2)), vh));
  a = rule_matmul (call, vh, gv);
  a = rule_scaled (call, rule_sub (call, a, rule_mH (call, a)), 0.5);
  a = rule_apply_two (call, ADJ_OP_div_Tensor, a,
                      differences (call, rule_tensor_of (&args[2]), ADJ_FLOAT (1)));
  if (gl != NULL)
    a = rule_put_diagonal (call, a, gl);
  a = rule_matmul (call, a, rule_mH (call, v));
  return rule_give (out, rule_matmul (call, v, a));
}

/* The X with Vᴴ X = @b. */
static AdjTensor *
solve_adjoint (AdjRuleCall *call, AdjTensor *v, AdjTensor *b)
{
  AdjValue args[] = { ADJ_TENSOR (rule_mH (call, v)), ADJ_TENSOR (b) }, results;

  if (args[0].tensor == NULL || b == NULL ||
      !rule_call_several (call, ADJ_OP__linalg_solve_ex, args, 2, &results))
    return NULL;
  return rule_tensor_of (&results.items[0]);
}

/* args: gL, gV, L, V */
gboolean
rule_eig_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *gl = rule_tensor_of (&args[0]), *gv = rule_tensor_of (&args[1]),
            *v = rule_tensor_of (&args[3]);
  AdjTensor *a, *real, *l;

  if (gv == NULL)
    {
      a = rule_mH (call, v);
      a = rule_times (call, rule_unsqueeze (call, gl, -1), a);
      return rule_give (out, solve_adjoint (call, v, a));
    }
  a = rule_matmul (call, rule_mH (call, v), gv);
  real = rule_apply_one (call, ADJ_OP_real, rule_diagonal (call, a));
  real = rule_times (call, v, rule_unsqueeze (call, real, -2));
  a = rule_sub (call, a, rule_matmul (call, rule_mH (call, v), real));
  l = rule_apply_one (call, ADJ_OP_conj, rule_tensor_of (&args[2]));
  a = rule_apply_two (call, ADJ_OP_div_Tensor, a, differences (call, l, ADJ_FLOAT (1)));
  if (gl != NULL)
    a = rule_put_diagonal (call, a, gl);
  a = rule_matmul (call, a, rule_mH (call, v));
  return rule_give (out, solve_adjoint (call, v, a));
}

/* -- singular values -- */

typedef struct
{
  AdjTensor *gu, *gs, *gvh, *u, *s, *vh;
  AdjSize m, n, k;
} Singular;

static AdjTensor *
skew (AdjRuleCall *call, AdjTensor *x)
{
  return x != NULL ? rule_sub (call, x, rule_mH (call, x)) : NULL;
}

static gboolean
is_complex (const AdjTensor *x)
{
  AdjDType dtype = adj_tensor_get_meta (x)->dtype;

  return adj_dtype_get_real (dtype) != dtype;
}

/* The factor between U and Vᴴ. The phases, on the diagonal of the first part, are free: U and V may
 * be multiplied by them. */
static AdjTensor *
svd_inner (AdjRuleCall *call, const Singular *f)
{
  AdjTensor *a = NULL, *b = NULL, *phases = NULL, *e, *square;

  if (f->gu != NULL)
    a = skew (call, rule_matmul (call, rule_mH (call, f->u), f->gu));
  if (f->gvh != NULL)
    {
      b = rule_mH (call, f->gvh);
      b = skew (call, rule_matmul (call, f->vh, b));
    }
  if (a != NULL && b != NULL && is_complex (a))
    phases = rule_apply_two (call, ADJ_OP_div_Tensor, rule_diagonal (call, a),
                             rule_scaled (call, f->s, 2));
  square = rule_times (call, f->s, f->s);
  e = differences (call, square, ADJ_INT (1));
  if (b != NULL)
    b = rule_times (call, rule_unsqueeze (call, f->s, -1), b);
  if (a != NULL)
    a = rule_times (call, a, rule_unsqueeze (call, f->s, -2));
  if (a != NULL && b != NULL)
    a = rule_add (call, a, b);
  else if (a == NULL)
    a = b;
  a = rule_apply_two (call, ADJ_OP_div_Tensor, a, e);
  if (f->gs != NULL)
    a = rule_add (call, a, rule_apply_one (call, ADJ_OP_diag_embed, f->gs));
  return phases != NULL ? rule_add (call, a, rule_apply_one (call, ADJ_OP_diag_embed, phases)) : a;
}

static AdjTensor *
svd_outer (AdjRuleCall *call, const Singular *f, AdjTensor *a)
{
  AdjTensor *rest, *along;

  if (rule_is_larger (call, f->m, f->k) && f->gu != NULL)
    {
      a = rule_matmul (call, f->u, a);
      rest = rule_apply_two (call, ADJ_OP_div_Tensor, f->gu, rule_unsqueeze (call, f->s, -2));
      along = rule_matmul (call, f->u, rule_matmul (call, rule_mH (call, f->u), rest));
      return rule_matmul (call, rule_sub (call, rule_add (call, a, rest), along), f->vh);
    }
  if (rule_is_larger (call, f->n, f->k) && f->gvh != NULL)
    {
      a = rule_matmul (call, a, f->vh);
      rest = rule_apply_two (call, ADJ_OP_div_Tensor, f->gvh, rule_unsqueeze (call, f->s, -1));
      along = rule_mH (call, f->vh);
      along = rule_matmul (call, rule_matmul (call, rest, along), f->vh);
      return rule_matmul (call, f->u, rule_sub (call, rule_add (call, a, rest), along));
    }
  if (rule_is_larger (call, f->n, f->m))
    return rule_matmul (call, rule_matmul (call, f->u, a), f->vh);
  return rule_matmul (call, f->u, rule_matmul (call, a, f->vh));
}

/* args: gU, gS, gVh, U, S, Vh, full_matrices */
gboolean
rule_svd_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  Singular f = { rule_tensor_of (&args[0]),
                 rule_tensor_of (&args[1]),
                 rule_tensor_of (&args[2]),
                 rule_tensor_of (&args[3]),
                 rule_tensor_of (&args[4]),
                 rule_tensor_of (&args[5]),
                 ADJ_SIZE (0),
                 ADJ_SIZE (0),
                 ADJ_SIZE (0) };

  f.m = rule_size_of (f.u, -2);
  f.n = rule_size_of (f.vh, -1);
  f.k = rule_size_of (f.s, -1);
  if (adj_op_value_is_true (&args[6]))
    {
      const AdjSize none = ADJ_SIZE (0);

      f.vh = rule_slice (call, f.vh, -2, none, f.k);
      f.u = rule_slice (call, f.u, -1, none, f.k);
      f.gvh = rule_slice (call, f.gvh, -2, none, f.k);
      f.gu = rule_slice (call, f.gu, -1, none, f.k);
    }
  if (f.gu == NULL && f.gvh == NULL)
    {
      if (rule_is_larger (call, f.n, f.m))
        return rule_give (
            out, rule_matmul (call, rule_times (call, f.u, rule_unsqueeze (call, f.gs, -2)), f.vh));
      return rule_give (
          out, rule_matmul (call, f.u, rule_times (call, rule_unsqueeze (call, f.gs, -1), f.vh)));
    }
  return rule_give (out, svd_outer (call, &f, svd_inner (call, &f)));
}
