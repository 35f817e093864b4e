/* SPDX-License-Identifier: MIT */
/* Second derivatives of batch and group norms; of layer norms: layer-norm-gradients.c. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "rules/gradients-private.h"

/* The backward of a norm gives gx = r P (h), gw = Σ G x̂ and gb = Σ G, with h = G w, x̂ = (x − μ) r
 * and the symmetric map P (z) = z − mean (z) − x̂ mean (z x̂).  For cotangents u, v, t of the three:
 *
 *   G: w r P (u) + v x̂ + t       w: Σ G r P (u)
 *   x: r P (v G) − r² (x̂ mean (u P (h)) + P (u) mean (h x̂) + P (h) mean (u x̂))
 *
 * Where the statistics are constant, P (z) = z and the second part of x is 0. */

typedef struct
{
  AdjRuleCall *call;
  AdjValue sizes;   /* x is viewed in these sizes */
  AdjValue weights; /* weight and its gradients are viewed in these sizes */
  AdjValue dims;    /* over which means are taken */
  gboolean constant;
  AdjTensor *rstd, *normal; /* r, x̂ */
} Norm;

static AdjTensor *
mean_of (const Norm *norm, AdjTensor *z)
{
  return z != NULL ? ADJ_APPLY (norm->call->cx, ADJ_OP_mean_dim, ADJ_TENSOR (z), norm->dims,
                                ADJ_BOOL (TRUE))
                   : NULL;
}

static AdjTensor *
project (const Norm *norm, AdjTensor *z)
{
  AdjRuleCall *call = norm->call;
  AdjTensor *along;

  if (norm->constant || z == NULL)
    return z;
  along = rule_times (call, norm->normal, mean_of (norm, rule_times (call, z, norm->normal)));
  return rule_sub (call, rule_sub (call, z, mean_of (norm, z)), along);
}

/* The sizes of x with dimension 1 split into [groups, n / groups]. */
static void
split_groups (AdjRuleCall *call, const AdjShape *x, gint64 groups, AdjSize *sizes)
{
  sizes[0] = x->size[0];
  sizes[1] = ADJ_SIZE (groups);
  sizes[2] = adj_size_floordiv (adj_context_get_symbols (call->cx), x->size[1], ADJ_SIZE (groups));
  for (guint i = 2; i < x->rank; i++)
    sizes[i + 1] = x->size[i];
}

/* @extra: the number of groups of a group norm. */
static gboolean
lay_out (Norm *norm, const char *kind, const AdjShape *x, const AdjValue *extra)
{
  gboolean group = strcmp (kind, "group") == 0;
  AdjSize sizes[ADJ_MAX_RANK], dims[ADJ_MAX_RANK], weights[ADJ_MAX_RANK];
  guint rank = x->rank + (group ? 1 : 0), n_dims = 0, n_weights = 0;

  if (rank > ADJ_MAX_RANK || x->rank < 1)
    return rule_call_fail (norm->call, ADJ_ERROR_LIMIT, "has too many dimensions");
  memcpy (sizes, x->size, sizeof *sizes * x->rank);
  if (group)
    split_groups (norm->call, x, extra->integer, sizes);
  for (guint i = 0; i < rank; i++)
    {
      gboolean normalised = group ? i >= 2 : i != 1;
      gboolean weighted = group ? i == 1 || i == 2 : i == 1;

      if (normalised)
        dims[n_dims++] = ADJ_SIZE (i);
      weights[n_weights++] = weighted ? sizes[i] : ADJ_SIZE (1);
    }
  norm->constant = strcmp (kind, "constant") == 0;
  norm->sizes = adj_rule_list_sizes (norm->call->arena, sizes, rank);
  norm->dims = adj_rule_list_sizes (norm->call->arena, dims, n_dims);
  norm->weights = adj_rule_list_sizes (norm->call->arena, weights, n_weights);
  return TRUE;
}

/* A statistic, viewed so that it broadcasts with x. */
static AdjTensor *
statistic (const Norm *norm, AdjTensor *tensor)
{
  AdjSize sizes[ADJ_MAX_RANK];
  AdjValue list;

  for (guint i = 0; i < norm->sizes.n; i++)
    adj_value_get_size (&norm->sizes.items[i], &sizes[i]);
  for (guint i = 0; i < norm->dims.n; i++)
    sizes[norm->dims.items[i].integer] = ADJ_SIZE (1);
  list = adj_rule_list_sizes (norm->call->arena, sizes, norm->sizes.n);
  return rule_shaped (norm->call, tensor, &list);
}

/* Sums over the dimensions that the weight is broadcast over; the result has the sizes of the
 * weight. */
static AdjTensor *
sum_to_weight (const Norm *norm, AdjTensor *z, AdjTensor *weight)
{
  AdjShape to = { .rank = norm->weights.n };
  AdjValue sizes;

  if (z == NULL || weight == NULL)
    return NULL;
  for (guint i = 0; i < to.rank; i++)
    adj_value_get_size (&norm->weights.items[i], &to.size[i]);
  sizes = rule_list_of_sizes (norm->call, rule_shape_of (weight));
  return rule_shaped (norm->call, adj_apply_sum_to (norm->call->cx, z, &to), &sizes);
}

/* The part of x that comes from its statistics. */
static AdjTensor *
through_statistics (const Norm *norm, AdjTensor *u, AdjTensor *h)
{
  AdjRuleCall *call = norm->call;
  AdjTensor *of_u = project (norm, u), *of_h = project (norm, h), *sum;

  if (norm->constant || u == NULL)
    return NULL;
  sum = rule_times (call, norm->normal, mean_of (norm, rule_times (call, u, of_h)));
  sum = rule_sum_given (
      call, sum, rule_times (call, of_u, mean_of (norm, rule_times (call, h, norm->normal))));
  sum = rule_sum_given (
      call, sum, rule_times (call, of_h, mean_of (norm, rule_times (call, u, norm->normal))));
  sum = rule_times (call, sum, rule_times (call, norm->rstd, norm->rstd));
  return sum != NULL ? ADJ_APPLY (call->cx, ADJ_OP_neg, ADJ_TENSOR (sum)) : NULL;
}

/* Arguments: kind, the gradients of gx, gw, gb, then grad_out, input, weight, mean, rstd, and what
 * lay_out() needs. */
gboolean
rule_norm_second (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *u = rule_tensor_of (&args[1]), *v = rule_tensor_of (&args[2]),
            *t = rule_tensor_of (&args[3]);
  AdjTensor *g = args[4].tensor, *x = args[5].tensor, *weight = rule_tensor_of (&args[6]), *w, *h,
            *pu;
  AdjTensor *of_g, *of_x, *of_w;
  AdjValue sizes = rule_list_of_sizes (call, rule_shape_of (x));
  Norm norm = { .call = call };

  if (!lay_out (&norm, args[0].text, rule_shape_of (x), &args[9]))
    return FALSE;
  norm.rstd = statistic (&norm, args[8].tensor);
  norm.normal =
      rule_sub (call, rule_shaped (call, x, &norm.sizes), statistic (&norm, args[7].tensor));
  norm.normal = rule_times (call, norm.normal, norm.rstd);
  g = rule_shaped (call, g, &norm.sizes);
  u = rule_shaped (call, u, &norm.sizes);
  v = rule_shaped (call, v, &norm.weights);
  t = rule_shaped (call, t, &norm.weights);
  w = rule_shaped (call, weight, &norm.weights);
  h = w != NULL ? rule_times (call, g, w) : g;
  pu = rule_times (call, project (&norm, u), norm.rstd);

  of_w = sum_to_weight (&norm, rule_times (call, g, pu), weight);
  of_g = rule_sum_given (call, w != NULL ? rule_times (call, pu, w) : pu,
                         rule_times (call, v, norm.normal));
  of_g = rule_sum_given (call, of_g, t);
  if (of_g != NULL)
    of_g = ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (of_g), norm.sizes);
  of_x = rule_times (call, project (&norm, rule_times (call, v, g)), norm.rstd);
  of_x = rule_sum_given (call, of_x, through_statistics (&norm, u, h));
  return rule_give_list (
      call,
      (AdjTensor *[]){ rule_shaped (call, of_g, &sizes), rule_shaped (call, of_x, &sizes), of_w },
      3, out);
}
