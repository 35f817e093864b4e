/* SPDX-License-Identifier: MIT */
/* Reads one graph of .adjoint from its JSON, node by node, without the whole text in memory. */

#include <string.h>

#include "formats/graph-metadata-private.h"
#include "ir/adj-builder-internal.h"
#include "ops/adj-op-table.h"

typedef struct
{
  const GraphSource *source;
  JsonReader json;
  AdjArena *arena; /* for data needed until the end */
  AdjBuilder *builder;
  const char *class_name;
  const JsonItem *codegen, *inputs, *subgraphs, *attrs; /* (nullable) */
  AdjThreadState thread_state;
} GraphReader;

typedef struct
{
  GraphReader *reader;
  NodeMetadata metadata;
} NodeReader;

/* An array or an object of arguments; absent is empty. */
static gboolean
read_arguments (
    NodeReader *node, const JsonItem *item, const char *key, AdjValue *out, GError **error)
{
  gboolean is_positional = strcmp (key, "args") == 0;
  const JsonItem *arguments = json_get (item, key);
  guint stride = is_positional ? 1 : 2;
  AdjValue *items;

  *out = ADJ_NONE;
  if (arguments == NULL)
    return TRUE;
  if (arguments->kind != (is_positional ? JSON_ARRAY : JSON_OBJECT))
    {
      json_fail (node->metadata.value.json, arguments, error, "%s must be an %s", key,
                 is_positional ? "array" : "object");
      return FALSE;
    }
  items = adj_arena_new0 (node->metadata.value.arena, AdjValue, stride * arguments->n + 1);
  for (guint i = 0; i < arguments->n; i++)
    {
      const JsonItem *argument = &arguments->items[i];

      if (!is_positional)
        items[2 * i] = (AdjValue){ .kind = ADJ_VALUE_STRING,
                                   .n = strlen (argument->key),
                                   .text = argument->key };
      if (!value_read (&node->metadata.value, argument, &items[stride * i + stride - 1], error))
        return FALSE;
    }
  *out = (AdjValue){ .kind = is_positional ? ADJ_VALUE_TUPLE : ADJ_VALUE_DICT,
                     .n = stride * arguments->n,
                     .items = items };
  return TRUE;
}

static gboolean
read_annotation (NodeReader *node, const JsonItem *item, AdjNodeSpec *spec, GError **error)
{
  const JsonItem *val = json_get (item, "val");

  if (val == NULL)
    return TRUE;
  if (!value_read_annotation (&node->metadata.value, val, &spec->val, error))
    return FALSE;
  if (spec->val.kind == ADJ_VALUE_META)
    node->metadata.tensor = (AdjTensorMeta *) spec->val.meta;
  return TRUE;
}

static gboolean
read_head (NodeReader *node, const JsonItem *item, AdjNodeSpec *spec, GError **error)
{
  const char *op = json_get_text (item, "op");

  spec->name = json_get_text (item, "name");
  spec->opcode = op != NULL ? adj_opcode_from_name (op) : ADJ_N_OPCODES;
  spec->target = json_get_text (item, "target");
  if (spec->opcode == ADJ_OPCODE_OUTPUT && spec->target == NULL)
    spec->target = "output";
  if (spec->name == NULL)
    json_fail (node->metadata.value.json, item, error, "a node without a name");
  else if (spec->opcode == ADJ_N_OPCODES)
    json_fail (node->metadata.value.json, item, error, "unknown op '%s'", op != NULL ? op : "");
  else if (spec->target == NULL)
    json_fail (node->metadata.value.json, item, error, "no target");
  else if (adj_node_id_is_valid (adj_builder_find (node->reader->builder, spec->name)))
    json_fail (node->metadata.value.json, item, error, "another node has this name");
  else
    return TRUE;
  return FALSE;
}

static gboolean
read_node (NodeReader *node, const JsonItem *item, GError **error)
{
  AdjNodeSpec spec = { .meta = &node->metadata.meta };
  AdjValue extra = { .kind = ADJ_VALUE_DICT };

  if (!read_head (node, item, &spec, error) || !read_annotation (node, item, &spec, error) ||
      !read_arguments (node, item, "args", &spec.args, error) ||
      !read_arguments (node, item, "kwargs", &spec.kwargs, error) ||
      !graph_read_metadata (&node->metadata, item, error))
    return FALSE;
  if (node->metadata.extra->len > 0)
    {
      extra.n = node->metadata.extra->len;
      extra.items = &g_array_index (node->metadata.extra, AdjValue, 0);
      node->metadata.meta.extra = &extra;
    }
  spec.origin = node->metadata.origin;
  spec.span = (AdjSpan){ item->line, item->column, 0 };
  adj_builder_add (node->reader->builder, &spec);
  return TRUE;
}

/* "file:line:column: what" becomes "file:line:column: node 'name': what". */
static void
name_node (const JsonReader *json, const JsonItem *item, GError **error)
{
  const char *name = json_get_text (item, "name");
  gsize skip = strlen (json->name);
  const char *at;

  if (error == NULL || *error == NULL || name == NULL || (*error)->domain != ADJ_ERROR ||
      !g_str_has_prefix ((*error)->message, json->name))
    return;
  at = strstr ((*error)->message + skip, ": ");
  if (at != NULL)
    {
      char *message = g_strdup_printf ("%.*s: node '%s'%s", (int) (at - (*error)->message),
                                       (*error)->message, name, at);

      g_free ((*error)->message);
      (*error)->message = message;
    }
}

static gboolean
read_next_node (GraphReader *reader, GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (GArray) extra = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  const GraphSource *source = reader->source;
  NodeReader node = { .reader = reader,
                      .metadata = {
                          .meta = ADJ_NODE_META_INIT, .origin = ADJ_NO_NODE, .extra = extra } };
  const JsonItem *item = json_read (&reader->json, arena, error);

  if (item == NULL)
    return FALSE;
  if (item->kind != JSON_OBJECT)
    {
      json_fail (&reader->json, item, error, "a node must be an object");
      return FALSE;
    }
  node.metadata.value = (ValueReader){ .json = &reader->json,
                                       .arena = arena,
                                       .symbols = source->symbols,
                                       .strings = source->strings,
                                       .nodes = reader->builder,
                                       .get_tensor = source->get_tensor,
                                       .get_graph = source->get_graph,
                                       .get_object = source->get_object,
                                       .data = source->data };
  if (read_node (&node, item, error))
    return TRUE;
  name_node (&reader->json, item, error);
  return FALSE;
}

static gboolean
read_nodes (GraphReader *reader, GError **error)
{
  gboolean more;

  if (reader->builder != NULL)
    {
      json_fail (&reader->json, NULL, error, "\"nodes\" stands twice");
      return FALSE;
    }
  reader->builder =
      adj_builder_new (reader->class_name != NULL ? reader->class_name : "GraphModule",
                       reader->source->symbols, adj_op_find);
  if (!json_enter (&reader->json, '[', error))
    return FALSE;
  while (TRUE)
    {
      if (!json_next (&reader->json, reader->arena, NULL, &more, error))
        return FALSE;
      if (!more)
        return TRUE;
      if (adj_builder_get_n_nodes (reader->builder) >= ADJ_MAX_NODES)
        {
          g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: more than %u nodes",
                       reader->source->name, ADJ_MAX_NODES);
          return FALSE;
        }
      if (!read_next_node (reader, error))
        return FALSE;
    }
}

/* Reads thread settings; unknown ones are ignored. */
static void
read_thread_state (GraphReader *reader, const JsonItem *item)
{
  for (guint i = 0; item->kind == JSON_OBJECT && i < item->n; i++)
    if (item->items[i].kind == JSON_STRING)
      adj_thread_state_set (&reader->thread_state, item->items[i].key, item->items[i].text);
}

/* The object "graph", whose largest member is streamed. */
static gboolean
read_graph (GraphReader *reader, GError **error)
{
  if (!json_enter (&reader->json, '{', error))
    return FALSE;
  while (TRUE)
    {
      const JsonItem *item;
      const char *key;
      gboolean more;

      if (!json_next (&reader->json, reader->arena, &key, &more, error))
        return FALSE;
      if (!more)
        return TRUE;
      if (strcmp (key, "nodes") == 0)
        {
          if (!read_nodes (reader, error))
            return FALSE;
          continue;
        }
      item = json_read (&reader->json, reader->arena, error);
      if (item == NULL)
        return FALSE;
      if (strcmp (key, "class") == 0 && reader->builder == NULL)
        reader->class_name = item->kind == JSON_STRING ? item->text : NULL;
      else if (strcmp (key, "class") == 0)
        {
          json_fail (&reader->json, item, error, "\"class\" must stand before \"nodes\"");
          return FALSE;
        }
      else if (strcmp (key, "codegen") == 0)
        reader->codegen = item;
      else if (strcmp (key, "inputs") == 0)
        reader->inputs = item;
      else if (strcmp (key, "ambient") == 0)
        read_thread_state (reader, item);
    }
}

static gboolean
read_member (GraphReader *reader, const char *key, GString *kept, GError **error)
{
  JsonItem *item = json_read (&reader->json, reader->arena, error);

  if (item == NULL)
    return FALSE;
  item->key = key;
  if (strcmp (key, "subgraphs") == 0)
    reader->subgraphs = item;
  else if (strcmp (key, "attrs") == 0)
    reader->attrs = item;
  else if (kept != NULL)
    {
      g_string_append (kept, ", ");
      json_print_string (key, kept);
      g_string_append (kept, ": ");
      json_print (item, kept);
    }
  return TRUE;
}

static gboolean
read_document (GraphReader *reader, GString *kept, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  if (!json_enter (&reader->json, '{', error))
    return FALSE;
  while (TRUE)
    {
      const char *key;
      gboolean more;

      if (!json_next (&reader->json, reader->arena, &key, &more, error))
        return FALSE;
      if (!more)
        break;
      if (!g_hash_table_add (seen, (gpointer) key))
        {
          json_fail (&reader->json, NULL, error, "the key \"%s\" stands twice", key);
          return FALSE;
        }
      if (!(strcmp (key, "graph") == 0 ? read_graph (reader, error)
                                       : read_member (reader, key, kept, error)))
        return FALSE;
    }
  if (!json_finish (&reader->json, error))
    return FALSE;
  if (reader->builder == NULL)
    json_fail (&reader->json, NULL, error, "no \"nodes\"");
  return reader->builder != NULL;
}

static gboolean
add_subgraphs (GraphReader *reader, GError **error)
{
  const JsonItem *subgraphs = reader->subgraphs;

  if (subgraphs == NULL)
    return TRUE;
  if (subgraphs->kind != JSON_OBJECT)
    {
      json_fail (&reader->json, subgraphs, error, "\"subgraphs\" must be an object");
      return FALSE;
    }
  for (guint i = 0; i < subgraphs->n; i++)
    {
      const JsonItem *id = &subgraphs->items[i];
      AdjGraph *graph = NULL;

      if (id->kind != JSON_STRING || reader->source->get_graph == NULL)
        json_fail (&reader->json, id, error, "subgraph '%s': expected the id of a graph", id->key);
      else
        graph = reader->source->get_graph (reader->source->data, &reader->json, id, error);
      if (graph == NULL)
        return FALSE;
      adj_builder_add_subgraph (reader->builder, id->key, graph);
    }
  return TRUE;
}

static gboolean
add_attrs (GraphReader *reader, GError **error)
{
  const JsonItem *attrs = reader->attrs;
  ValueReader value = { .json = &reader->json,
                        .arena = reader->arena,
                        .symbols = reader->source->symbols,
                        .strings = reader->source->strings,
                        .get_tensor = reader->source->get_tensor,
                        .get_graph = reader->source->get_graph,
                        .get_object = reader->source->get_object,
                        .data = reader->source->data };

  if (attrs == NULL)
    return TRUE;
  if (attrs->kind != JSON_OBJECT)
    {
      json_fail (&reader->json, attrs, error, "\"attrs\" must be an object");
      return FALSE;
    }
  for (guint i = 0; i < attrs->n; i++)
    {
      AdjValue constant;

      if (!value_read (&value, &attrs->items[i], &constant, error))
        return FALSE;
      adj_builder_add_attr (reader->builder, attrs->items[i].key, &constant);
    }
  return TRUE;
}

/* Only how the text form begins and ends depends on it. */
static void
set_header (GraphReader *reader)
{
  g_autoptr (GString) parameters = g_string_new (NULL);
  const JsonItem *inputs = reader->inputs;

  if (reader->codegen == NULL || reader->codegen->kind != JSON_STRING ||
      strcmp (reader->codegen->text, "pytree") != 0 || inputs == NULL || inputs->kind != JSON_ARRAY)
    return;
  for (guint i = 0; i < inputs->n; i++)
    if (inputs->items[i].kind == JSON_STRING)
      g_string_append_printf (parameters, "%s%s", parameters->len > 0 ? ", " : "",
                              inputs->items[i].text);
  adj_builder_set_header (reader->builder, ADJ_HEADER_PYTREE, parameters->str);
}

static AdjGraph *
read_and_seal (GraphReader *reader, GBytes *bytes, GString *kept, GError **error)
{
  gsize length;
  const char *text = g_bytes_get_data (bytes, &length);
  AdjGraph *graph;

  if (!json_reader_init (&reader->json, reader->source->name, text, length, error) ||
      !read_document (reader, kept, error) || !add_subgraphs (reader, error) ||
      !add_attrs (reader, error))
    return NULL;
  set_header (reader);
  adj_builder_set_thread_state (reader->builder, &reader->thread_state);
  graph = adj_builder_seal (reader->builder, error);
  if (graph == NULL)
    g_prefix_error (error, "%s: ", reader->source->name);
  return graph;
}

AdjGraph *
graph_read_json (const GraphSource *source, GBytes *bytes, GString *kept, GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  GraphReader reader = { .source = source, .arena = arena };
  AdjGraph *graph = read_and_seal (&reader, bytes, kept, error);

  g_clear_pointer (&reader.builder, adj_builder_free);
  return graph;
}
