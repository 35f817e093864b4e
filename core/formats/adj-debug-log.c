/* SPDX-License-Identifier: MIT */
/* Reads logs of DebugMode: JSON, one object for each call of an operator, its result described by
 * text and by hashes. */

#include "formats/adj-debug-log.h"

#include <math.h>
#include <string.h>

#include "base/adj-error-internal.h"
#include "base/adj-file-internal.h"
#include "formats/json-private.h"

#define FORMAT "torch.utils._debug_mode.DebugMode.logs"
#define VERSION 1
#define MAX_FILE_BYTES (G_GUINT64_CONSTANT (1) << 30)
#define MAX_CALLS 4000000u
#define MAX_VALUES 1024 /* of a call */
#define MAX_DEPTH 256   /* of modules */

struct _AdjDebugLog
{
  AdjArena *arena;
  GArray *calls;
};

typedef struct
{
  AdjDebugLog *log;
  JsonReader json;
  const char *modules[MAX_DEPTH]; /* (nullable): the module entered at each depth */
  gboolean has_format;
} Loader;

gboolean
adj_debug_log_is (const char *path)
{
  guint8 head[128];
  gssize n = adj_file_read_head (path, head, sizeof head, NULL);

  return n > 0 && head[0] == '{' && memmem (head, (gsize) n, FORMAT, strlen (FORMAT)) != NULL;
}

/* -- values -- */

/* "f32[4, 16]" at @text; where it ends, or %NULL: something else. */
static const char *
read_type (Loader *loader, const char *text, AdjDebugValue *out)
{
  gsize length = strspn (text, "abcdefghijklmnopqrstuvwxyz0123456789");
  gint64 sizes[64];
  const char *at = text + length;
  guint n = 0;

  if (length == 0 || length > 16 || *at++ != '[')
    return NULL;
  while (*at != ']' && n < G_N_ELEMENTS (sizes))
    {
      char *end;

      sizes[n++] = g_ascii_strtoll (at, &end, 10);
      if (end == at || (*end != ',' && *end != ']'))
        return NULL;
      at = *end == ',' ? end + 1 : end;
    }
  if (*at != ']')
    return NULL;
  out->dtype = adj_arena_strndup (loader->log->arena, text, length);
  out->rank = n;
  if (n > 0)
    out->sizes = adj_arena_memdup (loader->log->arena, sizes, sizeof *sizes * n);
  return at + 1;
}

/* "  ->  t$4: f32[4, 32]", "  ->  (None, 't: f32[2]')": None keeps its position. */
static void
read_types (Loader *loader, const char *text, AdjDebugCall *call, GArray *values)
{
  const char *at = text != NULL ? strstr (text, "->") : NULL;

  if (at == NULL)
    return;
  at += strspn (at, "-> ");
  call->single = *at != '(' && *at != '[';
  while (*at != '\0' && values->len < MAX_VALUES)
    {
      AdjDebugValue value = { 0 };
      gboolean none = g_str_has_prefix (at, "None");
      const char *end = g_str_has_prefix (at, ": ") ? read_type (loader, at + 2, &value) : NULL;

      if (end != NULL || none)
        g_array_append_val (values, value);
      at = none ? at + strlen ("None") : end != NULL ? end : at + 1;
    }
}

/* {"type": "scalar", "value": 3} */
static const JsonItem *
get_scalar (const JsonItem *item)
{
  const char *type = json_get_text (item, "type");

  return type != NULL && strcmp (type, "scalar") == 0 ? json_get (item, "value") : NULL;
}

/* (nullable): the items of a tuple or list */
static const JsonItem *
get_items (const JsonItem *item)
{
  const char *type = json_get_text (item, "type");
  const JsonItem *items = json_get (item, "items");
  gboolean good = type != NULL && (strcmp (type, "tuple") == 0 || strcmp (type, "list") == 0);

  return good && items != NULL && items->kind == JSON_ARRAY ? items : NULL;
}

/* A hash is one number, or a list with one of each kind: a float is the norm, an integer the
 * exclusive or. */
static void
read_hash (const JsonItem *item, AdjDebugValue *out)
{
  const JsonItem *scalar = get_scalar (item), *items = get_items (item);
  const char *type = json_get_text (item, "type"), *word = json_get_text (item, "value");

  for (guint i = 0; items != NULL && i < items->n; i++)
    if (get_items (&items->items[i]) == NULL)
      read_hash (&items->items[i], out);
  if (scalar != NULL && scalar->kind == JSON_FLOAT && !out->has_norm)
    {
      out->has_norm = TRUE;
      out->norm = scalar->number;
    }
  else if (scalar != NULL && scalar->kind == JSON_INT && !out->has_xor)
    {
      out->has_xor = TRUE;
      out->bits = (guint64) scalar->integer;
    }
  else if (type != NULL && word != NULL && strcmp (type, "nonfinite_float") == 0)
    {
      out->has_norm = TRUE;
      out->norm = strcmp (word, "nan") == 0    ? NAN
                  : strcmp (word, "-inf") == 0 ? -INFINITY
                                               : INFINITY;
    }
}

/* The member @name of a dict, which is a list of pairs. */
static const JsonItem *
find_pair (const JsonItem *dict, const char *name)
{
  const JsonItem *items = json_get (dict, "items");

  for (guint i = 0; items != NULL && items->kind == JSON_ARRAY && i < items->n; i++)
    {
      const JsonItem *pair = &items->items[i];

      if (pair->kind == JSON_ARRAY && pair->n == 2 && pair->items[0].kind == JSON_STRING &&
          strcmp (pair->items[0].text, name) == 0)
        return &pair->items[1];
    }
  return NULL;
}

static void
read_hashes (const JsonItem *log, const AdjDebugCall *call, GArray *values)
{
  const JsonItem *hash = find_pair (log, "hash");
  const JsonItem *items = hash != NULL ? get_items (hash) : NULL;

  if (hash == NULL)
    return;
  if (values->len == 0)
    g_array_set_size (values, call->single || items == NULL ? 1 : MIN (items->n, MAX_VALUES));
  if (call->single || items == NULL)
    read_hash (hash, &g_array_index (values, AdjDebugValue, 0));
  else
    for (guint i = 0; i < items->n && i < values->len; i++)
      read_hash (&items->items[i], &g_array_index (values, AdjDebugValue, i));
}

/* -- calls -- */

static void
enter_module (Loader *loader, const JsonItem *item, gint64 depth)
{
  const char *tag = json_get_text (item, "tag"), *header = json_get_text (item, "header");

  if (tag == NULL || header == NULL || !g_str_has_prefix (header, "nn.Mod") || depth < 0 ||
      depth >= MAX_DEPTH)
    return;
  for (gint64 i = depth; i < MAX_DEPTH; i++)
    loader->modules[i] = NULL;
  loader->modules[depth] = adj_arena_strdup (loader->log->arena, tag);
}

static const char *
find_module (const Loader *loader, gint64 depth)
{
  for (gint64 i = MIN (depth, MAX_DEPTH); i-- > 0;)
    if (loader->modules[i] != NULL)
      return loader->modules[i];
  return NULL;
}

static gboolean
add_call (Loader *loader, const JsonItem *item, gint64 depth, GError **error)
{
  AdjDebugLog *log = loader->log;
  g_autoptr (GArray) values = g_array_new (FALSE, TRUE, sizeof (AdjDebugValue));
  const char *op = json_get_text (item, "op_name");
  AdjDebugCall call = { .single = TRUE };

  if (op == NULL)
    {
      json_fail (&loader->json, item, error, "a call without \"op_name\"");
      return FALSE;
    }
  if (log->calls->len >= MAX_CALLS)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: more than %u calls", loader->json.name,
                   MAX_CALLS);
      return FALSE;
    }
  read_types (loader, json_get_text (item, "output_str"), &call, values);
  read_hashes (json_get (item, "log"), &call, values);
  call.op = adj_arena_strdup (log->arena, op);
  call.module = find_module (loader, depth);
  call.n = values->len;
  if (values->len > 0)
    call.values = adj_arena_memdup (log->arena, values->data, sizeof (AdjDebugValue) * values->len);
  g_array_append_val (log->calls, call);
  return TRUE;
}

/* Reads one operator call.  Calls that a distributed tensor dispatches it to are nested deeper and
 * are included. */
static gboolean
read_call (Loader *loader, GError **error)
{
  g_autoptr (AdjArena) scratch = adj_arena_new ();
  const JsonItem *item = json_read (&loader->json, scratch, error);
  const char *type;
  gint64 depth;

  if (item == NULL)
    return FALSE;
  type = json_get_text (item, "type");
  depth = json_get_int (item, "call_depth", -1);
  if (type == NULL || depth < 0)
    {
      json_fail (&loader->json, item, error, "expected a call: \"type\" and \"call_depth\"");
      return FALSE;
    }
  for (gint64 i = depth + 1; i < MAX_DEPTH; i++)
    loader->modules[i] = NULL;
  if (strcmp (type, "annotate") == 0)
    enter_module (loader, item, depth);
  return strcmp (type, "op") != 0 || add_call (loader, item, depth, error);
}

/* -- the file -- */

static gboolean
read_calls (Loader *loader, GError **error)
{
  gboolean more = json_enter (&loader->json, '[', error);

  if (!more)
    return FALSE;
  while (json_next (&loader->json, loader->log->arena, NULL, &more, error))
    {
      if (!more)
        return TRUE;
      if (!read_call (loader, error))
        return FALSE;
    }
  return FALSE;
}

static gboolean
read_member (Loader *loader, const char *key, GError **error)
{
  g_autoptr (AdjArena) scratch = adj_arena_new ();
  const JsonItem *item;

  if (strcmp (key, "logs") == 0)
    return read_calls (loader, error);
  item = json_read (&loader->json, scratch, error);
  if (item == NULL)
    return FALSE;
  if (strcmp (key, "format") == 0)
    loader->has_format = item->kind == JSON_STRING && strcmp (item->text, FORMAT) == 0;
  if (strcmp (key, "version") != 0 || (item->kind == JSON_INT && item->integer == VERSION))
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "%s: logs of DebugMode of another version than %d", loader->json.name, VERSION);
  return FALSE;
}

static gboolean
read_log (Loader *loader, GError **error)
{
  const char *key;
  gboolean more;

  if (!json_enter (&loader->json, '{', error))
    return FALSE;
  while (json_next (&loader->json, loader->log->arena, &key, &more, error))
    {
      if (!more && (loader->has_format || loader->log->calls->len > 0))
        return json_finish (&loader->json, error);
      if (!more)
        {
          json_fail (&loader->json, NULL, error,
                     "no logs of DebugMode, whose \"format\" is " FORMAT);
          return FALSE;
        }
      if (!read_member (loader, key, error))
        return FALSE;
    }
  return FALSE;
}

AdjDebugLog *
adj_debug_log_read (const char *text, gsize length, const char *name, GError **error)
{
  g_autoptr (AdjDebugLog) log = g_new0 (AdjDebugLog, 1);
  Loader loader = { .log = log };

  log->arena = adj_arena_new ();
  log->calls = g_array_new (FALSE, FALSE, sizeof (AdjDebugCall));
  if (!json_reader_init (&loader.json, name, text, length, error))
    return NULL;
  loader.json.bits = loader.json.python = TRUE;
  return read_log (&loader, error) ? g_steal_pointer (&log) : NULL;
}

AdjDebugLog *
adj_debug_log_load (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes =
      adj_file_read (path, ADJ_FILE_WHOLE, MAX_FILE_BYTES, cancellable, error);
  gsize length;
  const char *text;

  if (bytes == NULL)
    return NULL;
  text = g_bytes_get_data (bytes, &length);
  return adj_debug_log_read (text != NULL ? text : "", length, path, error);
}

void
adj_debug_log_free (AdjDebugLog *log)
{
  if (log == NULL)
    return;
  g_array_unref (log->calls);
  adj_arena_free (log->arena);
  g_free (log);
}

guint
adj_debug_log_get_n (const AdjDebugLog *log)
{
  return log->calls->len;
}

const AdjDebugCall *
adj_debug_log_get (const AdjDebugLog *log, guint index)
{
  g_return_val_if_fail (index < log->calls->len, NULL);

  return &g_array_index (log->calls, AdjDebugCall, index);
}
