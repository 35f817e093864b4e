/* SPDX-License-Identifier: MIT */

/* A long layout in the window is stopped, and the window goes on. */

#include <string.h>

#include "ir/adj-text.h"
#include "support/adj-test.h"
#include "support/layered-graph.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

/* So long that its progress shows. */
static gboolean
is_laying_out (gpointer document)
{
  const char *status = adj_document_get_status (document);

  g_assert_null (adj_document_get_scene (document));
  return adj_document_get_bundle (document) != NULL && status != NULL &&
         strstr (status, "layout ") != NULL;
}

static gboolean
is_gone (gpointer data)
{
  return adj_work_count () == 0;
}

static gboolean
has_scene (gpointer document)
{
  return adj_document_get_scene (document) != NULL;
}

/* A file whose layout takes long: no two of its @n layers are alike.  (transfer full) */
static GFile *
write_deep (const AdjTestFolder *folder, guint n)
{
  g_autofree char *path = g_build_filename (folder->path, "deep.txt", NULL);
  g_autoptr (AdjGraph) graph = adj_test_layered_graph (n, TRUE);
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return g_file_new_for_path (path);
}

static void
test_layout (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GFile) file = write_deep (folder, 400);
  AdjDocument *document;

  adj_window_open (window, file);
  document = adj_window_get_document (window);
  g_assert_true (adj_walk_until (is_laying_out, document, 60));
  g_assert_true (g_action_group_get_action_enabled (G_ACTION_GROUP (window), "stop"));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.stop", NULL);
  /* At once, whatever the threads do. */
  g_assert_false (adj_document_is_busy (document));
  g_assert_null (adj_document_get_scene (document));
  adj_walk_settle (window);
  g_assert_nonnull (adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "Stopped"));
  g_assert_true (adj_walk_until (is_gone, NULL, 20));
  g_assert_null (adj_document_get_scene (document));

  /* Asked for less, it comes. */
  adj_document_set_fold_depth (document, 1);
  g_assert_true (adj_walk_until (has_scene, document, 60));
  adj_walk_settle (window);
  adj_walk_close (window);
}

static gboolean
offers_modules (gpointer button)
{
  return gtk_widget_get_mapped (button) && gtk_widget_get_sensitive (button);
}

/* Cards and open frames of modules. */
static guint
count_open (const AdjScene *scene)
{
  guint n = 0;

  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    n += adj_scene_get_box (scene, i)->kind == ADJ_BOX_GROUP &&
         adj_scene_get_box (scene, i)->fold == ADJ_FOLD_OPEN;
  return n;
}

/* Who does not want to wait for a layout gets the modules, and the details when asking for them. */
static void
test_modules (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 800);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GFile) file = write_deep (folder, 1600);
  AdjDocument *document;
  GtkWidget *button;
  gint64 begun;

  button = gtk_widget_get_ancestor (
      adj_walk_find (GTK_WIDGET (window), GTK_TYPE_LABEL, "Show Modules Only"), GTK_TYPE_BUTTON);
  begun = g_get_monotonic_time ();
  adj_window_open (window, file);
  document = adj_window_get_document (window);
  g_assert_true (adj_walk_until (offers_modules, button, 60));
  g_assert_cmpint (g_get_monotonic_time () - begun, >, 2 * G_TIME_SPAN_SECOND);
  g_assert_null (adj_document_get_scene (document));

  g_signal_emit_by_name (button, "clicked");
  g_assert_true (adj_walk_until (has_scene, document, 60));
  g_assert_cmpuint (count_open (adj_document_get_scene (document)), ==, 0);
  g_assert_false (gtk_widget_get_visible (button));
  adj_walk_settle (window);
  /* Back to all of it. */
  g_assert_true (adj_document_can_undo (document, -1));
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
  return g_test_run ();
}
