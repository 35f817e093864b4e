/* SPDX-License-Identifier: MIT */

/* Builtins that only gradients call; ops/gradient-builtins.inc says what each one is. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "rules/rule-private.h"

/* -- calls: NULL in, NULL out -- */

static AdjTensor *
apply2 (AdjRuleCall *call, AdjOpId op, AdjTensor *a, AdjTensor *b)
{
  if (a == NULL || b == NULL)
    return NULL;
  return ADJ_APPLY (call->cx, op, ADJ_TENSOR (a), ADJ_TENSOR (b));
}

static AdjTensor *
times (AdjRuleCall *call, AdjTensor *a, AdjTensor *b)
{
  return apply2 (call, ADJ_OP_mul_Tensor, a, b);
}

static AdjTensor *
minus (AdjRuleCall *call, AdjTensor *a, AdjTensor *b)
{
  return apply2 (call, ADJ_OP_sub_Tensor, a, b);
}

/* The sum of those that are not %NULL. */
static AdjTensor *
plus (AdjRuleCall *call, AdjTensor *a, AdjTensor *b)
{
  if (a == NULL || b == NULL)
    return a != NULL ? a : b;
  return apply2 (call, ADJ_OP_add_Tensor, a, b);
}

static AdjTensor *
shaped (AdjRuleCall *call, AdjTensor *tensor, const AdjValue *sizes)
{
  return tensor != NULL ? rule_reshape (call, tensor, sizes) : NULL;
}

static AdjTensor *
tensor_of (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TENSOR ? value->tensor : NULL;
}

static AdjValue
value_of (AdjTensor *tensor)
{
  return tensor != NULL ? ADJ_TENSOR (tensor) : ADJ_NONE;
}

static const AdjShape *
shape_of (const AdjTensor *tensor)
{
  return &adj_tensor_get_meta (tensor)->shape;
}

static AdjValue
sizes_value (AdjRuleCall *call, const AdjShape *shape)
{
  return adj_rule_list_sizes (call->arena, shape->size, shape->rank);
}

static gboolean
give_list (AdjRuleCall *call, AdjTensor *const *tensors, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n };
  out->items = adj_arena_new0 (call->arena, AdjValue, n);
  for (guint i = 0; i < n; i++)
    out->items[i] = value_of (tensors[i]);
  return !adj_context_has_error (call->cx);
}

static gboolean
builtin_add_given (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *sum = NULL;

  for (guint i = 0; i < n; i++)
    sum = plus (call, sum, tensor_of (&args[i]));
  *out = value_of (sum);
  return !adj_context_has_error (call->cx);
}

static gboolean
builtin_least_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  static const double largest[ADJ_N_DTYPES] = { [ADJ_DTYPE_F64] = 0x1.fffffffffffffp1023,
                                                [ADJ_DTYPE_F32] = 0x1.fffffep127,
                                                [ADJ_DTYPE_F16] = 65504,
                                                [ADJ_DTYPE_BF16] = 0x1.fep127 };

  *out = ADJ_FLOAT (-largest[adj_tensor_get_meta (args[0].tensor)->dtype]);
  return TRUE;
}

static gboolean
builtin_as_channels (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *like = shape_of (args[1].tensor);
  AdjSize sizes[ADJ_MAX_RANK];
  AdjValue spread = sizes_value (call, like);
  AdjTensor *x = tensor_of (&args[0]);
  AdjValue list;

  *out = ADJ_NONE;
  if (x == NULL)
    return TRUE;
  for (guint i = 0; i < like->rank; i++)
    sizes[i] = ADJ_SIZE (i == 1 ? -1 : 1);
  list = adj_rule_list_sizes (call->arena, sizes, like->rank);
  x = rule_reshape (call, x, &list);
  if (x != NULL)
    x = ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (x), spread);
  *out = value_of (x);
  return x != NULL;
}

/* @x with its last @n dimensions as one. */
static AdjTensor *
flat_windows (AdjRuleCall *call, AdjTensor *x, guint n)
{
  const AdjShape *shape = shape_of (x);
  guint kept = shape->rank - MIN (n, shape->rank);
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  gboolean is_empty = adj_size_is (symbols, adj_shape_numel (shape, symbols), 0);
  AdjSize sizes[ADJ_MAX_RANK];

  memcpy (sizes, shape->size, kept * sizeof *sizes);
  sizes[kept] = is_empty ? ADJ_SIZE (0) : ADJ_SIZE (-1);
  return ADJ_APPLY (call->cx, ADJ_OP_reshape, ADJ_TENSOR (x),
                    adj_rule_list_sizes (call->arena, sizes, kept + 1));
}

static gboolean
builtin_unpooled (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *sizes = shape_of (args[1].tensor);
  AdjTensor *indices = flat_windows (call, args[1].tensor, (guint) args[2].integer);
  AdjTensor *g = flat_windows (call, args[0].tensor, (guint) args[2].integer);
  AdjValue list = adj_rule_list_sizes (call->arena, sizes->size, sizes->rank);

  if (indices == NULL || g == NULL)
    return FALSE;
  g = ADJ_APPLY (call->cx, ADJ_OP_gather, ADJ_TENSOR (g), ADJ_INT (-1), ADJ_TENSOR (indices));
  *out = value_of (g != NULL ? rule_reshape (call, g, &list) : NULL);
  return out->kind == ADJ_VALUE_TENSOR;
}

/* -- norms --
 *
 * The backward of a norm gives gx = r P (h), gw = Σ G x̂ and gb = Σ G, with h = G w, x̂ = (x − μ) r
 * and the symmetric map P (z) = z − mean (z) − x̂ mean (z x̂).  For cotangents u, v, t of the three:
 *
 *   G: w r P (u) + v x̂ + t       w: Σ G r P (u)
 *   x: r P (v G) − r² (x̂ mean (u P (h)) + P (u) mean (h x̂) + P (h) mean (u x̂))
 *
 * Where the statistics are constant, P (z) = z and the second part of x is 0. */

typedef struct
{
  AdjRuleCall *call;
  AdjValue sizes;   /* x is seen in these */
  AdjValue weights; /* weight and its gradients in these */
  AdjValue dims;    /* that the means go over */
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
  along = times (call, norm->normal, mean_of (norm, times (call, z, norm->normal)));
  return minus (call, minus (call, z, mean_of (norm, z)), along);
}

/* x with dimension 1 as [groups, n / groups]. */
static void
split_groups (AdjRuleCall *call, const AdjShape *x, gint64 groups, AdjSize *sizes)
{
  sizes[0] = x->size[0];
  sizes[1] = ADJ_SIZE (groups);
  sizes[2] = adj_size_floordiv (adj_context_get_symbols (call->cx), x->size[1], ADJ_SIZE (groups));
  for (guint i = 2; i < x->rank; i++)
    sizes[i + 1] = x->size[i];
}

/* @extra: the normalised shape of a layer, the number of groups. */
static gboolean
lay_out (Norm *norm, const char *kind, const AdjShape *x, const AdjValue *extra)
{
  gboolean layer = strcmp (kind, "layer") == 0, group = strcmp (kind, "group") == 0;
  AdjSize sizes[ADJ_MAX_RANK], dims[ADJ_MAX_RANK], weights[ADJ_MAX_RANK];
  guint rank = x->rank + (group ? 1 : 0), n_dims = 0, n_weights = 0;

  if (rank > ADJ_MAX_RANK || x->rank < 1)
    return rule_call_fail (norm->call, ADJ_ERROR_LIMIT, "has too many dimensions");
  memcpy (sizes, x->size, sizeof *sizes * x->rank);
  if (group)
    split_groups (norm->call, x, extra->integer, sizes);
  for (guint i = 0; i < rank; i++)
    {
      gboolean normalised = layer ? i + extra->n >= rank : group ? i >= 2 : i != 1;
      gboolean weighted = layer ? normalised : group ? i == 1 || i == 2 : i == 1;

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

/* A statistic, seen over x. */
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
  return shaped (norm->call, tensor, &list);
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
  sizes = sizes_value (norm->call, shape_of (weight));
  return shaped (norm->call, adj_apply_sum_to (norm->call->cx, z, &to), &sizes);
}

/* The part of x that comes from its statistics. */
static AdjTensor *
through_statistics (const Norm *norm, AdjTensor *u, AdjTensor *h)
{
  AdjRuleCall *call = norm->call;
  AdjTensor *of_u = project (norm, u), *of_h = project (norm, h), *sum;

  if (norm->constant || u == NULL)
    return NULL;
  sum = times (call, norm->normal, mean_of (norm, times (call, u, of_h)));
  sum = plus (call, sum, times (call, of_u, mean_of (norm, times (call, h, norm->normal))));
  sum = plus (call, sum, times (call, of_h, mean_of (norm, times (call, u, norm->normal))));
  sum = times (call, sum, times (call, norm->rstd, norm->rstd));
  return sum != NULL ? ADJ_APPLY (call->cx, ADJ_OP_neg, ADJ_TENSOR (sum)) : NULL;
}

/* Arguments: kind, the gradients of gx, gw, gb, then grad_out, input, weight, mean, rstd, and what
 * lay_out() needs. */
static gboolean
builtin_norm_second (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *u = tensor_of (&args[1]), *v = tensor_of (&args[2]), *t = tensor_of (&args[3]);
  AdjTensor *g = args[4].tensor, *x = args[5].tensor, *weight = tensor_of (&args[6]), *w, *h, *pu;
  AdjTensor *of_g, *of_x, *of_w;
  AdjValue sizes = sizes_value (call, shape_of (x));
  Norm norm = { .call = call };

  if (!lay_out (&norm, args[0].text, shape_of (x), &args[9]))
    return FALSE;
  norm.rstd = statistic (&norm, args[8].tensor);
  norm.normal = minus (call, shaped (call, x, &norm.sizes), statistic (&norm, args[7].tensor));
  norm.normal = times (call, norm.normal, norm.rstd);
  g = shaped (call, g, &norm.sizes);
  u = shaped (call, u, &norm.sizes);
  v = shaped (call, v, &norm.weights);
  t = shaped (call, t, &norm.weights);
  w = shaped (call, weight, &norm.weights);
  h = w != NULL ? times (call, g, w) : g;
  pu = times (call, project (&norm, u), norm.rstd);

  of_w = sum_to_weight (&norm, times (call, g, pu), weight);
  of_g = plus (call, w != NULL ? times (call, pu, w) : pu, times (call, v, norm.normal));
  of_g = plus (call, of_g, t);
  if (of_g != NULL)
    of_g = ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (of_g), norm.sizes);
  of_x = times (call, project (&norm, times (call, v, g)), norm.rstd);
  of_x = plus (call, of_x, through_statistics (&norm, u, h));
  return give_list (
      call, (AdjTensor *[]){ shaped (call, of_g, &sizes), shaped (call, of_x, &sizes), of_w }, 3,
      out);
}

/* -- products -- */

/* x[start:end] along @dim; without @end: to the end. */
static AdjTensor *
cut (AdjRuleCall *call, AdjTensor *x, AdjValue dim, gint64 start, AdjValue end)
{
  return ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), dim, ADJ_INT (start), end);
}

/* For each element from @k on the product of all up to it, but for element @k. */
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
    after = times (
        call,
        ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (before), sizes_value (call, shape_of (after))),
        after);
  if (after == NULL)
    return NULL;
  parts[0] = ADJ_TENSOR (before);
  parts[1] = ADJ_TENSOR (after);
  return ADJ_APPLY (cx, ADJ_OP_cat, ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = parts }),
                    dim);
}

/* A sum for each element: right where elements are 0 too. */
static gboolean
each_product (AdjRuleCall *call, AdjTensor *g, AdjTensor *x, AdjValue dim, gint64 n, AdjValue *out)
{
  AdjContext *cx = call->cx;
  AdjSize sizes[ADJ_MAX_RANK], one = ADJ_SIZE (1), along = ADJ_SIZE (dim.integer);
  AdjValue parts = { .kind = ADJ_VALUE_LIST, .n = (guint) n };
  AdjValue dims = adj_rule_list_sizes (call->arena, &along, 1);
  AdjTensor *ones = rule_new (call, ADJ_OP_ones, g, adj_rule_list_sizes (call->arena, &one, 1));

  memcpy (sizes, shape_of (x)->size, sizeof *sizes * shape_of (x)->rank);
  sizes[dim.integer] = one;
  parts.items = adj_arena_new0 (call->arena, AdjValue, (guint) n);
  if (ones != NULL)
    ones = ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (ones),
                      adj_rule_list_sizes (call->arena, sizes, shape_of (x)->rank));
  if (ones == NULL)
    return FALSE;
  for (gint64 k = 0; k < n; k++)
    {
      AdjTensor *products = products_without (call, x, dim, ones, k, n);
      AdjTensor *sum = products != NULL ? cut (call, g, dim, k, ADJ_NONE) : NULL;

      sum = times (call, sum, products);
      sum = sum != NULL ? ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (sum), dims) : NULL;
      if (sum == NULL)
        return FALSE;
      parts.items[k] = ADJ_TENSOR (sum);
    }
  *out = value_of (ADJ_APPLY (cx, ADJ_OP_stack, parts, dim));
  return out->kind == ADJ_VALUE_TENSOR;
}

/* The same for many elements, in as many calls as for few: with r_k = Σ_{j ≥ k} g_j Π_{k < i ≤ j}
 * x_i, element k has Π_{i < k} x_i · r_k: right where elements are 0 too. */
static gboolean
products_at_once (AdjRuleCall *call, const AdjValue *args, AdjValue *out)
{
  AdjContext *cx = call->cx;
  const AdjShape *shape = shape_of (args[1].tensor);
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
  memcpy (square, shape_of (x)->size, sizeof *square * rank);
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
  g = times (call, products, g);
  if (g != NULL)
    g = ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (g),
                   adj_rule_list_sizes (call->arena, (const AdjSize[]){ ADJ_SIZE (-1) }, 1));
  g = times (call, g, rule_exclusive_product (call, x, rank - 1));
  if (g != NULL)
    g = ADJ_APPLY (cx, ADJ_OP_transpose_int, ADJ_TENSOR (g), args[2], ADJ_INT (-1));
  *out = value_of (g);
  return g != NULL;
}

#define MAX_EACH 1024

/* Arguments: g, x, dim. */
static gboolean
builtin_cumprod_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = shape_of (args[1].tensor);
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

/* -- scatter_reduce, index_reduce -- */

typedef struct
{
  AdjRuleCall *call;
  AdjTensor *g, *self, *src, *index, *result; /* src: as much as is scattered */
  AdjValue dim, reduce, include;
  gboolean slices; /* the index names slices, not elements */
} Scatter;

static AdjTensor *
gathered (const Scatter *s, AdjTensor *x)
{
  AdjValue args[] = { value_of (x), s->dim, value_of (s->index) };

  return x != NULL ? adj_apply (s->call->cx, s->slices ? ADJ_OP_index_select : ADJ_OP_gather, args,
                                G_N_ELEMENTS (args))
                   : NULL;
}

static AdjTensor *
scattered (const Scatter *s, AdjTensor *into, AdjTensor *x)
{
  AdjValue args[] = { value_of (into), s->dim, value_of (s->index), value_of (x) };

  if (into == NULL || x == NULL)
    return NULL;
  return adj_apply (s->call->cx, s->slices ? ADJ_OP_index_add : ADJ_OP_scatter_add, args,
                    G_N_ELEMENTS (args));
}

static AdjTensor *
reduced (const Scatter *s, AdjTensor *self, AdjTensor *src)
{
  AdjValue args[] = { value_of (self), s->dim, value_of (s->index), value_of (src), s->reduce };
  AdjValue include[] = { { .kind = ADJ_VALUE_STRING, .n = 12, .text = (char *) "include_self" },
                         s->include };
  AdjValue result;

  if (self == NULL || src == NULL ||
      !adj_call (s->call->cx, adj_op (s->slices ? ADJ_OP_index_reduce : ADJ_OP_scatter_reduce_two),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 5, .items = args },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = include }, &result))
    return NULL;
  return result.tensor;
}

static AdjTensor *
is_zero (const Scatter *s, AdjTensor *x)
{
  return ADJ_APPLY (s->call->cx, ADJ_OP_eq_Scalar, ADJ_TENSOR (x), ADJ_INT (0));
}

static AdjTensor *
filled (const Scatter *s, AdjTensor *x, AdjTensor *mask, gint64 value)
{
  if (x == NULL || mask == NULL)
    return NULL;
  return ADJ_APPLY (s->call->cx, ADJ_OP_masked_fill_Scalar, ADJ_TENSOR (x), ADJ_TENSOR (mask),
                    ADJ_INT (value));
}

/* The dtype of @like. */
static AdjTensor *
as_number (const Scatter *s, AdjTensor *mask, AdjTensor *like)
{
  if (mask == NULL)
    return NULL;
  return ADJ_APPLY (s->call->cx, ADJ_OP_to_dtype, ADJ_TENSOR (mask),
                    ADJ_DTYPE (adj_tensor_get_meta (like)->dtype));
}

/* Of several that are 0 none matters; the gradient of a single one goes around it. */
static void
differentiate_product (const Scatter *s, AdjTensor **of_self, AdjTensor **of_src)
{
  AdjRuleCall *call = s->call;
  AdjContext *cx = call->cx;
  AdjTensor *safe = filled (s, s->self, is_zero (s, s->self), 1);
  AdjTensor *src_zero, *single, *around, *plain;

  *of_self = apply2 (call, ADJ_OP_div_Tensor, times (call, s->g, reduced (s, safe, s->src)), safe);
  src_zero = is_zero (s, s->src);
  single = ADJ_APPLY (cx, ADJ_OP_zeros_like, ADJ_TENSOR (s->self));
  single = gathered (s, scattered (s, single, as_number (s, src_zero, s->src)));
  single =
      single != NULL ? ADJ_APPLY (cx, ADJ_OP_eq_Scalar, ADJ_TENSOR (single), ADJ_INT (1)) : NULL;
  single = apply2 (call, ADJ_OP_bitwise_and_Tensor, src_zero, single);
  around = reduced (s, s->self, filled (s, s->src, single, 1));
  safe = filled (s, s->src, src_zero, 1);
  plain = apply2 (call, ADJ_OP_div_Tensor, gathered (s, times (call, s->g, s->result)), safe);
  around = gathered (s, times (call, s->g, around));
  *of_src = NULL;
  if (single != NULL && around != NULL && plain != NULL)
    *of_src = ADJ_APPLY (cx, ADJ_OP_where_self, ADJ_TENSOR (single), ADJ_TENSOR (around),
                         ADJ_TENSOR (plain));
}

static void
differentiate_mean (const Scatter *s, AdjTensor **of_self, AdjTensor **of_src)
{
  AdjContext *cx = s->call->cx;
  gboolean include = adj_op_value_is_true (&s->include);
  AdjTensor *count =
      ADJ_APPLY (cx, include ? ADJ_OP_ones_like : ADJ_OP_zeros_like, ADJ_TENSOR (s->g));
  AdjTensor *ones = ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR (s->src));

  count = scattered (s, count, ones);
  count = count != NULL ? filled (s, count, is_zero (s, count), 1) : NULL;
  *of_self = apply2 (s->call, ADJ_OP_div_Tensor, s->g, count);
  count = gathered (s, count);
  *of_src = apply2 (s->call, ADJ_OP_div_Tensor, gathered (s, s->g), count);
}

/* Shared evenly among all that equal the result. */
static void
differentiate_extreme (const Scatter *s, AdjTensor **of_self, AdjTensor **of_src)
{
  AdjRuleCall *call = s->call;
  AdjTensor *best = gathered (s, s->result);
  AdjTensor *self_is = as_number (s, apply2 (call, ADJ_OP_eq_Tensor, s->self, s->result), s->self);
  AdjTensor *src_is = as_number (s, apply2 (call, ADJ_OP_eq_Tensor, s->src, best), s->src);
  AdjTensor *share = apply2 (call, ADJ_OP_div_Tensor, s->g, scattered (s, self_is, src_is));

  if (!s->slices)
    self_is = apply2 (call, ADJ_OP_eq_Tensor, s->self, s->result);
  *of_self = times (call, self_is, share);
  share = gathered (s, share);
  if (!s->slices)
    src_is = apply2 (call, ADJ_OP_eq_Tensor, s->src, best);
  *of_src = times (call, src_is, share);
}

/* @x cut to the sizes of @to, from the start of each dimension. */
static AdjTensor *
cut_to (AdjRuleCall *call, AdjTensor *x, const AdjShape *to)
{
  for (guint i = 0; i < to->rank && x != NULL; i++)
    if (!adj_size_same (shape_of (x)->size[i], to->size[i]))
      x = ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (i), ADJ_INT (0),
                     adj_value_from_size (to->size[i]));
  return x;
}

/* The reverse: zeros up to the sizes of @to. */
static AdjTensor *
grow_to (AdjRuleCall *call, AdjTensor *x, const AdjShape *to)
{
  AdjSize pad[2 * ADJ_MAX_RANK];
  gboolean same = TRUE;

  for (guint i = 0; i < to->rank && x != NULL; i++)
    {
      guint at = 2 * (to->rank - 1 - i);

      pad[at] = ADJ_SIZE (0);
      pad[at + 1] =
          adj_size_sub (adj_context_get_symbols (call->cx), to->size[i], shape_of (x)->size[i]);
      same &= adj_size_same (to->size[i], shape_of (x)->size[i]);
    }
  if (same || x == NULL)
    return x;
  return ADJ_APPLY (call->cx, ADJ_OP_constant_pad_nd, ADJ_TENSOR (x),
                    adj_rule_list_sizes (call->arena, pad, 2 * to->rank), ADJ_INT (0));
}

static void
differentiate (const Scatter *s, AdjTensor **of_self, AdjTensor **of_src)
{
  if (strcmp (s->reduce.text, "prod") == 0)
    differentiate_product (s, of_self, of_src);
  else if (strcmp (s->reduce.text, "mean") == 0)
    differentiate_mean (s, of_self, of_src);
  else if (strcmp (s->reduce.text, "sum") == 0)
    {
      *of_self = s->g;
      *of_src = gathered (s, s->g);
    }
  else
    differentiate_extreme (s, of_self, of_src);
  if (!adj_op_value_is_true (&s->include) && *of_self != NULL)
    {
      AdjValue args[] = { value_of (*of_self), s->dim, value_of (s->index), ADJ_INT (0) };

      *of_self =
          adj_apply (s->call->cx, s->slices ? ADJ_OP_index_fill_int_Scalar : ADJ_OP_scatter_value,
                     args, G_N_ELEMENTS (args));
    }
}

/* @args: g, self, dim, index, src, reduce, include_self, result. */
static Scatter
scatter_of (AdjRuleCall *call, const AdjValue *args, gboolean slices)
{
  return (Scatter){
    .call = call,
    .g = args[0].tensor,
    .self = args[1].tensor,
    .dim = args[2],
    .index = args[3].tensor,
    .src = slices ? args[4].tensor : cut_to (call, args[4].tensor, shape_of (args[3].tensor)),
    .reduce = args[5],
    .include = args[6],
    .result = args[7].tensor,
    .slices = slices,
  };
}

static gboolean
builtin_scatter_reduce_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape whole = *shape_of (args[4].tensor);
  Scatter s = scatter_of (call, args, FALSE);
  AdjTensor *of_self, *of_src;

  if (s.src == NULL)
    return FALSE;
  differentiate (&s, &of_self, &of_src);
  return give_list (call, (AdjTensor *[]){ of_self, grow_to (call, of_src, &whole) }, 2, out);
}

static gboolean
builtin_index_reduce_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  Scatter s = scatter_of (call, args, TRUE);
  AdjTensor *of_self, *of_src;

  differentiate (&s, &of_self, &of_src);
  return give_list (call, (AdjTensor *[]){ of_self, of_src }, 2, out);
}

/* -- as_strided_scatter -- */

/* @g in the layout of @like, which begins at its first element: itself when that is contiguous,
 * else the storage of @like, flat, with zeros where it shows nothing. */
static AdjTensor *
lay_out_storage (AdjRuleCall *call, AdjTensor *g, const AdjShape *like, const AdjShape *view)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize size = adj_shape_span (like, symbols);
  AdjSize end = adj_size_add (symbols, view->offset, adj_shape_span (view, symbols));
  AdjTensor *whole;

  if (adj_shape_is_contiguous (like, symbols))
    return adj_shape_is_contiguous (shape_of (g), symbols)
               ? g
               : adj_apply_clone_contiguous (call->cx, g);
  if (adj_size_test (symbols, ADJ_SIZE_LT, size, end))
    size = end;
  whole = ADJ_APPLY (call->cx, ADJ_OP_new_zeros, ADJ_TENSOR (g),
                     adj_rule_list_sizes (call->arena, &size, 1));
  if (whole == NULL)
    return NULL;
  return ADJ_APPLY (call->cx, ADJ_OP_as_strided_scatter, ADJ_TENSOR (whole), ADJ_TENSOR (g),
                    sizes_value (call, like),
                    adj_rule_list_sizes (call->arena, like->stride, like->rank), ADJ_INT (0));
}

/* Arguments: g, self, size, stride, storage_offset. */
static gboolean
builtin_as_strided_scatter_backward (AdjRuleCall *call,
                                     const AdjValue *args,
                                     guint n,
                                     AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  const AdjShape *like = &call->grads->outputs[0].shape;
  const AdjShape *self =
      args[1].kind == ADJ_VALUE_META ? &args[1].meta->shape : shape_of (args[1].tensor);
  AdjShape view = { .rank = args[2].n };
  AdjTensor *whole, *of_src, *of_self;
  AdjValue offset;

  for (guint i = 0; i < view.rank; i++)
    {
      adj_value_get_size (&args[2].items[i], &view.size[i]);
      adj_value_get_size (&args[3].items[i], &view.stride[i]);
    }
  if (adj_value_get_size (&args[4], &view.offset))
    view.offset = adj_size_sub (symbols, view.offset, self->offset);
  whole = lay_out_storage (call, args[0].tensor, like, &view);
  if (whole == NULL)
    return FALSE;
  offset = adj_value_from_size (adj_size_add (symbols, view.offset, shape_of (whole)->offset));
  of_src = ADJ_APPLY (call->cx, ADJ_OP_as_strided, ADJ_TENSOR (whole), args[2], args[3], offset);
  of_self = ADJ_APPLY (call->cx, ADJ_OP_new_zeros, args[0], args[2]);
  if (of_self != NULL)
    of_self = ADJ_APPLY (call->cx, ADJ_OP_as_strided_scatter, ADJ_TENSOR (whole),
                         ADJ_TENSOR (of_self), args[2], args[3], offset);
  if (of_self != NULL && !adj_shape_is_contiguous (like, symbols))
    of_self =
        ADJ_APPLY (call->cx, ADJ_OP_as_strided, ADJ_TENSOR (of_self), sizes_value (call, like),
                   adj_rule_list_sizes (call->arena, like->stride, like->rank), ADJ_INT (0));
  return give_list (call, (AdjTensor *[]){ of_self, of_src }, 2, out);
}

/* -- block_diag -- */

static AdjTensor *
block_of (AdjRuleCall *call, AdjTensor *g, const AdjShape *like, AdjSize *row, AdjSize *column)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize rows = like->rank == 2 ? like->size[0] : ADJ_SIZE (1);
  AdjSize columns = like->rank > 0 ? like->size[like->rank - 1] : ADJ_SIZE (1);
  AdjSize row_end = adj_size_add (symbols, *row, rows);
  AdjSize column_end = adj_size_add (symbols, *column, columns);
  AdjValue list = sizes_value (call, like);

  g = ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (g), ADJ_INT (0),
                 adj_value_from_size (*row), adj_value_from_size (row_end));
  if (g != NULL)
    g = ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (g), ADJ_INT (1),
                   adj_value_from_size (*column), adj_value_from_size (column_end));
  *row = row_end;
  *column = column_end;
  if (like->rank == 1 && g != NULL)
    return ADJ_APPLY (call->cx, ADJ_OP_squeeze_dim, ADJ_TENSOR (g), ADJ_INT (-1));
  return like->rank == 2 ? g : shaped (call, g, &list);
}

/* Arguments: g, tensors. */
static gboolean
builtin_block_diag_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize row = ADJ_SIZE (0), column = ADJ_SIZE (0);

  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = args[1].n };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  for (guint i = 0; i < out->n; i++)
    {
      const AdjShape *like = args[1].items[i].kind == ADJ_VALUE_META
                                 ? &args[1].items[i].meta->shape
                                 : shape_of (args[1].items[i].tensor);

      out->items[i] = value_of (block_of (call, args[0].tensor, like, &row, &column));
    }
  return !adj_context_has_error (call->cx);
}

/* -- the table -- */

guint32
rule_gradient_builtin_describes (const RuleBuiltin *builtin)
{
  return builtin->func == builtin_as_strided_scatter_backward ? 1 << 1 : 0;
}

static const RuleBuiltin rows[] = {
#define BUILTIN(word, help) { #word, builtin_##word },
#include "ops/gradient-builtins.inc"
#undef BUILTIN
};

const RuleBuiltinTable rule_gradient_builtins = { rows, G_N_ELEMENTS (rows) };
