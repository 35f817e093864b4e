/* SPDX-License-Identifier: MIT */
/* Convolutions of complex numbers by three of real ones, in PyTorch's steps and their order. */

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"
#include "rules/steps-private.h"

#define N_ARGS 9 /* of aten::convolution */

static AdjTensor *
part (AdjRuleCall *call, AdjTensor *pairs, gint64 index)
{
  if (pairs == NULL)
    return NULL;
  return ADJ_APPLY (call->cx, ADJ_OP_select_int, ADJ_TENSOR (pairs),
                    ADJ_INT ((gint64) adj_tensor_get_rank (pairs) - 1), ADJ_INT (index));
}

typedef struct
{
  AdjTensor *re, *im; /* (nullable) */
} Parts;

static Parts
parts_of (AdjRuleCall *call, AdjTensor *x)
{
  AdjTensor *pairs = rule_apply_one (call, ADJ_OP_view_as_real, x);
  Parts parts = { part (call, pairs, 0), NULL };

  parts.im = part (call, pairs, 1);
  return parts;
}

static AdjTensor *
convolve (AdjRuleCall *call, const AdjValue *args, AdjTensor *x, AdjTensor *weight, AdjTensor *bias)
{
  AdjValue mine[N_ARGS];

  for (guint i = 3; i < N_ARGS; i++)
    mine[i] = args[i];
  mine[0] = ADJ_TENSOR (x);
  mine[1] = ADJ_TENSOR (weight);
  mine[2] = rule_value_of (bias);
  return x != NULL && weight != NULL ? adj_apply (call->cx, ADJ_OP_convolution, mine, N_ARGS)
                                     : NULL;
}

/* a − b + i (c − a − b), with a and b of the real and the imaginary parts, c of their sums. */
static AdjTensor *
convolve_parts (AdjRuleCall *call, const AdjValue *args)
{
  AdjValue unit = { .kind = ADJ_VALUE_COMPLEX, .n = 2 };
  AdjValue numbers[] = { ADJ_FLOAT (0), ADJ_FLOAT (1) };
  Parts x = parts_of (call, rule_tensor_of (&args[0]));
  Parts weight = parts_of (call, rule_tensor_of (&args[1]));
  Parts bias = parts_of (call, rule_tensor_of (&args[2]));
  AdjTensor *a, *b, *c, *sums[3];

  a = convolve (call, args, x.re, weight.re, bias.re);
  b = convolve (call, args, x.im, weight.im, NULL);
  sums[2] = rule_add (call, bias.re, bias.im);
  sums[1] = rule_add (call, weight.re, weight.im);
  sums[0] = rule_add (call, x.re, x.im);
  c = convolve (call, args, sums[0], sums[1], sums[2]);
  c = rule_sub (call, rule_sub (call, c, a), b);
  unit.items = numbers;
  if (c != NULL)
    c = ADJ_APPLY (call->cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (c), unit);
  return rule_add (call, rule_sub (call, a, b), c);
}

/* args: those of aten::convolution */
gboolean
rule_convolved (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjDType dtype = rule_meta_of (call, &args[0])->dtype;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (adj_dtype_get_real (dtype) != dtype)
    return rule_give (out, convolve_parts (call, args));
  return rule_give (out, adj_apply (call->cx, ADJ_OP_convolution, args, n));
}
