/* SPDX-License-Identifier: MIT */
/* Arguments of nodes in exported programs that name values or hold graphs. */

#include <string.h>

#include "call/adj-object.h"
#include "formats/pt2-graph-private.h"
#include "ir/adj-builder-internal.h"
#include "ir/adj-graph.h"

typedef gboolean (*ReadArgument) (Pt2Graph *graph,
                                  const JsonItem *item,
                                  AdjValue *out,
                                  GError **error);

static gboolean
bad (Pt2Graph *graph, const JsonItem *item, const char *what, GError **error)
{
  json_fail (graph->scope->json, item, error, "%s", what);
  return FALSE;
}

static gboolean
read_name (Pt2Graph *graph, const JsonItem *item, const char *name, AdjValue *out, GError **error)
{
  AdjNodeId id = name != NULL ? adj_builder_find (graph->builder, name) : ADJ_NO_NODE;

  if (!adj_node_id_is_valid (id))
    {
      json_fail (graph->scope->json, item, error, "no value '%s' stands before this",
                 name != NULL ? name : "");
      return FALSE;
    }
  *out = ADJ_NODE (id);
  return TRUE;
}

/* {"name": "x"} */
static gboolean
read_tensor (Pt2Graph *graph, const JsonItem *item, AdjValue *out, GError **error)
{
  return read_name (graph, item, json_get_text (item, "name"), out, error);
}

/* {"name": "_custom_obj_0", "class_fqn": "__main__.Scale"}: an object that is no input is a
 * constant, of which torch.export stores only the class. */
static gboolean
read_object (Pt2Graph *graph, const JsonItem *item, AdjValue *out, GError **error)
{
  const char *name = json_get_text (item, "name"), *type = json_get_text (item, "class_fqn");
  g_autoptr (AdjObject) object = NULL;

  if (type == NULL ||
      (name != NULL && adj_node_id_is_valid (adj_builder_find (graph->builder, name))))
    return read_name (graph, item, name, out, error);
  object = adj_object_new_flat (type, NULL, NULL);
  *out = ADJ_OBJECT (object);
  adj_builder_keep (graph->builder, out);
  return TRUE;
}

static gboolean
read_constant (
    Pt2Graph *graph, const char *kind, const JsonItem *item, AdjValue *out, GError **error)
{
  g_autoptr (GError) reason = NULL;

  if (pt2_read_constant (graph->scope, kind, &item->items[0], out, &reason))
    return TRUE;
  if (reason == NULL)
    json_fail (graph->scope->json, item, error, "an argument of the unknown kind '%s'", kind);
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

/* {"as_name": "sym_size"}, or a number. */
static gboolean
read_number (Pt2Graph *graph, const JsonItem *item, AdjValue *out, GError **error)
{
  const char *kind;
  const JsonItem *value = pt2_union (item, &kind);

  if (value == NULL)
    return bad (graph, item, "expected a symbolic number", error);
  if (strcmp (kind, "as_name") == 0)
    return read_name (graph, value, value->kind == JSON_STRING ? value->text : NULL, out, error);
  return read_constant (graph, kind, item, out, error);
}

static gboolean
read_optional (Pt2Graph *graph, const JsonItem *item, AdjValue *out, GError **error)
{
  const char *kind;
  const JsonItem *value = pt2_union (item, &kind);

  *out = ADJ_NONE;
  if (value == NULL)
    return bad (graph, item, "expected a tensor or none", error);
  return strcmp (kind, "as_tensor") != 0 || read_tensor (graph, value, out, error);
}

static gboolean
read_graph (Pt2Graph *graph, const JsonItem *item, AdjValue *out, GError **error)
{
  const char *name = json_get_text (item, "name");
  const JsonItem *inner = json_get (item, "graph");
  g_autoptr (AdjGraph) subgraph = NULL;
  AdjNodeSpec spec = { .opcode = ADJ_OPCODE_GET_ATTR, .meta = graph->meta, .origin = ADJ_NO_NODE };

  if (name == NULL || inner == NULL || inner->kind != JSON_OBJECT)
    return bad (graph, item, "a graph without a name or nodes", error);
  subgraph = pt2_graph_read_nested (graph, inner, error);
  if (subgraph == NULL)
    return FALSE;
  spec.name = spec.target = pt2_graph_fresh_name (graph, name);
  spec.span = (AdjSpan){ item->line, item->column, 0 };
  adj_builder_add_subgraph (graph->builder, spec.name, subgraph);
  *out = ADJ_NODE (adj_builder_add (graph->builder, &spec));
  return TRUE;
}

static gboolean
read_dict (Pt2Graph *graph, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjValue *items;

  if (item->kind != JSON_OBJECT)
    return bad (graph, item, "expected an object of arguments", error);
  items = adj_arena_new0 (graph->scope->arena, AdjValue, 2 * (gsize) item->n + 1);
  for (guint i = 0; i < item->n; i++)
    {
      items[2 * i] = (AdjValue){ .kind = ADJ_VALUE_STRING,
                                 .n = (guint) strlen (item->items[i].key),
                                 .text = item->items[i].key };
      if (!pt2_read_argument (graph, &item->items[i], &items[2 * i + 1], error))
        return FALSE;
    }
  *out = (AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2 * item->n, .items = items };
  return TRUE;
}

/* @depth: how many lists are nested around each value. */
static const struct
{
  const char *kind;
  ReadArgument read;
  guint depth;
} arguments[] = {
  { "as_tensor", read_tensor, 0 },
  { "as_tensors", read_tensor, 1 },
  { "as_nested_tensors", read_tensor, 2 },
  { "as_optional_tensor", read_optional, 0 },
  { "as_optional_tensors", read_optional, 1 },
  { "as_sym_int", read_number, 0 },
  { "as_sym_ints", read_number, 1 },
  { "as_sym_bool", read_number, 0 },
  { "as_sym_bools", read_number, 1 },
  { "as_sym_float", read_number, 0 },
  { "as_sym_floats", read_number, 1 },
  { "as_custom_obj", read_object, 0 },
  { "as_graph", read_graph, 0 },
  { "as_string_to_argument", read_dict, 0 },
};

static gboolean
read_nested (Pt2Graph *graph,
             ReadArgument read,
             guint depth,
             const JsonItem *item,
             AdjValue *out,
             GError **error)
{
  AdjValue *items;

  if (depth == 0)
    return read (graph, item, out, error);
  if (item->kind != JSON_ARRAY)
    return bad (graph, item, "expected a list", error);
  items = adj_arena_new0 (graph->scope->arena, AdjValue, item->n + 1);
  for (guint i = 0; i < item->n; i++)
    if (!read_nested (graph, read, depth - 1, &item->items[i], &items[i], error))
      return FALSE;
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = item->n, .items = items };
  return TRUE;
}

gboolean
pt2_read_argument (Pt2Graph *graph, const JsonItem *item, AdjValue *out, GError **error)
{
  const char *kind;
  const JsonItem *value = pt2_union (item, &kind);

  *out = ADJ_NONE;
  if (value == NULL)
    return bad (graph, item, "an argument must be an object of one member", error);
  for (guint i = 0; i < G_N_ELEMENTS (arguments); i++)
    if (strcmp (arguments[i].kind, kind) == 0)
      return read_nested (graph, arguments[i].read, arguments[i].depth, value, out, error);
  return read_constant (graph, kind, item, out, error);
}

const char *
pt2_name_of (const JsonItem *argument)
{
  const char *kind;
  const JsonItem *value;
  const char *name = json_get_text (argument, "name");

  if (name != NULL)
    return name;
  value = pt2_union (argument, &kind);
  name = json_get_text (value, "name");
  return name != NULL ? name : json_get_text (value, "as_name");
}

gboolean
pt2_read_annotation (Pt2Graph *graph, const char *name, AdjValue *out, GError **error)
{
  const JsonItem *tensor = g_hash_table_lookup (graph->tensors, name);
  const JsonItem *number = g_hash_table_lookup (graph->numbers, name);
  AdjTensorMeta *meta;
  const char *kind;
  AdjSize size;

  *out = ADJ_NONE;
  if (tensor != NULL)
    {
      meta = adj_arena_new0 (graph->scope->arena, AdjTensorMeta, 1);
      *out = (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
      return pt2_read_tensor_meta (graph->scope, tensor, meta, error);
    }
  if (number == NULL)
    return TRUE;
  if (pt2_union (number, &kind) != NULL && strcmp (kind, "as_expr") != 0)
    return read_constant (graph, kind, number, out, error);
  if (!pt2_read_size (graph->scope, number, &size, error))
    return FALSE;
  *out = adj_value_from_size (size);
  return TRUE;
}
