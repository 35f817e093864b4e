/* SPDX-License-Identifier: MIT */
/* Which files a log consists of, what their names say, and what stands in one. */

#include <gio/gio.h>
#include <string.h>

#include "base/adj-file-internal.h"
#include "formats/log-envelopes-private.h"
#include "formats/log-files-private.h"
#include "formats/log-lines-private.h"
#include "formats/text-formats-private.h"

#define FILE_PREFIX "dedicated_log_torch_trace_"
#define MAX_LOG_BYTES (G_GUINT64_CONSTANT (4) << 30)
#define MAX_FOLDERS 8      /* nesting of folders */
#define MAX_FILES 10000    /* files that are visited */
#define MAX_LOOKED_AT 2000 /* files without PyTorch's names that are looked into */
#define HEAD_BYTES 65536

gboolean
log_file_has_name (const char *name)
{
  return g_str_has_prefix (name, FILE_PREFIX);
}

static gint
number_at (const char *at)
{
  return (gint) CLAMP (g_ascii_strtoll (at, NULL, 10), 0, 1 << 20);
}

/* "…/attempt_0/3/stderr.log" → 3, as torchrun has them. */
static gint
rank_of_folder (const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, G_DIR_SEPARATOR_S, -1);
  guint n = g_strv_length (parts);

  if (n < 3 || !g_str_has_prefix (parts[n - 3], "attempt_") || *parts[n - 2] == '\0' ||
      parts[n - 2][strspn (parts[n - 2], "0123456789")] != '\0')
    return -1;
  return number_at (parts[n - 2]);
}

/* "…_rank_3_abcdefgh.log" → 3 */
gint
log_file_rank (const char *path)
{
  const char *at = strstr (path, FILE_PREFIX "rank_");

  return at != NULL ? number_at (at + strlen (FILE_PREFIX "rank_")) : rank_of_folder (path);
}

/* -- folders -- */

typedef struct
{
  LogFileFunc visit;
  gpointer data;
  guint n;
} Visit;

static void
visit_folder (Visit *visit, const char *path, guint depth)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  const char *name;

  while (folder != NULL && visit->n < MAX_FILES && (name = g_dir_read_name (folder)) != NULL)
    {
      g_autofree char *entry = g_build_filename (path, name, NULL);

      visit->n++;
      if (!g_file_test (entry, G_FILE_TEST_IS_DIR))
        visit->visit (entry, visit->data);
      else if (depth < MAX_FOLDERS && !g_file_test (entry, G_FILE_TEST_IS_SYMLINK))
        visit_folder (visit, entry, depth + 1);
    }
}

void
log_files_visit (const char *path, LogFileFunc visit, gpointer data)
{
  Visit all = { .visit = visit, .data = data };

  visit_folder (&all, path, 0);
}

typedef struct
{
  GPtrArray *files;
  gboolean (*is_one) (const char *text); /* (nullable): %NULL: files are chosen by name */
  guint n_looked_at;
} Choice;

/* (transfer full) (nullable): the beginning of a file, where it is text; of the first
 * MAX_LOOKED_AT of a folder. */
static char *
read_beginning (const char *path, guint *n_looked_at)
{
  g_autofree guint8 *head = NULL;
  gssize n;

  if ((*n_looked_at)++ >= MAX_LOOKED_AT)
    return NULL;
  head = g_malloc (HEAD_BYTES);
  n = adj_file_read_head (path, head, HEAD_BYTES, NULL);
  return n > 0 && memchr (head, '\0', (gsize) n) == NULL ? log_envelopes_open_head (head, (gsize) n)
                                                         : NULL;
}

/* Whether the beginning of the file is that of a log. */
static gboolean
begins_log (Choice *choice, const char *path)
{
  g_autofree char *text = read_beginning (path, &choice->n_looked_at);

  return text != NULL && choice->is_one (text);
}

static void
choose (const char *path, gpointer data)
{
  Choice *choice = data;
  g_autofree char *name = g_path_get_basename (path);

  if (choice->is_one == NULL ? log_file_has_name (name) : begins_log (choice, path))
    g_ptr_array_add (choice->files, g_strdup (path));
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static void
choose_all (Choice *choice, const char *path)
{
  log_files_visit (path, choose, choice);
  g_ptr_array_sort (choice->files, by_name);
}

GPtrArray *
log_files_of (const char *path,
              gboolean named,
              gboolean (*is_one) (const char *text),
              GError **error)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) folder = NULL;
  Choice choice = { .files = files };

  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      g_ptr_array_add (files, g_strdup (path));
      return g_steal_pointer (&files);
    }
  folder = g_dir_open (path, 0, error);
  if (folder == NULL)
    return NULL;
  if (named)
    choose_all (&choice, path);
  choice.is_one = is_one;
  if (files->len == 0)
    choose_all (&choice, path);
  return g_steal_pointer (&files);
}

typedef struct
{
  LogFolder holds;
  guint n_looked_at;
} Judgement;

static void
judge_name (const char *path, gpointer data)
{
  Judgement *all = data;
  g_autofree char *name = g_path_get_basename (path);

  if (log_file_has_name (name))
    all->holds = LOG_FOLDER_TRACES;
}

static void
judge_beginning (const char *path, gpointer data)
{
  Judgement *all = data;
  g_autofree char *text =
      all->holds != LOG_FOLDER_TRACES ? read_beginning (path, &all->n_looked_at) : NULL;

  if (text != NULL && log_lines_have_record (text))
    all->holds = LOG_FOLDER_TRACES;
  else if (text != NULL && log_lines_have_message (text))
    all->holds = LOG_FOLDER_CONSOLES;
}

LogFolder
log_folder_look (const char *path)
{
  Judgement all = { LOG_FOLDER_NOTHING, 0 };

  log_files_visit (path, judge_name, &all);
  if (all.holds == LOG_FOLDER_NOTHING)
    log_files_visit (path, judge_beginning, &all);
  return all.holds;
}

const char *
log_file_name_in (const char *root, const char *path)
{
  gsize n = strlen (root);

  if (g_str_has_prefix (path, root) && path[n] != '\0')
    return path + n + strspn (path + n, G_DIR_SEPARATOR_S);
  root = strrchr (path, G_DIR_SEPARATOR);
  return root != NULL ? root + 1 : path;
}

/* -- one file -- */

static gboolean
is_wrapped (const char *path)
{
  g_autofree guint8 *head = g_malloc (HEAD_BYTES);
  gssize n = adj_file_read_head (path, head, HEAD_BYTES, NULL);

  return n > 0 && log_envelopes_are (head, (gsize) n);
}

/* Packed or wrapped logs are unpacked as a whole, then cut at @from. */
static GBytes *
read_packed (
    const char *path, gboolean is_gzip, guint64 from, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes =
      is_gzip ? gzip_read (path, cancellable, error)
              : adj_file_read (path, ADJ_FILE_MAY_GROW, MAX_LOG_BYTES, cancellable, error);
  g_autoptr (GBytes) all = bytes != NULL ? log_envelopes_open (bytes) : NULL;
  gsize start = all != NULL ? MIN (from, g_bytes_get_size (all)) : 0;

  return all != NULL ? g_bytes_new_from_bytes (all, start, g_bytes_get_size (all) - start) : NULL;
}

GBytes *
log_file_read (const char *path, guint64 from, GCancellable *cancellable, GError **error)
{
  gboolean is_gzip = gzip_is (path);

  return is_gzip || is_wrapped (path) ? read_packed (path, is_gzip, from, cancellable, error)
                                      : adj_file_read_from (path, from, ADJ_FILE_MAY_GROW,
                                                            MAX_LOG_BYTES, cancellable, error);
}
