/* SPDX-License-Identifier: MIT */

/* Builtins that gradients of reductions call; ops/reduction-builtins.inc says what each one is. */

#include <math.h>
#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/rule-arguments-private.h"

/* @x · @y, @y as NULL-propagating as the rest. */
static AdjTensor *
times (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  if (x == NULL || y == NULL)
    return NULL;
  return ADJ_APPLY (call->cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (x), ADJ_TENSOR (y));
}

static gboolean
builtin_restored (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  return args[0].kind == ADJ_VALUE_TENSOR &&
         rule_give (out, rule_restore_reduced (call, args[0].tensor, args, n, 2, args[1].n));
}

static gboolean
builtin_viewed_restored (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = &rule_meta_of (call, &args[0])->shape;
  const guint rank = rule_names_dims (args, n, 2) ? args[1].n : shape->rank;
  const guint32 dims = rank > shape->rank ? rule_dims_of (args, n, 2, rank) : 0;
  AdjSize sizes[ADJ_MAX_RANK];
  guint next = 0;

  if (rule_is_true (args, n, 3))
    return rule_give (out, args[0].tensor);
  for (guint i = 0; i < rank; i++)
    sizes[i] = ((dims >> i) & 1) != 0 || next == shape->rank ? ADJ_SIZE (1) : shape->size[next++];
  return rule_give (out, ADJ_APPLY (call->cx, ADJ_OP_view, args[0],
                                    adj_rule_list_sizes (call->arena, sizes, rank)));
}

static gboolean
builtin_value_selecting (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjContext *cx = call->cx;
  AdjTensor *g = args[0].tensor, *index = args[2].tensor, *zeros;

  if (!rule_is_true (args, n, 4) && args[3].n > 0)
    {
      g = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (g), args[1]);
      index = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (index), args[1]);
    }
  if (g == NULL || index == NULL)
    return FALSE;
  zeros = ADJ_APPLY (cx, ADJ_OP_new_zeros, ADJ_TENSOR (g), args[3]);
  return zeros != NULL && rule_give (out, ADJ_APPLY (cx, ADJ_OP_scatter_src, ADJ_TENSOR (zeros),
                                                     args[1], ADJ_TENSOR (index), ADJ_TENSOR (g)));
}

/* What of a source was not scattered has gradient 0. */
static gboolean
builtin_gather_padded (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  const AdjShape *index = &rule_meta_of (call, &args[2])->shape;
  AdjTensor *g = ADJ_APPLY (call->cx, ADJ_OP_gather, args[0], args[1], args[2]);
  AdjSize sizes[ADJ_MAX_RANK], pad[2 * ADJ_MAX_RANK];
  guint rank = rule_sizes_of (&args[3], sizes);
  gboolean padded = FALSE;

  if (g == NULL)
    return FALSE;
  for (guint i = 0; i < rank && rank == index->rank; i++)
    {
      pad[2 * (rank - 1 - i)] = ADJ_SIZE (0);
      pad[2 * (rank - 1 - i) + 1] = adj_size_sub (symbols, sizes[i], index->size[i]);
      padded |= !adj_size_test (symbols, ADJ_SIZE_EQ, sizes[i], index->size[i]);
    }
  if (padded)
    g = ADJ_APPLY (call->cx, ADJ_OP_constant_pad_nd, ADJ_TENSOR (g),
                   adj_rule_list_sizes (call->arena, pad, 2 * rank), ADJ_INT (0));
  return rule_give (out, g);
}

/* @count − @correction, where a number would hold for one size alone; its text is added to @text.
 */
static AdjValue
freedom_of_sizes (AdjRuleCall *call, AdjSize count, double correction, GString *text)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  AdjValue args[2] = { adj_value_from_size (count), ADJ_FLOAT (correction) };

  g_string_append (text, "ToFloat(");
  adj_size_print (adj_context_get_symbols (call->cx), count, text);
  g_string_append_c (text, ')');
  args[0] = rule_float_of_sizes (call, "torch.sym_float", args, 1, text->str);
  if (correction != 0)
    g_string_append_printf (text, " - %s%s", g_ascii_dtostr (digits, sizeof digits, correction),
                            correction == floor (correction) ? ".0" : "");
  return rule_float_of_sizes (call, "operator.sub", args, 2, text->str);
}

/* @g · 2 / @freedom, which is written as @text where it depends on sizes. */
static AdjTensor *
per_degree_of_freedom (AdjRuleCall *call, AdjTensor *g, const AdjValue *freedom, const char *text)
{
  g_autofree char *ratio = g_strdup_printf ("FloatTrueDiv(2.0, %s)", text);
  const AdjValue args[2] = { ADJ_FLOAT (2), *freedom };

  return ADJ_APPLY (call->cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (g),
                    freedom->kind == ADJ_VALUE_FLOAT
                        ? ADJ_FLOAT (2.0 / freedom->number)
                        : rule_float_of_sizes (call, "operator.truediv", args, 2, ratio));
}

/* @g times infinity, and no number where @x is the mean. */
static AdjTensor *
without_freedom (AdjRuleCall *call, AdjTensor *g, AdjTensor *x, AdjTensor *mean)
{
  AdjTensor *same = ADJ_APPLY (call->cx, ADJ_OP_eq_Tensor, ADJ_TENSOR (x), ADJ_TENSOR (mean));
  AdjTensor *factor = ADJ_APPLY (call->cx, ADJ_OP_scalar_tensor, ADJ_FLOAT (INFINITY));

  if (same == NULL || factor == NULL)
    return NULL;
  factor = ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (factor),
                      adj_rule_list_sizes (call->arena, adj_tensor_get_meta (same)->shape.size,
                                           adj_tensor_get_rank (same)));
  factor = factor != NULL ? ADJ_APPLY (call->cx, ADJ_OP_masked_fill_Scalar, ADJ_TENSOR (factor),
                                       ADJ_TENSOR (same), ADJ_FLOAT (NAN))
                          : NULL;
  return times (call, g, factor);
}

/* @args: self, dim, correction, keepdim. */
static AdjTensor *
var_backward (AdjRuleCall *call, AdjTensor *g, const AdjValue *args, guint n)
{
  AdjContext *cx = call->cx;
  const AdjShape *shape = &rule_meta_of (call, &args[0])->shape;
  AdjValue placed[2] = { args[1], args[3] };
  AdjSize count =
      rule_reduced_numel (call, shape->size, shape->rank, rule_dims_of (args, n, 1, shape->rank));
  double correction = rule_number_of (&args[2], 1);
  const gboolean is_number = adj_size_is_int (count);
  const gboolean is_free = !is_number || (double) count.word > correction;
  g_autoptr (GString) text = g_string_new (NULL);
  AdjValue freedom;
  AdjTensor *mean, *apart;

  g = rule_restore_reduced (call, g, placed, 2, 0, shape->rank);
  freedom = is_number ? ADJ_FLOAT ((double) count.word - correction)
                      : freedom_of_sizes (call, count, correction, text);
  mean = rule_names_dims (args, n, 1)
             ? ADJ_APPLY (cx, ADJ_OP_mean_dim, args[0], args[1], ADJ_BOOL (TRUE))
             : ADJ_APPLY (cx, ADJ_OP_mean, args[0]);
  if (mean == NULL || g == NULL)
    return NULL;
  if (!is_free)
    return without_freedom (call, g, args[0].tensor, mean);
  apart = ADJ_APPLY (cx, ADJ_OP_sub_Tensor, args[0], ADJ_TENSOR (mean));
  return times (call, per_degree_of_freedom (call, g, &freedom, text->str), apart);
}

static gboolean
builtin_var_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  return rule_give (out, var_backward (call, args[0].tensor, args + 1, n - 1));
}

static gboolean
builtin_var_mean_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjContext *cx = call->cx;
  const AdjShape *shape = &rule_meta_of (call, &args[2])->shape;
  AdjValue placed[2] = { args[3], args[5] };
  AdjTensor *var = NULL, *mean = NULL;

  if (args[0].kind == ADJ_VALUE_TENSOR)
    {
      var = var_backward (call, args[0].tensor, args + 2, n - 2);
      if (var == NULL || args[1].kind != ADJ_VALUE_TENSOR)
        return rule_give (out, var);
    }
  mean = rule_restore_reduced (call, args[1].tensor, placed, 2, 0, shape->rank);
  if (mean == NULL)
    return FALSE;
  mean = ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (mean),
                    adj_rule_list_sizes (call->arena, shape->size, shape->rank));
  if (mean == NULL)
    return FALSE;
  mean = ADJ_APPLY (cx, ADJ_OP_div_Scalar, ADJ_TENSOR (mean),
                    adj_value_from_size (rule_reduced_numel (
                        call, shape->size, shape->rank, rule_dims_of (args, n, 3, shape->rank))));
  if (var == NULL || mean == NULL)
    return rule_give (out, mean);
  return rule_give (out, ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (var), ADJ_TENSOR (mean)));
}

/* @written, of what a norm computes on its way, where a release writes there; @op otherwise. */
static AdjTensor *
in_place_or_not (
    AdjRuleCall *call, AdjTensor *x, const char *written, AdjOpId op, const AdjValue *rest, guint n)
{
  const gboolean writes = adj_rule_has_formula (call->cx, "norms_write");
  AdjValue args[3] = { ADJ_TENSOR (x) }, result;

  for (guint i = 0; i < n; i++)
    args[i + 1] = rest[i];
  if (!adj_call (call->cx, writes ? adj_op_find (written) : adj_op (op),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n + 1, .items = args }, NULL, &result))
    return NULL;
  return result.tensor;
}

/* @x with 0 where @y is 0. */
static AdjTensor *
mask_zeros (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  AdjContext *cx = call->cx;
  AdjTensor *zero =
      x != NULL ? ADJ_APPLY (cx, ADJ_OP_eq_Scalar, ADJ_TENSOR (y), ADJ_INT (0)) : NULL;

  return zero != NULL ? in_place_or_not (call, x, "torch.ops.aten.masked_fill_.Scalar",
                                         ADJ_OP_masked_fill_Scalar,
                                         (const AdjValue[]){ ADJ_TENSOR (zero), ADJ_INT (0) }, 2)
                      : NULL;
}

/* |x|^exponent */
static AdjTensor *
power_of_abs (AdjRuleCall *call, AdjTensor *x, double exponent)
{
  AdjTensor *size = ADJ_APPLY (call->cx, ADJ_OP_abs, ADJ_TENSOR (x));

  return size != NULL ? in_place_or_not (call, size, "torch.ops.aten.pow_.Scalar",
                                         ADJ_OP_pow_Tensor_Scalar, &ADJ_FLOAT (exponent), 1)
                      : NULL;
}

/* sgn (x) · |x|^(p − 1) · g · y^(1 − p), where p is below 1. */
static AdjTensor *
norm_below_one (AdjRuleCall *call, AdjTensor *g, AdjTensor *x, AdjTensor *y, double p)
{
  AdjContext *cx = call->cx;
  AdjTensor *power = mask_zeros (call, power_of_abs (call, x, p - 1), x);

  x = power != NULL ? times (call, ADJ_APPLY (cx, ADJ_OP_sgn, ADJ_TENSOR (x)), power) : NULL;
  power = ADJ_APPLY (cx, ADJ_OP_pow_Tensor_Scalar, ADJ_TENSOR (y), ADJ_FLOAT (1 - p));
  return times (call, times (call, x, g), power);
}

/* x · |x|^(p − 2) · g / y^(p − 1), where p is above 1 and not 2. */
static AdjTensor *
norm_above_one (AdjRuleCall *call, AdjTensor *g, AdjTensor *x, AdjTensor *y, double p)
{
  AdjContext *cx = call->cx;
  AdjTensor *power = power_of_abs (call, x, p < 2 ? p - 1 : p - 2);

  if (p < 2)
    x = ADJ_APPLY (cx, ADJ_OP_sgn, ADJ_TENSOR (x));
  x = times (call, x, power);
  power = ADJ_APPLY (cx, ADJ_OP_pow_Tensor_Scalar, ADJ_TENSOR (y), ADJ_FLOAT (p - 1));
  if (power == NULL)
    return NULL;
  g = ADJ_APPLY (cx, ADJ_OP_div_Tensor, ADJ_TENSOR (g), ADJ_TENSOR (power));
  return times (call, x, mask_zeros (call, g, y));
}

/* The elements with the largest size share g, those that are no number among them. */
static AdjTensor *
norm_of_largest (
    AdjRuleCall *call, AdjTensor *g, AdjTensor *x, AdjTensor *y, const AdjValue *args, guint n)
{
  AdjContext *cx = call->cx;
  AdjTensor *size = ADJ_APPLY (cx, ADJ_OP_abs, ADJ_TENSOR (x)), *mask, *count;
  AdjValue dims =
      rule_names_dims (args, n, 4) ? args[4] : (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 0 };

  if (size == NULL)
    return NULL;
  mask = ADJ_APPLY (cx, ADJ_OP_eq_Tensor, ADJ_TENSOR (size), ADJ_TENSOR (y));
  size = ADJ_APPLY (cx, ADJ_OP_isnan, ADJ_TENSOR (size));
  if (mask == NULL || size == NULL)
    return NULL;
  mask = ADJ_APPLY (cx, ADJ_OP_logical_or, ADJ_TENSOR (mask), ADJ_TENSOR (size));
  x = ADJ_APPLY (cx, ADJ_OP_sgn, ADJ_TENSOR (x));
  count = mask != NULL
              ? ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (mask), dims, ADJ_BOOL (TRUE))
              : NULL;
  g = count != NULL ? ADJ_APPLY (cx, ADJ_OP_div_Tensor, ADJ_TENSOR (g), ADJ_TENSOR (count)) : NULL;
  return times (call, x, times (call, g, mask));
}

static gboolean
builtin_norm_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjContext *cx = call->cx;
  const AdjTensorMeta *meta = rule_meta_of (call, &args[1]);
  double p = rule_number_of (&args[2], 2);
  AdjTensor *g = rule_restore_reduced (call, args[0].tensor, args, n, 4, meta->shape.rank);
  AdjTensor *y = rule_restore_reduced (call, args[3].tensor, args, n, 4, meta->shape.rank);
  AdjTensor *x = args[1].tensor;

  if (g == NULL || y == NULL)
    return FALSE;
  if (p == 0)
    {
      *out = ADJ_NONE;
      return TRUE;
    }
  if (p == 1)
    return rule_give (out, times (call, ADJ_APPLY (cx, ADJ_OP_sgn, args[1]), g));
  if (p == 2)
    {
      x = ADJ_APPLY (cx, ADJ_OP_div_Tensor, args[1], ADJ_TENSOR (y));
      return rule_give (out, times (call, g, mask_zeros (call, x, y)));
    }
  if (isinf (p))
    return rule_give (out, norm_of_largest (call, g, x, y, args, n));
  return rule_give (out,
                    p < 1 ? norm_below_one (call, g, x, y, p) : norm_above_one (call, g, x, y, p));
}

AdjTensor *
rule_exclusive_product (AdjRuleCall *call, AdjTensor *x, guint dim)
{
  AdjContext *cx = call->cx;
  AdjSize n = adj_tensor_get_meta (x)->shape.size[dim];
  AdjValue parts[2];
  AdjTensor *one, *rest;

  one =
      ADJ_APPLY (cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (dim), ADJ_INT (0), ADJ_INT (1));
  one = one != NULL ? ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR (one)) : NULL;
  rest = ADJ_APPLY (
      cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (dim), ADJ_INT (0),
      adj_value_from_size (adj_size_sub (adj_context_get_symbols (cx), n, ADJ_SIZE (1))));
  rest = rest != NULL ? ADJ_APPLY (cx, ADJ_OP_cumprod, ADJ_TENSOR (rest), ADJ_INT (dim)) : NULL;
  if (one == NULL || rest == NULL)
    return NULL;
  parts[0] = ADJ_TENSOR (one);
  parts[1] = ADJ_TENSOR (rest);
  return ADJ_APPLY (cx, ADJ_OP_cat, ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = parts }),
                    ADJ_INT (dim));
}

AdjTensor *
rule_new (AdjRuleCall *call, AdjOpId op, AdjTensor *like, AdjValue sizes)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (like);
  AdjValue words[] = {
    { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
    ADJ_DTYPE (meta->dtype),
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "layout" },
    { .kind = ADJ_VALUE_LAYOUT, .layout = ADJ_LAYOUT_STRIDED },
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" },
    { .kind = ADJ_VALUE_DEVICE, .device = meta->device },
  };
  AdjValue result;

  if (!adj_call (call->cx, adj_op (op),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &sizes },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = G_N_ELEMENTS (words), .items = words },
                 &result))
    return NULL;
  return result.tensor;
}

static AdjTensor *
flipped (AdjRuleCall *call, AdjTensor *x, guint dim)
{
  const AdjSize dims[] = { ADJ_SIZE (dim) };

  if (x == NULL)
    return NULL;
  return ADJ_APPLY (call->cx, ADJ_OP_flip, ADJ_TENSOR (x),
                    adj_rule_list_sizes (call->arena, dims, 1));
}

/* Running products of a one and @x along @dim. */
static AdjTensor *
products_after (AdjRuleCall *call, AdjTensor *one, AdjTensor *x, guint dim)
{
  AdjValue parts[2];

  if (one == NULL || x == NULL)
    return NULL;
  parts[0] = ADJ_TENSOR (one);
  parts[1] = ADJ_TENSOR (x);
  x = ADJ_APPLY (call->cx, ADJ_OP_cat,
                 ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = parts }), ADJ_INT (dim));
  return x != NULL ? ADJ_APPLY (call->cx, ADJ_OP_cumprod, ADJ_TENSOR (x), ADJ_INT (dim)) : NULL;
}

/* The product of all others along @dim, from the left and from the right: right where elements are
 * 0 too. */
static AdjTensor *
product_of_others (AdjRuleCall *call, AdjTensor *g, AdjTensor *x, guint dim)
{
  AdjContext *cx = call->cx;
  const AdjShape *shape = &adj_tensor_get_meta (x)->shape;
  AdjSize less = adj_size_sub (adj_context_get_symbols (cx), shape->size[dim], ADJ_SIZE (1));
  AdjSize sizes[ADJ_MAX_RANK];
  AdjTensor *one, *left, *right;

  for (guint i = 0; i < shape->rank; i++)
    sizes[i] = i == dim ? ADJ_SIZE (1) : shape->size[i];
  one = rule_new (call, ADJ_OP_ones, g, adj_rule_list_sizes (call->arena, sizes, shape->rank));
  left = ADJ_APPLY (cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (dim), ADJ_INT (0),
                    adj_value_from_size (less));
  left = products_after (call, one, left, dim);
  right = ADJ_APPLY (cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (dim), ADJ_INT (1),
                     adj_value_from_size (shape->size[dim]));
  right = flipped (call, products_after (call, one, flipped (call, right, dim), dim), dim);
  left = times (call, left, right);
  return times (call, g, left != NULL ? ADJ_APPLY (cx, ADJ_OP_conj, ADJ_TENSOR (left)) : NULL);
}

static gboolean
builtin_prod_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *g = args[0].tensor, *x = args[1].tensor;
  const AdjShape *shape = &adj_tensor_get_meta (x)->shape;
  AdjValue sizes = adj_rule_list_sizes (call->arena, shape->size, shape->rank);
  const AdjSize flat[] = { ADJ_SIZE (-1) };
  guint dim = n > 2 ? rule_wrap_dim (args[2].integer, shape->rank) : 0;
  AdjValue whole = adj_rule_list_sizes (call->arena, flat, 1);

  if (shape->rank == 0)
    return rule_give (out, g);
  if (n > 2)
    g = rule_restore_reduced (call, g, args, n, 2, shape->rank);
  else
    x = rule_reshape (call, x, &whole);
  if (g == NULL || x == NULL)
    return FALSE;
  if (adj_size_is (adj_context_get_symbols (call->cx), adj_tensor_get_meta (x)->shape.size[dim], 0))
    x = ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (g),
                   adj_rule_list_sizes (call->arena, adj_tensor_get_meta (x)->shape.size,
                                        adj_tensor_get_rank (x)));
  else if (adj_size_same (adj_tensor_get_meta (x)->shape.size[dim], ADJ_SIZE (1)))
    x = g;
  else
    x = product_of_others (call, g, x, dim);
  return x != NULL && rule_give (out, n > 2 ? x : rule_reshape (call, x, &sizes));
}

/* -- the table -- */

static const RuleBuiltin rows[] = {
#define BUILTIN(word, help) { #word, builtin_##word },
#include "ops/reduction-builtins.inc"
#undef BUILTIN
};

const RuleBuiltinTable rule_reduction_builtins = { rows, G_N_ELEMENTS (rows) };
