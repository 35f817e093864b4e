/* SPDX-License-Identifier: MIT */

/* If the focused list loses its rows or is hidden, the focus moves to a visible widget. */

#include "panel/adj-memory-page.h"
#include "panel/adj-run-page.h"
#include "panel/adj-source-page.h"
#include "panel/adj-values-page.h"
#include "ui/adj-walk.h"

static AdjApplication *application;

static void
act (AdjWindow *window, const char *action, const char *target)
{
  gtk_widget_activate_action (GTK_WIDGET (window), action, target != NULL ? "s" : NULL, target);
  adj_walk_settle (window);
}

static void
run (AdjWindow *window)
{
  g_assert_true (adj_walk_run (window, "win.run"));
}

static void
select_node (AdjWindow *window)
{
  g_assert_true (adj_walk_select (window, "gelu"));
}

/* -- how the list goes -- */

static void
hide_panel (AdjWindow *window)
{
  act (window, "win.show-panel", NULL);
}

static void
show_other_page (AdjWindow *window)
{
  act (window, "win.show-page", "text");
}

static void
show_other_graph (AdjWindow *window)
{
  g_assert_true (adj_walk_choose_graph (window, "forward"));
}

static void
select_nothing (AdjWindow *window)
{
  adj_document_set_selected (adj_window_get_document (window), ADJ_NO_NODE);
}

static void
select_other (AdjWindow *window)
{
  g_assert_true (adj_walk_select (window, "addmm"));
}

static const struct
{
  const char *name, *page;
  GType (*type) (void);
  GType (*list) (void);
  void (*fill) (AdjWindow *window); /* (nullable) */
  void (*leave) (AdjWindow *window);
} cases[] = {
  { "values-panel", "values", adj_values_page_get_type, gtk_column_view_get_type, run, hide_panel },
  { "values-page", "values", adj_values_page_get_type, gtk_column_view_get_type, run,
    show_other_page },
  { "values-graph", "values", adj_values_page_get_type, gtk_column_view_get_type, run,
    show_other_graph },
  { "run-graph", "run", adj_run_page_get_type, gtk_column_view_get_type, run, show_other_graph },
  { "memory-graph", "memory", adj_memory_page_get_type, gtk_column_view_get_type, NULL,
    show_other_graph },
  { "source-selection", "source", adj_source_page_get_type, gtk_list_view_get_type, select_node,
    select_nothing },
  { "source-lines", "source", adj_source_page_get_type, gtk_column_view_get_type, select_nothing,
    select_other },
  { "source-other", "source", adj_source_page_get_type, gtk_list_view_get_type, select_node,
    select_other },
};

/* Returns the last mapped row, far from those that GTK would focus itself.  Rows are found by
 * their CSS name because their type is private to GTK. */
static GtkWidget *
find_row (GtkWidget *widget)
{
  GtkWidget *found = NULL;

  if (g_str_equal (gtk_widget_get_css_name (widget), "row"))
    return gtk_widget_get_mapped (widget) && gtk_widget_get_focusable (widget) ? widget : NULL;
  for (GtkWidget *child = gtk_widget_get_last_child (widget); child != NULL && found == NULL;
       child = gtk_widget_get_prev_sibling (child))
    found = find_row (child);
  return found;
}

static void
test_leaves (gconstpointer data)
{
  const guint i = GPOINTER_TO_UINT (data);
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  GtkWidget *page, *row, *focus;

  if (cases[i].fill != NULL)
    cases[i].fill (window);
  act (window, "win.show-page", cases[i].page);
  page = adj_walk_find_mapped (GTK_WIDGET (window), cases[i].type ());
  row = find_row (adj_walk_find (page, cases[i].list (), NULL));
  g_assert_nonnull (row);
  g_assert_true (gtk_widget_grab_focus (row));
  adj_walk_settle (window);
  cases[i].leave (window);
  adj_walk_settle (window);
  focus = gtk_root_get_focus (GTK_ROOT (window));
  g_assert_nonnull (focus);
  g_assert_true (gtk_widget_get_mapped (focus));
  /* GTK warns here if the focus was lost. */
  adj_walk_close (window);
}

/* The canvas has the keyboard focus as soon as there is a picture. */
static void
test_picture (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");

  adj_walk_settle (window);
  g_assert_true (gtk_root_get_focus (GTK_ROOT (window)) ==
                 GTK_WIDGET (adj_window_get_view (window)));
  adj_walk_close (window);
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/ui/focus/%s", cases[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_leaves);
    }
  g_test_add_func ("/ui/focus/picture", test_picture);
  return g_test_run ();
}
