/* SPDX-License-Identifier: MIT */
/* Writes an AdjValue as the JSON of .adjoint. */

#include <math.h>
#include <string.h>

#include "formats/value-json-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-opaque.h"

/* Largest integer that every reader of JSON keeps. */
#define MAX_EXACT (G_GINT64_CONSTANT (1) << 53)

typedef gboolean (*WriteKind) (const ValueWriter *writer,
                               const AdjValue *value,
                               GString *out,
                               GError **error);

/* Fails for a text with NUL, which would end it early for C readers, or with invalid UTF-8. */
static gboolean
put_text (const char *text, guint n, GString *out, GError **error)
{
  if (memchr (text, '\0', n) != NULL || !g_utf8_validate_len (text, n, NULL))
    {
      g_autofree char *shown = g_utf8_make_valid (text, (gssize) MIN (n, 20));

      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "a text with bytes that JSON cannot hold (\"%s…\")", shown);
      return FALSE;
    }
  json_print_string (text, out);
  return TRUE;
}

static gboolean
put_tagged_text (const char *tag, const char *text, guint n, GString *out, GError **error)
{
  g_string_append_printf (out, "{\"%s\": ", tag);
  if (!put_text (text, n, out, error))
    return FALSE;
  g_string_append_c (out, '}');
  return TRUE;
}

static gboolean
put_items (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_string_append_c (out, '[');
  for (guint i = 0; i < value->n; i++)
    {
      if (i > 0)
        g_string_append (out, ", ");
      if (!value_write (writer, &value->items[i], out, error))
        return FALSE;
    }
  g_string_append_c (out, ']');
  return TRUE;
}

static gboolean
put_tagged_items (
    const ValueWriter *writer, const char *tag, const AdjValue *value, GString *out, GError **error)
{
  g_string_append_printf (out, "{\"%s\": ", tag);
  if (!put_items (writer, value, out, error))
    return FALSE;
  g_string_append_c (out, '}');
  return TRUE;
}

static gboolean
write_none (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_string_append (out, "null");
  return TRUE;
}

static gboolean
write_bool (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_string_append (out, value->boolean ? "true" : "false");
  return TRUE;
}

static gboolean
write_int (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  gboolean exact = value->integer >= -MAX_EXACT && value->integer <= MAX_EXACT;

  g_string_append_printf (out, exact ? "%" G_GINT64_FORMAT : "{\"$int\": \"%" G_GINT64_FORMAT "\"}",
                          value->integer);
  return TRUE;
}

static gboolean
write_float (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  if (isfinite (value->number))
    json_print_float (value->number, out);
  else if (isnan (value->number))
    g_string_append (out, "{\"$f\": \"nan\"}");
  else
    g_string_append_printf (out, "{\"$f\": \"%s\"}", value->number > 0 ? "inf" : "-inf");
  return TRUE;
}

static gboolean
write_complex (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  return put_tagged_items (writer, "$complex", value, out, error);
}

static gboolean
write_size (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gint64 hint;

  adj_size_print (writer->symbols, value->size, text);
  g_string_append (out, "{\"$sym\": {\"expr\": ");
  json_print_string (text->str, out);
  if (adj_size_get_hint (writer->symbols, value->size, &hint))
    g_string_append_printf (out, ", \"hint\": %" G_GINT64_FORMAT, hint);
  g_string_append (out, "}}");
  return TRUE;
}

static gboolean
write_string (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  return put_text (value->text, value->n, out, error);
}

static gboolean
write_bytes (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_autofree char *text = g_base64_encode ((const guchar *) value->text, value->n);

  return put_tagged_text ("$bytes", text, strlen (text), out, error);
}

static gboolean
write_ellipsis (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_string_append (out, "{\"$ellipsis\": true}");
  return TRUE;
}

static gboolean
write_dtype (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  if (value->dtype == ADJ_DTYPE_NONE)
    return write_none (writer, value, out, error);
  g_string_append_printf (out, "{\"$dtype\": \"%s\"}", adj_dtype_info (value->dtype)->code);
  return TRUE;
}

static gboolean
write_device (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_string_append (out, "{\"$device\": \"");
  adj_device_print (value->device, out);
  g_string_append (out, "\"}");
  return TRUE;
}

static gboolean
write_layout (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_string_append_printf (out, "{\"$layout\": \"%s\"}", adj_layout_name (value->layout));
  return TRUE;
}

static gboolean
write_format (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_string_append_printf (out, "{\"$memfmt\": \"%s\"}", adj_memory_format_name (value->format));
  return TRUE;
}

/* Without a place for tensors only the description is left. */
static gboolean
write_data (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const AdjDTypeInfo *info;

  if (writer->put_tensor == NULL)
    {
      adj_tensor_meta_print (adj_tensor_data_get_meta (value->data), NULL, text);
      return put_tagged_text ("$raw", text->str, text->len, out, error);
    }
  info = adj_dtype_info (adj_tensor_data_get_meta (value->data)->dtype);
  g_string_append_printf (out, "{\"%s\": ",
                          info->category == ADJ_CATEGORY_COMPLEX && info->safetensors == NULL
                              ? "$complex_tensor"
                              : "$tensor");
  if (!writer->put_tensor (writer->data, value->data, out, error))
    return FALSE;
  g_string_append_c (out, '}');
  return TRUE;
}

static gboolean
write_meta (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_string_append (out, "{\"$val\": ");
  if (!value_write_annotation (writer, value, out, error))
    return FALSE;
  g_string_append_c (out, '}');
  return TRUE;
}

static gboolean
write_list (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  return put_items (writer, value, out, error);
}

static gboolean
write_tuple (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  return put_tagged_items (writer, "$tuple", value, out, error);
}

/* Whether the dict can be an object that does not look like a tagged value. */
static gboolean
is_plain_dict (const AdjValue *value)
{
  for (guint i = 0; i < value->n; i += 2)
    if (value->items[i].kind != ADJ_VALUE_STRING)
      return FALSE;
  return value->n != 2 || value->items[0].text[0] != '$';
}

static gboolean
write_dict (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  gboolean plain = writer->plain && is_plain_dict (value);

  g_string_append (out, plain ? "{" : "{\"$dict\": [");
  for (guint i = 0; i + 1 < value->n; i += 2)
    {
      g_string_append (out, i > 0 ? ", " : "");
      g_string_append (out, plain ? "" : "[");
      if (!value_write (writer, &value->items[i], out, error))
        return FALSE;
      g_string_append (out, plain ? ": " : ", ");
      if (!value_write (writer, &value->items[i + 1], out, error))
        return FALSE;
      g_string_append (out, plain ? "" : "]");
    }
  g_string_append (out, plain ? "}" : "]}");
  return TRUE;
}

static gboolean
write_slice (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  return put_tagged_items (writer, "$slice", value, out, error);
}

static gboolean
write_range (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  return put_tagged_items (writer, "$range", value, out, error);
}

static gboolean
write_op (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  return put_tagged_text ("$op", value->text, value->n, out, error);
}

static gboolean
write_token (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  g_string_append (out, "{\"$token\": true}");
  return TRUE;
}

static gboolean
write_graph (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  const char *name = adj_graph_get_name (value->graph);

  if (writer->put_graph == NULL)
    return put_tagged_text ("$raw", name, strlen (name), out, error);
  g_string_append (out, "{\"$graph\": ");
  if (!writer->put_graph (writer->data, value->graph, out, error))
    return FALSE;
  g_string_append_c (out, '}');
  return TRUE;
}

static gboolean
write_object (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  const AdjOpaqueClass *klass = value->object->klass;
  g_autofree char *written = klass->write != NULL ? klass->write (value->object) : NULL;
  const char *type = adj_opaque_get_type (value->object);
  const AdjValue *state;
  guint id = 0;

  if (written != NULL)
    return put_tagged_text ("$raw", written, strlen (written), out, error);
  if (writer->get_state == NULL)
    {
      type = type != NULL ? type : adj_value_kind_name (value->kind);
      return put_tagged_text ("$raw", type, strlen (type), out, error);
    }
  state = writer->get_state (writer->data, value->object, &id, error);
  if (state == NULL)
    return FALSE;
  g_string_append (out, "{\"$object\": {\"class\": ");
  if (!put_text (type, strlen (type), out, error))
    return FALSE;
  g_string_append_printf (out, ", \"id\": %u", id);
  if (state->kind == ADJ_VALUE_RAW)
    {
      g_string_append (out, ", \"no_state\": ");
      if (!put_text (state->text, state->n, out, error))
        return FALSE;
    }
  else if (state->kind != ADJ_VALUE_NONE)
    {
      g_string_append (out, ", \"state\": ");
      if (!value_write (writer, state, out, error))
        return FALSE;
    }
  g_string_append (out, "}}");
  return TRUE;
}

static gboolean
write_node (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  const AdjNode *node;

  g_return_val_if_fail (writer->graph != NULL, FALSE);

  node = adj_graph_get_node (writer->graph, value->node.index);
  return put_tagged_text ("$n", node->name, strlen (node->name), out, error);
}

/* Whether @text is the JSON of a value that a reader had no kind for. */
static gboolean
is_kept_json (const char *text, guint n)
{
  g_autoptr (AdjArena) arena = NULL;
  g_autoptr (AdjSymbols) symbols = NULL;
  JsonReader json = { .name = "" };
  ValueReader reader = { .json = &json };
  JsonItem *item;
  AdjValue value;

  if (!g_str_has_prefix (text, "{\"$"))
    return FALSE;
  arena = adj_arena_new ();
  symbols = adj_symbols_new ();
  reader.arena = arena;
  reader.symbols = symbols;
  item = json_parse (arena, "", text, n, NULL);
  return item != NULL && value_read (&reader, item, &value, NULL) && value.kind == ADJ_VALUE_RAW &&
         strcmp (value.text, text) == 0;
}

static gboolean
write_raw (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  if (!is_kept_json (value->text, value->n))
    return put_tagged_text ("$raw", value->text, value->n, out, error);
  g_string_append_len (out, value->text, value->n);
  return TRUE;
}

static const WriteKind writers[ADJ_N_VALUE_KINDS] = {
  [ADJ_VALUE_NONE] = write_none,
  [ADJ_VALUE_BOOL] = write_bool,
  [ADJ_VALUE_INT] = write_int,
  [ADJ_VALUE_FLOAT] = write_float,
  [ADJ_VALUE_COMPLEX] = write_complex,
  [ADJ_VALUE_SIZE] = write_size,
  [ADJ_VALUE_STRING] = write_string,
  [ADJ_VALUE_BYTES] = write_bytes,
  [ADJ_VALUE_ELLIPSIS] = write_ellipsis,
  [ADJ_VALUE_DTYPE] = write_dtype,
  [ADJ_VALUE_DEVICE] = write_device,
  [ADJ_VALUE_LAYOUT] = write_layout,
  [ADJ_VALUE_MEMORY_FORMAT] = write_format,
  [ADJ_VALUE_DATA] = write_data,
  [ADJ_VALUE_META] = write_meta,
  [ADJ_VALUE_LIST] = write_list,
  [ADJ_VALUE_TUPLE] = write_tuple,
  [ADJ_VALUE_DICT] = write_dict,
  [ADJ_VALUE_SLICE] = write_slice,
  [ADJ_VALUE_RANGE] = write_range,
  [ADJ_VALUE_OP] = write_op,
  [ADJ_VALUE_OPAQUE_OBJECT] = write_object,
  [ADJ_VALUE_TOKEN] = write_token,
  [ADJ_VALUE_GRAPH] = write_graph,
  [ADJ_VALUE_NODE] = write_node,
  [ADJ_VALUE_RAW] = write_raw,
};

gboolean
value_write (const ValueWriter *writer, const AdjValue *value, GString *out, GError **error)
{
  if (writers[value->kind] != NULL)
    return writers[value->kind](writer, value, out, error);
  if (writer->put_tensor == NULL)
    {
      const char *name = adj_value_kind_name (value->kind);

      return put_tagged_text ("$raw", name, strlen (name), out, error);
    }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "a file cannot hold %s",
               adj_value_kind_name (value->kind));
  return FALSE;
}

gboolean
value_write_annotation (const ValueWriter *writer,
                        const AdjValue *value,
                        GString *out,
                        GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (value->kind == ADJ_VALUE_LIST || value->kind == ADJ_VALUE_TUPLE)
    {
      g_string_append_c (out, '[');
      for (guint i = 0; i < value->n; i++)
        {
          g_string_append (out, i > 0 ? ", " : "");
          if (!value_write_annotation (writer, &value->items[i], out, error))
            return FALSE;
        }
      g_string_append_c (out, ']');
      return TRUE;
    }
  if (value->kind == ADJ_VALUE_META)
    adj_tensor_meta_print (value->meta, writer->symbols, text);
  else if (value->kind == ADJ_VALUE_RAW)
    g_string_append_len (text, value->text, value->n);
  else if (value->kind == ADJ_VALUE_SIZE)
    {
      g_string_append (text, "Sym(");
      adj_size_print (writer->symbols, value->size, text);
      g_string_append_c (text, ')');
    }
  else
    return value_write (writer, value, out, error);
  return put_text (text->str, text->len, out, error);
}
