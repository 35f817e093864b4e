/* SPDX-License-Identifier: MIT */

/* Builtins of gradients only; documented in ops/gradient-builtins.inc. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "rules/gradients-private.h"

gboolean
rule_add_given (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *sum = NULL;

  for (guint i = 0; i < n; i++)
    sum = rule_sum_given (call, sum, rule_tensor_of (&args[i]));
  *out = rule_value_of (sum);
  return !adj_context_has_error (call->cx);
}

gboolean
rule_least_of (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  static const double largest[ADJ_N_DTYPES] = { [ADJ_DTYPE_F64] = 0x1.fffffffffffffp1023,
                                                [ADJ_DTYPE_F32] = 0x1.fffffep127,
                                                [ADJ_DTYPE_F16] = 65504,
                                                [ADJ_DTYPE_BF16] = 0x1.fep127 };

  *out = ADJ_FLOAT (-largest[adj_tensor_get_meta (args[0].tensor)->dtype]);
  return TRUE;
}

gboolean
rule_as_channels (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *like = rule_shape_of (args[1].tensor);
  AdjSize sizes[ADJ_MAX_RANK];
  AdjValue spread = rule_list_of_sizes (call, like);
  AdjTensor *x = rule_tensor_of (&args[0]);
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
  *out = rule_value_of (x);
  return x != NULL;
}

/* @x with its last @n dimensions flattened. */
static AdjTensor *
flat_windows (AdjRuleCall *call, AdjTensor *x, guint n)
{
  const AdjShape *shape = rule_shape_of (x);
  guint kept = shape->rank - MIN (n, shape->rank);
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  gboolean is_empty = adj_size_is (symbols, adj_shape_numel (shape, symbols), 0);
  AdjSize sizes[ADJ_MAX_RANK];

  memcpy (sizes, shape->size, kept * sizeof *sizes);
  sizes[kept] = is_empty ? ADJ_SIZE (0) : ADJ_SIZE (-1);
  return ADJ_APPLY (call->cx, ADJ_OP_reshape, ADJ_TENSOR (x),
                    adj_rule_list_sizes (call->arena, sizes, kept + 1));
}

gboolean
rule_unpooled (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *sizes = rule_shape_of (args[1].tensor);
  AdjTensor *indices = flat_windows (call, args[1].tensor, (guint) args[2].integer);
  AdjTensor *g = flat_windows (call, args[0].tensor, (guint) args[2].integer);
  AdjValue list = adj_rule_list_sizes (call->arena, sizes->size, sizes->rank);

  if (indices == NULL || g == NULL)
    return FALSE;
  g = ADJ_APPLY (call->cx, ADJ_OP_gather, ADJ_TENSOR (g), ADJ_INT (-1), ADJ_TENSOR (indices));
  *out = rule_value_of (g != NULL ? rule_reshape (call, g, &list) : NULL);
  return out->kind == ADJ_VALUE_TENSOR;
}

/* -- as_strided_scatter -- */

/* @g in the layout of @like, from its first element: @g itself if that is contiguous, else the
 * storage of @like, flat, with zeros at elements that it does not cover. */
static AdjTensor *
lay_out_storage (AdjRuleCall *call, AdjTensor *g, const AdjShape *like, const AdjShape *view)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize size = adj_shape_span (like, symbols);
  AdjSize end = adj_size_add (symbols, view->offset, adj_shape_span (view, symbols));
  AdjTensor *whole;

  if (adj_shape_is_contiguous (like, symbols))
    return adj_shape_is_contiguous (rule_shape_of (g), symbols)
               ? g
               : adj_apply_clone_contiguous (call->cx, g);
  if (adj_size_test (symbols, ADJ_SIZE_LT, size, end))
    size = end;
  whole = ADJ_APPLY (call->cx, ADJ_OP_new_zeros, ADJ_TENSOR (g),
                     adj_rule_list_sizes (call->arena, &size, 1));
  if (whole == NULL)
    return NULL;
  return ADJ_APPLY (call->cx, ADJ_OP_as_strided_scatter, ADJ_TENSOR (whole), ADJ_TENSOR (g),
                    rule_list_of_sizes (call, like),
                    adj_rule_list_sizes (call->arena, like->stride, like->rank), ADJ_INT (0));
}

/* Arguments: g, self, size, stride, storage_offset. */
gboolean
rule_as_strided_scatter_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  const AdjShape *like = &call->grads->outputs[0].shape;
  const AdjShape *self =
      args[1].kind == ADJ_VALUE_META ? &args[1].meta->shape : rule_shape_of (args[1].tensor);
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
  offset = adj_value_from_size (adj_size_add (symbols, view.offset, rule_shape_of (whole)->offset));
  of_src = ADJ_APPLY (call->cx, ADJ_OP_as_strided, ADJ_TENSOR (whole), args[2], args[3], offset);
  of_self = ADJ_APPLY (call->cx, ADJ_OP_new_zeros, args[0], args[2]);
  if (of_self != NULL)
    of_self = ADJ_APPLY (call->cx, ADJ_OP_as_strided_scatter, ADJ_TENSOR (whole),
                         ADJ_TENSOR (of_self), args[2], args[3], offset);
  if (of_self != NULL && !adj_shape_is_contiguous (like, symbols))
    of_self = ADJ_APPLY (call->cx, ADJ_OP_as_strided, ADJ_TENSOR (of_self),
                         rule_list_of_sizes (call, like),
                         adj_rule_list_sizes (call->arena, like->stride, like->rank), ADJ_INT (0));
  return rule_give_list (call, (AdjTensor *[]){ of_self, of_src }, 2, out);
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
  AdjValue list = rule_list_of_sizes (call, like);

  g = ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (g), ADJ_INT (0),
                 adj_value_from_size (*row), adj_value_from_size (row_end));
  if (g != NULL)
    g = ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (g), ADJ_INT (1),
                   adj_value_from_size (*column), adj_value_from_size (column_end));
  *row = row_end;
  *column = column_end;
  if (like->rank == 1 && g != NULL)
    return ADJ_APPLY (call->cx, ADJ_OP_squeeze_dim, ADJ_TENSOR (g), ADJ_INT (-1));
  return like->rank == 2 ? g : rule_shaped (call, g, &list);
}

/* Arguments: g, tensors. */
gboolean
rule_block_diag_backward (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSize row = ADJ_SIZE (0), column = ADJ_SIZE (0);

  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = args[1].n };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  for (guint i = 0; i < out->n; i++)
    {
      const AdjShape *like = args[1].items[i].kind == ADJ_VALUE_META
                                 ? &args[1].items[i].meta->shape
                                 : rule_shape_of (args[1].items[i].tensor);

      out->items[i] = rule_value_of (block_of (call, args[0].tensor, like, &row, &column));
    }
  return !adj_context_has_error (call->cx);
}

/* -- the table -- */

guint32
rule_gradient_builtin_describes (const RuleBuiltin *builtin)
{
  if (builtin->func == rule_mm_left || builtin->func == rule_mm_right)
    return 1 << 2;
  if (builtin->func == rule_by_columns)
    return 1 << 0;
  return builtin->func == rule_as_strided_scatter_backward ? 1 << 1 : 0;
}

static const RuleBuiltin rows[] = {
#define BUILTIN(word, help) { #word, rule_##word },
#include "ops/gradient-builtins.inc"
#undef BUILTIN
};

const RuleBuiltinTable rule_gradient_builtins = { rows, G_N_ELEMENTS (rows) };
