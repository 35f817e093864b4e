/* SPDX-License-Identifier: MIT */
/* Functions that rules call besides operators; documented in ops/rule-builtins.inc. */

#include <math.h>
#include <string.h>

#include "call/adj-context-internal.h"
#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "rules/composite-private.h"
#include "tensor/adj-shape-internal.h"

/* -- metadata -- */

static gboolean
builtin_sizes (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjTensorMeta *meta = rule_meta_of (call, &args[0]);

  *out = adj_rule_list_sizes (call->arena, meta->shape.size, meta->shape.rank);
  return TRUE;
}

static gboolean
builtin_size (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjTensorMeta *meta = rule_meta_of (call, &args[0]);

  *out = adj_value_from_size (meta->shape.size[rule_wrap_dim (args[1].integer, meta->shape.rank)]);
  return TRUE;
}

static gboolean
builtin_numel (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = &rule_meta_of (call, &args[0])->shape;

  *out = adj_value_from_size (rule_reduced_numel (call, shape->size, shape->rank, G_MAXUINT32));
  return TRUE;
}

static gboolean
builtin_reduced_numel (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = rule_sizes_of (&args[0], sizes);

  *out =
      adj_value_from_size (rule_reduced_numel (call, sizes, rank, rule_dims_of (args, n, 1, rank)));
  return TRUE;
}

static gboolean
builtin_dtype (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_DTYPE (rule_meta_of (call, &args[0])->dtype);
  return TRUE;
}

static gboolean
builtin_device (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = rule_meta_of (call, &args[0])->device };
  return TRUE;
}

static gboolean
builtin_grad_enabled (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (adj_context_get_grad_enabled (call->cx));
  return TRUE;
}

static gboolean
builtin_given (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (args[0].kind != ADJ_VALUE_NONE);
  return TRUE;
}

static gboolean
builtin_is_complex (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjDType dtype = rule_meta_of (call, &args[0])->dtype;

  *out = ADJ_BOOL (adj_dtype_get_real (dtype) != dtype);
  return TRUE;
}

static gboolean
builtin_conj (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = args[0];
  if (args[0].kind == ADJ_VALUE_TENSOR)
    return rule_give (out,
                      args[0].tensor != NULL ? ADJ_APPLY (call->cx, ADJ_OP_conj, args[0]) : NULL);
  if (args[0].kind != ADJ_VALUE_COMPLEX)
    return TRUE;
  out->items = adj_arena_new0 (call->arena, AdjValue, 2);
  out->items[0] = args[0].items[0];
  out->items[1] = ADJ_FLOAT (-args[0].items[1].number);
  return TRUE;
}

static gboolean
builtin_conjugate (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  if (args[0].kind == ADJ_VALUE_COMPLEX)
    return rule_give (out, ADJ_APPLY (call->cx, ADJ_OP__conj, args[0]));
  return builtin_conj (call, args, n, out);
}

static gboolean
builtin_is_conj (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_BOOL (rule_meta_of (call, &args[0])->conjugate);
  return TRUE;
}

static gboolean
builtin_imaginary_unit (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_COMPLEX, .n = 2 };
  out->items = adj_arena_new0 (call->arena, AdjValue, 2);
  out->items[0] = ADJ_FLOAT (0);
  out->items[1] = ADJ_FLOAT (1);
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
  guint rank = rule_sizes_of (&args[0], dims);

  for (guint i = 0; i < rank; i++)
    inverse[rule_wrap_dim (dims[i].word, rank)] = ADJ_SIZE (i);
  *out = adj_rule_list_sizes (call->arena, inverse, rank);
  return TRUE;
}

static gboolean
builtin_negated (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize sizes[ADJ_MAX_RANK];
  AdjSize lone;
  guint count = rule_sizes_of (&args[0], sizes);

  if (adj_value_get_size (&args[0], &lone))
    sizes[count++] = lone;
  for (guint i = 0; i < count; i++)
    sizes[i] =
        adj_size_apply (adj_context_get_symbols (call->cx), ADJ_SIZE_NEG, sizes[i], ADJ_SIZE (0));
  *out = adj_rule_list_sizes (call->arena, sizes, count);
  return TRUE;
}

static gboolean
builtin_backwards (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = args[0].n };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  for (guint i = 0; i < out->n; i++)
    out->items[i] = args[0].items[out->n - 1 - i];
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
builtin_single (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = args[0].kind == ADJ_VALUE_FLOAT ? ADJ_FLOAT ((double) (float) args[0].number) : args[0];
  return TRUE;
}

static gboolean
builtin_log_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_FLOAT (log (rule_number_of (&args[0], 1)));
  return TRUE;
}

/* -- shapes -- */

static gboolean
builtin_reshape (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  if (args[0].kind != ADJ_VALUE_TENSOR)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "takes a tensor");
  return rule_give (out, rule_reshape (call, args[0].tensor, &args[1]));
}

/* Sums over dimensions broadcast from the sizes in @args: leading ones and those of size 1. */
static gboolean
builtin_sum_to (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjShape to = { .rank = 0 };

  if (args[0].kind != ADJ_VALUE_TENSOR)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "takes a tensor");
  to.rank = rule_sizes_of (&args[1], to.size);
  return rule_give (out, args[0].tensor != NULL ? adj_apply_sum_to (call->cx, args[0].tensor, &to)
                                                : NULL);
}

/* @args: the squeezed tensor, the sizes before, the squeezed dimensions (absent: all). */
static gboolean
builtin_restore_squeezed (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize sizes[ADJ_MAX_RANK];
  guint rank = rule_sizes_of (&args[1], sizes);
  guint32 dims = 0;

  if (n < 3 || rule_names_dims (args, n, 2))
    dims = rule_dims_of (args, n, 2, rank);
  for (guint i = 0; i < rank; i++)
    if (!adj_size_is (symbols, sizes[i], 1))
      dims &= ~(1u << i);
  return rule_give (out, rule_restore_dims (call, args[0].tensor, dims, rank));
}

/* Inserts a single dimension as the reduction was given it. */
static gboolean
builtin_expand_reduced (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean single = args[1].n > 0 && n > 2 && args[2].kind == ADJ_VALUE_LIST && args[2].n == 1 &&
                    !rule_is_true (args, n, 3);
  AdjTensor *g = single ? ADJ_APPLY (call->cx, ADJ_OP_unsqueeze, args[0], args[2].items[0])
                        : rule_restore_reduced (call, args[0].tensor, args, n, 2, args[1].n);

  if (g == NULL)
    return FALSE;
  return rule_give (out, ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (g), args[1]));
}

static gboolean
builtin_cat_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  guint rank = adj_tensor_get_rank (args[0].tensor);
  guint dim = rule_wrap_dim (args[2].integer, rank);
  AdjSize start = ADJ_SIZE (0);

  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = args[1].n };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  for (guint i = 0; i < out->n; i++)
    {
      const AdjTensorMeta *meta = rule_meta_of (call, &args[1].items[i]);
      AdjSize end;

      /* cat ignores an empty tensor of rank 1 whatever the others are. */
      if (meta->shape.rank == 1 && adj_size_is (symbols, meta->shape.size[0], 0))
        {
          out->items[i] = ADJ_TENSOR (
              rule_new (call, ADJ_OP_zeros, args[0].tensor,
                        adj_rule_list_sizes (call->arena, meta->shape.size, meta->shape.rank)));
          if (out->items[i].tensor == NULL)
            return FALSE;
          continue;
        }
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

/* Drops dimensions of size 1 and expanded ones from @g and from @view, its geometry. */
static AdjTensor *
drop_dimensions (AdjRuleCall *call, AdjTensor *g, AdjShape *view)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  guint n = 0;

  for (guint i = view->rank; i-- > 0 && g != NULL;)
    {
      AdjValue dim = ADJ_INT (i);

      if (adj_size_is (symbols, view->size[i], 1))
        g = ADJ_APPLY (call->cx, ADJ_OP_squeeze_dim, ADJ_TENSOR (g), dim);
      else if (adj_size_is (symbols, view->stride[i], 0))
        g = ADJ_APPLY (call->cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (g),
                       (AdjValue){ .kind = ADJ_VALUE_LIST, .n = 1, .items = &dim });
    }
  for (guint i = 0; i < view->rank; i++)
    if (!adj_size_is (symbols, view->size[i], 1) && !adj_size_is (symbols, view->stride[i], 0))
      {
        view->size[n] = view->size[i];
        view->stride[n++] = view->stride[i];
      }
  view->rank = n;
  return g;
}

/* Whether to write through as_strided and copy_, as compiled autograd of 2.6 does. */
static gboolean
writes_strided (AdjRuleCall *call)
{
  const AdjValue name = { .kind = ADJ_VALUE_STRING, .n = 14, .text = "writes_strided" };
  AdjValue holds;

  return rule_fact (call, &name, 1, &holds) && holds.boolean;
}

/* @whole, flat, with @g written to the elements of @view; overlapping elements are summed. */
static AdjTensor *
put_strided (AdjRuleCall *call, AdjTensor *whole, AdjSize size, AdjTensor *g, const AdjShape *view)
{
  const AdjSize flat[] = { ADJ_SIZE (-1) };
  AdjValue one = adj_rule_list_sizes (call->arena, flat, 1);
  AdjValue sizes = adj_rule_list_sizes (call->arena, view->size, view->rank);
  AdjValue strides = adj_rule_list_sizes (call->arena, view->stride, view->rank);
  AdjValue offset = adj_value_from_size (view->offset);
  const gboolean overlaps = adj_shape_may_overlap (view, adj_context_get_symbols (call->cx));
  AdjTensor *places;

  if (!overlaps && writes_strided (call))
    {
      places = ADJ_APPLY (call->cx, ADJ_OP_as_strided, ADJ_TENSOR (whole), sizes, strides, offset);
      return places != NULL &&
                     ADJ_APPLY (call->cx, ADJ_OP_copy_, ADJ_TENSOR (places), ADJ_TENSOR (g)) != NULL
                 ? whole
                 : NULL;
    }
  if (!overlaps)
    return ADJ_APPLY (call->cx, ADJ_OP_as_strided_scatter, ADJ_TENSOR (whole), ADJ_TENSOR (g),
                      sizes, strides, offset);
  places = ADJ_APPLY (call->cx, ADJ_OP_arange, adj_value_from_size (size));
  if (places != NULL)
    places = ADJ_APPLY (call->cx, ADJ_OP_as_strided, ADJ_TENSOR (places), sizes, strides, offset);
  places = places != NULL ? rule_reshape (call, places, &one) : NULL;
  g = places != NULL ? rule_reshape (call, g, &one) : NULL;
  return g != NULL ? ADJ_APPLY (call->cx, ADJ_OP_index_add, ADJ_TENSOR (whole), ADJ_INT (0),
                                ADJ_TENSOR (places), ADJ_TENSOR (g))
                   : NULL;
}

/* For a storage that starts at the input or the result, whichever is first. */
static gboolean
builtin_as_strided_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  const AdjTensorMeta *x = rule_meta_of (call, &args[1]);
  AdjShape result = { .offset = ADJ_SIZE (0) };
  AdjSize start, from_x, size, end;
  AdjTensor *g, *whole, *scattered;

  if (x == NULL)
    return FALSE;
  result.rank = rule_sizes_of (&args[2], result.size);
  rule_sizes_of (&args[3], result.stride);
  if (!adj_value_get_size (&args[4], &result.offset))
    result.offset = x->shape.offset;
  start = adj_size_test (symbols, ADJ_SIZE_LT, x->shape.offset, result.offset) ? x->shape.offset
                                                                               : result.offset;
  from_x = adj_size_sub (symbols, x->shape.offset, start);
  result.offset = adj_size_sub (symbols, result.offset, start);
  size = adj_size_add (symbols, from_x, adj_shape_span (&x->shape, symbols));
  end = adj_size_add (symbols, result.offset, adj_shape_span (&result, symbols));
  if (adj_size_test (symbols, ADJ_SIZE_LT, size, end))
    size = end;
  g = drop_dimensions (call, args[0].tensor, &result);
  whole = g != NULL ? ADJ_APPLY (call->cx, ADJ_OP_new_zeros, ADJ_TENSOR (g),
                                 adj_rule_list_sizes (call->arena, &size, 1))
                    : NULL;
  if (whole == NULL)
    return FALSE;
  scattered = put_strided (call, whole, size, g, &result);
  if (scattered == NULL)
    return FALSE;
  return rule_give (out,
                    ADJ_APPLY (call->cx, ADJ_OP_as_strided, ADJ_TENSOR (scattered),
                               adj_rule_list_sizes (call->arena, x->shape.size, x->shape.rank),
                               adj_rule_list_sizes (call->arena, x->shape.stride, x->shape.rank),
                               adj_value_from_size (from_x)));
}

/* Sums the repetitions: new dimensions first, then [r·s, …] viewed as [r, s, …] if r is not 1. */
static gboolean
builtin_repeat_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize repeats[ADJ_MAX_RANK], sizes[ADJ_MAX_RANK];
  AdjSize split[2 * ADJ_MAX_RANK], summed[ADJ_MAX_RANK], first = ADJ_SIZE (0);
  guint n_new = rule_sizes_of (&args[1], repeats);
  guint rank = rule_sizes_of (&args[2], sizes);
  guint n_split = 0, n_summed = 0;
  AdjTensor *g = args[0].tensor;

  for (guint i = 0; i < n_new; i++)
    if (adj_size_is (symbols, repeats[i], 0))
      return rule_give (out, ADJ_APPLY (call->cx, ADJ_OP_new_zeros, args[0],
                                        adj_rule_list_sizes (call->arena, sizes, rank)));
  n_new -= MIN (rank, n_new);
  for (guint i = 0; i < n_new && g != NULL; i++)
    g = ADJ_APPLY (call->cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (g),
                   adj_rule_list_sizes (call->arena, &first, 1));
  for (guint i = 0; i < rank; i++)
    {
      if (!adj_size_is (symbols, repeats[n_new + i], 1))
        {
          summed[n_summed++] = ADJ_SIZE (n_split);
          split[n_split++] = repeats[n_new + i];
        }
      split[n_split++] = sizes[i];
    }
  if (n_split > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_LIMIT, "has too many dimensions");
  if (n_summed > 0 && g != NULL)
    {
      AdjValue shape = adj_rule_list_sizes (call->arena, split, n_split);

      g = rule_reshape (call, g, &shape);
    }
  if (n_summed > 0 && g != NULL)
    g = ADJ_APPLY (call->cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (g),
                   adj_rule_list_sizes (call->arena, summed, n_summed));
  return rule_give (out, g);
}

/* -- products -- */

static gboolean
builtin_scaled (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  if (args[0].kind == ADJ_VALUE_META)
    {
      *out = args[0];
      return TRUE;
    }
  if (args[1].kind != ADJ_VALUE_COMPLEX && rule_number_of (&args[1], 1) == 1)
    return rule_give (out, args[0].tensor);
  return rule_give (out, ADJ_APPLY (call->cx, ADJ_OP_mul_Scalar, args[0], args[1]));
}

/* -- the table -- */

guint32
rule_builtin_describes (const RuleBuiltin *builtin)
{
  const RuleBuiltinFunc func = builtin->func;

  if (func == builtin_sizes || func == builtin_size || func == builtin_numel ||
      func == builtin_dtype || func == builtin_device || func == builtin_given ||
      func == builtin_is_complex || func == builtin_is_conj)
    return 1 << 0;
  if (func == builtin_cat_backward || func == builtin_stack_backward ||
      func == builtin_as_strided_backward)
    return 1 << 1;
  return rule_gradient_builtin_describes (builtin) | rule_linalg_builtin_describes (builtin) |
         rule_composite_builtin_describes (builtin);
}

static const RuleBuiltin rows[] = {
#define BUILTIN(word, help) { #word, builtin_##word },
#include "ops/rule-builtins.inc"
#undef BUILTIN
};

const RuleBuiltin *
rule_builtin_find (const char *name)
{
  static const RuleBuiltinTable own = { rows, G_N_ELEMENTS (rows) };
  static const RuleBuiltinTable *const tables[] = { &own, &rule_reduction_builtins,
                                                    &rule_gradient_builtins,
                                                    &rule_composite_builtins,
                                                    &rule_linalg_builtins };

  for (guint i = 0; i < G_N_ELEMENTS (tables); i++)
    for (guint k = 0; k < tables[i]->n; k++)
      if (strcmp (tables[i]->rows[k].name, name) == 0)
        return &tables[i]->rows[k];
  return NULL;
}
