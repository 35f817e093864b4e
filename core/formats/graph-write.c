/* SPDX-License-Identifier: MIT */
/* Writes one graph as the JSON of .adjoint, keys sorted, long texts in one table. */

#include <string.h>

#include "formats/adj-format.h"
#include "formats/graph-json-private.h"
#include "ir/adj-graph.h"

typedef struct
{
  const GraphSink *sink;
  const AdjGraph *graph;
  ValueWriter value;
  GString *out;
} GraphWriter;

/* A member of an object whose members are written sorted by key. */
typedef struct
{
  const char *key;
  char *json; /* (owned) */
} Member;

static void
clear_member (gpointer member)
{
  g_free (((Member *) member)->json);
}

static gint
compare_members (gconstpointer a, gconstpointer b)
{
  return strcmp (((const Member *) a)->key, ((const Member *) b)->key);
}

/* Of two members with one key the first stays. */
static void
take_member (GArray *members, const char *key, char *json)
{
  Member member = { key, json };

  for (guint i = 0; i < members->len; i++)
    if (strcmp (g_array_index (members, Member, i).key, key) == 0)
      {
        g_free (json);
        return;
      }
  g_array_append_val (members, member);
}

static void
put_members (GArray *members, GString *out)
{
  g_array_sort (members, compare_members);
  g_string_append_c (out, '{');
  for (guint i = 0; i < members->len; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      json_print_string (g_array_index (members, Member, i).key, out);
      g_string_append_printf (out, ": %s", g_array_index (members, Member, i).json);
    }
  g_string_append_c (out, '}');
}

static char *
quote (const char *text)
{
  GString *json = g_string_new (NULL);

  json_print_string (text, json);
  return g_string_free (json, FALSE);
}

static void
add_text (GArray *members, const char *key, const char *text)
{
  if (text != NULL)
    take_member (members, key, quote (text));
}

static void
add_number (GArray *members, const char *key, gint64 number, gint64 absent)
{
  if (number != absent)
    take_member (members, key, g_strdup_printf ("%" G_GINT64_FORMAT, number));
}

static void
add_modules (GArray *members, const char *key, const AdjModule *modules, guint n)
{
  GString *json;

  if (n == 0)
    return;
  json = g_string_new ("[");
  for (guint i = 0; i < n; i++)
    {
      g_string_append (json, i > 0 ? ", [" : "[");
      json_print_string (modules[i].path != NULL ? modules[i].path : "", json);
      g_string_append (json, ", ");
      json_print_string (modules[i].class_name != NULL ? modules[i].class_name : "", json);
      g_string_append_c (json, ']');
    }
  g_string_append_c (json, ']');
  take_member (members, key, g_string_free (json, FALSE));
}

/* Long texts that repeat stand once, in the table of the manifest. */
static void
add_stack (const GraphWriter *writer, GArray *members, const char *stack)
{
  const GraphSink *sink = writer->sink;
  guint number;

  if (stack == NULL || sink->strings == NULL)
    {
      add_text (members, "stack", stack);
      return;
    }
  number = GPOINTER_TO_UINT (g_hash_table_lookup (sink->strings, stack));
  if (number == 0)
    {
      char *copy = g_strdup (stack);

      g_ptr_array_add (sink->string_list, copy);
      number = sink->string_list->len;
      g_hash_table_insert (sink->strings, copy, GUINT_TO_POINTER (number));
    }
  take_member (members, "stack", g_strdup_printf ("{\"$str\": %u}", number - 1));
}

static void
add_tensor_members (const GraphWriter *writer, GArray *members, const AdjTensorMeta *meta)
{
  g_autoptr (GString) offset = g_string_new (NULL);

  add_number (members, "alias", meta->storage, -1);
  if (adj_size_is_int (meta->shape.offset))
    add_number (members, "offset", meta->shape.offset.word, 0);
  else
    {
      adj_size_print (writer->value.symbols, meta->shape.offset, offset);
      add_text (members, "offset", offset->str);
    }
  if (meta->requires_grad)
    take_member (members, "requires_grad", g_strdup ("true"));
  if (meta->layout != ADJ_LAYOUT_STRIDED)
    add_text (members, "layout", adj_layout_name (meta->layout));
}

static gboolean
is_type (const AdjValue *key, const AdjValue *value)
{
  return value->kind == ADJ_VALUE_RAW && strcmp (key->text, "type") == 0;
}

static gboolean
add_extra (const GraphWriter *writer, GArray *members, const AdjValue *extra, GError **error)
{
  ValueWriter value = writer->value;

  value.plain = TRUE;
  for (guint i = 0; extra != NULL && i + 1 < extra->n; i += 2)
    {
      GString *json;

      if (extra->items[i].kind != ADJ_VALUE_STRING ||
          is_type (&extra->items[i], &extra->items[i + 1]))
        continue;
      json = g_string_new (NULL);
      if (!value_write (&value, &extra->items[i + 1], json, error))
        {
          g_string_free (json, TRUE);
          return FALSE;
        }
      take_member (members, extra->items[i].text, g_string_free (json, FALSE));
    }
  return TRUE;
}

static gboolean
write_meta (GraphWriter *writer, const AdjNode *node, GError **error)
{
  g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (Member));
  const AdjNodeMeta *meta = &node->meta;

  g_array_set_clear_func (members, clear_member);
  add_stack (writer, members, meta->stack_trace);
  add_modules (members, "modules", meta->modules, meta->n_modules);
  add_modules (members, "fwd_modules", meta->fwd_modules, meta->n_fwd_modules);
  add_number (members, "seq_nr", meta->seq_nr, -1);
  add_number (members, "ac_graph_id", meta->ac_graph_id, -1);
  if (writer->sink->origins && adj_node_id_is_valid (node->origin))
    add_number (members, "origin", node->origin.index, -1);
  add_text (members, "original_aten", meta->original_aten);
  add_text (members, "partitioner_tag", meta->partitioner_tag);
  add_text (members, "source", meta->source);
  add_text (members, "param", meta->parameter);
  add_text (members, "hook", meta->hook);
  if (meta->recompute != ADJ_RECOMPUTE_NONE)
    add_text (members, "recompute", adj_recompute_name (meta->recompute));
  if (node->val.kind == ADJ_VALUE_META)
    add_tensor_members (writer, members, node->val.meta);
  if (!add_extra (writer, members, meta->extra, error))
    return FALSE;
  if (members->len > 0)
    {
      g_string_append (writer->out, ", \"meta\": ");
      put_members (members, writer->out);
    }
  return TRUE;
}

static void
write_type (GraphWriter *writer, const AdjValue *extra)
{
  for (guint i = 0; extra != NULL && i + 1 < extra->n; i += 2)
    if (extra->items[i].kind == ADJ_VALUE_STRING &&
        is_type (&extra->items[i], &extra->items[i + 1]))
      {
        g_string_append (writer->out, ", \"type\": ");
        json_print_string (extra->items[i + 1].text, writer->out);
      }
}

static gboolean
write_arguments (GraphWriter *writer, const AdjNode *node, GError **error)
{
  const AdjValue *args = &node->args, *kwargs = &node->kwargs;

  for (guint i = 0; i < args->n; i++)
    {
      g_string_append (writer->out, i == 0 ? ", \"args\": [" : ", ");
      if (!value_write (&writer->value, &args->items[i], writer->out, error))
        return FALSE;
    }
  g_string_append (writer->out, args->n > 0 ? "]" : "");
  for (guint i = 0; i + 1 < kwargs->n; i += 2)
    {
      g_string_append (writer->out, i == 0 ? ", \"kwargs\": {" : ", ");
      json_print_string (kwargs->items[i].text, writer->out);
      g_string_append (writer->out, ": ");
      if (!value_write (&writer->value, &kwargs->items[i + 1], writer->out, error))
        return FALSE;
    }
  g_string_append (writer->out, kwargs->n > 0 ? "}" : "");
  return TRUE;
}

static gboolean
write_node (GraphWriter *writer, const AdjNode *node, GError **error)
{
  g_string_append (writer->out, "{\"name\": ");
  json_print_string (node->name, writer->out);
  g_string_append_printf (writer->out, ", \"op\": \"%s\"", adj_opcode_name (node->opcode));
  if (node->opcode != ADJ_OPCODE_OUTPUT)
    {
      g_string_append (writer->out, ", \"target\": ");
      json_print_string (node->target, writer->out);
    }
  if (!write_arguments (writer, node, error))
    return FALSE;
  write_type (writer, node->meta.extra);
  if (node->val.kind != ADJ_VALUE_NONE)
    {
      g_string_append (writer->out, ", \"val\": ");
      if (!value_write_annotation (&writer->value, &node->val, writer->out, error))
        return FALSE;
    }
  if (!write_meta (writer, node, error))
    return FALSE;
  g_string_append_c (writer->out, '}');
  return TRUE;
}

/* Writes the settings of the calling thread that differ from those of a new thread. */
static void
write_thread_state (GraphWriter *writer)
{
  AdjThreadSetting members[ADJ_N_THREAD_SETTINGS];
  guint n = adj_thread_state_list_settings (adj_graph_get_thread_state (writer->graph), members);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (writer->out, "%s\"%s\": \"%s\"", i > 0 ? ", " : "\"ambient\": {",
                            members[i].key, members[i].word);
  g_string_append (writer->out, n > 0 ? "}, " : "");
}

static void
write_head (GraphWriter *writer)
{
  const AdjGraph *graph = writer->graph;
  const char *parameters = adj_graph_get_parameters (graph);
  gboolean pytree = adj_graph_get_header (graph) == ADJ_HEADER_PYTREE && parameters != NULL;
  g_auto (GStrv) names = g_strsplit (pytree ? parameters : "", ", ", -1);

  g_string_append (writer->out, "{\"graph\": {");
  write_thread_state (writer);
  g_string_append (writer->out, "\"class\": ");
  json_print_string (adj_graph_get_name (graph), writer->out);
  g_string_append (writer->out,
                   pytree ? ", \"codegen\": \"pytree\", \"inputs\": [" : ", \"inputs\": [");
  for (guint i = 0; pytree && names[i] != NULL; i++)
    {
      g_string_append (writer->out, i > 0 ? ", " : "");
      json_print_string (names[i], writer->out);
    }
  for (guint i = 0; !pytree && i < adj_graph_get_n_inputs (graph); i++)
    {
      g_string_append (writer->out, i > 0 ? ", " : "");
      json_print_string (adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->target,
                         writer->out);
    }
  g_string_append (writer->out, "],\n\"nodes\": [\n");
}

static gboolean
write_subgraphs (GraphWriter *writer, GError **error)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Member));

  g_array_set_clear_func (entries, clear_member);
  for (guint i = 0; i < adj_graph_get_n_subgraphs (writer->graph); i++)
    {
      const char *name;
      AdjGraph *graph = adj_graph_get_subgraph (writer->graph, i, &name);
      GString *json = g_string_new (NULL);
      gboolean good = TRUE;

      if (writer->sink->put_graph != NULL)
        good = writer->sink->put_graph (writer->sink->data, graph, json, error);
      else
        json_print_string (adj_graph_get_name (graph), json);
      take_member (entries, name, g_string_free (json, FALSE));
      if (!good)
        return FALSE;
    }
  g_string_append (writer->out, "\"subgraphs\": ");
  put_members (entries, writer->out);
  return TRUE;
}

static gboolean
write_attrs (GraphWriter *writer, GError **error)
{
  g_autoptr (GArray) entries = g_array_new (FALSE, FALSE, sizeof (Member));

  g_array_set_clear_func (entries, clear_member);
  for (guint i = 0; i < adj_graph_get_n_attrs (writer->graph); i++)
    {
      const char *name;
      const AdjValue *value = adj_graph_get_attr (writer->graph, i, &name);
      GString *json = g_string_new (NULL);
      gboolean good = value_write (&writer->value, value, json, error);

      take_member (entries, name, g_string_free (json, FALSE));
      if (!good)
        {
          g_prefix_error (error, "attribute '%s': ", name);
          return FALSE;
        }
    }
  g_string_append (writer->out, ", \"attrs\": ");
  put_members (entries, writer->out);
  return TRUE;
}

gboolean
graph_write_json (const GraphSink *sink, const AdjGraph *graph, GString *out, GError **error)
{
  GraphWriter writer = { .sink = sink,
                         .graph = graph,
                         .out = out,
                         .value = { .graph = graph,
                                    .symbols = adj_graph_get_symbols (graph),
                                    .put_tensor = sink->put_tensor,
                                    .put_graph = sink->put_graph,
                                    .get_state = sink->get_state,
                                    .data = sink->data } };
  guint n = adj_graph_get_n_nodes (graph);

  write_head (&writer);
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (!write_node (&writer, node, error))
        {
          g_prefix_error (error, "node '%s': ", node->name);
          return FALSE;
        }
      g_string_append (out, i + 1 < n ? ",\n" : "\n");
    }
  g_string_append (out, "]},\n");
  if (!write_subgraphs (&writer, error) || !write_attrs (&writer, error))
    return FALSE;
  g_string_append_printf (out, "%s}\n", sink->kept != NULL ? sink->kept : "");
  return TRUE;
}

char *
adj_graph_print_json (const AdjGraph *graph)
{
  GraphSink sink = { .strings = NULL };
  GString *out = g_string_new (NULL);

  /* Values that a file cannot hold do not occur in sealed graphs but for tensors of a context. */
  if (!graph_write_json (&sink, graph, out, NULL))
    g_string_append (out, "\n");
  return g_string_free (out, FALSE);
}
