/* SPDX-License-Identifier: MIT */

/* Long operations show their progress and can be cancelled, and the window stays usable. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "support/adj-test.h"
#include "support/large-bundle.h"
#include "support/layered-graph.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

/* Whether the layout has run long enough to show its progress. */
static gboolean
is_laying_out (gpointer document)
{
  const char *status = adj_document_get_status (document);

  return adj_document_get_bundle (document) != NULL && status != NULL &&
         strstr (status, "layout ") != NULL;
}

static gboolean
has_scene (gpointer document)
{
  return adj_document_get_scene (document) != NULL;
}

/* (transfer full): a file of @n layers; with @vary no two are equal, so that the layout is slow. */
static GFile *
write_deep (const AdjTestFolder *folder, guint n, gboolean vary)
{
  g_autofree char *path = g_build_filename (folder->path, "deep.txt", NULL);
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (n, vary);
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return g_file_new_for_path (path);
}

/* Counts open module frames. */
static guint
count_open (const AdjScene *scene)
{
  guint n = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    n += adj_scene_get_box (scene, i)->kind == ADJ_BOX_GROUP &&
         adj_scene_get_box (scene, i)->fold == ADJ_FOLD_OPEN;
  return n;
}

/* Whether two levels are open: the frames of the layers. */
static gboolean
has_another_scene (gpointer document)
{
  return !adj_document_is_busy (document) && count_open (adj_document_get_scene (document)) > 0;
}

static void
test_layout (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GFile) file = write_deep (folder, 400, TRUE);
  AdjDocument *document;
  AdjScene *closed;

  /* The modules are closed at first, so the layout is fast. */
  adj_window_open (window, file);
  document = adj_window_get_document (window);
  g_assert_true (adj_wait_until (has_scene, document, 600));
  closed = adj_document_get_scene (document);
  g_assert_cmpuint (count_open (closed), ==, 0);
  adj_document_set_fold_depth (document, 0);
  g_assert_true (adj_wait_until (is_laying_out, document, 600));
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "stop"));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.stop", NULL);
  /* Cancelling is immediate, whatever the threads do; the former picture stays. */
  g_assert_false (adj_document_is_busy (document));
  adj_walk_settle (window);
  adj_wait_for_threads ();
  g_assert_true (adj_document_get_scene (document) == closed);

  /* A smaller request completes. */
  adj_document_set_fold_depth (document, 2);
  g_assert_true (adj_wait_until (has_another_scene, document, 600));
  adj_walk_settle (window);
  adj_walk_close (window);
}

static gboolean
offers_modules (gpointer button)
{
  return gtk_widget_get_mapped (button) && gtk_widget_get_sensitive (button);
}

/* During a slow layout the user can switch to the closed modules, and to the details again. */
static void
test_modules (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GFile) file = write_deep (folder, 1600, TRUE);
  AdjDocument *document;
  GtkWidget *button;
  gint64 begun;

  button = gtk_widget_get_ancestor (
      adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "Show Modules Only"), GTK_TYPE_BUTTON);
  adj_window_open (window, file);
  document = adj_window_get_document (window);
  g_assert_true (adj_wait_until (has_scene, document, 600));
  begun = g_get_monotonic_time ();
  adj_document_set_fold_depth (document, 0);
  g_assert_true (adj_wait_until (offers_modules, button, 600));
  g_assert_cmpint (g_get_monotonic_time () - begun, >, 2 * G_TIME_SPAN_SECOND);

  g_signal_emit_by_name (button, "clicked");
  adj_wait_for (document);
  g_assert_cmpuint (count_open (adj_document_get_scene (document)), ==, 0);
  g_assert_false (gtk_widget_get_visible (button));
  adj_walk_settle (window);
  /* Undo returns to the full picture. */
  g_assert_true (adj_document_can_undo (document, -1));
  adj_walk_close (window);
}

/* -- writing -- */

static gboolean
tells_numbers (gpointer document)
{
  const char *status = adj_document_get_status (document);

  g_assert_true (adj_document_is_busy (document));
  return status != NULL && strstr (status, " of ") != NULL &&
         adj_document_get_fraction (document) > 0;
}

static guint
count_files (const AdjTestFolder *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder->path, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* Waits for the bar, cancels the writing into @folder by its button, and waits for the thread. */
static void
stop_writing (AdjWindow *window, const AdjTestFolder *folder, const char *begins)
{
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *bar;
  guint n_before = count_files (folder);

  g_assert_true (adj_wait_until (tells_numbers, document, 600));
  g_assert_true (g_str_has_prefix (adj_document_get_status (document), begins));
  bar = adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_PROGRESS_BAR);
  g_assert_nonnull (bar);
  g_assert_cmpfloat (gtk_progress_bar_get_fraction (GTK_PROGRESS_BAR (bar)), >, 0);
  adj_walk_click (gtk_widget_get_parent (bar), "Cancel");
  g_assert_false (adj_document_is_busy (document));
  adj_walk_settle (window);
  g_assert_nonnull (adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "Stopped"));
  adj_wait_for_threads ();
  g_assert_cmpuint (count_files (folder), <=, n_before);
}

static void
test_pictures (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autoptr (AdjTestFolder) source = adj_test_folder_new ();
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GFile) file = write_deep (source, 64, FALSE);
  g_autofree char *svg = g_build_filename (folder->path, "deep.svg", NULL);
  AdjDocument *document;

  adj_window_open (window, file);
  document = adj_window_get_document (window);
  g_assert_true (adj_wait_until (has_scene, document, 600));
  adj_document_set_fold_depth (document, 0);
  adj_wait_for (document);

  adj_document_export (document, svg, NULL, ADJ_SCHEME_LIGHT);
  stop_writing (window, folder, "Writing deep.svg: ");
  g_assert_cmpuint (count_files (folder), ==, 0);
  adj_walk_close (window);
}

static void
test_save (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "large.adjoint", NULL);
  g_autofree char *other = g_build_filename (folder->path, "other.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = adj_test_large_bundle (96 << 20);

  g_assert_true (adj_format_for_path (path, NULL)->save (bundle, path, NULL, NULL, NULL));
  g_assert_true (adj_walk_open (window, path));
  adj_document_save (adj_window_get_document (window), other, NULL);
  stop_writing (window, folder, "Saving other.adjoint: ");
  g_assert_cmpuint (count_files (folder), ==, 1);
  g_assert_cmpstr (adj_document_get_title (adj_window_get_document (window)), ==, "large.adjoint");
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/cancel/layout", test_layout);
  g_test_add_func ("/ui/cancel/modules", test_modules);
  g_test_add_func ("/ui/cancel/pictures", test_pictures);
  g_test_add_func ("/ui/cancel/save", test_save);
  return g_test_run ();
}
