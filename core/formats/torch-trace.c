/* SPDX-License-Identifier: MIT */
/* TORCH_TRACE logs (formats/SPEC.md §2): one file per process, or a folder of them.
 *
 * A record is a line "prefix {json}", followed by its payload in lines that begin with a tab.  A
 * payload that is the text of a graph is a stage, under the name that the log gives it; what else
 * is said is kept beside the graphs (log-facts.c).  Logs are edited by hand and cut off, so nothing
 * but a file without any graph is refused: what cannot be read is said in the bundle's diagnostics.
 *
 * A log that grows is read on from where it was read to; once what was read is not in the file any
 * more, it is read anew.
 */

#include <gio/gio.h>
#include <string.h>

#include "base/adj-arena.h"
#include "formats/json-private.h"
#include "formats/log-envelopes-private.h"
#include "formats/log-files-private.h"
#include "formats/log-lines-private.h"
#include "formats/log-records-private.h"
#include "formats/log-tail-private.h"
#include "formats/text-formats-private.h"

#define DESCRIPTION "TORCH_TRACE log: graphs as text, without recorded values"
#define MAX_LINE_BYTES ((gsize) 256 << 20)
#define MAX_RECORDS 10000000
#define MAX_WARNINGS 20 /* of one kind in a file */

/* A file, up to where it has been read. */
typedef struct
{
  LogScope scope;
  char *path, *name;
  LogTail tail;
  guint n_malformed, n_foreign; /* lines that are passed over */
  guint foreign_line;           /* the first of them */
} LogFile;

typedef struct
{
  LogRecords records;
  GCancellable *cancellable;
  gboolean growing;  /* a record at the end that is not complete will be */
  GHashTable *files; /* (owned): path → LogFile, which owns it */
  guint n_records;
} Log;

static void
file_free (gpointer data)
{
  LogFile *file = data;

  log_scope_clear (&file->scope);
  g_free (file->path);
  g_free (file->name);
  g_free (file);
}

static Log *
log_new (gboolean growing)
{
  Log *log = g_new0 (Log, 1);

  log->records.regions = regions_new ();
  log->growing = growing;
  log->files = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, file_free);
  return log;
}

static void
log_free (gpointer data)
{
  Log *log = data;

  g_hash_table_unref (log->files);
  regions_free (log->records.regions);
  log_records_clear (&log->records);
  g_free (log);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Log, log_free)

/* @root: the folder that is read, or the file itself */
static LogFile *
find_file (Log *log, const char *root, const char *path)
{
  LogFile *file = g_hash_table_lookup (log->files, path);

  if (file != NULL)
    return file;
  file = g_new0 (LogFile, 1);
  file->path = g_strdup (path);
  file->name = g_strdup (log_file_name_in (root, path));
  file->scope = (LogScope){ .log = &log->records, .name = file->name };
  file->scope.rank = log_file_rank (path);
  log_scope_start (&file->scope);
  g_hash_table_insert (log->files, file->path, file);
  return file;
}

/* -- lines -- */

/* One line without its end, and where the next begins. */
typedef struct
{
  const char *at, *end;
  guint number;
  const char *stamp; /* what a collector put before the last record */
  gsize n_stamp;
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

/* The text behind the tabulator of a line of payload; %NULL: it is none.  Where a collector put its
 * stamp before each line, it is that of the record, but for its numbers. */
static const char *
skip_to_payload (const Lines *lines, const char *line)
{
  const char *stamp = lines->stamp, *end = lines->stamp + lines->n_stamp;

  if (line < lines->end && *line == '\t')
    return line + 1;
  while (stamp < end && line < lines->end)
    if (g_ascii_isdigit (*stamp) && g_ascii_isdigit (*line))
      {
        while (stamp < end && g_ascii_isdigit (*stamp))
          stamp++;
        while (line < lines->end && g_ascii_isdigit (*line))
          line++;
      }
    else if (*stamp++ != *line++)
      return NULL;
  return stamp == end && line < lines->end && *line == '\t' ? line + 1 : NULL;
}

/* What follows, behind empty lines that somebody may have put there. */
static const char *
skip_empty (const Lines *lines)
{
  const char *at = lines->at;

  while (at < lines->end && (*at == '\n' || *at == '\r'))
    at++;
  return at;
}

static gboolean
comes_payload (const Lines *lines)
{
  return skip_to_payload (lines, skip_empty (lines)) != NULL;
}

static char *
take_payload (Lines *lines)
{
  GString *payload = g_string_new (NULL);
  const char *line, *text;
  gsize length;
  gboolean first = TRUE;

  while (comes_payload (lines) && next_line (lines, &line, &length))
    {
      if (length == 0)
        continue;
      text = skip_to_payload (lines, line);
      if (!first)
        g_string_append_c (payload, '\n');
      g_string_append_len (payload, text, (gssize) length - (text - line));
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

/* The stamp before the record in @line, whose JSON is at @json. */
static void
find_stamp (Lines *lines, const char *line, const char *json)
{
  lines->stamp = line;
  lines->n_stamp = 0;
  for (const char *at = line; at < json; at++)
    if (log_line_has_shape (at, "V0000 00:00:00.000000 "))
      {
        lines->n_stamp = (gsize) (at - line);
        return;
      }
}

/* -- records -- */

static void
warn_malformed (LogFile *file, guint line, const GError *reason)
{
  if (file->n_malformed++ < MAX_WARNINGS)
    regions_warn (file->scope.log->regions, file->name, line, "this record is passed over",
                  reason->message);
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

/* Whether a record ends with the lines before all of its payload is there. */
static gboolean
is_unfinished (const Lines *lines, const JsonItem *record, const char *payload)
{
  const char *md5 = record != NULL ? json_get_text (record, "has_payload") : NULL;
  g_autofree char *sum = NULL;

  if (skip_empty (lines) < lines->end || md5 == NULL)
    return FALSE;
  sum = g_compute_checksum_for_string (G_CHECKSUM_MD5, payload, -1);
  return g_ascii_strcasecmp (md5, sum) != 0;
}

/* @finished: whether all of it was there */
static gboolean
take_record (Log *log,
             LogFile *file,
             const char *json,
             gsize length,
             Lines *lines,
             gboolean *finished,
             GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  guint line = lines->number;
  g_autoptr (GError) reason = NULL;
  g_autofree char *valid =
      g_utf8_validate_len (json, length, NULL) ? NULL : g_utf8_make_valid (json, (gssize) length);
  const JsonItem *record = parse_record (arena, valid != NULL ? valid : json,
                                         valid != NULL ? strlen (valid) : length, &reason);
  g_autofree char *payload = take_payload (lines);

  *finished = !log->growing || !is_unfinished (lines, record, payload);
  if (!*finished)
    return TRUE;
  if (record != NULL)
    return log_take_record (&file->scope, record, payload, line, error);
  warn_malformed (file, line, reason);
  return TRUE;
}

static gboolean
check_limits (Log *log, const LogFile *file, const Lines *lines, gsize length, GError **error)
{
  if (g_cancellable_set_error_if_cancelled (log->cancellable, error))
    return FALSE;
  if (length <= MAX_LINE_BYTES && log->n_records <= MAX_RECORDS)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s:%u:1: %s", file->name, lines->number,
               length > MAX_LINE_BYTES ? "a line of more than 256 MiB"
                                       : "more than 10 million records");
  return FALSE;
}

/* Says how much of the file was passed over, if anything was. */
static void
report_skipped (const LogFile *file)
{
  g_autoptr (GString) why = g_string_new (NULL);

  if (file->n_foreign > 0)
    g_string_append_printf (why, "%u lines are no records", file->n_foreign);
  if (file->n_malformed > MAX_WARNINGS)
    g_string_append_printf (why, "%s%u records could not be read", why->len > 0 ? ", " : "",
                            file->n_malformed);
  regions_set_skipped (file->scope.log->regions, file->name, file->foreign_line, why->str);
}

/* Takes the lines from @lines on; @end: behind the last that was taken. */
static gboolean
take_lines (Log *log, LogFile *file, Lines *lines, const char **end, GError **error)
{
  const char *line, *json;
  gsize length;

  for (*end = lines->at; next_line (lines, &line, &length); *end = lines->at)
    {
      gboolean finished = TRUE;

      file->tail.n_lines = lines->number - 1;
      if (!check_limits (log, file, lines, length, error))
        return FALSE;
      json = find_json (line, length);
      log->n_records += json != NULL;
      if (json != NULL)
        {
          find_stamp (lines, line, json);
          if (!take_record (log, file, json, length - (gsize) (json - line), lines, &finished,
                            error))
            return FALSE;
        }
      if (!finished)
        return TRUE;
      if (json == NULL && length > 0 && file->n_foreign++ == 0)
        file->foreign_line = lines->number;
    }
  file->tail.n_lines = lines->number;
  return TRUE;
}

/* @bytes: what stands behind what has been read of @file; of what grows only whole lines */
static gboolean
read_log (Log *log, LogFile *file, GBytes *bytes, GError **error)
{
  gsize size;
  const char *text = text_of_bytes (bytes, &size), *end = text + size;
  Lines lines = { .at = text,
                  .end = log->growing ? log_tail_find_end (text, end) : end,
                  .number = file->tail.n_lines };

  if (!take_lines (log, file, &lines, &end, error))
    return FALSE;
  log_tail_pass (&file->tail, text, (gsize) (end - text));
  report_skipped (file);
  return TRUE;
}

/* -- files -- */

/* @alone: it was asked for; what cannot be read beside others is passed over. */
static gboolean
read_file (Log *log, const char *root, const char *path, gboolean alone, GError **error)
{
  LogFile *file = find_file (log, root, path);
  g_autoptr (GError) reason = NULL;
  g_autoptr (GBytes) bytes = log_tail_read (&file->tail, path, log->cancellable, &reason);

  if (bytes != NULL)
    return read_log (log, file, bytes, error);
  if (alone || g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED) ||
      (file->tail.offset > 0 && g_error_matches (reason, ADJ_ERROR, ADJ_ERROR_STALE)))
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  regions_set_skipped (log->records.regions, file->name, 0, reason->message + strlen (path) + 2);
  return TRUE;
}

static gboolean
read_all (Log *log, const char *path, GError **error)
{
  g_autoptr (GPtrArray) files = log_files_of (path, TRUE, log_lines_have_record, error);

  if (files == NULL)
    return FALSE;
  if (files->len > 1)
    regions_name_files (log->records.regions);
  for (guint i = 0; i < files->len; i++)
    if (!read_file (log, path, files->pdata[i], files->len == 1, error))
      return FALSE;
  /* A file that has been read is not one of them any more. */
  return g_hash_table_size (log->files) == files->len || log_tail_fail_changed (path, error);
}

static AdjBundle *
load (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (Log) log = log_new (FALSE);

  log->cancellable = cancellable;
  return read_all (log, path, error)
             ? regions_make_bundle (log->records.regions, path, DESCRIPTION, error)
             : NULL;
}

static AdjBundle *
load_growing (const char *path, gpointer *growth, GCancellable *cancellable, GError **error)
{
  Log *log = *growth != NULL ? *growth : log_new (TRUE);

  *growth = log;
  log->cancellable = cancellable;
  if (read_all (log, path, error))
    return regions_make_bundle (log->records.regions, path, DESCRIPTION, error);
  g_clear_pointer (growth, log_free);
  return NULL;
}

static AdjBundle *
load_bytes (GBytes *bytes, const char *title, GCancellable *cancellable, GError **error)
{
  g_autoptr (Log) log = log_new (FALSE);
  g_autoptr (GBytes) open = log_envelopes_open (bytes);

  log->cancellable = cancellable;
  return read_log (log, find_file (log, title, title), open, error)
             ? regions_make_bundle (log->records.regions, title, DESCRIPTION, error)
             : NULL;
}

static guint
sniff (const guint8 *head, gsize length, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *text = log_envelopes_open_head (head, length);

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
  .growth_free = log_free,
  .load_bytes = load_bytes,
};
