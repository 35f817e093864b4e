/* SPDX-License-Identifier: MIT */

/* Arguments of calls as the graph holds them. */

#include <string.h>

#include "ir/adj-own-ops-internal.h"
#include "ir/adj-value-internal.h"
#include "trace/tracer-private.h"

static gboolean
take_items (AdjTracer *tracer, const AdjValue *value, AdjValue *out)
{
  AdjValue *items = adj_arena_new0 (tracer->arena, AdjValue, MAX (value->n, 1));

  for (guint i = 0; i < value->n; i++)
    if (!adj_tracer_take (tracer, &value->items[i], &items[i]))
      return FALSE;
  *out = *value;
  out->items = items;
  return TRUE;
}

/* Keeps an operator that the graph which runs now has of its own. */
static void
note_named (AdjTracer *tracer, const char *target)
{
  const AdjGraph *graph = adj_context_get_place (tracer->cx)->graph;
  const AdjOp *op = graph != NULL ? adj_graph_find_own_op (graph, target) : NULL;

  if (op != NULL)
    adj_builder_note_op (tracer->builder, target, op);
}

gboolean
adj_tracer_take (AdjTracer *tracer, const AdjValue *value, AdjValue *out)
{
  if (value->kind == ADJ_VALUE_TENSOR)
    return adj_tracer_take_tensor (tracer, value->tensor, out);
  if (value->kind == ADJ_VALUE_SIZE)
    return adj_tracer_take_size (tracer, value->size, out);
  if (adj_value_is_container (value))
    return take_items (tracer, value, out);
  if (value->kind == ADJ_VALUE_OPAQUE_OBJECT && adj_object_from_opaque (value->object) != NULL)
    {
      adj_tracer_take_object (tracer, adj_object_from_opaque (value->object), out);
      return TRUE;
    }
  if (value->kind == ADJ_VALUE_OPAQUE_OBJECT && value->object->klass->attribute != NULL)
    {
      *out = ADJ_NODE (
          adj_tracer_add_attribute (tracer, value->object->klass->attribute, value->object));
      return TRUE;
    }
  if (value->kind == ADJ_VALUE_GRAPH || value->kind == ADJ_VALUE_OPAQUE_OBJECT)
    {
      adj_context_fail (tracer->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "%s cannot be an argument in a trace", adj_value_kind_name (value->kind));
      return FALSE;
    }
  if (value->kind == ADJ_VALUE_OP)
    note_named (tracer, value->text);
  *out = adj_value_copy_to_arena (value, tracer->arena);
  return TRUE;
}

/* Converts a number as PyTorch's dispatcher does: an int for a float argument to a float, a lone
 * number for a list argument to a list. */
static AdjValue
normalize (AdjTracer *tracer, const AdjType *type, const AdjValue *value)
{
  if (type->is_list && type->list_size > 0 && value->kind != ADJ_VALUE_NONE &&
      !adj_value_is_container (value))
    {
      AdjValue *items = adj_arena_new0 (tracer->temporary, AdjValue, type->list_size);

      for (gint i = 0; i < type->list_size; i++)
        items[i] = *value;
      return ADJ_ITEMS (LIST, items, (guint) type->list_size);
    }
  if (type->is_list && value->kind == ADJ_VALUE_TUPLE)
    return ADJ_ITEMS (LIST, value->items, value->n);
  if (type->kind == ADJ_TYPE_KIND_FLOAT && value->kind == ADJ_VALUE_INT)
    return ADJ_FLOAT ((double) value->integer);
  if (type->kind == ADJ_TYPE_KIND_BOOL && value->kind == ADJ_VALUE_INT)
    return ADJ_BOOL (value->integer != 0);
  return *value;
}

static gboolean
is_default (AdjTracer *tracer, const AdjArgument *argument, const AdjValue *value)
{
  AdjValue normal;

  if (!argument->has_default || (tracer->formulas && argument->type.kind == ADJ_TYPE_KIND_TENSOR))
    return FALSE;
  normal = normalize (tracer, &argument->type, &argument->default_value);
  return adj_value_equal (&normal, value);
}

static gboolean
take_arguments (AdjTracer *tracer, const AdjOpCall *call, AdjValue *args, AdjValue *kwargs)
{
  const AdjSchema *schema = call->schema;
  AdjValue normal[ADJ_MAX_ARGUMENTS];
  guint n_args = schema->n_positional;
  guint n_kwargs = 0;
  AdjValue *out;

  for (guint i = 0; i < schema->n_arguments; i++)
    normal[i] = normalize (tracer, &schema->arguments[i].type, &call->args[i]);
  while (n_args > 0 && is_default (tracer, &schema->arguments[n_args - 1], &normal[n_args - 1]))
    n_args--;

  out = adj_arena_new0 (tracer->arena, AdjValue, MAX (n_args, 1));
  for (guint i = 0; i < n_args; i++)
    if (!adj_tracer_take (tracer, &normal[i], &out[i]))
      return FALSE;
  *args = ADJ_ITEMS (TUPLE, out, n_args);

  out = NULL;
  for (guint i = schema->n_positional; i < schema->n_arguments; i++)
    if (!is_default (tracer, &schema->arguments[i], &normal[i]))
      {
        const char *name = schema->arguments[i].name;

        if (out == NULL)
          out = adj_arena_new0 (tracer->arena, AdjValue, 2 * (schema->n_arguments - i));
        out[n_kwargs++] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = strlen (name), .text = name };
        if (!adj_tracer_take (tracer, &normal[i], &out[n_kwargs++]))
          return FALSE;
      }
  *kwargs = n_kwargs > 0 ? ADJ_ITEMS (DICT, out, n_kwargs) : ADJ_NONE;
  return TRUE;
}

gboolean
adj_tracer_take_arguments (AdjTracer *tracer,
                           const AdjOpCall *call,
                           AdjValue *args,
                           AdjValue *kwargs)
{
  gboolean done;

  tracer->call = call;
  adj_tracer_note_op (tracer, call->op);
  done = take_arguments (tracer, call, args, kwargs);
  tracer->call = NULL;
  return done;
}
