/* SPDX-License-Identifier: MIT */
/* Records of TORCH_TRACE logs: adds their graphs, and the data of their regions. */

#include <string.h>

#include "base/adj-arena.h"
#include "formats/log-facts-private.h"
#include "formats/log-records-private.h"
#include "formats/log-roles-private.h"

#define MAX_TABLE 1000000 /* texts in the string table */

void
log_records_clear (LogRecords *log)
{
  g_clear_pointer (&log->processes, g_hash_table_unref);
}

void
log_scope_start (LogScope *scope)
{
  scope->process = -1;
  scope->n_compiled_autograd = 0;
  g_clear_pointer (&scope->table, g_hash_table_unref);
}

void
log_scope_clear (LogScope *scope)
{
  g_clear_pointer (&scope->table, g_hash_table_unref);
}

/* The index of the file's process among those of @rank; it is assigned with the first graph. */
static gint
process_of (LogScope *scope, gint rank)
{
  gpointer key = GINT_TO_POINTER (rank + 1);

  if (scope->log->processes == NULL)
    scope->log->processes = g_hash_table_new (NULL, NULL);
  if (scope->process < 0)
    {
      scope->process = GPOINTER_TO_INT (g_hash_table_lookup (scope->log->processes, key));
      g_hash_table_insert (scope->log->processes, key, GINT_TO_POINTER (scope->process + 1));
    }
  return scope->process;
}

static RegionKey
region_of (LogScope *scope, const JsonItem *record, gboolean is_compiled_autograd)
{
  RegionKey key = {
    .rank = (gint) CLAMP (json_get_int (record, "rank", scope->rank), -1, 1 << 20),
    .compiled_autograd = json_get_int (record, "compiled_autograd_id", -1),
    .frame = json_get_int (record, "frame_id", -1),
    .compile = json_get_int (record, "frame_compile_id", -1),
    .attempt = json_get_int (record, "attempt", 0),
  };

  key.process = process_of (scope, key.rank);
  if (is_compiled_autograd && key.compiled_autograd < 0 && key.frame < 0)
    key.compiled_autograd = scope->n_compiled_autograd++;
  return key;
}

/* {"str": ["/home/u/train.py", 0]}: the table of a process; another text under the same index is
 * the table of another process. */
static void
take_string (LogScope *scope, const JsonItem *entry)
{
  const JsonItem *text, *index;
  const char *known;

  if (entry->kind != JSON_ARRAY || entry->n != 2)
    return;
  text = &entry->items[0];
  index = &entry->items[1];
  if (text->kind != JSON_STRING || index->kind != JSON_INT || index->integer < 0 ||
      index->integer >= MAX_TABLE)
    return;
  if (scope->table == NULL)
    scope->table = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  known = g_hash_table_lookup (scope->table, GINT_TO_POINTER (index->integer));
  if (known != NULL && strcmp (known, text->text) != 0)
    {
      g_hash_table_remove_all (scope->table);
      scope->process = -1;
      scope->n_compiled_autograd = 0;
    }
  g_hash_table_replace (scope->table, GINT_TO_POINTER (index->integer), g_strdup (text->text));
}

/* "VR[2, int_oo]" or "[2, 64]": an end without digits is open. */
static void
take_range (const char *text, AdjSymbol *symbol)
{
  g_autofree char *inner = g_strdup (text + strcspn (text, "["));
  g_auto (GStrv) ends = g_strsplit_set (inner, "[],", -1);

  if (g_strv_length (ends) < 3)
    return;
  g_ascii_string_to_signed (g_strstrip (ends[1]), 10, G_MININT64, G_MAXINT64, &symbol->min, NULL);
  g_ascii_string_to_signed (g_strstrip (ends[2]), 10, G_MININT64, G_MAXINT64, &symbol->max, NULL);
}

/* {"create_symbol": {"symbol": "s0", "val": "8", "vr": "VR[2, int_oo]", "source": "L['x']…"}} */
static void
take_symbol (LogScope *scope, const JsonItem *record, const JsonItem *metadata)
{
  const char *name = json_get_text (metadata, "symbol");
  const char *val = json_get_text (metadata, "val");
  const char *range = json_get_text (metadata, "vr");
  const char *source = json_get_text (metadata, "source");
  AdjSymbol symbol = { .hint = ADJ_SYMBOL_UNBACKED, .min = G_MININT64, .max = G_MAXINT64 };
  RegionKey key = region_of (scope, record, FALSE);
  gint64 bound;

  if (name == NULL || strlen (name) > 64)
    return;
  symbol.name = name;
  symbol.source = source;
  if (val != NULL && g_ascii_string_to_signed (val, 10, G_MININT64, G_MAXINT64, &bound, NULL))
    symbol.hint = bound;
  if (range != NULL)
    take_range (range, &symbol);
  regions_define_symbol (scope->log->regions, &key, &symbol);
}

/* A frame that starts anew after Dynamo was reset is counted like another process. */
static void
start_frame (LogScope *scope, const JsonItem *record)
{
  RegionKey key = region_of (scope, record, FALSE);

  if (key.frame >= 0 && regions_has_graph (scope->log->regions, &key, NULL))
    {
      scope->process = -1;
      process_of (scope, key.rank);
    }
}

/* {"describe_source": {"describer_id": 0, "id": 2, "source": "L['x']"}} */
static void
take_source (LogScope *scope, const JsonItem *record, const JsonItem *metadata)
{
  const char *source = json_get_text (metadata, "source");
  RegionKey key = region_of (scope, record, FALSE);

  if (source != NULL && key.frame >= 0)
    regions_add_source (scope->log->regions, &key, source);
}

/* ["!0: Cache miss due to …", …]: all of a graph, also those of its earlier captures. */
static void
take_reasons (LogScope *scope, const JsonItem *record, const char *payload)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const JsonItem *list = json_parse (arena, "JSON", payload, strlen (payload), NULL);
  RegionKey key = region_of (scope, record, FALSE);

  if (key.compiled_autograd < 0 || list == NULL || list->kind != JSON_ARRAY)
    return;
  for (guint i = 0; i < list->n; i++)
    if (list->items[i].kind == JSON_STRING)
      regions_add_reason (scope->log->regions, &key, list->items[i].text);
}

/* {"artifact": {"name": "aot_forward_graph_fw_metadata", …}} with the repr() as payload. */
static void
take_artifact (LogScope *scope,
               const JsonItem *record,
               const JsonItem *artifact,
               const char *payload)
{
  const char *name = json_get_text (artifact, "name");
  RegionKey key;

  if (name != NULL && g_str_equal (name, "compiled_autograd_compile_reasons"))
    take_reasons (scope, record, payload);
  if (name == NULL || !g_str_has_suffix (name, "fw_metadata"))
    return;
  key = region_of (scope, record, FALSE);
  if (key.frame >= 0)
    regions_set_metadata (scope->log->regions, &key, payload);
}

/* A payload of one module, or of several behind each other. */
static gboolean
add_modules (LogScope *scope,
             const RegionKey *key,
             const char *role,
             const char *text,
             guint line,
             GError **error)
{
  const char *at = log_next_module (text);
  const char *next = at != NULL ? log_next_module (at + strcspn (at, "\n")) : NULL;

  if (next == NULL)
    return regions_add_graph (scope->log->regions, key, role, text, scope->name, line, error);
  for (const char *counted = text; at != NULL; at = next)
    {
      g_autofree char *part = NULL;
      g_autofree char *label = log_module_label (at);

      next = log_next_module (at + strcspn (at, "\n"));
      part = next != NULL ? g_strndup (at, (gsize) (next - at)) : g_strdup (at);
      for (; counted < at; counted++)
        line += *counted == '\n';
      if (!regions_add_graph (scope->log->regions, key, label != NULL ? label : role, part,
                              scope->name, line, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
take_graph (LogScope *scope,
            const JsonItem *record,
            const char *role,
            const char *payload,
            guint line,
            GError **error)
{
  RegionKey key = region_of (scope, record, g_str_has_prefix (role, "compiled_autograd"));
  const char *md5 = json_get_text (record, "has_payload");
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_MD5, payload, -1);
  g_autofree char *valid = NULL;

  if (md5 != NULL && g_ascii_strcasecmp (md5, sum) != 0)
    regions_warn (scope->log->regions, scope->name, line, role,
                  "the text was changed after it was logged");
  if (!g_utf8_validate (payload, -1, NULL))
    {
      valid = g_utf8_make_valid (payload, -1);
      regions_warn (scope->log->regions, scope->name, line, role,
                    "bytes that are no UTF-8 were replaced");
    }
  return add_modules (scope, &key, role, valid != NULL ? valid : payload, line + 1, error);
}

static void
take_torch_version (LogScope *scope, const char *name, const char *payload)
{
  g_autofree char *version = log_fact_torch_version (name, payload);

  if (version != NULL)
    regions_set_torch_version (scope->log->regions, version);
}

/* Adds the payload as a graph, if it is one, else as a fact. */
static gboolean
take_payload_of (
    LogScope *scope, const JsonItem *record, const char *payload, guint line, GError **error)
{
  const char *name = log_fact_name (record);
  g_autofree char *role = log_role (record, payload);
  RegionKey key;

  if (name != NULL)
    take_torch_version (scope, name, payload);
  if (role != NULL)
    return take_graph (scope, record, role, payload, line, error);
  if (name != NULL)
    {
      g_autofree char *text = log_fact_text (record, payload);

      key = region_of (scope, record, FALSE);
      regions_add_fact (scope->log->regions, &key, name, text, scope->name, line);
    }
  return TRUE;
}

gboolean
log_take_record (
    LogScope *scope, const JsonItem *record, const char *payload, guint line, GError **error)
{
  const JsonItem *item;

  if ((item = json_get (record, "str")) != NULL)
    take_string (scope, item);
  if (json_get (record, "dynamo_start") != NULL)
    start_frame (scope, record);
  if ((item = json_get (record, "create_symbol")) != NULL)
    take_symbol (scope, record, item);
  if ((item = json_get (record, "describe_source")) != NULL)
    take_source (scope, record, item);
  if ((item = json_get (record, "artifact")) != NULL)
    take_artifact (scope, record, item, payload);
  return take_payload_of (scope, record, payload, line, error);
}
