/* SPDX-License-Identifier: MIT */
/* Reads arguments for rules: numbers, sizes, dimensions, booleans. */

#include "call/adj-context-internal.h"
#include "call/adj-op-internal.h"
#include "rules/rule-arguments-private.h"

const AdjTensorMeta *
rule_meta_of (AdjRuleCall *call, const AdjValue *value)
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

gboolean
rule_is_true (const AdjValue *args, guint n, guint index)
{
  return index < n && adj_op_value_is_true (&args[index]);
}

double
rule_number_of (const AdjValue *value, double if_none)
{
  if (value->kind == ADJ_VALUE_FLOAT)
    return value->number;
  if (value->kind == ADJ_VALUE_INT)
    return (double) value->integer;
  return value->kind == ADJ_VALUE_BOOL ? value->boolean : if_none;
}

guint
rule_sizes_of (const AdjValue *list, AdjSize *out)
{
  guint n = adj_value_is_container (list) ? MIN (list->n, ADJ_MAX_RANK) : 0;

  for (guint i = 0; i < n; i++)
    if (!adj_value_get_size (&list->items[i], &out[i]))
      out[i] = ADJ_SIZE (0);
  return n;
}

guint
rule_wrap_dim (gint64 dim, guint rank)
{
  return (guint) CLAMP (dim < 0 ? dim + MAX (rank, 1) : dim, 0, ADJ_MAX_RANK - 1);
}

guint32
rule_dims_of (const AdjValue *args, guint n, guint index, guint rank)
{
  AdjSize dims[ADJ_MAX_RANK];
  guint32 mask = 0;
  guint n_dims;

  if (index < n && args[index].kind == ADJ_VALUE_INT)
    return 1u << rule_wrap_dim (args[index].integer, rank);
  n_dims = index < n ? rule_sizes_of (&args[index], dims) : 0;
  for (guint i = 0; i < n_dims; i++)
    mask |= 1u << rule_wrap_dim (dims[i].word, rank);
  return n_dims == 0 ? (1u << rank) - 1 : mask;
}

gboolean
rule_names_dims (const AdjValue *args, guint n, guint index)
{
  return index < n && (args[index].kind == ADJ_VALUE_INT ||
                       (adj_value_is_container (&args[index]) && args[index].n > 0));
}

gboolean
rule_give (AdjValue *out, AdjTensor *tensor)
{
  *out = ADJ_TENSOR (tensor);
  return tensor != NULL;
}

AdjValue
rule_float_of_sizes (
    AdjRuleCall *call, const char *target, const AdjValue *args, guint n, const char *text)
{
  AdjSize size;
  AdjValue result;

  if (!adj_size_parse (adj_context_get_symbols (call->cx), text, -1, &size, NULL))
    return ADJ_NONE;
  result = adj_value_from_size (size);
  adj_context_note_builtin (call->cx, target, args, n, &result);
  return result;
}

/* -- of composite operators -- */

AdjSymbols *
rule_symbols (const AdjRuleCall *call)
{
  return adj_context_get_symbols (call->cx);
}

const AdjShape *
rule_shape_given (AdjRuleCall *call, const AdjValue *value)
{
  static const AdjShape neutral = { 0 };

  if (value->kind == ADJ_VALUE_TENSOR)
    return &adj_tensor_get_meta (value->tensor)->shape;
  rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a tensor, not %s",
                  adj_value_kind_name (value->kind));
  return &neutral;
}

guint
rule_sizes_given (AdjRuleCall *call, const AdjValue *value, AdjSize *out)
{
  guint n = adj_value_is_container (value) ? value->n : 0;

  if (adj_value_get_size (value, &out[0]))
    return 1;
  if (n > ADJ_MAX_RANK)
    rule_call_fail (call, ADJ_ERROR_LIMIT, "has a list of %u sizes", n);
  n = MIN (n, ADJ_MAX_RANK);
  for (guint i = 0; i < n; i++)
    if (!adj_value_get_size (&value->items[i], &out[i]))
      {
        rule_call_fail (call, ADJ_ERROR_SHAPE, "needs sizes, not %s",
                        adj_value_kind_name (value->items[i].kind));
        out[i] = ADJ_SIZE (0);
      }
  return n;
}

gint64
rule_int_of (AdjRuleCall *call, const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_INT)
    return value->integer;
  rule_call_fail (call, ADJ_ERROR_SHAPE, "needs an integer, not %s",
                  adj_value_kind_name (value->kind));
  return 0;
}

gboolean
rule_give_sizes (AdjRuleCall *call, const AdjSize *sizes, guint n, AdjValue *out)
{
  *out = adj_rule_list_sizes (call->arena, sizes, n);
  return TRUE;
}

gint64
rule_wrapped_dim (AdjRuleCall *call, gint64 dim, gint64 rank)
{
  gint64 bound = MAX (rank, 1);

  if (dim >= -bound && dim < bound)
    return dim < 0 ? dim + bound : dim;
  rule_call_fail (call, ADJ_ERROR_SHAPE,
                  "has %" G_GINT64_FORMAT
                  " dimensions, but is asked for dimension %" G_GINT64_FORMAT,
                  rank, dim);
  return 0;
}
