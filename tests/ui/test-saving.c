/* SPDX-License-Identifier: MIT */

/* Saving: files with their view, links and following them, parts of pictures, reports, and
 * questions before something is lost. */

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "model/adj-log.h"
#include "model/document-private.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

typedef struct
{
  AdjTestFolder *folder;
  AdjWindow *window;
  AdjDocument *document;
  char *path; /* path of its own copy of a file */
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *source = adj_test_data_path ("graphs/mlp.adjoint");
  g_autofree char *bytes = NULL;
  gsize length;

  fixture->folder = adj_test_folder_new ();
  fixture->path = g_build_filename (fixture->folder->path, "my mlp.adjoint", NULL);
  bytes = adj_test_read_file (source, &length);
  g_assert_true (g_file_set_contents (fixture->path, bytes, (gssize) length, NULL));
  fixture->window = adj_walk_open_window (application, 1280, 800);
  g_assert_true (adj_walk_open (fixture->window, fixture->path));
  adj_walk_settle (fixture->window);
  fixture->document = adj_window_get_document (fixture->window);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  if (fixture->window != NULL)
    adj_walk_close (fixture->window);
  adj_test_folder_free (fixture->folder);
  g_free (fixture->path);
}

static void
act (Fixture *fixture, const char *action)
{
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), action, NULL);
  adj_walk_settle (fixture->window);
}

static AdwTabView *
get_tabs (Fixture *fixture)
{
  return ADW_TAB_VIEW (adj_walk_find (GTK_WIDGET (fixture->window), ADW_TYPE_TAB_VIEW, NULL));
}

static const char *
tab_title (Fixture *fixture)
{
  return adw_tab_page_get_title (adw_tab_view_get_selected_page (get_tabs (fixture)));
}

static AdwMessageDialog *
find_question (Fixture *fixture, const char *title)
{
  GtkWidget *dialog;

  adj_walk_settle (fixture->window);
  dialog = adj_walk_find_window (title);
  return dialog != NULL ? ADW_MESSAGE_DIALOG (dialog) : NULL;
}

static void
answer (Fixture *fixture, const char *title, const char *response)
{
  AdwMessageDialog *dialog = find_question (fixture, title);

  g_assert_nonnull (dialog);
  g_object_ref (dialog);
  adw_message_dialog_response (dialog, response);
  gtk_window_destroy (GTK_WINDOW (dialog));
  g_object_unref (dialog);
  adj_walk_settle (fixture->window);
}

static void
trace (Fixture *fixture)
{
  g_assert_true (adj_walk_choose_graph (fixture->window, "dynamo"));
  act (fixture, "win.trace");
  fixture->document = adj_window_get_document (fixture->window);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  g_assert_nonnull (adj_document_get_graph (fixture->document));
}

static gboolean
log_says (AdjDocument *document, const char *text)
{
  GListModel *log = G_LIST_MODEL (adj_document_get_log (document));

  for (guint i = 0; i < g_list_model_get_n_items (log); i++)
    {
      g_autoptr (AdjLogItem) item = g_list_model_get_item (log, i);

      if (strstr (adj_log_item_get_text (item), text) != NULL)
        return TRUE;
    }
  return FALSE;
}

/* -- saving -- */

/* Saves over its own file with the view; changing the view alone leaves nothing unsaved. */
static void
test_saves_over (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) before = adj_bundle_load (fixture->path, NULL, NULL);
  g_autoptr (AdjBundle) after = NULL;
  g_autoptr (GBytes) notes = NULL;
  g_autoptr (AdjSavedView) view = NULL;

  g_assert_true (adj_walk_choose_graph (fixture->window, "backward"));
  adj_document_set_coloring (fixture->document, ADJ_COLOR_BY_BYTES);
  g_assert_true (adj_walk_select (fixture->window, "gelu_backward"));
  g_assert_false (adj_document_is_unsaved (fixture->document));
  g_assert_cmpstr (tab_title (fixture), ==, "my mlp.adjoint");
  act (fixture, "win.save");
  adj_wait_for (fixture->document);
  g_assert_true (log_says (fixture->document, "Saved "));

  after = adj_bundle_load (fixture->path, NULL, NULL);
  g_assert_nonnull (after);
  g_assert_cmpuint (adj_bundle_get_n_graphs (after), ==, adj_bundle_get_n_graphs (before));
  g_assert_cmpuint (adj_bundle_get_n_calls (after), ==, adj_bundle_get_n_calls (before));
  notes = adj_bundle_dup_notes (after);
  view = adj_saved_view_from_notes (notes);
  g_assert_nonnull (view);
  g_assert_cmpstr (view->graph, ==, "0-0-backward");
  g_assert_cmpstr (view->selected, ==, "gelu_backward");
  g_assert_cmpint (view->arrangement->coloring, ==, ADJ_COLOR_BY_BYTES);
}

/* Another user who opens the file gets the saved view. */
static void
test_view_goes_along (Fixture *fixture, gconstpointer data)
{
  g_autofree char *sent = g_build_filename (fixture->folder->path, "sent.adjoint", NULL);
  g_autofree char *bytes = NULL;
  const AdjBundleGraph *graph;
  gsize length;

  g_assert_true (adj_walk_choose_graph (fixture->window, "backward"));
  g_assert_true (adj_walk_select (fixture->window, "gelu_backward"));
  act (fixture, "win.save");
  adj_wait_for (fixture->document);
  bytes = adj_test_read_file (fixture->path, &length);
  g_assert_true (g_file_set_contents (sent, bytes, (gssize) length, NULL));

  g_assert_true (adj_walk_open (fixture->window, sent));
  adj_wait_for (adj_window_get_document (fixture->window));
  graph = adj_document_get_graph (adj_window_get_document (fixture->window));
  g_assert_cmpstr (graph->id, ==, "0-0-backward");
  g_assert_cmpstr (
      adj_graph_get_node (
          graph->graph, adj_document_get_selected (adj_window_get_document (fixture->window)).index)
          ->name,
      ==, "gelu_backward");
}

/* Notes of other programs are kept, and no path is written to the file. */
static void
test_notes (Fixture *fixture, gconstpointer data)
{
  static const char others[] = "{\"authors\": [\"Ada\"], \"view\": 3}";
  static const char hostile[] =
      "{\"view\": {\"View\": {\"graph\": \"g\\n[Run]\\nfile=/etc/passwd\", "
      "\"camera\": \"x\"}, \"Run\": {\"file\": \"/etc/passwd\"}}}";
  g_autoptr (GBytes) before = g_bytes_new_static (others, strlen (others));
  g_autoptr (GBytes) bad = g_bytes_new_static (hostile, strlen (hostile));
  g_autoptr (AdjSavedView) view = adj_saved_view_new (), back = NULL, read = NULL;
  g_autoptr (GBytes) notes = NULL, abyss = NULL;
  GString *deep;

  view->graph = g_strdup ("0-0-joint");
  view->run.file = g_intern_static_string ("/home/ada/inputs.safetensors");
  notes = adj_saved_view_to_notes (view, before);
  g_assert_nonnull (
      memmem (g_bytes_get_data (notes, NULL), g_bytes_get_size (notes), "Ada", strlen ("Ada")));
  g_assert_null (
      memmem (g_bytes_get_data (notes, NULL), g_bytes_get_size (notes), "/home", strlen ("/home")));
  back = adj_saved_view_from_notes (notes);
  g_assert_cmpstr (back->graph, ==, "0-0-joint");
  g_assert_null (back->run.file);
  g_assert_null (adj_saved_view_from_notes (before));
  deep = g_string_new ("{\"view\": ");
  for (guint i = 0; i < 1000000; i++)
    g_string_append_c (deep, '[');
  abyss = g_bytes_new (deep->str, deep->len);
  g_assert_null (adj_saved_view_from_notes (abyss));
  g_string_free (deep, TRUE);
  read = adj_saved_view_from_notes (bad);
  g_assert_true (read == NULL || read->run.file == NULL);
}

static gboolean
is_shown (gpointer title)
{
  return adj_walk_find_window (title) != NULL;
}

static gboolean
is_closed (gpointer data)
{
  return adw_tab_view_get_n_pages (get_tabs (data)) == 1;
}

/* Adds a saved run, which tracing cannot make again. */
static void
keep_run (Fixture *fixture)
{
  act (fixture, "win.run");
  adj_wait_for (fixture->document);
  adj_document_keep_run (fixture->document, "kept", FALSE);
  adj_walk_settle (fixture->window);
}

/* Closing a trace that can be repeated quickly asks nothing. */
static void
test_does_not_ask (Fixture *fixture, gconstpointer data)
{
  trace (fixture);
  g_assert_true (adj_document_is_unsaved (fixture->document));
  fixture->document->trace_age = 0;
  g_assert_true (adj_document_can_remake (fixture->document));
  act (fixture, "win.close-tab");
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (fixture)), ==, 1);
}

/* Closing asks about a trace that took long, even without a run. */
static void
test_asks_what_took_long (Fixture *fixture, gconstpointer data)
{
  trace (fixture);
  fixture->document->trace_age = 10 * G_TIME_SPAN_SECOND;
  g_assert_false (adj_document_can_remake (fixture->document));
  act (fixture, "win.close-tab");
  answer (fixture, "Save my mlp.adjoint, traced?", "cancel");
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (fixture)), ==, 2);
}

/* Closing asks about a saved run that is in no file. */
static void
test_asks (Fixture *fixture, gconstpointer data)
{
  trace (fixture);
  keep_run (fixture);
  g_assert_true (adj_document_is_unsaved (fixture->document));
  g_assert_true (g_str_has_prefix (tab_title (fixture), "• my mlp.adjoint"));
  g_assert_true (g_str_has_prefix (gtk_window_get_title (GTK_WINDOW (fixture->window)), "• "));
  act (fixture, "win.close-tab");
  answer (fixture, "Save my mlp.adjoint, traced?", "cancel");
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (fixture)), ==, 2);
  act (fixture, "win.close-tab");
  answer (fixture, "Save my mlp.adjoint, traced?", "discard");
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (fixture)), ==, 1);
}

/* "Save" in that question asks for the file, and closes the tab when it is written. */
static void
test_saves_and_closes (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GFile) folder = g_file_new_for_path (fixture->folder->path);
  g_autofree char *path = g_build_filename (fixture->folder->path, "traced.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = NULL;
  GtkWidget *chooser;

  trace (fixture);
  keep_run (fixture);
  act (fixture, "win.close-tab");
  answer (fixture, "Save my mlp.adjoint, traced?", "save");
  g_assert_true (adj_wait_until (is_shown, (gpointer) "Save As", 60));
  chooser = adj_walk_find_window ("Save As");
  gtk_file_chooser_set_current_folder (GTK_FILE_CHOOSER (chooser), folder, NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (chooser), "traced.adjoint");
  adj_walk_settle (fixture->window);
  gtk_dialog_response (GTK_DIALOG (chooser), GTK_RESPONSE_ACCEPT);
  g_assert_true (adj_wait_until (is_closed, fixture, 60));
  bundle = adj_bundle_load (path, NULL, NULL);
  g_assert_nonnull (bundle);
  g_assert_nonnull (adj_bundle_get_recording (bundle));
}

static void
save_and_close (Fixture *fixture)
{
  g_autofree char *path = g_build_filename (fixture->folder->path, "traced.adjoint", NULL);

  adj_document_save (fixture->document, path, NULL);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.close-tab", NULL);
  g_assert_true (adj_document_is_saving (fixture->document));
}

/* A tab is closed after its pending write has finished. */
static void
test_closes_when_saved (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->folder->path, "traced.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = NULL;

  trace (fixture);
  adj_document_save (fixture->document, path, NULL);
  adj_wait_for (fixture->document);
  g_assert_cmpint (g_unlink (path), ==, 0);
  save_and_close (fixture);
  g_assert_null (adj_walk_find_window ("Save traced.adjoint?"));
  g_assert_true (adj_wait_until (is_closed, fixture, 60));
  bundle = adj_bundle_load (path, NULL, NULL);
  g_assert_nonnull (bundle);
}

/* Cancelling the write keeps the tab open, also after a later save. */
static void
test_stays_when_stopped (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->folder->path, "traced.adjoint", NULL);

  trace (fixture);
  save_and_close (fixture);
  adj_document_stop (fixture->document);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  adj_document_save (fixture->document, path, NULL);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  g_assert_false (adj_document_is_unsaved (fixture->document));
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (fixture)), ==, 2);
}

/* After Save As the tab belongs to the new file. */
static void
test_becomes_saved (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->folder->path, "new.adjoint", NULL);

  trace (fixture);
  g_assert_false (adj_document_has_own_file (fixture->document));
  adj_document_save (fixture->document, path, NULL);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  g_assert_false (adj_document_is_unsaved (fixture->document));
  g_assert_true (adj_document_has_own_file (fixture->document));
  g_assert_cmpstr (tab_title (fixture), ==, "new.adjoint");
  act (fixture, "win.close-tab");
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (fixture)), ==, 1);
}

/* A file changed by another program is not overwritten without a question. */
static void
test_changed_outside (Fixture *fixture, gconstpointer data)
{
  g_autofree char *left = NULL;

  g_usleep (20000);
  g_assert_true (g_file_set_contents (fixture->path, "other", -1, NULL));
  g_assert_true (adj_document_is_changed_outside (fixture->document));
  act (fixture, "win.save");
  answer (fixture, "Replace my mlp.adjoint?", "cancel");
  adj_wait_for (fixture->document);
  left = adj_test_read_file (fixture->path, NULL);
  g_assert_cmpstr (left, ==, "other");
  act (fixture, "win.save");
  answer (fixture, "Replace my mlp.adjoint?", "replace");
  adj_wait_for (fixture->document);
  g_assert_false (adj_document_is_changed_outside (fixture->document));
}

static void
on_gone (gpointer gone, GObject *where)
{
  *(gboolean *) gone = TRUE;
}

static gboolean
is_true (gpointer data)
{
  return *(gboolean *) data;
}

/* Closing a window asks for each of its tabs. */
static void
test_window_asks (Fixture *fixture, gconstpointer data)
{
  gboolean gone = FALSE;

  trace (fixture);
  keep_run (fixture);
  g_object_weak_ref (G_OBJECT (fixture->window), on_gone, &gone);
  gtk_window_close (GTK_WINDOW (fixture->window));
  answer (fixture, "Save my mlp.adjoint, traced?", "cancel");
  g_assert_false (gone);
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (fixture)), ==, 2);
  gtk_window_close (GTK_WINDOW (fixture->window));
  {
    AdwMessageDialog *dialog = find_question (fixture, "Save my mlp.adjoint, traced?");

    g_assert_nonnull (dialog);
    adw_message_dialog_response (dialog, "discard");
    gtk_window_destroy (GTK_WINDOW (dialog));
  }
  g_assert_true (adj_wait_until (is_true, &gone, 60));
  fixture->window = NULL;
}

/* -- links -- */

static gboolean
looks_at_gelu (gpointer data)
{
  AdjDocument *document = adj_window_get_document (((Fixture *) data)->window);
  const AdjBundleGraph *graph = adj_document_get_graph (document);
  AdjNodeId node = adj_document_get_selected (document);

  return graph != NULL && g_str_equal (graph->id, "0-0-joint") && adj_node_id_is_valid (node) &&
         g_str_equal (adj_graph_get_node (graph->graph, node.index)->name, "gelu");
}

/* A link is copied and opened. */
static void
test_links (Fixture *fixture, gconstpointer data)
{
  g_autofree char *link = NULL;
  g_autoptr (GFile) file = NULL;

  g_assert_true (adj_walk_choose_graph (fixture->window, "joint"));
  g_assert_true (adj_walk_select (fixture->window, "gelu"));
  act (fixture, "win.copy-link");
  link = adj_walk_read_clipboard (fixture->window);
  g_assert_true (g_str_has_prefix (link, "adjoint:///"));
  g_assert_true (g_str_has_suffix (link, "/my%20mlp.adjoint#graph=0-0-joint&node=gelu"));

  /* If the file is open: no second tab, and nothing is read again. */
  g_assert_true (adj_walk_choose_graph (fixture->window, "forward"));
  file = g_file_new_for_commandline_arg (link);
  adj_window_open (fixture->window, file);
  g_assert_true (adj_wait_until (looks_at_gelu, fixture, 60));
  g_assert_cmpint (adw_tab_view_get_n_pages (get_tabs (fixture)), ==, 1);

  /* If it is not: pasted into another window. */
  adj_document_set_selected (fixture->document, ADJ_NO_NODE);
  adj_walk_close (fixture->window);
  fixture->window = adj_walk_open_window (application, 1280, 800);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (fixture->window)), link);
  act (fixture, "win.paste");
  g_assert_true (adj_wait_until (looks_at_gelu, fixture, 60));
}

static gboolean
has_answer (gpointer data)
{
  AdjDocument *document = adj_window_get_document (((Fixture *) data)->window);

  return adj_document_get_scene (document) != NULL || adj_document_get_error (document) != NULL;
}

static void
follow (Fixture *fixture, const char *format)
{
  g_autofree char *escaped = g_uri_escape_string (fixture->path, "/", FALSE);
  GString *uri = g_string_new (format);
  g_autoptr (GFile) file = NULL;

  g_string_replace (uri, "PATH", escaped, 0);
  file = g_file_new_for_uri (uri->str);
  adj_window_open (fixture->window, file);
  g_string_free (uri, TRUE);
  adj_wait_for (adj_window_get_document (fixture->window));
  g_assert_true (adj_wait_until (has_answer, fixture, 60));
  adj_walk_settle (fixture->window);
}

/* A link to something that no longer exists is reported with its name. */
static void
test_dead_links (Fixture *fixture, gconstpointer data)
{
  const GError *error;

  follow (fixture, "adjoint://PATH#graph=0-0-joint&node=no_such_node");
  g_assert_true (log_says (fixture->document, "0-0-joint has no node “no_such_node”"));
  g_assert_nonnull (adj_walk_find (GTK_WIDGET (fixture->window), GTK_TYPE_LABEL,
                                   "my mlp.adjoint: 0-0-joint has no node “no_such_node”"));
  follow (fixture, "adjoint://PATH#graph=9-9-joint");
  g_assert_true (log_says (fixture->document, "9-9-joint"));
  follow (fixture, "adjoint://PATH#stage=3");
  g_assert_true (log_says (fixture->document, "there is no stage 3"));
  follow (fixture, "adjoint:no-path");
  g_assert_true (log_says (fixture->document, "has no path"));

  follow (fixture, "adjoint://PATH.gone#node=gelu");
  error = adj_document_get_error (adj_window_get_document (fixture->window));
  if (error == NULL)
    g_error ("a file that is gone was opened");
  g_assert_nonnull (strstr (error->message, "my mlp.adjoint.gone"));
}

/* -- pictures and reports -- */

static void
size_of (const char *path, guint *width, guint *height)
{
  gsize length;
  g_autofree char *bytes = adj_test_read_file (path, &length);
  guint32 sides[2];

  g_assert_cmpuint (length, >, 24);
  memcpy (sides, bytes + 16, sizeof sides);
  *width = GUINT32_FROM_BE (sides[0]);
  *height = GUINT32_FROM_BE (sides[1]);
}

static void
test_parts (Fixture *fixture, gconstpointer data)
{
  g_autofree char *whole = g_build_filename (fixture->folder->path, "whole.png", NULL);
  g_autofree char *part = g_build_filename (fixture->folder->path, "part.png", NULL);
  AdjGraphView *view = adj_window_get_view (fixture->window);
  AdjScene *scene;
  AdjRect rect, seen;
  const AdjRect *box;
  guint width, height;

  g_assert_true (adj_walk_choose_graph (fixture->window, "joint"));
  adj_document_set_selected (fixture->document, ADJ_NO_NODE);
  adj_walk_settle (fixture->window);
  g_assert_false (adj_graph_view_get_around_selected (view, &rect));
  g_assert_false (
      g_action_group_get_action_enabled (G_ACTION_GROUP (fixture->window), "export-selection"));
  g_assert_true (adj_walk_select (fixture->window, "gelu"));
  g_assert_true (
      g_action_group_get_action_enabled (G_ACTION_GROUP (fixture->window), "export-selection"));
  g_assert_true (adj_graph_view_get_around_selected (view, &rect));
  scene = adj_document_get_scene (fixture->document);
  box = &adj_scene_get_box (
             scene, adj_scene_find_node (scene, adj_document_get_selected (fixture->document)))
             ->rect;
  g_assert_cmpfloat (rect.x, <, box->x);
  g_assert_cmpfloat (rect.y, <, box->y);
  g_assert_cmpfloat (rect.x + rect.width, >, box->x + box->width);
  g_assert_cmpfloat (rect.y + rect.height, >, box->y + box->height);
  g_assert_cmpfloat (rect.width, <, adj_scene_get_bounds (scene).width);

  adj_document_export (fixture->document, whole, NULL, ADJ_SCHEME_LIGHT);
  adj_wait_for (fixture->document);
  size_of (whole, &width, &height);
  g_assert_cmpfloat (width, >=, adj_scene_get_bounds (scene).width);
  adj_document_export (fixture->document, part, &rect, ADJ_SCHEME_DARK);
  adj_wait_for (fixture->document);
  size_of (part, &width, &height);
  g_assert_cmpfloat_with_epsilon (width, rect.width, 1);
  g_assert_cmpfloat_with_epsilon (height, rect.height, 1);

  g_assert_true (adj_graph_view_get_visible (view, &seen));
  g_assert_cmpfloat (seen.x, >=, adj_scene_get_bounds (scene).x);
  g_assert_cmpfloat (seen.width, <=, adj_scene_get_bounds (scene).width);
}

static void
test_reports (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = g_build_filename (fixture->folder->path, "page.html", NULL);
  g_autofree char *page = NULL;
  g_autofree char *again = NULL;

  g_assert_true (adj_walk_choose_graph (fixture->window, "joint"));
  adj_document_report (fixture->document, path);
  adj_wait_for (fixture->document);
  page = adj_test_read_file (path, NULL);
  g_assert_nonnull (strstr (page, "<title>my mlp.adjoint — Joint Graph</title>"));
  g_assert_nonnull (strstr (page, "The graph was not run."));
  g_assert_true (adj_walk_run (fixture->window, "win.compare"));
  adj_document_report (fixture->document, path);
  adj_wait_for (fixture->document);
  again = adj_test_read_file (path, NULL);
  g_assert_nonnull (strstr (again, "agrees with what was recorded"));
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add ("/ui/saving/saves-over", Fixture, NULL, set_up, test_saves_over, tear_down);
  g_test_add ("/ui/saving/view-goes-along", Fixture, NULL, set_up, test_view_goes_along, tear_down);
  g_test_add ("/ui/saving/notes", Fixture, NULL, set_up, test_notes, tear_down);
  g_test_add ("/ui/saving/does-not-ask", Fixture, NULL, set_up, test_does_not_ask, tear_down);
  g_test_add ("/ui/saving/asks-what-took-long", Fixture, NULL, set_up, test_asks_what_took_long,
              tear_down);
  g_test_add ("/ui/saving/asks", Fixture, NULL, set_up, test_asks, tear_down);
  g_test_add ("/ui/saving/saves-and-closes", Fixture, NULL, set_up, test_saves_and_closes,
              tear_down);
  g_test_add ("/ui/saving/closes-when-saved", Fixture, NULL, set_up, test_closes_when_saved,
              tear_down);
  g_test_add ("/ui/saving/stays-when-stopped", Fixture, NULL, set_up, test_stays_when_stopped,
              tear_down);
  g_test_add ("/ui/saving/becomes-saved", Fixture, NULL, set_up, test_becomes_saved, tear_down);
  g_test_add ("/ui/saving/changed-outside", Fixture, NULL, set_up, test_changed_outside, tear_down);
  g_test_add ("/ui/saving/window-asks", Fixture, NULL, set_up, test_window_asks, tear_down);
  g_test_add ("/ui/saving/links", Fixture, NULL, set_up, test_links, tear_down);
  g_test_add ("/ui/saving/dead-links", Fixture, NULL, set_up, test_dead_links, tear_down);
  g_test_add ("/ui/saving/parts", Fixture, NULL, set_up, test_parts, tear_down);
  g_test_add ("/ui/saving/reports", Fixture, NULL, set_up, test_reports, tear_down);
  return g_test_run ();
}
