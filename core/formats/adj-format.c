/* SPDX-License-Identifier: MIT */
/* The table of formats: found by name, by extension or by content, and loading with the one that
 * fits. */

#include "formats/adj-format.h"

#include <gio/gio.h>
#include <string.h>

#include "base/adj-error-internal.h"
#include "base/adj-file-internal.h"
#include "base/adj-names-internal.h"
#include "formats/adjoint-private.h"
#include "formats/log-files-private.h"
#include "formats/text-formats-private.h"
#include "formats/unread-private.h"

#define HEAD_BYTES 4096
#define TEXT_HEAD_BYTES (1 << 20)

#define FORMAT(name, file) extern const AdjFormat adj_format_##name;
#include "formats/formats.inc"
#undef FORMAT

static const AdjFormat *const formats[] = {
#define FORMAT(name, file) &adj_format_##name,
#include "formats/formats.inc"
#undef FORMAT
};

guint
adj_formats_get_n (void)
{
  return G_N_ELEMENTS (formats);
}

const AdjFormat *
adj_formats_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (formats), NULL);

  return formats[index];
}

static const char *
name_of (guint i)
{
  return formats[i]->name;
}

const AdjFormat *
adj_format_find (const char *name, GError **error)
{
  gint i = adj_names_find ("format", name_of, G_N_ELEMENTS (formats), name, error);

  return i >= 0 ? formats[i] : NULL;
}

/* The format that is surest of the first bytes of a file; %NULL: no format takes them. */
static const AdjFormat *
find_best (const guint8 *head, gsize length, const char *path)
{
  const AdjFormat *best = NULL;
  guint best_score = 0;

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      guint score = formats[i]->sniff != NULL ? formats[i]->sniff (head, length, path) : 0;

      if (score > best_score)
        {
          best = formats[i];
          best_score = score;
        }
    }
  return best;
}

/* Looks further into a text: output of the program may stand before the first log message. */
static const AdjFormat *
find_in_text (const char *path)
{
  g_autofree guint8 *head = g_malloc (TEXT_HEAD_BYTES);
  gssize n = adj_file_read_head (path, head, TEXT_HEAD_BYTES, NULL);

  return n > HEAD_BYTES && memchr (head, '\0', (gsize) n) == NULL
             ? find_best (head, (gsize) n, path)
             : NULL;
}

static const AdjFormat *
find_in_folder (const char *path)
{
  static const AdjFormat *const of_logs[] = {
    [LOG_FOLDER_NOTHING] = NULL,
    [LOG_FOLDER_TRACES] = &adj_format_torch_trace,
    [LOG_FOLDER_CONSOLES] = &adj_format_torch_logs,
  };

  return adj_format_adjoint.sniff (NULL, 0, path) > 0 ? &adj_format_adjoint
                                                      : of_logs[log_folder_look (path)];
}

const AdjFormat *
adj_format_detect (const char *path, GError **error)
{
  guint8 head[HEAD_BYTES];
  gboolean is_folder = g_file_test (path, G_FILE_TEST_IS_DIR);
  gssize n = is_folder ? 0 : adj_file_read_head (path, head, HEAD_BYTES, error);
  const AdjFormat *best;

  if (n < 0)
    return NULL;
  best = is_folder ? find_in_folder (path) : find_best (head, (gsize) n, path);
  if (best == NULL && !is_folder)
    best = find_in_text (path);
  if (best == NULL)
    unread_fail (path, head, (gsize) n, error);
  return best;
}

static gboolean
has_extension (const AdjFormat *format, const char *path)
{
  g_auto (GStrv) extensions = g_strsplit (format->extensions, " ", -1);

  for (guint i = 0; extensions[i] != NULL; i++)
    if (g_str_has_suffix (path, extensions[i]))
      return TRUE;
  return FALSE;
}

const AdjFormat *
adj_format_for_path (const char *path, GError **error)
{
  if (g_file_test (path, G_FILE_TEST_IS_DIR) || g_str_has_suffix (path, G_DIR_SEPARATOR_S))
    return &adj_format_adjoint;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i]->save != NULL && has_extension (formats[i], path))
      return formats[i];
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
               "%s: no format that we write has this extension", path);
  return NULL;
}

/* The format that takes the text best. */
static const AdjFormat *
detect_text (GBytes *bytes)
{
  const AdjFormat *best = &adj_format_text;
  guint best_score = 0;
  gsize length;
  const guint8 *text = g_bytes_get_data (bytes, &length);

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    {
      guint score = formats[i]->load_bytes != NULL && length > 0
                        ? formats[i]->sniff (text, MIN (length, TEXT_HEAD_BYTES), "")
                        : 0;

      if (score > best_score)
        {
          best = formats[i];
          best_score = score;
        }
    }
  return best;
}

/* A packed text: a log, or a console. */
static AdjBundle *
load_packed (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (GBytes) bytes = gzip_read (path, cancellable, error);

  return bytes != NULL ? detect_text (bytes)->load_bytes (bytes, path, cancellable, error) : NULL;
}

static AdjBundle *
load (const char *path, GCancellable *cancellable, GError **error)
{
  const AdjFormat *format;

  if (gzip_is (path))
    return load_packed (path, cancellable, error);
  format = adj_format_detect (path, error);
  return format != NULL ? format->load (path, cancellable, error) : NULL;
}

AdjBundle *
adj_bundle_load (const char *path, GCancellable *cancellable, GError **error)
{
  GError *reason = NULL;
  AdjBundle *bundle = load (path, cancellable, &reason);

  if (bundle == NULL)
    {
      adj_message_make_line (reason->message);
      g_propagate_error (error, reason);
    }
  return bundle;
}

AdjBundle *
adj_bundle_load_text (const char *text, gssize length, const char *title, GError **error)
{
  g_autofree char *valid = g_utf8_make_valid (text, length);
  gsize n = strlen (valid);
  g_autoptr (GBytes) bytes = g_bytes_new_take (g_steal_pointer (&valid), n);

  return detect_text (bytes)->load_bytes (bytes, title, NULL, error);
}
