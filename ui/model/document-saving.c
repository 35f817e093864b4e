/* SPDX-License-Identifier: MIT */

/* Writes a document, and tells whether a file has all of it. */

#include <gio/gio.h>
#include <glib/gi18n.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "model/adj-export.h"
#include "model/adj-log.h"
#include "model/document-private.h"

/* -- pictures and reports -- */

static void
report_failure (AdjDocument *self, const char *format, const char *path, const GError *error)
{
  g_autofree char *name = g_path_get_basename (path);
  GString *remark = g_string_new (format);

  g_string_replace (remark, "%s", name, 1);
  adj_log_add (self->log, ADJ_LOG_PROBLEM, "%s: %s", remark->str, error->message);
  adj_document_remark (self, remark->str);
  g_string_free (remark, TRUE);
}

/* The file that the task of @kind wrote; reports a failure.  @failed: "%s could not be written".
 * (transfer full) (nullable) */
static GFile *
finish (AdjDocument *self, AdjTaskKind kind, GAsyncResult *result, const char *failed, gint64 *age)
{
  const char *path = adj_export_get_path (adj_task_from_result (result));
  g_autoptr (GError) error = NULL;
  gpointer file = NULL;

  if (adj_task_list_finish (&self->tasks, kind, result, &file, age, &error) && file == NULL)
    report_failure (self, failed, path, error);
  return file;
}

static void
announce (AdjDocument *self, AdjTaskKind kind, GAsyncResult *result)
{
  gint64 age;
  g_autoptr (GFile) file = finish (self, kind, result, _ ("%s could not be exported"), &age);

  if (file == NULL)
    return;
  adj_log_add (self->log, ADJ_LOG_DONE, _ ("Exported %s in %.0f ms"), g_file_peek_path (file),
               age / 1e3);
  adj_document_announce_export (self, file);
}

static void
on_exported (GObject *source, GAsyncResult *result, gpointer data)
{
  announce (ADJ_DOCUMENT (source), ADJ_TASK_EXPORT, result);
}

static void
on_reported (GObject *source, GAsyncResult *result, gpointer data)
{
  announce (ADJ_DOCUMENT (source), ADJ_TASK_REPORT, result);
}

/* Refuses a second request, with a remark, while the first is still being written. */
static gboolean
is_free (AdjDocument *self, AdjTaskKind kind)
{
  g_autofree char *remark = NULL;

  if (!adj_task_list_is_busy (&self->tasks, kind))
    return TRUE;
  remark = g_strdup_printf (_ ("%s is still being written"), self->tasks.subjects[kind]);
  adj_document_remark (self, remark);
  return FALSE;
}

void
adj_document_export (AdjDocument *self, const char *path, const AdjRect *part, AdjScheme scheme)
{
  g_autofree char *name = NULL;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (path != NULL);

  if (self->scene == NULL || !is_free (self, ADJ_TASK_EXPORT))
    return;
  name = g_path_get_basename (path);
  adj_task_list_start (
      &self->tasks, ADJ_TASK_EXPORT,
      adj_export_start_picture (G_OBJECT (self), self->scene, part, scheme, path, on_exported),
      name);
}

void
adj_document_report (AdjDocument *self, const char *path)
{
  g_autofree char *name = NULL;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (path != NULL);

  if (self->scene == NULL || self->graph == NULL || !is_free (self, ADJ_TASK_REPORT))
    return;
  name = g_path_get_basename (path);
  adj_task_list_start (&self->tasks, ADJ_TASK_REPORT,
                       adj_export_start_report (G_OBJECT (self), self->graphs, self->graph,
                                                self->scene, adj_document_get_evaluation (self),
                                                self->title, path, on_reported),
                       name);
}

/* -- the file -- */

void
adj_document_set_unsaved (AdjDocument *self, gboolean unsaved)
{
  g_free (self->etag);
  self->etag = self->file != NULL ? adj_export_query_etag (self->file) : NULL;
  self->unsaved = unsaved;
  adj_document_changed (self, PROP_UNSAVED);
}

gboolean
adj_document_is_unsaved (AdjDocument *self)
{
  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  return self->unsaved || self->arrangement->runs != self->saved_runs;
}

gboolean
adj_document_has_own_file (AdjDocument *self)
{
  g_autofree char *path = NULL;

  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  path = self->file != NULL ? g_file_get_path (self->file) : NULL;
  return path != NULL && g_str_has_suffix (path, ".adjoint") &&
         g_file_test (path, G_FILE_TEST_IS_REGULAR) && g_access (path, W_OK) == 0;
}

gboolean
adj_document_is_changed_outside (AdjDocument *self)
{
  g_autofree char *now = NULL;

  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  now = self->file != NULL ? adj_export_query_etag (self->file) : NULL;
  return g_strcmp0 (now, self->etag) != 0;
}

static void
on_saved (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  gint64 age;
  g_autoptr (GFile) file = finish (self, ADJ_TASK_SAVE, result, _ ("%s could not be saved"), &age);
  g_autofree char *remark = NULL;

  if (file == NULL)
    {
      adj_document_announce_save (self, FALSE);
      return;
    }
  adj_document_stop_following (self);
  g_set_object (&self->file, file);
  g_free (self->title);
  self->title = g_file_get_basename (file);
  adj_log_add (self->log, ADJ_LOG_DONE, _ ("Saved %s in %.0f ms"), g_file_peek_path (file),
               age / 1e3);
  g_clear_pointer (&self->saved_runs, g_ptr_array_unref);
  self->saved_runs = g_steal_pointer (&self->written_runs);
  adj_document_set_unsaved (self, FALSE);
  adj_document_changed (self, PROP_TITLE);
  remark = g_strdup_printf (_ ("Saved %s"), self->title);
  adj_document_remark (self, remark);
  adj_document_announce_save (self, TRUE);
}

gboolean
adj_document_is_saving (AdjDocument *self)
{
  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  return adj_task_list_is_busy (&self->tasks, ADJ_TASK_SAVE);
}

/* The etag that the file must still have when it is overwritten.  The user was asked about earlier
 * changes of other programs, but not about those from now on.  (nullable) */
static const char *
get_expected_etag (AdjDocument *self, const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  gboolean is_own = self->file != NULL && g_file_equal (self->file, file);

  return is_own && !adj_document_is_changed_outside (self) ? self->etag : NULL;
}

void
adj_document_save (AdjDocument *self, const char *path, const AdjSavedView *view)
{
  AdjBundle *bundle;
  g_autofree char *name = NULL;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (path != NULL);

  bundle = adj_document_get_bundle (self);
  if (bundle == NULL)
    return;
  if (view != NULL)
    {
      g_autoptr (GBytes) before = adj_bundle_dup_notes (bundle);
      g_autoptr (GBytes) notes = adj_saved_view_to_notes (view, before);

      adj_bundle_set_notes (bundle, notes);
    }
  name = g_path_get_basename (path);
  g_clear_pointer (&self->written_runs, g_ptr_array_unref);
  if (self->arrangement->runs != NULL)
    self->written_runs = g_ptr_array_ref (self->arrangement->runs);
  adj_task_list_start (&self->tasks, ADJ_TASK_SAVE,
                       adj_export_start_bundle (G_OBJECT (self), bundle, path,
                                                get_expected_etag (self, path), on_saved),
                       name);
}
