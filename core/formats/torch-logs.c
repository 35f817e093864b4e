/* SPDX-License-Identifier: MIT */
/* What TORCH_LOGS=graph_code,aot_graphs,… writes to a console, saved or pasted (formats/SPEC.md
 * §3).
 *
 * Every line of a message carries "I1120 10:34:57.280000 27000 path:404] [0/0] [__aot_graphs] ";
 * a message with a graph begins with a heading such as " ===== Joint graph 0 =====", then comes
 * the text of the module, or a line for each node below "graph():".  The program's own output may
 * stand between the lines.
 *
 * A console that grows is read on from where it was read to.  Nothing says where a message ends but
 * the next one: a graph that returns is shown, and when more of it comes all is read anew. */

#include <gio/gio.h>
#include <string.h>

#include "formats/console-message-private.h"
#include "formats/console-prefix-private.h"
#include "formats/log-envelopes-private.h"
#include "formats/log-files-private.h"
#include "formats/log-lines-private.h"
#include "formats/log-tail-private.h"
#include "formats/text-formats-private.h"

#define DESCRIPTION "TORCH_LOGS console: graphs as text, without recorded values"
#define MAX_BYTES (256 << 20)

/* A file, up to where it has been read. */
typedef struct
{
  char *path, *name;
  gint rank; /* that the name of the file says; -1 */
  LogTail tail;
  GHashTable *messages; /* (owned) rank → ConsoleMessage */
} ConsoleFile;

typedef struct
{
  Regions *regions;
  gboolean growing;
  GHashTable *files;     /* (owned) path → ConsoleFile, which owns it */
  GHashTable *processes; /* rank → how many there were of it, of all files */
} Console;

static void
file_free (gpointer data)
{
  ConsoleFile *file = data;

  g_hash_table_unref (file->messages);
  g_free (file->path);
  g_free (file->name);
  g_free (file);
}

static Console *
console_new (gboolean growing)
{
  Console *console = g_new0 (Console, 1);

  console->regions = regions_new ();
  console->growing = growing;
  console->files = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, file_free);
  console->processes = g_hash_table_new (NULL, NULL);
  return console;
}

static void
console_free (gpointer data)
{
  Console *console = data;

  g_hash_table_unref (console->files);
  regions_free (console->regions);
  g_hash_table_unref (console->processes);
  g_free (console);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Console, console_free)

static ConsoleFile *
find_file (Console *console, const char *path, const char *name)
{
  ConsoleFile *file = g_hash_table_lookup (console->files, path);

  if (file != NULL)
    return file;
  file = g_new0 (ConsoleFile, 1);
  file->path = g_strdup (path);
  file->name = g_strdup (name);
  file->rank = log_file_rank (path);
  file->messages = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) console_message_free);
  g_hash_table_insert (console->files, file->path, file);
  return file;
}

static ConsoleMessage *
message_of (Console *console, ConsoleFile *file, gint rank)
{
  ConsoleMessage *message = g_hash_table_lookup (file->messages, GINT_TO_POINTER (rank));

  if (message == NULL)
    {
      message = console_message_new (console->regions, file->name, rank, console->processes);
      g_hash_table_insert (file->messages, GINT_TO_POINTER (rank), message);
    }
  return message;
}

/* What the program printed ends before the next message. */
static gboolean
take_line (Console *console, ConsoleFile *file, const char *line, guint number, GError **error)
{
  ConsoleMessage *own = message_of (console, file, CONSOLE_OWN_OUTPUT), *message = own;
  RegionKey key;
  const char *content = console_prefix_skip (line, &key);

  if (content != NULL)
    {
      if (key.rank < 0)
        key.rank = file->rank;
      message = message_of (console, file, key.rank);
    }
  if (console_message_goes_on (message, content != NULL ? content : line))
    return log_tail_fail_changed (file->path, error);
  if (content == NULL)
    return console_message_take_own (own, line, number, error);
  return (console_message_get_line (own) == 0 || console_message_finish (own, error)) &&
         console_message_take (message, content, &key, number, error);
}

static gint
by_line (gconstpointer a, gconstpointer b)
{
  guint x = console_message_get_line (a), y = console_message_get_line (b);

  return x < y ? -1 : x > y;
}

static gboolean
finish_all (const Console *console, const ConsoleFile *file, GError **error)
{
  g_autoptr (GList) messages = g_list_sort (g_hash_table_get_values (file->messages), by_line);

  for (const GList *at = messages; at != NULL; at = at->next)
    if (!(console->growing ? console_message_show (at->data, error)
                           : console_message_finish (at->data, error)))
      return FALSE;
  return TRUE;
}

static gboolean
read_lines (
    Console *console, ConsoleFile *file, char *text, GCancellable *cancellable, GError **error)
{
  char *next;

  for (char *line = text; *line != '\0'; line = next)
    {
      next = line + strcspn (line, "\n");
      if (*next != '\0')
        *next++ = '\0';
      line[strcspn (line, "\r")] = '\0';
      if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
          !take_line (console, file, line, ++file->tail.n_lines, error))
        return FALSE;
    }
  return finish_all (console, file, error);
}

static gboolean
check_size (const ConsoleFile *file, gsize length, GError **error)
{
  guint64 size = file->tail.offset + length;

  if (size <= MAX_BYTES)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
               "%s: %" G_GUINT64_FORMAT " bytes of a console, more than %d", file->path, size,
               MAX_BYTES);
  return FALSE;
}

/* @bytes: what stands behind what has been read of @file */
static gboolean
read_on (
    Console *console, ConsoleFile *file, GBytes *bytes, GCancellable *cancellable, GError **error)
{
  g_autofree char *valid = NULL;
  gsize length;
  const char *raw = text_of_bytes (bytes, &length);

  if (!check_size (file, length, error))
    return FALSE;
  if (console->growing)
    length = (gsize) (log_tail_find_end (raw, raw + length) - raw);
  valid = g_utf8_make_valid (raw, (gssize) length);
  log_tail_pass (&file->tail, raw, length);
  return read_lines (console, file, valid, cancellable, error);
}

static AdjBundle *
load_bytes (GBytes *bytes, const char *title, GCancellable *cancellable, GError **error)
{
  g_autoptr (Console) console = console_new (FALSE);
  g_autoptr (GBytes) open = log_envelopes_open (bytes);
  g_autofree char *name = g_path_get_basename (title);

  return read_on (console, find_file (console, title, name), open, cancellable, error)
             ? regions_make_bundle (console->regions, title, DESCRIPTION, error)
             : NULL;
}

/* @root: the folder that is read, or the file itself */
static gboolean
read_file (
    Console *console, const char *root, const char *path, GCancellable *cancellable, GError **error)
{
  ConsoleFile *file = find_file (console, path, log_file_name_in (root, path));
  g_autoptr (GBytes) bytes = log_tail_read (&file->tail, path, cancellable, error);

  return bytes != NULL && read_on (console, file, bytes, cancellable, error);
}

static gboolean
read_all (Console *console, const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GPtrArray) files = log_files_of (path, FALSE, log_lines_have_message, error);

  if (files == NULL)
    return FALSE;
  if (files->len > 1)
    regions_name_files (console->regions);
  for (guint i = 0; i < files->len; i++)
    if (!read_file (console, path, files->pdata[i], cancellable, error))
      return FALSE;
  /* A file that has been read is not one of them any more. */
  return g_hash_table_size (console->files) == files->len || log_tail_fail_changed (path, error);
}

static AdjBundle *
load (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (Console) console = console_new (FALSE);

  return read_all (console, path, cancellable, error)
             ? regions_make_bundle (console->regions, path, DESCRIPTION, error)
             : NULL;
}

static AdjBundle *
load_growing (const char *path, gpointer *growth, GCancellable *cancellable, GError **error)
{
  Console *console = *growth != NULL ? *growth : console_new (TRUE);

  *growth = console;
  if (read_all (console, path, cancellable, error))
    return regions_make_bundle (console->regions, path, DESCRIPTION, error);
  g_clear_pointer (growth, console_free);
  return NULL;
}

static guint
sniff (const guint8 *head, gsize length, const char *path)
{
  g_autofree char *text = log_envelopes_open_head (head, length);

  return log_lines_have_message (text) ? 85 : 0;
}

const AdjFormat adj_format_torch_logs = {
  .name = "torch-logs",
  .summary = "console output of TORCH_LOGS, saved or pasted, or a folder with one for each process",
  .extensions = ".txt .log",
  .sniff = sniff,
  .load = load,
  .load_growing = load_growing,
  .growth_free = console_free,
  .load_bytes = load_bytes,
};
