/* SPDX-License-Identifier: MIT */
/* Reads an AdjValue from the JSON of .adjoint, tagged kinds included. */

#include <math.h>
#include <string.h>

#include "formats/value-json-private.h"
#include "ir/adj-opaque.h"

typedef gboolean (*ReadTag) (const ValueReader *reader,
                             const JsonItem *item,
                             AdjValue *out,
                             GError **error);

static gboolean
read_text_value (
    const ValueReader *reader, AdjValueKind kind, const char *text, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = kind, .n = n, .text = text };
  return TRUE;
}

/* What we have no kind for is kept as its JSON. */
static gboolean
keep_json (const ValueReader *reader, const JsonItem *tagged, AdjValue *out)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_append_c (text, '{');
  json_print_string (tagged->key, text);
  g_string_append (text, ": ");
  json_print (tagged, text);
  g_string_append_c (text, '}');
  return read_text_value (reader, ADJ_VALUE_RAW,
                          adj_arena_strndup (reader->arena, text->str, text->len), text->len, out);
}

static gboolean
fail (const ValueReader *reader, const JsonItem *item, const char *expected, GError **error)
{
  json_fail (reader->json, item, error, "%s%sexpected %s", item->key != NULL ? item->key : "",
             item->key != NULL ? ": " : "", expected);
  return FALSE;
}

static gboolean
expect_text (const ValueReader *reader, const JsonItem *item, GError **error)
{
  return item->kind == JSON_STRING || fail (reader, item, "a text", error);
}

static gboolean
read_items (const ValueReader *reader,
            const JsonItem *item,
            AdjValueKind kind,
            AdjValue *out,
            GError **error)
{
  AdjValue *items = NULL;

  if (item->kind != JSON_ARRAY)
    return fail (reader, item, "an array", error);
  if (item->n > 0)
    items = adj_arena_new0 (reader->arena, AdjValue, item->n);
  for (guint i = 0; i < item->n; i++)
    if (!value_read (reader, &item->items[i], &items[i], error))
      return FALSE;
  *out = (AdjValue){ .kind = kind, .n = item->n, .items = items };
  return TRUE;
}

static gboolean
read_triple (const ValueReader *reader,
             const JsonItem *item,
             AdjValueKind kind,
             AdjValue *out,
             GError **error)
{
  if (item->kind != JSON_ARRAY || item->n != 3)
    return fail (reader, item, "[start, stop, step]", error);
  return read_items (reader, item, kind, out, error);
}

static gboolean
read_node (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjNodeId id = ADJ_NO_NODE;

  if (reader->nodes == NULL)
    return fail (reader, item, "no node here", error);
  if (!expect_text (reader, item, error))
    return FALSE;
  id = adj_builder_find (reader->nodes, item->text);
  if (!adj_node_id_is_valid (id))
    {
      json_fail (reader->json, item, error, "no earlier node is named '%s'", item->text);
      return FALSE;
    }
  *out = ADJ_NODE (id);
  return TRUE;
}

static gboolean
read_tuple (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  return read_items (reader, item, ADJ_VALUE_TUPLE, out, error);
}

static gboolean
read_dict (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjValue *items;

  if (item->kind != JSON_ARRAY)
    return fail (reader, item, "an array of [key, value]", error);
  items = adj_arena_new0 (reader->arena, AdjValue, 2 * item->n + 1);
  for (guint i = 0; i < item->n; i++)
    {
      const JsonItem *pair = &item->items[i];

      if (pair->kind != JSON_ARRAY || pair->n != 2)
        return fail (reader, pair, "[key, value]", error);
      if (!value_read (reader, &pair->items[0], &items[2 * i], error) ||
          !value_read (reader, &pair->items[1], &items[2 * i + 1], error))
        return FALSE;
    }
  *out = (AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2 * item->n, .items = items };
  return TRUE;
}

static gboolean
read_slice (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  return read_triple (reader, item, ADJ_VALUE_SLICE, out, error);
}

static gboolean
read_range (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  return read_triple (reader, item, ADJ_VALUE_RANGE, out, error);
}

static gboolean
read_odd_float (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  static const struct
  {
    const char *name;
    double value;
  } names[] = { { "nan", NAN }, { "inf", INFINITY }, { "-inf", -INFINITY } };

  for (guint i = 0; item->kind == JSON_STRING && i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i].name, item->text) == 0)
      {
        *out = ADJ_FLOAT (names[i].value);
        return TRUE;
      }
  return fail (reader, item, "\"nan\", \"inf\" or \"-inf\"", error);
}

static gboolean
read_complex (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  if (item->kind != JSON_ARRAY || item->n != 2)
    return fail (reader, item, "[real, imaginary]", error);
  if (!read_items (reader, item, ADJ_VALUE_COMPLEX, out, error))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    if (out->items[i].kind == ADJ_VALUE_INT)
      out->items[i] = ADJ_FLOAT ((double) out->items[i].integer);
    else if (out->items[i].kind != ADJ_VALUE_FLOAT)
      return fail (reader, item, "two numbers", error);
  return TRUE;
}

static gboolean
read_bytes (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  g_autofree guchar *bytes = NULL;
  char *text;
  gsize n;

  if (!expect_text (reader, item, error))
    return FALSE;
  bytes = g_base64_decode (item->text, &n);
  text = adj_arena_alloc (reader->arena, n + 1);
  memcpy (text, bytes, n);
  return read_text_value (reader, ADJ_VALUE_BYTES, text, n, out);
}

static gboolean
read_big_int (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  gint64 value;

  if (!expect_text (reader, item, error))
    return FALSE;
  if (!g_ascii_string_to_signed (item->text, 10, G_MININT64, G_MAXINT64, &value, NULL))
    return keep_json (reader, item, out);
  *out = ADJ_INT (value);
  return TRUE;
}

static gboolean
read_dtype (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjDType dtype;

  if (!expect_text (reader, item, error))
    return FALSE;
  dtype = adj_dtype_from_code (item->text, item->n);
  if (dtype == ADJ_DTYPE_NONE)
    return keep_json (reader, item, out);
  *out = ADJ_DTYPE (dtype);
  return TRUE;
}

static gboolean
read_device (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjDevice device;

  if (!expect_text (reader, item, error))
    return FALSE;
  if (!adj_device_parse (item->text, item->n, &device))
    return keep_json (reader, item, out);
  *out = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = device };
  return TRUE;
}

static gboolean
read_layout (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjLayout layout;

  if (!expect_text (reader, item, error))
    return FALSE;
  layout = adj_layout_from_name (item->text);
  if (layout == ADJ_N_LAYOUTS)
    return keep_json (reader, item, out);
  *out = (AdjValue){ .kind = ADJ_VALUE_LAYOUT, .layout = layout };
  return TRUE;
}

static gboolean
read_format (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjMemoryFormat format;

  if (!expect_text (reader, item, error))
    return FALSE;
  format = adj_memory_format_from_name (item->text);
  if (format == ADJ_N_MEMORY_FORMATS)
    return keep_json (reader, item, out);
  *out = (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT, .format = format };
  return TRUE;
}

static gboolean
read_symbol (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  const JsonItem *expr = json_get (item, "expr");
  AdjSize size;

  if (expr == NULL || expr->kind != JSON_STRING)
    return fail (reader, item, "{\"expr\": text}", error);
  if (!adj_size_parse (reader->symbols, expr->text, expr->n, &size, NULL))
    return keep_json (reader, item, out);
  *out = adj_value_from_size (size);
  return TRUE;
}

static gboolean
read_op (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  return expect_text (reader, item, error) &&
         read_text_value (reader, ADJ_VALUE_OP, item->text, item->n, out);
}

static gboolean
read_raw (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  return expect_text (reader, item, error) &&
         read_text_value (reader, ADJ_VALUE_RAW, item->text, item->n, out);
}

static gboolean
read_graph (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjGraph *graph;

  if (reader->get_graph == NULL)
    return fail (reader, item, "no graph here", error);
  if (!expect_text (reader, item, error))
    return FALSE;
  graph = reader->get_graph (reader->data, reader->json, item, error);
  *out = (AdjValue){ .kind = ADJ_VALUE_GRAPH, .graph = graph };
  return graph != NULL;
}

static gboolean
read_object (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjOpaque *object;

  if (reader->get_object == NULL)
    return fail (reader, item, "no object here", error);
  object = reader->get_object (reader->data, reader, item, error);
  *out = object != NULL ? ADJ_OPAQUE (object) : ADJ_NONE;
  return object != NULL;
}

static gboolean
read_tensor (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjTensorData *data;

  if (reader->get_tensor == NULL)
    return fail (reader, item, "no tensor here", error);
  data = reader->get_tensor (reader->data, reader->json, item, error);
  *out = ADJ_DATA (data);
  return data != NULL;
}

static gboolean
read_shared_text (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  const JsonItem *strings = reader->strings;

  if (item->kind != JSON_INT || strings == NULL || item->integer < 0 ||
      item->integer >= strings->n || strings->items[item->integer].kind != JSON_STRING)
    return fail (reader, item, "the number of a text in \"strings\"", error);
  return read_text_value (reader, ADJ_VALUE_STRING, strings->items[item->integer].text,
                          strings->items[item->integer].n, out);
}

static gboolean
read_ellipsis (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_ELLIPSIS };
  return TRUE;
}

static gboolean
read_token (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_TOKEN };
  return TRUE;
}

static gboolean
read_meta (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  return value_read_annotation (reader, item, out, error);
}

static const struct
{
  const char *name;
  ReadTag read;
} tags[] = {
  { "$n", read_node },
  { "$tuple", read_tuple },
  { "$dict", read_dict },
  { "$slice", read_slice },
  { "$range", read_range },
  { "$f", read_odd_float },
  { "$complex", read_complex },
  { "$bytes", read_bytes },
  { "$int", read_big_int },
  { "$dtype", read_dtype },
  { "$device", read_device },
  { "$layout", read_layout },
  { "$memfmt", read_format },
  { "$sym", read_symbol },
  { "$op", read_op },
  { "$graph", read_graph },
  { "$object", read_object },
  { "$tensor", read_tensor },
  { "$complex_tensor", read_tensor }, /* pairs of numbers; the view says so */
  { "$str", read_shared_text },
  { "$ellipsis", read_ellipsis },
  { "$raw", read_raw },
  { "$val", read_meta },    /* an annotation as a value */
  { "$token", read_token }, /* an effect token */
};

static gboolean
read_members (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  AdjValue *items = adj_arena_new0 (reader->arena, AdjValue, 2 * item->n + 1);

  for (guint i = 0; i < item->n; i++)
    {
      read_text_value (reader, ADJ_VALUE_STRING, item->items[i].key, strlen (item->items[i].key),
                       &items[2 * i]);
      if (!value_read (reader, &item->items[i], &items[2 * i + 1], error))
        return FALSE;
    }
  *out = (AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2 * item->n, .items = items };
  return TRUE;
}

static gboolean
read_tagged (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  const JsonItem *content = item->n == 1 ? &item->items[0] : NULL;

  if (content == NULL || content->key[0] != '$')
    return reader->plain ? read_members (reader, item, out, error)
                         : fail (reader, item, "one key that begins with '$'", error);
  for (guint i = 0; i < G_N_ELEMENTS (tags); i++)
    if (strcmp (tags[i].name, content->key) == 0)
      return tags[i].read (reader, content, out, error);
  return keep_json (reader, content, out);
}

gboolean
value_read (const ValueReader *reader, const JsonItem *item, AdjValue *out, GError **error)
{
  *out = ADJ_NONE;
  if (item->kind == JSON_FALSE || item->kind == JSON_TRUE)
    *out = ADJ_BOOL (item->kind == JSON_TRUE);
  else if (item->kind == JSON_INT)
    *out = ADJ_INT (item->integer);
  else if (item->kind == JSON_FLOAT)
    *out = ADJ_FLOAT (item->number);
  else if (item->kind == JSON_STRING)
    return read_text_value (reader, ADJ_VALUE_STRING, item->text, item->n, out);
  else if (item->kind == JSON_ARRAY)
    return read_items (reader, item, ADJ_VALUE_LIST, out, error);
  else if (item->kind == JSON_OBJECT)
    return read_tagged (reader, item, out, error);
  return TRUE;
}

static gboolean
read_annotation_text (const ValueReader *reader, const JsonItem *item, AdjValue *out)
{
  AdjTensorMeta meta;
  AdjSize size;

  if (g_str_has_prefix (item->text, "Sym(") && g_str_has_suffix (item->text, ")") &&
      adj_size_parse (reader->symbols, item->text + 4, item->n - 5, &size, NULL))
    *out = (AdjValue){ .kind = ADJ_VALUE_SIZE, .size = size };
  else if (adj_tensor_meta_parse (item->text, item->n, reader->symbols, &meta, NULL))
    *out = (AdjValue){ .kind = ADJ_VALUE_META,
                       .meta = adj_arena_memdup (reader->arena, &meta, sizeof meta) };
  else
    return read_text_value (reader, ADJ_VALUE_RAW, item->text, item->n, out);
  return TRUE;
}

gboolean
value_read_annotation (const ValueReader *reader,
                       const JsonItem *item,
                       AdjValue *out,
                       GError **error)
{
  AdjValue *items = NULL;

  if (item->kind == JSON_STRING)
    return read_annotation_text (reader, item, out);
  if (item->kind != JSON_ARRAY)
    return value_read (reader, item, out, error);
  if (item->n > 0)
    items = adj_arena_new0 (reader->arena, AdjValue, item->n);
  for (guint i = 0; i < item->n; i++)
    if (!value_read_annotation (reader, &item->items[i], &items[i], error))
      return FALSE;
  *out = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = item->n, .items = items };
  return TRUE;
}

const char *
value_read_text (const ValueReader *reader, const JsonItem *item, GError **error)
{
  AdjValue value;

  if (!value_read (reader, item, &value, error))
    return NULL;
  if (value.kind == ADJ_VALUE_STRING)
    return value.text;
  fail (reader, item, "a text", error);
  return NULL;
}
