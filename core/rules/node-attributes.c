/* SPDX-License-Identifier: MIT */
/* Attributes of backward nodes: each is an argument or result of the operator, or a size, a dtype
 * or the like of one, by its name. */

#include <stdlib.h>
#include <string.h>

#include "call/adj-schema-internal.h"
#include "rules/node-op-private.h"
#include "tensor/adj-dtype-internal.h"

static gboolean
set_sizes (NodeCall *call, AdjTensorMeta *meta, const AdjValue *list)
{
  AdjSize sizes[ADJ_MAX_RANK];

  if (!adj_value_is_container (list) || list->n > ADJ_MAX_RANK)
    return node_call_fail (call, "sizes must be a list");
  for (guint i = 0; i < list->n; i++)
    if (!adj_value_get_size (&list->items[i], &sizes[i]))
      return node_call_fail (call, "a size must be an integer");
  adj_shape_init (&meta->shape, adj_context_get_symbols (call->cx), list->n, sizes);
  return TRUE;
}

static gboolean
set_dtype (NodeCall *call, AdjTensorMeta *meta, const AdjValue *value)
{
  AdjDType dtype = value->kind == ADJ_VALUE_DTYPE ? value->dtype : ADJ_DTYPE_NONE;

  if (value->kind == ADJ_VALUE_INT)
    dtype = adj_dtype_from_scalar_type (value->integer);
  if (dtype >= ADJ_N_DTYPES)
    return node_call_fail (call, "a dtype is the number of none that is known");
  meta->dtype = dtype;
  return TRUE;
}

static gboolean
take_sizes (NodeCall *call, guint arg, const AdjValue *value)
{
  DescribedArgument *described = &call->described[arg];

  if (value->kind == ADJ_VALUE_NONE)
    return TRUE;
  described->has_any = TRUE;
  return set_sizes (call, &described->meta, value);
}

/* Only the first size is known; rules must not read others. */
static gboolean
take_first_size (NodeCall *call, guint arg, const AdjValue *value)
{
  const AdjValue list = { .kind = ADJ_VALUE_LIST, .n = 1, .items = (AdjValue *) value };

  return take_sizes (call, arg, &list);
}

/* The size of dimension -@back; unknown dimensions before it count as 1. */
static gboolean
take_size_from_end (NodeCall *call, guint arg, const AdjValue *value, guint back)
{
  DescribedArgument *described = &call->described[arg];
  const AdjShape *known = &described->meta.shape;
  const guint rank = MAX (known->rank, back);
  AdjSize sizes[ADJ_MAX_RANK];

  for (guint i = 0; i < rank; i++)
    sizes[i] = i + known->rank < rank ? ADJ_SIZE (1) : known->size[i + known->rank - rank];
  if (!adj_value_get_size (value, &sizes[rank - back]))
    return node_call_fail (call, "a size must be an integer");
  described->has_any = TRUE;
  adj_shape_init (&described->meta.shape, adj_context_get_symbols (call->cx), rank, sizes);
  return TRUE;
}

static gboolean
take_last_size (NodeCall *call, guint arg, const AdjValue *value)
{
  return take_size_from_end (call, arg, value, 1);
}

static gboolean
take_second_last_size (NodeCall *call, guint arg, const AdjValue *value)
{
  return take_size_from_end (call, arg, value, 2);
}

static gboolean
take_third_last_size (NodeCall *call, guint arg, const AdjValue *value)
{
  return take_size_from_end (call, arg, value, 3);
}

static gboolean
take_dtype (NodeCall *call, guint arg, const AdjValue *value)
{
  call->described[arg].has_any = TRUE;
  return set_dtype (call, &call->described[arg].meta, value);
}

/* The list is empty if the tensor requires no gradient. */
static gboolean
take_strides (NodeCall *call, guint arg, const AdjValue *value)
{
  AdjShape *shape = &call->described[arg].meta.shape;

  if (!adj_value_is_container (value) || value->n != shape->rank)
    return TRUE;
  for (guint i = 0; i < value->n; i++)
    if (!adj_value_get_size (&value->items[i], &shape->stride[i]))
      return node_call_fail (call, "a stride must be an integer");
  return TRUE;
}

/* (requires_grad, memory format, device, dtype, layout, pinned). */
static gboolean
take_options (NodeCall *call, guint arg, const AdjValue *value)
{
  DescribedArgument *described = &call->described[arg];

  if (!adj_value_is_container (value) || value->n != 6)
    return node_call_fail (call, "options of a tensor are a tuple of 6");
  described->has_any = TRUE;
  if (value->items[2].kind == ADJ_VALUE_DEVICE)
    described->meta.device = value->items[2].device;
  return set_dtype (call, &described->meta, &value->items[3]);
}

/* (sizes, options). */
static gboolean
take_info (NodeCall *call, guint arg, const AdjValue *value)
{
  if (!adj_value_is_container (value) || value->n != 2)
    return node_call_fail (call, "what a zero gradient looks like is a tuple of 2");
  return take_sizes (call, arg, &value->items[0]) && take_options (call, arg, &value->items[1]);
}

/* (sizes, strides, offset). */
static gboolean
take_geometry (NodeCall *call, guint arg, const AdjValue *value)
{
  if (!adj_value_is_container (value) || value->n != 3)
    return node_call_fail (call, "how a tensor lies in memory is a tuple of 3");
  if (!take_sizes (call, arg, &value->items[0]) || !take_strides (call, arg, &value->items[1]))
    return FALSE;
  return adj_value_get_size (&value->items[2], &call->described[arg].meta.shape.offset) ||
         node_call_fail (call, "an offset must be an integer");
}

static gboolean
take_length (NodeCall *call, guint arg, const AdjValue *value)
{
  if (value->kind != ADJ_VALUE_INT || value->integer < 0 || value->integer > G_MAXUINT16)
    return node_call_fail (call, "the length of a list must be an integer");
  call->n_items[arg] = (guint) value->integer;
  return TRUE;
}

/* Makes the metadata of the tensors of a list with the first attribute that describes them. */
static gboolean
describe_items (NodeCall *call, guint arg, const AdjValue *list)
{
  AdjValue *value = &call->args[arg];

  if (!adj_value_is_container (list))
    return node_call_fail (call, "what describes a list of tensors must be a list");
  if (value->kind == ADJ_VALUE_LIST)
    return value->n == list->n ||
           node_call_fail (call, "a list of tensors is described with two lengths");
  *value = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = list->n };
  value->items = adj_arena_new0 (call->arena, AdjValue, MAX (list->n, 1));
  for (guint i = 0; i < list->n; i++)
    {
      AdjTensorMeta *meta = adj_arena_new0 (call->arena, AdjTensorMeta, 1);

      *meta = call->form;
      value->items[i] = (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
    }
  return TRUE;
}

static gboolean
take_item_sizes (NodeCall *call, guint arg, const AdjValue *value)
{
  gboolean done = describe_items (call, arg, value);

  for (guint i = 0; done && i < value->n; i++)
    done = set_sizes (call, (AdjTensorMeta *) call->args[arg].items[i].meta, &value->items[i]);
  return done;
}

static gboolean
take_item_dtypes (NodeCall *call, guint arg, const AdjValue *value)
{
  gboolean done = describe_items (call, arg, value);

  for (guint i = 0; done && i < value->n; i++)
    done = set_dtype (call, (AdjTensorMeta *) call->args[arg].items[i].meta, &value->items[i]);
  return done;
}

/* Ignored: our rules read sizes instead. */
static gboolean
take_nothing (NodeCall *call, guint arg, const AdjValue *value)
{
  return TRUE;
}

static gboolean (*const takers[ADJ_N_KEPT]) (NodeCall *call, guint arg, const AdjValue *value) = {
  [ADJ_KEPT_DTYPE] = take_dtype,
  [ADJ_KEPT_SIZES] = take_sizes,
  [ADJ_KEPT_FIRST_SIZE] = take_first_size,
  [ADJ_KEPT_STRIDES] = take_strides,
  [ADJ_KEPT_OPTIONS] = take_options,
  [ADJ_KEPT_INFO] = take_info,
  [ADJ_KEPT_GEOMETRY] = take_geometry,
  [ADJ_KEPT_LENGTH] = take_length,
  [ADJ_KEPT_ITEM_SIZES] = take_item_sizes,
  [ADJ_KEPT_ITEM_DTYPES] = take_item_dtypes,
  [ADJ_KEPT_LAYOUT] = take_nothing,
  [ADJ_KEPT_NUMEL] = take_nothing,
  [ADJ_KEPT_LAST_SIZE] = take_last_size,
  [ADJ_KEPT_SECOND_LAST_SIZE] = take_second_last_size,
  [ADJ_KEPT_THIRD_LAST_SIZE] = take_third_last_size,
  [ADJ_KEPT_RANK] = take_nothing,
};

/* Suffixes after the name of an argument and "_". */
static const struct
{
  const char *suffix;
  AdjKept what;
} aspects[] = {
  { "scalar_type", ADJ_KEPT_DTYPE },
  { "sym_sizes", ADJ_KEPT_SIZES },
  { "sizes", ADJ_KEPT_SIZES },
  { "sym_sizes_opt", ADJ_KEPT_SIZES },
  { "sym_argsize_0", ADJ_KEPT_FIRST_SIZE },
  { "sym_argsize_minus_1", ADJ_KEPT_LAST_SIZE },
  { "sym_argsize_minus_2", ADJ_KEPT_SECOND_LAST_SIZE },
  { "sym_argsize_minus_3", ADJ_KEPT_THIRD_LAST_SIZE },
  { "sym_strides", ADJ_KEPT_STRIDES },
  { "options", ADJ_KEPT_OPTIONS },
  { "info", ADJ_KEPT_INFO },
  { "geometry", ADJ_KEPT_GEOMETRY },
  { "size", ADJ_KEPT_LENGTH },
  { "args_sizes_symint", ADJ_KEPT_ITEM_SIZES },
  { "args_sizes", ADJ_KEPT_ITEM_SIZES },
  { "args_scalartypes", ADJ_KEPT_ITEM_DTYPES },
  { "layout", ADJ_KEPT_LAYOUT },
  { "sym_numel", ADJ_KEPT_NUMEL },
  { "dim", ADJ_KEPT_RANK },
};

static gint
find_result (const AdjSchema *schema, const char *name)
{
  char *end;

  for (guint i = 0; i < schema->n_returns; i++)
    if (schema->returns[i].name != NULL && g_str_equal (schema->returns[i].name, name))
      return (gint) i;
  if (!g_str_has_prefix (name, "result"))
    return -1;
  if (name[6] == '\0')
    return 0;
  return (gint) (g_ascii_isdigit (name[6]) ? strtol (name + 6, &end, 10) : -1);
}

/* %ADJ_N_KEPT: an unknown suffix. */
static AdjKept
find_aspect (const char *suffix)
{
  for (guint i = 0; i < G_N_ELEMENTS (aspects); i++)
    if (g_str_equal (aspects[i].suffix, suffix))
      return aspects[i].what;
  return ADJ_N_KEPT;
}

static gboolean
find_argument (const AdjSchema *schema, const char *name, AdjNodeAttribute *out)
{
  gint arg = adj_schema_find_argument (schema, name);

  if (arg >= 0)
    out->arg = arg;
  return arg >= 0;
}

static gboolean
find_argument_aspect (const AdjSchema *schema, const char *name, AdjNodeAttribute *out)
{
  for (guint i = 0; i < schema->n_arguments; i++)
    {
      const char *argument = schema->arguments[i].name;
      gsize length = strlen (argument);

      if (strncmp (argument, name, length) != 0 || name[length] != '_')
        continue;
      out->arg = (gint) i;
      out->what = find_aspect (name + length + 1);
      if (out->what != ADJ_N_KEPT)
        return TRUE;
    }
  return FALSE;
}

gboolean
node_attribute_find (const AdjSchema *schema, const char *name, AdjNodeAttribute *out)
{
  *out = (AdjNodeAttribute){ name, -1, -1, ADJ_KEPT_RETAIN };
  if (g_str_equal (name, "retain_variables"))
    return TRUE;
  out->what = ADJ_KEPT_ITSELF;
  if (find_argument (schema, name, out) || find_argument_aspect (schema, name, out))
    return TRUE;
  *out = (AdjNodeAttribute){ name, -1, find_result (schema, name), ADJ_KEPT_ITSELF };
  return out->result >= 0 && out->result < ADJ_MAX_ARGUMENTS;
}

gboolean
node_call_take (NodeCall *call, const char *name, const AdjValue *value)
{
  AdjNodeAttribute attribute;

  if (!node_attribute_find (call->schema, name, &attribute))
    return node_call_fail (call, "keeps '%s', which is not understood", name);
  if (attribute.what == ADJ_KEPT_RETAIN)
    return TRUE;
  if (attribute.what != ADJ_KEPT_ITSELF)
    return takers[attribute.what](call, (guint) attribute.arg, value);
  if (attribute.result >= 0)
    call->results[attribute.result] = *value;
  else
    {
      call->args[attribute.arg] = *value;
      call->kept_args |= (guint64) 1 << attribute.arg;
    }
  return TRUE;
}
