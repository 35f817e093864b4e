/* SPDX-License-Identifier: MIT */

/* Saved runs, and values from another process, in a real window: chosen on the run page,
 * compared with, saved and opened again. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-safetensors.h"
#include "ir/adj-graph.h"
#include "panel/adj-run-page.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

typedef struct
{
  AdjTestFolder *folder;
  char *path; /* path of its own copy of a file */
  AdjWindow *window;
  AdjDocument *document;
} Fixture;

static void
open_file (Fixture *fixture)
{
  fixture->window = adj_walk_open_window (application, 1280, 900);
  g_assert_true (adj_walk_open (fixture->window, fixture->path));
  g_assert_true (adj_walk_choose_graph (fixture->window, "joint"));
  fixture->document = adj_window_get_document (fixture->window);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.run-setup", NULL);
  adj_walk_settle (fixture->window);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *source = adj_test_data_path ("graphs/mlp.adjoint");
  gsize length;
  g_autofree char *bytes = adj_test_read_file (source, &length);

  fixture->folder = adj_test_folder_new ();
  fixture->path = g_build_filename (fixture->folder->path, "mine.adjoint", NULL);
  g_assert_true (g_file_set_contents (fixture->path, bytes, (gssize) length, NULL));
  open_file (fixture);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_walk_close (fixture->window);
  adj_test_folder_free (fixture->folder);
  g_free (fixture->path);
}

static GtkWidget *
get_page (Fixture *fixture)
{
  return adj_walk_find_mapped (GTK_WIDGET (fixture->window), ADJ_TYPE_RUN_PAGE);
}

static AdwComboRow *
get_combo (Fixture *fixture, const char *title)
{
  return ADW_COMBO_ROW (adj_walk_find_row (get_page (fixture), title));
}

static const char *
get_chosen (Fixture *fixture, const char *title)
{
  return gtk_string_object_get_string (
      GTK_STRING_OBJECT (adw_combo_row_get_selected_item (get_combo (fixture, title))));
}

/* The position of an entry; G_MAXUINT: it is not offered. */
static guint
find_entry (Fixture *fixture, const char *title, const char *entry)
{
  GtkStringList *names = GTK_STRING_LIST (adw_combo_row_get_model (get_combo (fixture, title)));

  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (names)); i++)
    if (g_str_equal (gtk_string_list_get_string (names, i), entry))
      return i;
  return G_MAXUINT;
}

static void
choose (Fixture *fixture, const char *title, const char *entry)
{
  guint place = find_entry (fixture, title, entry);

  g_assert_cmpuint (place, !=, G_MAXUINT);
  adw_combo_row_set_selected (get_combo (fixture, title), place);
}

static AdjEvaluation *
press_run (Fixture *fixture)
{
  adj_walk_click (get_page (fixture), "Run");
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  return adj_document_get_evaluation (fixture->document);
}

/* Whether a row belongs to the run saved as @name. */
static gboolean
is_listed (Fixture *fixture, const char *name)
{
  return adj_walk_find (get_page (fixture), GTK_TYPE_LABEL, name) != NULL;
}

static gboolean
can_do (Fixture *fixture, const char *action)
{
  return g_action_group_get_action_enabled (G_ACTION_GROUP (fixture->window), action);
}

static AdwMessageDialog *
ask_keep (Fixture *fixture)
{
  GtkWidget *dialog;

  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.keep-run", NULL);
  adj_walk_settle (fixture->window);
  dialog = adj_walk_find_window ("Keep This Run?");
  g_assert_nonnull (dialog);
  return ADW_MESSAGE_DIALOG (dialog);
}

static void
answer (Fixture *fixture, AdwMessageDialog *dialog, const char *response)
{
  g_object_ref (dialog);
  adw_message_dialog_response (dialog, response);
  gtk_window_destroy (GTK_WINDOW (dialog));
  g_object_unref (dialog);
  adj_walk_settle (fixture->window);
}

/* Runs from @seed and saves the run. */
static void
keep (Fixture *fixture, guint32 seed, const char *name)
{
  AdjRunChoice choice = { .random = TRUE, .seed = seed };
  AdwMessageDialog *dialog;

  adj_document_set_run_choice (fixture->document, choice);
  choose (fixture, "Compare with", "Nothing");
  g_assert_nonnull (press_run (fixture));
  dialog = ask_keep (fixture);
  gtk_editable_set_text (GTK_EDITABLE (adw_message_dialog_get_extra_child (dialog)), name);
  g_assert_true (adw_message_dialog_get_response_enabled (dialog, "keep"));
  answer (fixture, dialog, "keep");
}

static void
save (Fixture *fixture)
{
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.save", NULL);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
}

/* A saved run is offered when the file is opened again, as inputs and for comparison. */
static void
test_comes_back (Fixture *fixture, gconstpointer data)
{
  AdjEvaluation *evaluation;
  GtkWidget *row;

  g_assert_false (can_do (fixture, "keep-run"));
  keep (fixture, 3, "before");
  g_assert_true (adj_document_is_unsaved (fixture->document));
  g_assert_true (is_listed (fixture, "before"));
  save (fixture);
  g_assert_false (adj_document_is_unsaved (fixture->document));
  adj_walk_close (fixture->window);

  open_file (fixture);
  row = adj_walk_find_row (get_page (fixture), "before");
  g_assert_nonnull (row);
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), "seed 3"));
  g_assert_nonnull (
      strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), "values of 51 nodes"));

  choose (fixture, "Compare with", "Run “before”");
  g_assert_cmpstr (get_chosen (fixture, "Inputs"), ==, "Run “before”");
  evaluation = press_run (fixture);
  g_assert_cmpstr (adj_evaluation_get_peer (evaluation), ==, "run “before”");
  g_assert_cmpint (adj_evaluation_get_comparison (evaluation)->verdict, ==, ADJ_VERDICT_EQUAL);
  g_assert_false (adj_evaluation_get_comparison (evaluation)->nodes[0].alone);

  /* For other inputs the comparison changes to the recording, and choosing the recording changes
   * the inputs to its own. */
  choose (fixture, "Inputs", "Recorded call 1");
  g_assert_cmpstr (get_chosen (fixture, "Compare with"), ==, "What was recorded");
  choose (fixture, "Inputs", "Run “before”");
  g_assert_cmpstr (get_chosen (fixture, "Compare with"), ==, "Run “before”");
  choose (fixture, "Compare with", "What was recorded");
  g_assert_cmpstr (get_chosen (fixture, "Inputs"), ==, "Recorded call 1");
  g_assert_null (adj_evaluation_get_peer (press_run (fixture)));
}

/* A removed run returns by undo, and then nothing is unsaved. */
static void
test_undo (Fixture *fixture, gconstpointer data)
{
  keep (fixture, 3, "one");
  keep (fixture, 4, "two");
  save (fixture);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.remove-run", "s", "one");
  adj_walk_settle (fixture->window);
  g_assert_false (is_listed (fixture, "one"));
  g_assert_true (is_listed (fixture, "two"));
  g_assert_cmpuint (find_entry (fixture, "Inputs", "Run “one”"), ==, G_MAXUINT);
  g_assert_true (adj_document_is_unsaved (fixture->document));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  adj_walk_settle (fixture->window);
  g_assert_true (is_listed (fixture, "one"));
  g_assert_false (adj_document_is_unsaved (fixture->document));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.redo", NULL);
  adj_walk_settle (fixture->window);
  g_assert_false (is_listed (fixture, "one"));
}

/* An existing or empty name is rejected. */
static void
test_names (Fixture *fixture, gconstpointer data)
{
  AdwMessageDialog *dialog;
  GtkEditable *entry;

  keep (fixture, 3, "Run 1");
  dialog = ask_keep (fixture);
  entry = GTK_EDITABLE (adw_message_dialog_get_extra_child (dialog));
  g_assert_cmpstr (gtk_editable_get_text (entry), ==, "Run 2");
  gtk_editable_set_text (entry, "Run 1");
  g_assert_false (adw_message_dialog_get_response_enabled (dialog, "keep"));
  gtk_editable_set_text (entry, "");
  g_assert_false (adw_message_dialog_get_response_enabled (dialog, "keep"));
  gtk_editable_set_text (entry, "other");
  g_assert_true (adw_message_dialog_get_response_enabled (dialog, "keep"));
  answer (fixture, dialog, "cancel");
  g_assert_false (is_listed (fixture, "other"));
}

/* A pair composed from two graphs is not a graph of the file; it uses runs of the joint graph. */
static void
test_pair (Fixture *fixture, gconstpointer data)
{
  AdjGraphSet *graphs = adj_document_get_graphs (fixture->document);
  guint pair = adj_graph_set_find (graphs, ADJ_PAIR_ROLE, NULL);

  keep (fixture, 3, "before");
  adj_document_set_graph_index (fixture->document, pair);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  choose (fixture, "Compare with", "Run “before”");
  g_assert_cmpint (adj_evaluation_get_comparison (press_run (fixture))->verdict, <=,
                   ADJ_VERDICT_WITHIN);
  g_assert_false (can_do (fixture, "keep-run"));
}

/* If the values of nodes are large, the user is asked whether to save them. */
static void
test_large (Fixture *fixture, gconstpointer data)
{
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[1][1]cpu\"):\n"
      "        e: \"f32[4200, 4200][0, 0]cpu\" = torch.ops.aten.expand.default(x, [4200, 4200])\n"
      "        c: \"f32[4200, 4200][4200, 1]cpu\" = torch.ops.aten.neg.default(e)\n"
      "        s: \"f32[][]cpu\" = torch.ops.aten.sum.default(c)\n"
      "        return (s,)\n";
  g_autofree char *path = g_build_filename (fixture->folder->path, "large.txt", NULL);
  g_autoptr (GPtrArray) runs = NULL;
  AdwMessageDialog *dialog;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (adj_walk_open (fixture->window, path));
  fixture->document = adj_window_get_document (fixture->window);
  g_assert_true (adj_walk_run (fixture->window, "win.run"));
  dialog = ask_keep (fixture);
  g_assert_true (adw_message_dialog_has_response (dialog, "outputs"));
  g_assert_cmpstr (adw_message_dialog_get_default_response (dialog), ==, "outputs");
  answer (fixture, dialog, "outputs");
  runs = adj_bundle_dup_runs (adj_document_get_bundle (fixture->document));
  g_assert_cmpuint (runs->len, ==, 1);
  g_assert_cmpuint (
      adj_run_get_n_values (adj_document_get_bundle (fixture->document), runs->pdata[0]), ==, 0);
}

/* (transfer full): a file with the values of the last run, those of gelu multiplied by @fault */
static char *
write_values (Fixture *fixture, double fault)
{
  char *path = g_build_filename (fixture->folder->path, "values.safetensors", NULL);
  AdjEvaluation *evaluation = adj_document_get_evaluation (fixture->document);
  AdjGraph *graph = adj_evaluation_get_graph (evaluation);
  AdjNodeId id = adj_graph_find_node (graph, "gelu");
  AdjTensorData *value = adj_evaluation_get_value (evaluation, id);
  gint64 n = adj_tensor_data_get_numel (value);
  AdjTensorMeta wide = *adj_tensor_data_get_meta (value);
  double *numbers = g_new (double, n);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjTensorData) scaled = NULL, narrow = NULL;
  const char *names[] = { "gelu" };

  adj_tensor_data_read_doubles (value, numbers);
  for (gint64 i = 0; i < n; i++)
    numbers[i] *= fault;
  bytes = g_bytes_new_take (numbers, (gsize) n * sizeof (double));
  wide.dtype = ADJ_DTYPE_F64;
  scaled = adj_tensor_data_new (&wide, bytes, NULL);
  g_assert_nonnull (scaled);
  narrow = adj_tensor_data_cast (scaled, ADJ_DTYPE_F32);
  g_assert_true (adj_safetensors_save (path, names, &narrow, 1, NULL));
  return path;
}

static gboolean
is_asked (gpointer title)
{
  return adj_walk_find_window (title) != NULL;
}

/* Chooses the file in the page's dialog, which compares at once, and again by the button. */
static void
test_values (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = NULL, *said = NULL;
  g_autoptr (GFile) file = NULL;
  const AdjComparison *comparison;
  AdjEvaluation *evaluation;
  GtkWidget *chooser;

  press_run (fixture);
  path = write_values (fixture, 1.01);
  file = g_file_new_for_path (path);
  choose (fixture, "Compare with", "Values of a file…");
  g_assert_true (adj_wait_until (is_asked, (gpointer) "Values by Name of Node", 60));
  chooser = adj_walk_find_window ("Values by Name of Node");
  g_assert_true (gtk_file_chooser_set_file (GTK_FILE_CHOOSER (chooser), file, NULL));
  adj_walk_settle (fixture->window);
  gtk_dialog_response (GTK_DIALOG (chooser), GTK_RESPONSE_ACCEPT);
  adj_walk_settle (fixture->window);
  adj_wait_for (fixture->document);
  g_assert_cmpstr (adj_document_get_run_choice (fixture->document).values, ==, path);
  g_assert_true (gtk_widget_get_visible (adj_walk_find_row (get_page (fixture), "File of Values")));

  evaluation = press_run (fixture);
  comparison = adj_evaluation_get_comparison (evaluation);
  said = adj_evaluation_describe (evaluation, "0-0-joint");
  g_assert_nonnull (strstr (said, "nothing recorded"));
  g_assert_cmpstr (adj_evaluation_get_peer (evaluation), ==, "values.safetensors");
  g_assert_cmpint (comparison->first, >=, 0);
  g_assert_cmpstr (adj_graph_get_node (adj_evaluation_get_graph (evaluation),
                                       comparison->nodes[comparison->first].node.index)
                       ->name,
                   ==, "gelu");
}

int
main (int argc, char *argv[])
{
  static const struct
  {
    const char *path;
    void (*test) (Fixture *fixture, gconstpointer data);
  } tests[] = {
    { "/ui/kept-runs/comes-back", test_comes_back }, { "/ui/kept-runs/undo", test_undo },
    { "/ui/kept-runs/names", test_names },           { "/ui/kept-runs/pair", test_pair },
    { "/ui/kept-runs/large", test_large },           { "/ui/kept-runs/values", test_values },
  };

  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  return g_test_run ();
}
