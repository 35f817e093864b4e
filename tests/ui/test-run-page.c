/* SPDX-License-Identifier: MIT */

/* The run page in a real window: its choices take effect and are restored when the file is
 * opened again. */

#include <gio/gio.h>
#include <string.h>

#include "panel/adj-run-page.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static AdjWindow *
open_window (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");

  gtk_widget_activate_action (GTK_WIDGET (window), "win.run-setup", NULL);
  adj_walk_settle (window);
  return window;
}

static GtkWidget *
get_page (AdjWindow *window)
{
  return adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_RUN_PAGE, NULL);
}

static void
choose (AdjWindow *window, const char *title, guint index)
{
  AdwComboRow *row = ADW_COMBO_ROW (adj_walk_find_row (get_page (window), title));

  g_assert_cmpuint (index, <, g_list_model_get_n_items (adw_combo_row_get_model (row)));
  adw_combo_row_set_selected (row, index);
}

static void
type (AdjWindow *window, const char *title, const char *text)
{
  GtkWidget *row = adj_walk_find_row (get_page (window), title);
  GtkWidget *entry = adj_walk_find (row, GTK_TYPE_ENTRY, NULL);

  gtk_editable_set_text (GTK_EDITABLE (entry), text);
  g_signal_emit_by_name (entry, "activate");
}

static AdjEvaluation *
press_run (AdjWindow *window)
{
  adj_walk_click (get_page (window), "Run");
  adj_wait_for (adj_window_get_document (window));
  adj_walk_settle (window);
  return adj_document_get_evaluation (adj_window_get_document (window));
}

static void
test_compares (void)
{
  AdjWindow *window = open_window ();
  GtkWidget *focus = gtk_root_get_focus (GTK_ROOT (window));
  const AdjComparison *comparison;
  AdjEvaluation *evaluation;

  /* The page has the keyboard focus. */
  g_assert_true (gtk_widget_is_ancestor (focus, get_page (window)));

  /* Comparing with the recording is the first choice. */
  evaluation = press_run (window);
  comparison = adj_evaluation_get_comparison (evaluation);
  g_assert_nonnull (comparison);
  g_assert_cmpint (comparison->first, ==, -1);
  g_assert_nonnull (adj_walk_find (get_page (window), GTK_TYPE_LABEL, "t_13"));

  choose (window, "Compare with", 0);
  g_assert_null (adj_evaluation_get_comparison (press_run (window)));

  /* The two graphs of the partition compute what the joint graph computes. */
  choose (window, "Compare with", 2);
  evaluation = press_run (window);
  g_assert_cmpstr (adj_evaluation_get_peer (evaluation), ==, "0-0-forward+backward");
  g_assert_cmpint (adj_evaluation_get_comparison (evaluation)->first, ==, -1);

  /* Also if the shown graph is computed in float64. */
  gtk_switch_set_active (GTK_SWITCH (adj_walk_find (get_page (window), GTK_TYPE_SWITCH, NULL)),
                         TRUE);
  evaluation = press_run (window);
  g_assert_cmpint (adj_evaluation_get_comparison (evaluation)->first, ==, -1);
  adj_walk_close (window);
}

static const char *
get_chosen (AdjWindow *window, const char *title)
{
  AdwComboRow *row = ADW_COMBO_ROW (adj_walk_find_row (get_page (window), title));

  return gtk_string_object_get_string (adw_combo_row_get_selected_item (row));
}

/* Recorded outputs belong to the recorded inputs only. */
static void
test_follows (void)
{
  AdjWindow *window = open_window ();

  g_assert_cmpstr (get_chosen (window, "Compare with"), ==, "What was recorded");
  choose (window, "Inputs", 1);
  g_assert_cmpstr (get_chosen (window, "Inputs"), ==, "Random numbers");
  g_assert_cmpstr (get_chosen (window, "Compare with"), ==, "Nothing");

  choose (window, "Compare with", 1);
  g_assert_cmpstr (get_chosen (window, "Compare with"), ==, "What was recorded");
  g_assert_cmpstr (get_chosen (window, "Inputs"), ==, "Recorded call 1");
  adj_walk_close (window);
}

static void
test_tolerance (void)
{
  AdjWindow *window = open_window ();
  AdjDocument *document = adj_window_get_document (window);
  GtkWidget *relative = adj_walk_find_row (get_page (window), "Relative, of the other value");
  GtkWidget *entry = adj_walk_find (relative, GTK_TYPE_ENTRY, NULL);

  g_assert_false (gtk_widget_get_visible (relative));
  choose (window, "Tolerance", 1);
  g_assert_true (gtk_widget_get_visible (relative));
  g_assert_cmpfloat (adj_document_get_run_choice (document).rtol, ==, 1.3e-6);

  type (window, "Relative, of the other value", "a lot");
  g_assert_true (gtk_widget_has_css_class (entry, "error"));
  g_assert_cmpfloat (adj_document_get_run_choice (document).rtol, ==, 1.3e-6);
  type (window, "Relative, of the other value", "0");
  g_assert_false (gtk_widget_has_css_class (entry, "error"));
  type (window, "Absolute", "0");
  /* A sum in another order is not equal bit for bit. */
  g_assert_cmpint (adj_evaluation_get_comparison (press_run (window))->verdict, ==,
                   ADJ_VERDICT_DIFFERS);
  type (window, "Absolute", "0.01");
  g_assert_cmpint (adj_evaluation_get_comparison (press_run (window))->verdict, <=,
                   ADJ_VERDICT_WITHIN);
  adj_walk_close (window);
}

static void
test_comes_back (void)
{
  AdjWindow *window = open_window ();
  AdjRunChoice choice;

  choose (window, "Inputs", 1);
  choose (window, "Tolerance", 1);
  type (window, "Absolute", "0.25");
  gtk_switch_set_active (GTK_SWITCH (adj_walk_find (get_page (window), GTK_TYPE_SWITCH, NULL)),
                         TRUE);
  adj_walk_close (window);

  window = open_window ();
  choice = adj_document_get_run_choice (adj_window_get_document (window));
  g_assert_true (choice.random);
  g_assert_true (choice.float64);
  g_assert_true (choice.close);
  g_assert_cmpfloat (choice.atol, ==, 0.25);
  g_assert_cmpuint (
      adw_combo_row_get_selected (ADW_COMBO_ROW (adj_walk_find_row (get_page (window), "Inputs"))),
      ==, 1);
  adj_walk_close (window);
}

static gboolean
says (gpointer window, const char *text)
{
  AdwActionRow *row = ADW_ACTION_ROW (adj_walk_find_row (get_page (window), "Executor"));

  return g_str_equal (adw_action_row_get_subtitle (row), text);
}

static gboolean
says_why (gpointer window)
{
  const AdjExecutor *cuda = adj_executor_find ("cuda", NULL);
  g_autoptr (GError) why = NULL;

  return says (window, cuda->available (&why) ? cuda->summary : why->message);
}

/* The description of an executor, and the reason why it cannot run here, are below it. */
static void
test_why_not (void)
{
  AdjWindow *window = open_window ();

  g_assert_true (says (window, adj_executor_find ("interpreter", NULL)->summary));
  choose (window, "Executor", adj_executors_get_n () - 1);
  g_assert_true (adj_wait_until (says_why, window, 60));
  choose (window, "Executor", 0);
  adj_walk_settle (window);
  g_assert_true (says (window, adj_executor_find ("interpreter", NULL)->summary));
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/run-page/compares", test_compares);
  g_test_add_func ("/ui/run-page/follows", test_follows);
  g_test_add_func ("/ui/run-page/tolerance", test_tolerance);
  g_test_add_func ("/ui/run-page/comes-back", test_comes_back);
  g_test_add_func ("/ui/run-page/why-not", test_why_not);
  return g_test_run ();
}
