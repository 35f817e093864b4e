/* SPDX-License-Identifier: MIT */

/* Start and end of a session: the start page, reopened files, printing; and finding nodes in all
 * graphs of a file. */

#include <gio/gio.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "model/adj-search.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "ui/adj-mouse.h"
#include "window/adj-search-bar.h"
#include "window/adj-settings.h"
#include "window/adj-start-page.h"
#include "window/window-printing.h"

#define UNTIL ADJ_MOUSE_UNTIL

static AdjApplication *application;

/* The command for recording a log is copied exactly as shown. */
static void
test_copies (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  GtkWidget *page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_START_PAGE);
  GtkWidget *expander = adj_walk_find (page, GTK_TYPE_EXPANDER, NULL);
  g_autofree char *text = NULL;

  gtk_expander_set_expanded (GTK_EXPANDER (expander), TRUE);
  adj_walk_settle (window);
  adj_walk_click (expander, "Copy");
  text = adj_walk_read_clipboard (window);
  g_assert_cmpstr (text, ==, "TORCH_TRACE=/tmp/trace python train.py");
  g_assert_nonnull (adj_walk_find (expander, GTK_TYPE_LABEL, "Save Module…"));
  adj_walk_close (window);
}

/* A tall picture is printed on several pages, a wide one is scaled down. */
static void
test_pages (void)
{
  double scale;

  g_assert_cmpuint (adj_print_count_pages (&(AdjRect){ 0, 0, 400, 500 }, 540, 780, &scale), ==, 1);
  g_assert_cmpfloat (scale, ==, 0.75);
  g_assert_cmpuint (adj_print_count_pages (&(AdjRect){ 0, 0, 400, 5000 }, 540, 780, &scale), ==, 5);
  g_assert_cmpuint (adj_print_count_pages (&(AdjRect){ 0, 0, 1080, 1600 }, 540, 780, &scale), ==,
                    2);
  g_assert_cmpfloat (scale, ==, 0.5);
}

/* The button saves the capture module unchanged. */
static void
test_saves_module (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  GtkWidget *page = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_START_PAGE);
  GtkWidget *expander = adj_walk_find (page, GTK_TYPE_EXPANDER, NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "adjoint_capture.py", NULL);
  g_autofree char *from = adj_test_data_path ("bridge/adjoint_capture.py");
  g_autofree char *command = g_strdup_printf ("type --delay 20 '%s'", path);
  g_autofree char *saved = NULL, *shipped = NULL;
  GtkWidget *chooser;

  gtk_expander_set_expanded (GTK_EXPANDER (expander), TRUE);
  adj_walk_settle (window);
  adj_walk_click (expander, "Save Module…");
  UNTIL ((chooser = adj_walk_find_window ("Save Module")) != NULL);
  UNTIL (gtk_widget_get_mapped (chooser));
  adj_walk_settle (window);
  adj_mouse_focus (chooser);
  adj_mouse_do ("key ctrl+a");
  adj_mouse_do (command);
  adj_mouse_do ("key Return");
  UNTIL (g_file_test (path, G_FILE_TEST_EXISTS));
  adj_walk_settle (window);
  g_assert_true (g_file_get_contents (path, &saved, NULL, NULL));
  g_assert_true (g_file_get_contents (from, &shipped, NULL, NULL));
  g_assert_cmpstr (saved, ==, shipped);
  adj_walk_close (window);
}

/* The menu of Open offers the folder of a TORCH_TRACE run, and closes before the dialog. */
static void
test_opens_folder (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  g_autofree char *path = adj_test_data_path ("graphs/torch-trace");
  g_autoptr (GFile) folder = g_file_new_for_path (path);
  GtkWidget *split = adj_walk_find_mapped (GTK_WIDGET (window), ADW_TYPE_SPLIT_BUTTON);
  GtkWidget *popover, *chooser;

  g_assert_nonnull (split);
  popover = GTK_WIDGET (adw_split_button_get_popover (ADW_SPLIT_BUTTON (split)));
  adw_split_button_popup (ADW_SPLIT_BUTTON (split));
  UNTIL (gtk_widget_get_mapped (popover));
  adj_walk_keep (window, "open-list");
  adj_walk_click (popover, "Open Folder…");
  UNTIL ((chooser = adj_walk_find_window ("Open a Folder")) != NULL);
  UNTIL (!gtk_widget_get_mapped (popover));
  g_assert_true (gtk_file_chooser_set_file (GTK_FILE_CHOOSER (chooser), folder, NULL));
  adj_walk_settle (window);
  gtk_dialog_response (GTK_DIALOG (chooser), GTK_RESPONSE_ACCEPT);
  UNTIL (adj_document_get_graph (adj_window_get_document (window)) != NULL);
  adj_walk_close (window);
}

/* The menu of Open closes when an item is chosen. */
static void
test_list_goes (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  GtkWidget *split = adj_walk_find_mapped (GTK_WIDGET (window), ADW_TYPE_SPLIT_BUTTON);
  GtkWidget *popover = GTK_WIDGET (adw_split_button_get_popover (ADW_SPLIT_BUTTON (split)));

  adj_walk_keep (window, "start");
  adw_split_button_popup (ADW_SPLIT_BUTTON (split));
  UNTIL (gtk_widget_get_mapped (popover));
  g_assert_true (gtk_widget_activate (adj_walk_find_row (popover, "mlp.adjoint")));
  UNTIL (adj_document_get_graph (adj_window_get_document (window)) != NULL);
  UNTIL (!gtk_widget_get_mapped (popover));
  adj_walk_close (window);
}

/* Closes the dialog, which runs a main loop of its own. */
static gboolean
close_print_dialog (gpointer data)
{
  GtkWidget *dialog = adj_walk_find_window ("Print");

  if (dialog == NULL)
    return G_SOURCE_CONTINUE;
  *(gboolean *) data = TRUE;
  gtk_dialog_response (GTK_DIALOG (dialog), GTK_RESPONSE_CANCEL);
  return G_SOURCE_REMOVE;
}

/* The key opens the print dialog; the picture is printed on as many pages as it needs. */
static void
test_prints (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "graph.pdf", NULL);
  g_autoptr (GtkPrintOperation) operation = NULL;
  g_autofree char *pdf = NULL;
  gboolean asked = FALSE;
  int n_pages;

  adj_mouse_focus (GTK_WIDGET (window));
  g_timeout_add (50, close_print_dialog, &asked);
  adj_mouse_do ("key ctrl+p");
  UNTIL (asked);

  operation =
      adj_print_new (adj_document_get_scene (adj_window_get_document (window)), "gpt2.adjoint");
  gtk_print_operation_set_export_filename (operation, path);
  g_assert_cmpint (gtk_print_operation_run (operation, GTK_PRINT_OPERATION_ACTION_EXPORT,
                                            GTK_WINDOW (window), NULL),
                   ==, GTK_PRINT_OPERATION_RESULT_APPLY);
  g_object_get (operation, "n-pages", &n_pages, NULL);
  g_assert_cmpint (n_pages, >, 1);
  g_assert_true (g_file_get_contents (path, &pdf, NULL, NULL));
  g_assert_true (g_str_has_prefix (pdf, "%PDF"));
  adj_walk_close (window);
}

/* The files of the last window are reopened; a file that no longer exists is not. */
static void
test_reopens (void)
{
  g_autoptr (GSettings) settings = adj_settings_new ();
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  const char *const uris[] = { "file:///nowhere/gone.adjoint", uri, NULL };
  AdjWindow *window;

  if (settings == NULL)
    {
      g_test_skip ("the schema is not installed");
      return;
    }
  adj_settings_set_open_files (settings, uris);
  window = adj_walk_open_window (application, 1280, 900);
  adj_window_reopen (window);
  UNTIL (adj_document_get_scene (adj_window_get_document (window)) != NULL);
  g_assert_cmpstr (adj_document_get_title (adj_window_get_document (window)), ==, "mlp.adjoint");
  g_assert_cmpint (adw_tab_view_get_n_pages (
                       ADW_TAB_VIEW (adj_walk_find (GTK_WIDGET (window), ADW_TYPE_TAB_VIEW, NULL))),
                   ==, 1);
  adj_walk_close (window);
}

/* Order of results: exact name, names, operators, then other places that contain the word. */
static void
test_order (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[4][1]cpu\"):\n"
      "        a: \"f32[4][1]cpu\" = torch.ops.aten.relu.default(x)\n"
      "        my_relu: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(a)\n"
      "        relu_1: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(my_relu)\n"
      "        relu: \"f32[4][1]cpu\" = torch.ops.aten.exp.default(relu_1)\n"
      "        return (relu,)\n");
  static const char *const wanted[] = { "relu", "relu_1", "my_relu", "a" };
  g_autoptr (GArray) found = adj_search_run (graph, NULL, "relu");

  g_assert_cmpuint (found->len, ==, G_N_ELEMENTS (wanted));
  for (guint i = 0; i < found->len; i++)
    g_assert_cmpstr (adj_graph_get_node (graph, g_array_index (found, guint, i))->name, ==,
                     wanted[i]);
}

/* One query searches all graphs of the log; each has a button that goes there. */
static void
test_elsewhere (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/torch-trace", "dynamo");
  GtkWidget *bar, *others;

  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.find", NULL);
  adj_walk_settle (window);
  bar = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_SEARCH_BAR);
  g_assert_nonnull (bar);
  gtk_editable_set_text (GTK_EDITABLE (adj_walk_find (bar, GTK_TYPE_SEARCH_ENTRY, NULL)), "addmm");
  others = adj_walk_find (bar, GTK_TYPE_FLOW_BOX, NULL);
  UNTIL (gtk_widget_get_visible (others));
  g_signal_emit_by_name (adj_walk_find (others, GTK_TYPE_BUTTON, NULL), "clicked");
  UNTIL (!adj_document_is_busy (adj_window_get_document (window)));
  g_assert_cmpstr (adj_document_get_graph (adj_window_get_document (window))->role, ==, "joint");
  adj_walk_close (window);
}

/* Counts mapped labels below @root whose markup contains @text. */
static guint
count_labels (GtkWidget *root, const char *text)
{
  guint n = GTK_IS_LABEL (root) && gtk_widget_get_mapped (root) &&
            strstr (gtk_label_get_label (GTK_LABEL (root)), text) != NULL;

  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n += count_labels (child, text);
  return n;
}

/* The typed text is emphasized in each result, in its name and its target. */
static void
test_marks (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  GtkWidget *bar;

  adj_mouse_focus (GTK_WIDGET (window));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.find", NULL);
  adj_walk_settle (window);
  bar = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_SEARCH_BAR);
  g_assert_nonnull (bar);
  adj_mouse_do ("type --delay 20 GELU_b");
  UNTIL (count_labels (bar, ">gelu_b</span>ackward") > 0);
  g_assert_cmpuint (count_labels (bar, "weight='heavy'>gelu_b</span>ackward"), >=, 2);
  g_assert_cmpuint (count_labels (bar, "weight='heavy'>mm"), ==, 0);
  adj_walk_keep (window, "search-marks");
  adj_walk_close (window);
}

/* The region of a compiled backward is called "Compiled backward"; "!0" is its name in PyTorch's
 * log. */
static void
test_region (void)
{
  AdjWindow *window =
      adj_walk_open_graph (application, "graphs/mlp-ddp.adjoint", "compiled_autograd");

  adj_walk_settle (window);
  g_assert_cmpuint (count_labels (GTK_WIDGET (window), "Compiled backward"), >, 0);
  g_assert_cmpuint (count_labels (GTK_WIDGET (window), "Region !"), ==, 0);
  adj_walk_keep (window, "compiled-backward");
  adj_walk_close (window);
}

/* The list of recent files contains files that could be opened; one that becomes unreadable is
 * removed, and its error is shown in one place. */
static void
test_recent (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "fine.adjoint", NULL);
  g_autofree char *from = adj_test_data_path ("graphs/mlp.adjoint");
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  GtkRecentManager *recent = gtk_recent_manager_get_default ();
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  g_autofree char *bytes = NULL;
  const GError *error;
  gsize length;

  g_assert_true (g_file_get_contents (from, &bytes, &length, NULL));
  g_assert_true (g_file_set_contents (path, bytes, (gssize) length, NULL));
  g_assert_true (adj_walk_open (window, path));
  UNTIL (gtk_recent_manager_has_item (recent, uri));
  adj_walk_close (window);

  g_assert_true (g_file_set_contents (path, bytes, (gssize) length / 2, NULL));
  window = adj_walk_open_window (application, 1280, 900);
  adj_walk_open (window, path);
  error = adj_document_get_error (adj_window_get_document (window));
  g_assert_nonnull (error);
  UNTIL (!gtk_recent_manager_has_item (recent, uri));
  adj_walk_settle (window);
  g_assert_cmpuint (count_labels (GTK_WIDGET (window), error->message), ==, 1);
  adj_walk_keep (window, "cannot-open");
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_mouse_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/start/copies", test_copies);
  g_test_add_func ("/start/pages", test_pages);
  g_test_add_func ("/start/saves-module", test_saves_module);
  g_test_add_func ("/start/opens-folder", test_opens_folder);
  g_test_add_func ("/start/list-goes", test_list_goes);
  g_test_add_func ("/start/prints", test_prints);
  g_test_add_func ("/start/reopens", test_reopens);
  g_test_add_func ("/start/order", test_order);
  g_test_add_func ("/start/elsewhere", test_elsewhere);
  g_test_add_func ("/start/marks", test_marks);
  g_test_add_func ("/start/region", test_region);
  g_test_add_func ("/start/recent", test_recent);
  return g_test_run ();
}
