/* SPDX-License-Identifier: MIT */
/* Products of several matrices, in the cheapest order. */

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

/* Size of dimension @dim, from the end; 1 if there is none. */
static AdjSize
size_of (const AdjTensor *x, gint dim)
{
  const AdjShape *shape = &adj_tensor_get_meta (x)->shape;

  return shape->rank >= (guint) -dim ? shape->size[(gint) shape->rank + dim] : ADJ_SIZE (1);
}

#define MAX_MATRICES 64

typedef struct
{
  AdjRuleCall *call;
  AdjTensor *matrices[MAX_MATRICES];
  guint split[MAX_MATRICES][MAX_MATRICES];
} Chain;

static gint64
hint_of (const Chain *chain, guint i, gint dim)
{
  gint64 hint = 1;

  adj_size_get_hint (adj_context_get_symbols (chain->call->cx), size_of (chain->matrices[i], dim),
                     &hint);
  return hint;
}

/* Finds the cheapest split of each part of the chain, by dynamic programming. */
static void
order_chain (Chain *chain, guint n)
{
  g_autofree double *cost = g_new0 (double, MAX_MATRICES *MAX_MATRICES);

  for (guint length = 1; length < n; length++)
    for (guint i = 0; i + length < n; i++)
      {
        guint j = i + length;
        double least = G_MAXDOUBLE;

        for (guint k = i; k < j; k++)
          {
            double of_split = cost[i * MAX_MATRICES + k] + cost[(k + 1) * MAX_MATRICES + j] +
                              (double) hint_of (chain, i, -2) * (double) hint_of (chain, k, -1) *
                                  (double) hint_of (chain, j, -1);

            if (of_split < least || (n == 3 && of_split == least))
              {
                least = of_split;
                chain->split[i][j] = k;
              }
          }
        cost[i * MAX_MATRICES + j] = least;
      }
}

static AdjTensor *
multiply_chain (const Chain *chain, guint i, guint j)
{
  guint k = chain->split[i][j];
  AdjTensor *left, *right;

  if (i == j)
    return chain->matrices[i];
  left = multiply_chain (chain, i, k);
  right = multiply_chain (chain, k + 1, j);
  if (left == NULL || right == NULL)
    return NULL;
  return ADJ_APPLY (chain->call->cx, ADJ_OP_mm, ADJ_TENSOR (left), ADJ_TENSOR (right));
}

/* args: a list of matrices; vectors at its ends */
gboolean
rule_multi_dot (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  g_autofree Chain *chain = g_new0 (Chain, 1);
  AdjTensor *product;
  AdjSize sizes[2];
  guint count = adj_value_is_container (&args[0]) ? args[0].n : 0, rank = 0;

  if (count < 2 || count > MAX_MATRICES)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs from 2 to %d tensors", MAX_MATRICES);
  chain->call = call;
  for (guint i = 0; i < count; i++)
    {
      AdjTensor *x = args[0].items[i].tensor;
      gboolean vector = x != NULL && adj_tensor_get_rank (x) == 1;

      if (x == NULL || (!vector && adj_tensor_get_rank (x) != 2) ||
          (vector && i > 0 && i + 1 < count))
        return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs matrices, at its ends also vectors");
      if (i == 0 && !vector)
        sizes[rank++] = size_of (x, -2);
      if (i + 1 == count && !vector)
        sizes[rank++] = size_of (x, -1);
      chain->matrices[i] =
          vector ? ADJ_APPLY (call->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (x), ADJ_INT (i == 0 ? 0 : -1))
                 : x;
      if (chain->matrices[i] == NULL)
        return FALSE;
    }
  order_chain (chain, count);
  product = multiply_chain (chain, 0, count - 1);
  return product != NULL &&
         rule_give (out, ADJ_APPLY (call->cx, ADJ_OP_view, ADJ_TENSOR (product),
                                    adj_rule_list_sizes (call->arena, sizes, rank)));
}
