/* SPDX-License-Identifier: MIT */
/* TORCH_TRACE logs (formats/SPEC.md §2): one file per process, or a folder of them.
 *
 * A record is a line "prefix {json}", followed by its payload in lines that begin with a tab.  A
 * payload that is the text of a graph is a stage, under the name that the log gives it; what else
 * is said is kept beside the graphs (log-facts.c).  Logs are edited by hand and cut off, so nothing
 * but a file without any graph is refused: what cannot be read is said in the bundle's diagnostics.
 */

#include <gio/gio.h>
#include <string.h>

#include "base/adj-arena.h"
#include "formats/json-private.h"
#include "formats/log-facts-private.h"
#include "formats/log-files-private.h"
#include "formats/log-lines-private.h"
#include "formats/log-roles-private.h"
#include "formats/regions-private.h"
#include "formats/text-formats-private.h"

#define DESCRIPTION "TORCH_TRACE log: graphs as text, without recorded values"
#define MAX_LINE_BYTES ((gsize) 256 << 20)
#define MAX_RECORDS 10000000
#define MAX_TABLE 1000000 /* texts in the string table */
#define MAX_WARNINGS 20   /* of one kind in a file */

typedef struct
{
  Regions *regions;
  GCancellable *cancellable;
  gboolean growing;          /* a record at the end that is not complete will be */
  const char *name;          /* of the file being read */
  gint rank;                 /* from its name; -1 */
  guint n_compiled_autograd; /* graphs without an id, numbered in file order */
  gint process;              /* of those that wrote of this rank; -1: not known yet */
  GHashTable *processes;     /* (owned) (nullable) rank + 1 → number of its processes */
  GHashTable *table;         /* (owned) (nullable) index → text */
  guint n_records;
  guint n_malformed, n_foreign; /* lines of this file that are passed over */
  guint foreign_line;           /* the first of them */
} Log;

static void
log_clear (Log *log)
{
  g_clear_pointer (&log->processes, g_hash_table_unref);
  g_clear_pointer (&log->table, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Log, log_clear)

/* One line without its end, and where the next begins. */
typedef struct
{
  const char *at, *end;
  guint number;
} Lines;

static gboolean
next_line (Lines *lines, const char **line, gsize *length)
{
  const char *newline;

  if (lines->at >= lines->end)
    return FALSE;
  newline = memchr (lines->at, '\n', (gsize) (lines->end - lines->at));
  if (newline == NULL)
    newline = lines->end;
  *line = lines->at;
  *length = (gsize) (newline - lines->at);
  if (*length > 0 && (*line)[*length - 1] == '\r')
    (*length)--;
  lines->at = newline < lines->end ? newline + 1 : lines->end;
  lines->number++;
  return TRUE;
}

/* Whether a line of payload follows: one that begins with a tabulator, maybe behind empty lines
 * that somebody put there. */
static gboolean
comes_payload (const Lines *lines)
{
  const char *at = lines->at;

  while (at < lines->end && (*at == '\n' || *at == '\r'))
    at++;
  return at < lines->end && *at == '\t';
}

static char *
take_payload (Lines *lines)
{
  GString *payload = g_string_new (NULL);
  const char *line;
  gsize length;
  gboolean first = TRUE;

  while (comes_payload (lines) && next_line (lines, &line, &length))
    {
      if (length == 0)
        continue;
      if (!first)
        g_string_append_c (payload, '\n');
      g_string_append_len (payload, line + 1, (gssize) length - 1);
      first = FALSE;
    }
  return g_string_free (payload, FALSE);
}

/* The JSON after "V0302 09:15:01.004000 4711 path:27] ", which may itself come after a collector's
 * stamp; %NULL when the line is no record. */
static const char *
find_json (const char *line, gsize length)
{
  const char *brace = memchr (line, '{', length);

  while (brace != NULL)
    {
      if (brace - line >= 2 && brace[-1] == ' ' && brace[-2] == ']')
        return brace;
      brace = memchr (brace + 1, '{', length - (gsize) (brace + 1 - line));
    }
  return NULL;
}

/* The number among the processes that wrote graphs of @rank; one is met with its first graph. */
static gint
process_of (Log *log, gint rank)
{
  gpointer key = GINT_TO_POINTER (rank + 1);

  if (log->processes == NULL)
    log->processes = g_hash_table_new (NULL, NULL);
  if (log->process < 0)
    {
      log->process = GPOINTER_TO_INT (g_hash_table_lookup (log->processes, key));
      g_hash_table_insert (log->processes, key, GINT_TO_POINTER (log->process + 1));
    }
  return log->process;
}

static RegionKey
region_of (Log *log, const JsonItem *record, gboolean is_compiled_autograd)
{
  RegionKey key = {
    .rank = (gint) CLAMP (json_get_int (record, "rank", log->rank), -1, 1 << 20),
    .compiled_autograd = json_get_int (record, "compiled_autograd_id", -1),
    .frame = json_get_int (record, "frame_id", -1),
    .compile = json_get_int (record, "frame_compile_id", -1),
    .attempt = json_get_int (record, "attempt", 0),
  };

  key.process = process_of (log, key.rank);
  if (is_compiled_autograd && key.compiled_autograd < 0 && key.frame < 0)
    key.compiled_autograd = log->n_compiled_autograd++;
  return key;
}

/* {"str": ["/home/u/train.py", 0]}: the table of a process; another text under the same index is
 * the table of another process. */
static void
take_string (Log *log, const JsonItem *entry)
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
  if (log->table == NULL)
    log->table = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  known = g_hash_table_lookup (log->table, GINT_TO_POINTER (index->integer));
  if (known != NULL && strcmp (known, text->text) != 0)
    {
      g_hash_table_remove_all (log->table);
      log->process = -1;
      log->n_compiled_autograd = 0;
    }
  g_hash_table_replace (log->table, GINT_TO_POINTER (index->integer), g_strdup (text->text));
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
take_symbol (Log *log, const JsonItem *record, const JsonItem *metadata)
{
  const char *name = json_get_text (metadata, "symbol");
  const char *val = json_get_text (metadata, "val");
  const char *range = json_get_text (metadata, "vr");
  const char *source = json_get_text (metadata, "source");
  AdjSymbol symbol = { .hint = ADJ_SYMBOL_UNBACKED, .min = G_MININT64, .max = G_MAXINT64 };
  RegionKey key = region_of (log, record, FALSE);
  gint64 bound;

  if (name == NULL || strlen (name) > 64)
    return;
  symbol.name = name;
  symbol.source = source;
  if (val != NULL && g_ascii_string_to_signed (val, 10, G_MININT64, G_MAXINT64, &bound, NULL))
    symbol.hint = bound;
  if (range != NULL)
    take_range (range, &symbol);
  regions_define_symbol (log->regions, &key, &symbol);
}

/* A frame that starts anew after Dynamo was reset is counted like another process. */
static void
start_frame (Log *log, const JsonItem *record)
{
  RegionKey key = region_of (log, record, FALSE);

  if (key.frame >= 0 && regions_has_graph (log->regions, &key, NULL))
    {
      log->process = -1;
      process_of (log, key.rank);
    }
}

/* {"describe_source": {"describer_id": 0, "id": 2, "source": "L['x']"}} */
static void
take_source (Log *log, const JsonItem *record, const JsonItem *metadata)
{
  const char *source = json_get_text (metadata, "source");
  RegionKey key = region_of (log, record, FALSE);

  if (source != NULL && key.frame >= 0)
    regions_add_source (log->regions, &key, source);
}

/* ["!0: Cache miss due to …", …]: all of a graph, also those of its earlier captures. */
static void
take_reasons (Log *log, const JsonItem *record, const char *payload)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const JsonItem *list = json_parse (arena, "JSON", payload, strlen (payload), NULL);
  RegionKey key = region_of (log, record, FALSE);

  if (key.compiled_autograd < 0 || list == NULL || list->kind != JSON_ARRAY)
    return;
  for (guint i = 0; i < list->n; i++)
    if (list->items[i].kind == JSON_STRING)
      regions_add_reason (log->regions, &key, list->items[i].text);
}

/* {"artifact": {"name": "aot_forward_graph_fw_metadata", …}} with the repr() as payload. */
static void
take_artifact (Log *log, const JsonItem *record, const JsonItem *artifact, const char *payload)
{
  const char *name = json_get_text (artifact, "name");
  RegionKey key;

  if (name != NULL && g_str_equal (name, "compiled_autograd_compile_reasons"))
    take_reasons (log, record, payload);
  if (name == NULL || !g_str_has_suffix (name, "fw_metadata"))
    return;
  key = region_of (log, record, FALSE);
  if (key.frame >= 0)
    regions_set_metadata (log->regions, &key, payload);
}

/* A payload of one module, or of several behind each other. */
static gboolean
add_modules (
    Log *log, const RegionKey *key, const char *role, const char *text, guint line, GError **error)
{
  const char *at = log_next_module (text);
  const char *next = at != NULL ? log_next_module (at + strcspn (at, "\n")) : NULL;

  if (next == NULL)
    return regions_add_graph (log->regions, key, role, text, log->name, line, error);
  for (const char *counted = text; at != NULL; at = next)
    {
      g_autofree char *part = NULL;
      g_autofree char *label = log_module_label (at);

      next = log_next_module (at + strcspn (at, "\n"));
      part = next != NULL ? g_strndup (at, (gsize) (next - at)) : g_strdup (at);
      for (; counted < at; counted++)
        line += *counted == '\n';
      if (!regions_add_graph (log->regions, key, label != NULL ? label : role, part, log->name,
                              line, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
take_graph (Log *log,
            const JsonItem *record,
            const char *role,
            const char *payload,
            guint line,
            GError **error)
{
  RegionKey key = region_of (log, record, g_str_has_prefix (role, "compiled_autograd"));
  const char *md5 = json_get_text (record, "has_payload");
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_MD5, payload, -1);
  g_autofree char *valid = NULL;

  if (md5 != NULL && g_ascii_strcasecmp (md5, sum) != 0)
    regions_warn (log->regions, log->name, line, role, "the text was changed after it was logged");
  if (!g_utf8_validate (payload, -1, NULL))
    {
      valid = g_utf8_make_valid (payload, -1);
      regions_warn (log->regions, log->name, line, role, "bytes that are no UTF-8 were replaced");
    }
  return add_modules (log, &key, role, valid != NULL ? valid : payload, line + 1, error);
}

static void
warn_malformed (Log *log, guint line, const GError *reason)
{
  if (log->n_malformed++ < MAX_WARNINGS)
    regions_warn (log->regions, log->name, line, "this record is passed over", reason->message);
}

static const JsonItem *
parse_record (AdjArena *arena, const char *json, gsize length, GError **error)
{
  JsonReader reader;
  const JsonItem *record;

  if (!json_reader_init (&reader, "JSON", json, length, error))
    return NULL;
  reader.python = TRUE;
  record = json_read (&reader, arena, error);
  return record != NULL && json_finish (&reader, error) ? record : NULL;
}

static void
take_torch_version (Log *log, const char *name, const char *payload)
{
  g_autofree char *version = log_fact_torch_version (name, payload);

  if (version != NULL)
    regions_set_torch_version (log->regions, version);
}

/* The payload as a graph, if it is one, else as something that is said beside them. */
static gboolean
take_payload_of (Log *log, const JsonItem *record, const char *payload, guint line, GError **error)
{
  const char *name = log_fact_name (record);
  g_autofree char *role = log_role (record, payload);
  RegionKey key;

  if (name != NULL)
    take_torch_version (log, name, payload);
  if (role != NULL)
    return take_graph (log, record, role, payload, line, error);
  if (name != NULL)
    {
      g_autofree char *text = log_fact_text (record, payload);

      key = region_of (log, record, FALSE);
      regions_add_fact (log->regions, &key, name, text, log->name, line);
    }
  return TRUE;
}

/* Whether a record ends with the file before all of it is there. */
static gboolean
is_unfinished (const Lines *lines, const JsonItem *record, const char *payload)
{
  const char *md5 = record != NULL ? json_get_text (record, "has_payload") : NULL;
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_MD5, payload, -1);

  if (lines->at < lines->end)
    return FALSE;
  return record == NULL || lines->end[-1] != '\n' ||
         (md5 != NULL && g_ascii_strcasecmp (md5, sum) != 0);
}

static gboolean
take_record (Log *log, const char *json, gsize length, Lines *lines, GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  guint line = lines->number;
  g_autoptr (GError) reason = NULL;
  g_autofree char *valid =
      g_utf8_validate_len (json, length, NULL) ? NULL : g_utf8_make_valid (json, (gssize) length);
  const JsonItem *record = parse_record (arena, valid != NULL ? valid : json,
                                         valid != NULL ? strlen (valid) : length, &reason);
  g_autofree char *payload = take_payload (lines);
  const JsonItem *item;

  if (log->growing && is_unfinished (lines, record, payload))
    return TRUE;
  if (record == NULL)
    {
      warn_malformed (log, line, reason);
      return TRUE;
    }
  if ((item = json_get (record, "str")) != NULL)
    take_string (log, item);
  if (json_get (record, "dynamo_start") != NULL)
    start_frame (log, record);
  if ((item = json_get (record, "create_symbol")) != NULL)
    take_symbol (log, record, item);
  if ((item = json_get (record, "describe_source")) != NULL)
    take_source (log, record, item);
  if ((item = json_get (record, "artifact")) != NULL)
    take_artifact (log, record, item, payload);
  return take_payload_of (log, record, payload, line, error);
}

static gboolean
check_limits (Log *log, const Lines *lines, gsize length, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (log->cancellable, error))
    return FALSE;
  if (length <= MAX_LINE_BYTES && log->n_records <= MAX_RECORDS)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s:%u:1: %s", log->name, lines->number,
               length > MAX_LINE_BYTES ? "a line of more than 256 MiB"
                                       : "more than 10 million records");
  return FALSE;
}

/* Says how much of the file was passed over. */
static void
report_skipped (Log *log)
{
  g_autofree char *foreign = g_strdup_printf ("%u lines are no records", log->n_foreign);
  g_autofree char *malformed = g_strdup_printf ("%u records could not be read", log->n_malformed);

  if (log->n_foreign > 0)
    regions_warn (log->regions, log->name, log->foreign_line, "passed over", foreign);
  if (log->n_malformed > MAX_WARNINGS)
    regions_warn (log->regions, log->name, 0, "passed over", malformed);
}

static gboolean
read_log (Log *log, GBytes *bytes, GError **error)
{
  gsize size, length;
  const char *text = text_of_bytes (bytes, &size);
  Lines lines = { text, text + size, 0 };
  const char *line, *json;

  log->process = -1;
  log->n_compiled_autograd = log->n_malformed = log->n_foreign = 0;
  g_clear_pointer (&log->table, g_hash_table_unref);
  while (next_line (&lines, &line, &length))
    {
      if (!check_limits (log, &lines, length, error))
        return FALSE;
      json = find_json (line, length);
      log->n_records += json != NULL;
      if (json != NULL && !take_record (log, json, length - (gsize) (json - line), &lines, error))
        return FALSE;
      if (json == NULL && log->growing && lines.at >= lines.end)
        break;
      if (json == NULL && length > 0 && log->n_foreign++ == 0)
        log->foreign_line = lines.number;
    }
  report_skipped (log);
  return TRUE;
}

/* @alone: it was asked for; what cannot be read beside others is passed over. */
static gboolean
read_file (Log *log, const char *path, gboolean alone, GError **error)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autoptr (GError) reason = NULL;
  g_autoptr (GBytes) bytes = log_file_read (path, log->cancellable, &reason);

  log->name = name;
  log->rank = log_file_rank (name);
  if (bytes != NULL)
    return read_log (log, bytes, error);
  if (alone || g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  regions_warn (log->regions, name, 0, "passed over", reason->message + strlen (path) + 2);
  return TRUE;
}

static gboolean
read_all (Log *log, const char *path, GError **error)
{
  g_autoptr (GPtrArray) files = log_files_of (path, error);

  if (files == NULL)
    return FALSE;
  if (files->len > 1)
    regions_name_files (log->regions);
  for (guint i = 0; i < files->len; i++)
    if (!read_file (log, files->pdata[i], files->len == 1, error))
      return FALSE;
  return TRUE;
}

static AdjBundle *
load_log (const char *path, gboolean growing, GCancellable *cancellable, GError **error)
{
  g_autoptr (Regions) regions = regions_new ();
  g_auto (Log) log = { .regions = regions, .cancellable = cancellable, .growing = growing };

  if (!read_all (&log, path, error))
    return NULL;
  return regions_end (regions, path, DESCRIPTION, error);
}

static AdjBundle *
load (const char *path, GCancellable *cancellable, GError **error)
{
  return load_log (path, FALSE, cancellable, error);
}

static AdjBundle *
load_growing (const char *path, GCancellable *cancellable, GError **error)
{
  return load_log (path, TRUE, cancellable, error);
}

static AdjBundle *
load_bytes (GBytes *bytes, const char *title, GCancellable *cancellable, GError **error)
{
  g_autoptr (Regions) regions = regions_new ();
  g_autofree char *name = g_path_get_basename (title);
  g_auto (Log) log = { .regions = regions, .cancellable = cancellable, .name = name };

  log.rank = log_file_rank (name);
  if (!read_log (&log, bytes, error))
    return NULL;
  return regions_end (regions, title, DESCRIPTION, error);
}

static guint
sniff (const guint8 *head, gsize length, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *text = g_strndup ((const char *) head, length);

  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      g_autoptr (GPtrArray) files = log_files_of (path, NULL);

      return files != NULL && files->len > 0 ? 90 : 0;
    }
  if (log_file_has_name (name))
    return 90;
  if (g_str_has_suffix (name, ".log.gz"))
    return 60;
  return log_lines_have_record (text) ? 80 : 0;
}

const AdjFormat adj_format_torch_trace = {
  .name = "torch-trace",
  .summary = "TORCH_TRACE log, or a folder of them with one file per rank",
  .extensions = ".log .log.gz",
  .sniff = sniff,
  .load = load,
  .load_growing = load_growing,
  .load_bytes = load_bytes,
};
