/* SPDX-License-Identifier: MIT */
/* Gradients of products of matrices, and of cumulative products. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "rules/gradients-private.h"

/* -- matrices -- */

/* Whether the last two dimensions of @shape are column-major. */
static gboolean
is_column_major (const AdjShape *shape)
{
  guint rows = shape->rank - 2;

  return adj_size_is_int (shape->stride[rows]) && shape->stride[rows].word == 1 &&
         adj_size_same (shape->stride[rows + 1], shape->size[rows]);
}

gboolean
rule_by_columns (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = &rule_meta_of (call, &args[0])->shape;

  *out = ADJ_BOOL (shape->rank >= 2 && is_column_major (shape));
  return TRUE;
}

/* args: g, the right factor, the left one */
gboolean
rule_mm_left (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjContext *cx = call->cx;
  AdjTensor *right = args[1].tensor, *t;

  if (!is_column_major (&rule_meta_of (call, &args[2])->shape))
    {
      right = ADJ_APPLY (cx, ADJ_OP_t, args[1]);
      right = right != NULL ? ADJ_APPLY (cx, ADJ_OP_conj, ADJ_TENSOR (right)) : NULL;
      return right != NULL &&
             rule_give (out, ADJ_APPLY (cx, ADJ_OP_mm, args[0], ADJ_TENSOR (right)));
    }
  right = ADJ_APPLY (cx, ADJ_OP_conj, args[1]);
  t = right != NULL ? ADJ_APPLY (cx, ADJ_OP_t, args[0]) : NULL;
  t = t != NULL ? ADJ_APPLY (cx, ADJ_OP_mm, ADJ_TENSOR (right), ADJ_TENSOR (t)) : NULL;
  return t != NULL && rule_give (out, ADJ_APPLY (cx, ADJ_OP_t, ADJ_TENSOR (t)));
}

gboolean
rule_mm_right (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *right = &rule_meta_of (call, &args[2])->shape;
  AdjContext *cx = call->cx;
  AdjTensor *t = NULL, *left = NULL;

  if (is_column_major (right))
    {
      t = ADJ_APPLY (cx, ADJ_OP_t, args[1]);
      left = t != NULL ? ADJ_APPLY (cx, ADJ_OP_conj, args[0]) : NULL;
      t = left != NULL ? ADJ_APPLY (cx, ADJ_OP_mm, ADJ_TENSOR (t), ADJ_TENSOR (left)) : NULL;
      return t != NULL && rule_give (out, ADJ_APPLY (cx, ADJ_OP_t, ADJ_TENSOR (t)));
    }
  t = ADJ_APPLY (cx, ADJ_OP_t, args[0]);
  t = t != NULL ? ADJ_APPLY (cx, ADJ_OP_conj, ADJ_TENSOR (t)) : NULL;
  return t != NULL && rule_give (out, ADJ_APPLY (cx, ADJ_OP_mm, ADJ_TENSOR (t), args[1]));
}

/* -- cumulative products -- */

/* x[start:end] along @dim; without @end: to the end. */
static AdjTensor *
cut (AdjRuleCall *call, AdjTensor *x, AdjValue dim, gint64 start, AdjValue end)
{
  return ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), dim, ADJ_INT (start), end);
}

/* For each element from @k on, the product of all up to it except element @k. */
static AdjTensor *
products_without (
    AdjRuleCall *call, AdjTensor *x, AdjValue dim, AdjTensor *ones, gint64 k, gint64 n)
{
  AdjContext *cx = call->cx;
  AdjTensor *before = k == 0 ? ones : cut (call, x, dim, 0, ADJ_INT (k)), *after;
  AdjValue parts[2];

  if (k > 0 && before != NULL)
    before = ADJ_APPLY (cx, ADJ_OP_prod_dim_int, ADJ_TENSOR (before), dim, ADJ_BOOL (TRUE));
  if (before == NULL || k == n - 1)
    return before;
  after = cut (call, x, dim, k + 1, ADJ_NONE);
  after = after != NULL ? ADJ_APPLY (cx, ADJ_OP_cumprod, ADJ_TENSOR (after), dim) : NULL;
  if (k > 0 && after != NULL)
    after = rule_times (call,
                        ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (before),
                                   rule_list_of_sizes (call, rule_shape_of (after))),
                        after);
  if (after == NULL)
    return NULL;
  parts[0] = ADJ_TENSOR (before);
  parts[1] = ADJ_TENSOR (after);
  return ADJ_APPLY (cx, ADJ_OP_cat, ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = parts }),
                    dim);
}

/* Computes one sum per element; correct even if elements are 0. */
static gboolean
each_product (AdjRuleCall *call, AdjTensor *g, AdjTensor *x, AdjValue dim, gint64 n, AdjValue *out)
{
  AdjContext *cx = call->cx;
  AdjSize sizes[ADJ_MAX_RANK], one = ADJ_SIZE (1), along = ADJ_SIZE (dim.integer);
  AdjValue parts = { .kind = ADJ_VALUE_LIST, .n = (guint) n };
  AdjValue dims = adj_rule_list_sizes (call->arena, &along, 1);
  AdjTensor *ones = rule_new (call, ADJ_OP_ones, g, adj_rule_list_sizes (call->arena, &one, 1));

  memcpy (sizes, rule_shape_of (x)->size, sizeof *sizes * rule_shape_of (x)->rank);
  sizes[dim.integer] = one;
  parts.items = adj_arena_new0 (call->arena, AdjValue, (guint) n);
  if (ones != NULL)
    ones = ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (ones),
                      adj_rule_list_sizes (call->arena, sizes, rule_shape_of (x)->rank));
  if (ones == NULL)
    return FALSE;
  for (gint64 k = 0; k < n; k++)
    {
      AdjTensor *products = products_without (call, x, dim, ones, k, n);
      AdjTensor *sum = products != NULL ? cut (call, g, dim, k, ADJ_NONE) : NULL;

      sum = rule_times (call, sum, products);
      sum = sum != NULL ? ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (sum), dims) : NULL;
      if (sum == NULL)
        return FALSE;
      parts.items[k] = ADJ_TENSOR (sum);
    }
  *out = rule_value_of (ADJ_APPLY (cx, ADJ_OP_stack, parts, dim));
  return out->kind == ADJ_VALUE_TENSOR;
}

/* The same for many elements, in as many calls as for few: with r_k = Σ_{j ≥ k} g_j Π_{k < i ≤ j}
 * x_i, element k has Π_{i < k} x_i · r_k: right where elements are 0 too. */
static gboolean
products_at_once (AdjRuleCall *call, const AdjValue *args, AdjValue *out)
{
  AdjContext *cx = call->cx;
  const AdjShape *shape = rule_shape_of (args[1].tensor);
  AdjTensor *g = args[0].tensor, *x = args[1].tensor, *lower, *products;
  AdjSize square[ADJ_MAX_RANK], last[2];
  guint rank = shape->rank;
  AdjValue sizes;

  *out = args[0];
  if (rank == 0)
    return TRUE;
  if (rank + 1 > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_LIMIT, "has too many dimensions");
  x = ADJ_APPLY (cx, ADJ_OP_transpose_int, ADJ_TENSOR (x), args[2], ADJ_INT (-1));
  g = ADJ_APPLY (cx, ADJ_OP_transpose_int, ADJ_TENSOR (g), args[2], ADJ_INT (-1));
  if (x == NULL || g == NULL)
    return FALSE;
  memcpy (square, rule_shape_of (x)->size, sizeof *square * rank);
  square[rank] = last[0] = last[1] = square[rank - 1];
  sizes = adj_rule_list_sizes (call->arena, last, 2);
  lower = ADJ_APPLY (cx, ADJ_OP_new_ones, ADJ_TENSOR (x), sizes);
  lower = lower != NULL ? ADJ_APPLY (cx, ADJ_OP_tril, ADJ_TENSOR (lower)) : NULL;
  lower = lower != NULL ? ADJ_APPLY (cx, ADJ_OP_ne_Scalar, ADJ_TENSOR (lower), ADJ_INT (0)) : NULL;
  products = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (x), ADJ_INT (-2));
  sizes = adj_rule_list_sizes (call->arena, square, rank + 1);
  if (products == NULL || lower == NULL)
    return FALSE;
  products = ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (products), sizes);
  if (products != NULL)
    products = ADJ_APPLY (cx, ADJ_OP_masked_fill_Scalar, ADJ_TENSOR (products), ADJ_TENSOR (lower),
                          ADJ_INT (1));
  if (products != NULL)
    products = ADJ_APPLY (cx, ADJ_OP_cumprod, ADJ_TENSOR (products), ADJ_INT (-1));
  if (products != NULL)
    products = ADJ_APPLY (cx, ADJ_OP_triu, ADJ_TENSOR (products));
  g = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (g), ADJ_INT (-2));
  g = rule_times (call, products, g);
  if (g != NULL)
    g = ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (g),
                   adj_rule_list_sizes (call->arena, (const AdjSize[]){ ADJ_SIZE (-1) }, 1));
  g = rule_times (call, g, rule_exclusive_product (call, x, rank - 1));
  if (g != NULL)
    g = ADJ_APPLY (cx, ADJ_OP_transpose_int, ADJ_TENSOR (g), args[2], ADJ_INT (-1));
  *out = rule_value_of (g);
  return g != NULL;
}

#define MAX_EACH 1024

/* Arguments: g, x, dim. */
gboolean
rule_cumprod_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = rule_shape_of (args[1].tensor);
  gint64 dim = args[2].integer + (args[2].integer < 0 ? shape->rank : 0);
  AdjSize size;

  *out = args[0];
  if (shape->rank == 0)
    return TRUE;
  size = shape->size[dim];
  if (adj_size_same (size, ADJ_SIZE (1)) || adj_size_same (size, ADJ_SIZE (0)))
    return TRUE;
  if (!adj_size_is_int (size) || size.word > MAX_EACH)
    return products_at_once (call, args, out);
  return each_product (call, args[0].tensor, args[1].tensor, ADJ_INT (dim), size.word, out);
}
