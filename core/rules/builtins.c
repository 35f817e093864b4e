/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "call/adj-op-internal.h"
#include "rules/rule-private.h"

/* What rules call beside operators: ops/rule-builtins.inc says what each one is. */

/* -- arguments -- */

static const AdjTensorMeta *
meta_of (AdjRuleCall *call, const AdjValue *value)
{
  static const AdjTensorMeta neutral = { .dtype = ADJ_DTYPE_F32, .device = { ADJ_DEVICE_CPU, -1 } };

  if (value->kind == ADJ_VALUE_META)
    return value->meta;
  if (value->kind == ADJ_VALUE_TENSOR && value->tensor != NULL)
    return adj_tensor_get_meta (value->tensor);
  rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a tensor, not %s",
                  adj_value_kind_name (value->kind));
  return &neutral;
}

static gboolean
is_true (const AdjValue *args, guint n, guint index)
{
  return index < n && adj_op_value_is_true (&args[index]);
}

static double
number_of (const AdjValue *value, double if_none)
{
  if (value->kind == ADJ_VALUE_FLOAT)
    return value->number;
  if (value->kind == ADJ_VALUE_INT)
    return (double) value->integer;
  return value->kind == ADJ_VALUE_BOOL ? value->boolean : if_none;
}

/* Sizes of a LIST into @out; returns how many. */
static guint
sizes_of (const AdjValue *list, AdjSize *out)
{
  guint n = adj_value_is_container (list) ? MIN (list->n, ADJ_MAX_RANK) : 0;

  for (guint i = 0; i < n; i++)
    if (!adj_value_get_size (&list->items[i], &out[i]))
      out[i] = ADJ_SIZE (0);
  return n;
}

static guint
wrap (gint64 dim, guint rank)
{
  return (guint) CLAMP (dim < 0 ? dim + MAX (rank, 1) : dim, 0, ADJ_MAX_RANK - 1);
}

/* The dimensions that @dims names as bits: a number, a list, or nothing, which is all. */
static guint32
dims_of (const AdjValue *args, guint n, guint index, guint rank)
{
  AdjSize dims[ADJ_MAX_RANK];
  guint32 mask = 0;
  guint n_dims;

  if (index < n && args[index].kind == ADJ_VALUE_INT)
    return 1u << wrap (args[index].integer, rank);
  n_dims = index < n ? sizes_of (&args[index], dims) : 0;
  for (guint i = 0; i < n_dims; i++)
    mask |= 1u << wrap (dims[i].word, rank);
  return n_dims == 0 ? (1u << rank) - 1 : mask;
}

static gboolean
names_dims (const AdjValue *args, guint n, guint index)
{
  return index < n && (args[index].kind == ADJ_VALUE_INT ||
                       (adj_value_is_container (&args[index]) && args[index].n > 0));
}

static gboolean
give (AdjValue *out, AdjTensor *tensor)
{
  *out = ADJ_TENSOR (tensor);
  return tensor != NULL;
}

/* -- metadata -- */

static gboolean
builtin_sizes (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjTensorMeta *meta = meta_of (call, &args[0]);

  *out = adj_rule_list_sizes (call->arena, meta->shape.size, meta->shape.rank);
  return TRUE;
}

static gboolean
builtin_size (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjTensorMeta *meta = meta_of (call, &args[0]);

  *out = adj_value_from_size (meta->shape.size[wrap (args[1].integer, meta->shape.rank)]);
  return TRUE;
}

static gboolean
builtin_numel (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = adj_value_from_size (
      adj_shape_numel (&meta_of (call, &args[0])->shape, adj_context_get_symbols (call->cx)));
  return TRUE;
}

static AdjSize
reduced_numel (AdjRuleCall *call, const AdjSize *sizes, guint rank, guint32 dims)
{
  AdjSize product = ADJ_SIZE (1);

  for (guint i = 0; i < rank; i++)
    if (((dims >> i) & 1) != 0)
      product = adj_size_mul (adj_context_get_symbols (call->cx), product, sizes[i]);
  return product;
}

static gboolean
builtin_reduced_numel (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = sizes_of (&args[0], sizes);

  *out = adj_value_from_size (reduced_numel (call, sizes, rank, dims_of (args, n, 1, rank)));
  return TRUE;
}

static gboolean
builtin_dtype (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_DTYPE (meta_of (call, &args[0])->dtype);
  return TRUE;
}

static gboolean
builtin_given (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (args[0].kind != ADJ_VALUE_NONE);
  return TRUE;
}

static gboolean
builtin_refuse (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "%s", args[0].text);
}

/* -- numbers -- */

static gboolean
builtin_inverse (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize dims[ADJ_MAX_RANK], inverse[ADJ_MAX_RANK] = { 0 };
  guint rank = sizes_of (&args[0], dims);

  for (guint i = 0; i < rank; i++)
    inverse[wrap (dims[i].word, rank)] = ADJ_SIZE (i);
  *out = adj_rule_list_sizes (call->arena, inverse, rank);
  return TRUE;
}

static gboolean
builtin_negated (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK];
  AdjSize lone;
  guint count = sizes_of (&args[0], sizes);

  if (adj_value_get_size (&args[0], &lone))
    sizes[count++] = lone;
  for (guint i = 0; i < count; i++)
    sizes[i] =
        adj_size_apply (adj_context_get_symbols (call->cx), ADJ_SIZE_NEG, sizes[i], ADJ_SIZE (0));
  *out = adj_rule_list_sizes (call->arena, sizes, count);
  return TRUE;
}

/* The sum of the first args[1] numbers of a list. */
static gboolean
builtin_sum_before (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize sum = ADJ_SIZE (0);
  AdjSize size;

  for (guint i = 0; i < args[0].n && i < args[1].integer; i++)
    if (adj_value_get_size (&args[0].items[i], &size))
      sum = adj_size_add (symbols, sum, size);
  *out = adj_value_from_size (sum);
  return TRUE;
}

static gboolean
builtin_slice_start (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = args[0].kind == ADJ_VALUE_NONE ? ADJ_INT (0) : args[0];
  return TRUE;
}

static gboolean
builtin_slice_end (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = args[0].kind == ADJ_VALUE_NONE ? ADJ_INT (G_MAXINT64) : args[0];
  return TRUE;
}

static gboolean
builtin_log_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_FLOAT (log (number_of (&args[0], 1)));
  return TRUE;
}

/* -- shapes -- */

AdjTensor *
rule_reshape (AdjRuleCall *call, AdjTensor *tensor, const AdjValue *sizes)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize wanted[ADJ_MAX_RANK];
  guint rank = sizes_of (sizes, wanted);
  AdjShape shape;

  if (tensor == NULL)
    return NULL;
  if (adj_shape_view (&adj_tensor_get_meta (tensor)->shape, symbols, wanted, rank, &shape, NULL))
    return ADJ_APPLY (call->cx, ADJ_OP_view, ADJ_TENSOR (tensor), *sizes);
  tensor = adj_apply_clone_contiguous (call->cx, tensor);
  if (tensor == NULL)
    return NULL;
  if (!adj_shape_view (&adj_tensor_get_meta (tensor)->shape, symbols, wanted, rank, &shape, NULL))
    {
      rule_call_fail (call, ADJ_ERROR_SHAPE, "has another number of elements");
      return NULL;
    }
  return ADJ_APPLY (call->cx, ADJ_OP__unsafe_view, ADJ_TENSOR (tensor), *sizes);
}

static gboolean
builtin_reshape (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  return give (out, rule_reshape (call, args[0].tensor, &args[1]));
}

/* Sums what was broadcast from @sizes: leading dimensions and those of size 1. */
static gboolean
builtin_sum_to (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjShape to = { .rank = 0 };

  to.rank = sizes_of (&args[1], to.size);
  return give (out, adj_apply_sum_to (call->cx, args[0].tensor, &to));
}

/* Puts reduced dimensions back as dimensions of size 1. */
static AdjTensor *
restore_dims (AdjRuleCall *call, AdjTensor *tensor, guint32 dims, guint rank)
{
  for (guint i = 0; i < rank && tensor != NULL; i++)
    if (((dims >> i) & 1) != 0)
      tensor = ADJ_APPLY (call->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (tensor), ADJ_INT (i));
  return tensor;
}

/* @args: what was squeezed, the sizes before, which dimensions (else all). */
static gboolean
builtin_restore_squeezed (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = sizes_of (&args[1], sizes);
  guint32 dims = 0;

  if (n < 3 || names_dims (args, n, 2))
    dims = dims_of (args, n, 2, rank);
  for (guint i = 0; i < rank; i++)
    if (!adj_size_is (symbols, sizes[i], 1))
      dims &= ~(1u << i);
  return give (out, restore_dims (call, args[0].tensor, dims, rank));
}

/* The same for the result of a reduction; one over everything broadcasts as it is. */
static AdjTensor *
restore_reduced (AdjRuleCall *call,
                 AdjTensor *tensor,
                 const AdjValue *args,
                 guint n,
                 guint first, /* dims and keepdim stand at first, first + 1 */
                 guint rank)
{
  if (is_true (args, n, first + 1) || rank == 0 || !names_dims (args, n, first))
    return tensor;
  return restore_dims (call, tensor, dims_of (args, n, first, rank), rank);
}

/* A single dimension is named as the reduction named it. */
static gboolean
builtin_expand_reduced (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean single = args[1].n > 0 && n > 2 && args[2].kind == ADJ_VALUE_LIST && args[2].n == 1 &&
                    !is_true (args, n, 3);
  AdjTensor *g = single ? ADJ_APPLY (call->cx, ADJ_OP_unsqueeze, args[0], args[2].items[0])
                        : restore_reduced (call, args[0].tensor, args, n, 2, args[1].n);

  if (g == NULL)
    return FALSE;
  return give (out, ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (g), args[1]));
}

static gboolean
builtin_cat_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  guint rank = adj_tensor_get_rank (args[0].tensor);
  guint dim = wrap (args[2].integer, rank);
  AdjSize start = ADJ_SIZE (0);

  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = args[1].n };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  for (guint i = 0; i < out->n; i++)
    {
      const AdjTensorMeta *meta = meta_of (call, &args[1].items[i]);
      AdjSize end;

      /* An empty tensor of one dimension is left out whatever the others are. */
      if (meta->shape.rank != rank)
        continue;
      end = adj_size_add (symbols, start, meta->shape.size[dim]);
      out->items[i] =
          ADJ_TENSOR (ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, args[0], ADJ_INT (dim),
                                 adj_value_from_size (start), adj_value_from_size (end)));
      if (out->items[i].tensor == NULL)
        return FALSE;
      start = end;
    }
  return TRUE;
}

static gboolean
builtin_stack_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = args[1].n };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  for (guint i = 0; i < out->n; i++)
    {
      out->items[i] =
          ADJ_TENSOR (ADJ_APPLY (call->cx, ADJ_OP_select_int, args[0], args[2], ADJ_INT (i)));
      if (out->items[i].tensor == NULL)
        return FALSE;
    }
  return TRUE;
}

/* @whole, flat, with g where the view shows it; added up where it shows an element twice. */
static AdjTensor *
put_strided (
    AdjRuleCall *call, AdjTensor *whole, AdjSize size, const AdjValue *args, AdjSize offset)
{
  const AdjSize flat[] = { ADJ_SIZE (-1) };
  AdjValue one = adj_rule_list_sizes (call->arena, flat, 1);
  AdjShape view = { .rank = 0 };
  AdjTensor *places, *g;

  view.rank = sizes_of (&args[2], view.size);
  sizes_of (&args[3], view.stride);
  if (!adj_shape_may_overlap (&view, adj_context_get_symbols (call->cx)))
    return ADJ_APPLY (call->cx, ADJ_OP_as_strided_scatter, ADJ_TENSOR (whole), args[0], args[2],
                      args[3], adj_value_from_size (offset));
  places = ADJ_APPLY (call->cx, ADJ_OP_arange, adj_value_from_size (size));
  if (places != NULL)
    places = ADJ_APPLY (call->cx, ADJ_OP_as_strided, ADJ_TENSOR (places), args[2], args[3],
                        adj_value_from_size (offset));
  places = places != NULL ? rule_reshape (call, places, &one) : NULL;
  g = places != NULL ? rule_reshape (call, args[0].tensor, &one) : NULL;
  return g != NULL ? ADJ_APPLY (call->cx, ADJ_OP_index_add, ADJ_TENSOR (whole), ADJ_INT (0),
                                ADJ_TENSOR (places), ADJ_TENSOR (g))
                   : NULL;
}

/* Of a storage that begins where the input or the result does. */
static gboolean
builtin_as_strided_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  const AdjTensorMeta *x = meta_of (call, &args[1]);
  AdjShape result = { .offset = ADJ_SIZE (0) };
  AdjSize start, from_x, from_result, size, end;
  AdjTensor *whole, *scattered;

  if (x == NULL)
    return FALSE;
  result.rank = sizes_of (&args[2], result.size);
  sizes_of (&args[3], result.stride);
  if (!adj_value_get_size (&args[4], &result.offset))
    result.offset = x->shape.offset;
  start = adj_size_test (symbols, ADJ_SIZE_LT, x->shape.offset, result.offset) ? x->shape.offset
                                                                               : result.offset;
  from_x = adj_size_sub (symbols, x->shape.offset, start);
  from_result = adj_size_sub (symbols, result.offset, start);
  size = adj_size_add (symbols, from_x, adj_shape_span (&x->shape, symbols));
  end = adj_size_add (symbols, from_result, adj_shape_span (&result, symbols));
  if (adj_size_test (symbols, ADJ_SIZE_LT, size, end))
    size = end;
  whole =
      ADJ_APPLY (call->cx, ADJ_OP_new_zeros, args[0], adj_rule_list_sizes (call->arena, &size, 1));
  if (whole == NULL)
    return FALSE;
  scattered = put_strided (call, whole, size, args, from_result);
  if (scattered == NULL)
    return FALSE;
  return give (out, ADJ_APPLY (call->cx, ADJ_OP_as_strided, ADJ_TENSOR (scattered),
                               adj_rule_list_sizes (call->arena, x->shape.size, x->shape.rank),
                               adj_rule_list_sizes (call->arena, x->shape.stride, x->shape.rank),
                               adj_value_from_size (from_x)));
}

/* Sums the copies: [r0·s0, …] is seen as [r0, s0, …]. */
static gboolean
builtin_repeat_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize repeats[ADJ_MAX_RANK], sizes[ADJ_MAX_RANK];
  AdjSize split[2 * ADJ_MAX_RANK], summed[ADJ_MAX_RANK];
  guint n_repeats = sizes_of (&args[1], repeats);
  guint rank = sizes_of (&args[2], sizes);
  guint n_split = 0, n_summed = 0;
  AdjTensor *g = args[0].tensor;

  for (guint i = 0; i < n_repeats; i++)
    {
      summed[n_summed++] = ADJ_SIZE (n_split);
      split[n_split++] = repeats[i];
      if (i + rank >= n_repeats)
        split[n_split++] = sizes[i + rank - n_repeats];
    }
  if (n_split > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_LIMIT, "has too many dimensions");
  if (n_summed > 0)
    {
      AdjValue shape = adj_rule_list_sizes (call->arena, split, n_split);

      g = rule_reshape (call, g, &shape);
      if (g == NULL)
        return FALSE;
      g = ADJ_APPLY (call->cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (g),
                     adj_rule_list_sizes (call->arena, summed, n_summed));
    }
  return give (out, g);
}

/* -- products -- */

static gboolean
builtin_scaled (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  if (number_of (&args[1], 1) == 1)
    return give (out, args[0].tensor);
  return give (out, ADJ_APPLY (call->cx, ADJ_OP_mul_Scalar, args[0], args[1]));
}

static gboolean
builtin_mm_right (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *right = &meta_of (call, &args[2])->shape;
  AdjContext *cx = call->cx;
  AdjTensor *t;

  if (adj_size_is_int (right->stride[0]) && right->stride[0].word == 1 &&
      adj_size_same (right->stride[1], right->size[0]))
    {
      t = ADJ_APPLY (cx, ADJ_OP_t, args[1]);
      t = t != NULL ? ADJ_APPLY (cx, ADJ_OP_mm, ADJ_TENSOR (t), args[0]) : NULL;
      return t != NULL && give (out, ADJ_APPLY (cx, ADJ_OP_t, ADJ_TENSOR (t)));
    }
  t = ADJ_APPLY (cx, ADJ_OP_t, args[0]);
  return t != NULL && give (out, ADJ_APPLY (cx, ADJ_OP_mm, ADJ_TENSOR (t), args[1]));
}

/* -- reductions -- */

/* @g among the elements of @x that equal @best: both as a reduction over @dims that keeps them. */
static AdjTensor *
distribute (AdjRuleCall *call,
            AdjTensor *g,
            AdjTensor *x,
            AdjTensor *best,
            const AdjValue *dims,
            gboolean has_dims)
{
  AdjContext *cx = call->cx;
  AdjTensor *mask = ADJ_APPLY (cx, ADJ_OP_eq_Tensor, ADJ_TENSOR (x), ADJ_TENSOR (best));
  AdjTensor *count;

  if (mask == NULL)
    return NULL;
  count = has_dims
              ? ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (mask), *dims, ADJ_BOOL (TRUE))
              : ADJ_APPLY (cx, ADJ_OP_sum, ADJ_TENSOR (mask));
  g = ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (g), ADJ_TENSOR (mask));
  if (g == NULL || count == NULL)
    return NULL;
  return ADJ_APPLY (cx, ADJ_OP_div_Tensor, ADJ_TENSOR (g), ADJ_TENSOR (count));
}

static gboolean
builtin_evenly_distribute (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  guint rank = meta_of (call, &args[1])->shape.rank;
  AdjTensor *g = restore_reduced (call, args[0].tensor, args, n, 3, rank);
  AdjTensor *best = restore_reduced (call, args[2].tensor, args, n, 3, rank);

  if (g == NULL || best == NULL)
    return FALSE;
  return give (out, distribute (call, g, args[1].tensor, best, &args[3], names_dims (args, n, 3)));
}

static gboolean
builtin_value_selecting (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjContext *cx = call->cx;
  AdjTensor *g = args[0].tensor, *index = args[2].tensor, *zeros;

  if (!is_true (args, n, 4) && args[3].n > 0)
    {
      g = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (g), args[1]);
      index = ADJ_APPLY (cx, ADJ_OP_unsqueeze, ADJ_TENSOR (index), args[1]);
    }
  if (g == NULL || index == NULL)
    return FALSE;
  zeros = ADJ_APPLY (cx, ADJ_OP_new_zeros, ADJ_TENSOR (g), args[3]);
  return zeros != NULL && give (out, ADJ_APPLY (cx, ADJ_OP_scatter_src, ADJ_TENSOR (zeros), args[1],
                                                ADJ_TENSOR (index), ADJ_TENSOR (g)));
}

/* What of a source was not scattered has gradient 0. */
static gboolean
builtin_gather_padded (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  const AdjShape *index = &meta_of (call, &args[2])->shape;
  AdjTensor *g = ADJ_APPLY (call->cx, ADJ_OP_gather, args[0], args[1], args[2]);
  AdjSize sizes[ADJ_MAX_RANK], pad[2 * ADJ_MAX_RANK];
  guint rank = sizes_of (&args[3], sizes);
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
  return give (out, g);
}

/* @args: self, dim, correction, keepdim. */
static AdjTensor *
var_backward (AdjRuleCall *call, AdjTensor *g, const AdjValue *args, guint n)
{
  AdjContext *cx = call->cx;
  const AdjShape *shape = &meta_of (call, &args[0])->shape;
  AdjValue placed[2] = { args[1], args[3] };
  AdjSize count = reduced_numel (call, shape->size, shape->rank, dims_of (args, n, 1, shape->rank));
  AdjTensor *mean;
  gint64 hint = 1;

  adj_size_get_hint (adj_context_get_symbols (cx), count, &hint);
  g = restore_reduced (call, g, placed, 2, 0, shape->rank);
  if (g == NULL)
    return NULL;
  g = ADJ_APPLY (cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (g),
                 ADJ_FLOAT (2.0 / ((double) hint - number_of (&args[2], 1))));
  mean = names_dims (args, n, 1)
             ? ADJ_APPLY (cx, ADJ_OP_mean_dim, args[0], args[1], ADJ_BOOL (TRUE))
             : ADJ_APPLY (cx, ADJ_OP_mean, args[0]);
  if (mean == NULL || g == NULL)
    return NULL;
  mean = ADJ_APPLY (cx, ADJ_OP_sub_Tensor, args[0], ADJ_TENSOR (mean));
  if (mean == NULL)
    return NULL;
  return ADJ_APPLY (cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (g), ADJ_TENSOR (mean));
}

static gboolean
builtin_var_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  return give (out, var_backward (call, args[0].tensor, args + 1, n - 1));
}

static gboolean
builtin_var_mean_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjContext *cx = call->cx;
  const AdjShape *shape = &meta_of (call, &args[2])->shape;
  AdjValue placed[2] = { args[3], args[5] };
  AdjTensor *var = NULL, *mean = NULL;

  if (args[0].kind == ADJ_VALUE_TENSOR)
    {
      var = var_backward (call, args[0].tensor, args + 2, n - 2);
      if (var == NULL || args[1].kind != ADJ_VALUE_TENSOR)
        return give (out, var);
    }
  mean = restore_reduced (call, args[1].tensor, placed, 2, 0, shape->rank);
  if (mean == NULL)
    return FALSE;
  mean = ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (mean),
                    adj_rule_list_sizes (call->arena, shape->size, shape->rank));
  if (mean == NULL)
    return FALSE;
  mean = ADJ_APPLY (cx, ADJ_OP_div_Scalar, ADJ_TENSOR (mean),
                    adj_value_from_size (reduced_numel (call, shape->size, shape->rank,
                                                        dims_of (args, n, 3, shape->rank))));
  if (var == NULL || mean == NULL)
    return give (out, mean);
  return give (out, ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (var), ADJ_TENSOR (mean)));
}

/* @x · @y, @y as NULL-propagating as the rest. */
static AdjTensor *
times (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  if (x == NULL || y == NULL)
    return NULL;
  return ADJ_APPLY (call->cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (x), ADJ_TENSOR (y));
}

/* g / y^(p − 1), 0 where y is 0. */
static AdjTensor *
norm_scale (AdjRuleCall *call, AdjTensor *g, AdjTensor *y, double p)
{
  AdjContext *cx = call->cx;
  AdjTensor *power = y, *zero;

  if (p != 2)
    power = ADJ_APPLY (cx, ADJ_OP_pow_Tensor_Scalar, ADJ_TENSOR (y), ADJ_FLOAT (p - 1));
  if (power == NULL)
    return NULL;
  g = ADJ_APPLY (cx, ADJ_OP_div_Tensor, ADJ_TENSOR (g), ADJ_TENSOR (power));
  zero = ADJ_APPLY (cx, ADJ_OP_eq_Scalar, ADJ_TENSOR (y), ADJ_INT (0));
  if (g == NULL || zero == NULL)
    return NULL;
  return ADJ_APPLY (cx, ADJ_OP_masked_fill_Scalar, ADJ_TENSOR (g), ADJ_TENSOR (zero), ADJ_INT (0));
}

static gboolean
builtin_norm_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjContext *cx = call->cx;
  const AdjTensorMeta *meta = meta_of (call, &args[1]);
  double p = number_of (&args[2], 2);
  AdjTensor *g = restore_reduced (call, args[0].tensor, args, n, 4, meta->shape.rank);
  AdjTensor *y = restore_reduced (call, args[3].tensor, args, n, 4, meta->shape.rank);
  AdjTensor *x = args[1].tensor, *power;

  if (g == NULL || y == NULL)
    return FALSE;
  if (p == 0)
    return give (out, ADJ_APPLY (cx, ADJ_OP_zeros_like, args[1]));
  if (p == 1)
    return give (out, times (call, g, ADJ_APPLY (cx, ADJ_OP_sgn, args[1])));
  if (isinf (p))
    {
      x = ADJ_APPLY (cx, ADJ_OP_abs, args[1]);
      x = x != NULL ? distribute (call, g, x, y, &args[4], names_dims (args, n, 4)) : NULL;
      return give (out, times (call, x, ADJ_APPLY (cx, ADJ_OP_sgn, args[1])));
    }
  if (p != 2)
    {
      power = ADJ_APPLY (cx, ADJ_OP_abs, args[1]);
      if (power != NULL)
        power = ADJ_APPLY (cx, ADJ_OP_pow_Tensor_Scalar, ADJ_TENSOR (power), ADJ_FLOAT (p - 2));
      x = times (call, x, power);
    }
  return give (out, times (call, x, norm_scale (call, g, y, p)));
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

static AdjTensor *
flipped (AdjRuleCall *call, AdjTensor *x, guint dim)
{
  const AdjSize dims[] = { ADJ_SIZE (dim) };

  if (x == NULL)
    return NULL;
  return ADJ_APPLY (call->cx, ADJ_OP_flip, ADJ_TENSOR (x),
                    adj_rule_list_sizes (call->arena, dims, 1));
}

/* The product of all others, from the left and from the right: right where elements are 0 too. */
static gboolean
builtin_prod_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *g = args[0].tensor, *x = args[1].tensor;
  const AdjShape *shape = &adj_tensor_get_meta (x)->shape;
  AdjValue sizes = adj_rule_list_sizes (call->arena, shape->size, shape->rank);
  const AdjSize flat[] = { ADJ_SIZE (-1) };
  guint dim = n > 2 ? wrap (args[2].integer, shape->rank) : 0;
  AdjValue whole = adj_rule_list_sizes (call->arena, flat, 1);

  if (shape->rank == 0)
    return give (out, g);
  if (n > 2)
    g = restore_reduced (call, g, args, n, 2, shape->rank);
  else
    x = rule_reshape (call, x, &whole);
  if (g == NULL || x == NULL)
    return FALSE;
  x = times (call, rule_exclusive_product (call, x, dim),
             flipped (call, rule_exclusive_product (call, flipped (call, x, dim), dim), dim));
  x = times (call, g, x);
  return x != NULL && give (out, n > 2 ? x : rule_reshape (call, x, &sizes));
}

/* -- the table -- */

guint32
rule_builtin_describes (const RuleBuiltin *builtin)
{
  const RuleBuiltinFunc func = builtin->func;

  if (func == builtin_sizes || func == builtin_size || func == builtin_numel ||
      func == builtin_dtype || func == builtin_given)
    return 1 << 0;
  if (func == builtin_cat_backward || func == builtin_stack_backward ||
      func == builtin_as_strided_backward)
    return 1 << 1;
  if (func == builtin_mm_right)
    return 1 << 2;
  return rule_gradient_builtin_describes (builtin);
}

const RuleBuiltin *
rule_builtin_find (const char *name)
{
  static const RuleBuiltin table[] = {
#define BUILTIN(word, help) { #word, builtin_##word },
#include "ops/rule-builtins.inc"
#undef BUILTIN
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (strcmp (table[i].name, name) == 0)
      return &table[i];
  if (rule_gradient_builtin_find (name) != NULL)
    return rule_gradient_builtin_find (name);
  return rule_composite_builtin_find (name);
}
