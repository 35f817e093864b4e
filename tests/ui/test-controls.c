/* SPDX-License-Identifier: MIT */

/* Every control is reachable by Tab: on the start page, around a document, on each bottom page,
 * side by side, in the search, in dialogs and in a narrow window.  keyboard.py tests that each
 * has a name. */

#include "inspect/adj-inspector.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"
#include "window/adj-search-bar.h"

static AdjApplication *application;

static const char *const pages[] = { "source",     "run",      "values",  "memory",
                                     "backward",   "text",     "changes", "contract",
                                     "partitions", "findings", "facts",   "log" };

/* Whether @widget is used by other keys: tabs, buttons of spin buttons, window controls. */
static gboolean
has_other_keys (GtkWidget *widget)
{
  return gtk_widget_get_ancestor (widget, ADW_TYPE_TAB_BAR) != NULL ||
         gtk_widget_get_ancestor (widget, GTK_TYPE_WINDOW_CONTROLS) != NULL ||
         (GTK_IS_BUTTON (widget) && GTK_IS_SPIN_BUTTON (gtk_widget_get_parent (widget)));
}

/* Selectable text does not count: GTK's Tab skips it. */
static gboolean
is_control (GtkWidget *widget)
{
  return GTK_IS_BUTTON (widget) || GTK_IS_TEXT (widget) || GTK_IS_DROP_DOWN (widget) ||
         GTK_IS_SWITCH (widget) || GTK_IS_CHECK_BUTTON (widget) || GTK_IS_EXPANDER (widget) ||
         GTK_IS_NOTEBOOK (widget) || GTK_IS_RANGE (widget) ||
         (gtk_widget_get_focusable (widget) && !GTK_IS_LABEL (widget));
}

static gboolean
is_around (GtkWidget *a, GtkWidget *b)
{
  return a == b || gtk_widget_is_ancestor (a, b) || gtk_widget_is_ancestor (b, a);
}

/* Returns the list whose row contains @widget, because arrow keys move inside it; else @widget. */
static GtkWidget *
get_list (GtkWidget *widget)
{
  for (GtkWidget *at = widget; at != NULL; at = gtk_widget_get_parent (at))
    if (g_str_equal (gtk_widget_get_css_name (at), "row"))
      return gtk_widget_get_parent (at);
  return widget;
}

static gboolean
is_come_to (GPtrArray *stops, GtkWidget *widget)
{
  widget = get_list (widget);
  for (guint i = 0; i < stops->len; i++)
    if (is_around (stops->pdata[i], widget))
      return TRUE;
  return FALSE;
}

/* (transfer full): the widgets reached by Tab until the first one returns, each followed by the
 * list that it is in, since rows may be made again when they leave the sight.  Of GtkWidget */
static GPtrArray *
go_along (GtkWidget *root)
{
  GPtrArray *stops = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GtkRoot *window = gtk_widget_get_root (root);

  gtk_root_set_focus (window, NULL);
  while (gtk_widget_child_focus (root, GTK_DIR_TAB_FORWARD))
    {
      GtkWidget *focus = gtk_root_get_focus (window);

      g_assert_nonnull (focus);
      if (!g_hash_table_add (seen, focus))
        break;
      g_ptr_array_add (stops, g_object_ref (focus));
      g_ptr_array_add (stops, g_object_ref (get_list (focus)));
    }
  return stops;
}

static void
tell (GtkWidget *widget)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; widget != NULL && i < 5; i++, widget = gtk_widget_get_parent (widget))
    g_string_append_printf (
        text, " %s %s", G_OBJECT_TYPE_NAME (widget),
        gtk_widget_get_tooltip_text (widget) != NULL ? gtk_widget_get_tooltip_text (widget) : "");
  g_test_message ("not come to:%s", text->str);
  g_string_free (text, TRUE);
}

/* Open popovers have keys of their own. */
static guint
count_left (GtkWidget *widget, GPtrArray *stops)
{
  guint n = 0;

  if (!gtk_widget_get_mapped (widget) || !gtk_widget_is_sensitive (widget) ||
      GTK_IS_POPOVER (widget) || GTK_IS_SCROLLBAR (widget))
    return 0;
  if (is_control (widget) && !has_other_keys (widget) && !is_come_to (stops, widget))
    {
      tell (widget);
      n++;
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n += count_left (child, stops);
  return n;
}

static guint
reach (GtkWidget *root, const char *where)
{
  g_autoptr (GPtrArray) stops = go_along (root);
  guint n = 0;

  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    n += count_left (child, stops);
  g_test_message ("%s: %u stops, %u controls left", where, stops->len / 2, n);
  g_assert_cmpuint (n, ==, 0);
  return stops->len / 2;
}

static guint
get_graph (AdjWindow *window)
{
  AdjDocument *document = adj_window_get_document (window);

  return document != NULL ? adj_document_get_graph_index (document) : 0;
}

/* Tab shows no other graph on its way. */
static guint
reach_window (AdjWindow *window, const char *where)
{
  guint graph, n;

  adj_walk_settle (window);
  graph = get_graph (window);
  n = reach (GTK_WIDGET (window), where);
  g_assert_cmpuint (get_graph (window), ==, graph);
  return n;
}

static void
test_start (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);

  g_assert_cmpuint (reach_window (window, "start"), >, 10);
  gtk_expander_set_expanded (
      GTK_EXPANDER (adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_EXPANDER)), TRUE);
  reach_window (window, "how to record");
  adj_walk_close (window);
}

/* Empty pages, then those of a selected node and of a comparison. */
static void
test_pages (gconstpointer data)
{
  AdjWindow *window = adj_walk_open_window (application, GPOINTER_TO_INT (data), 900);
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  guint n;

  g_assert_true (adj_walk_open (window, path));
  g_assert_true (adj_walk_choose_graph (window, "joint"));
  n = reach_window (window, "document");
  g_assert_cmpuint (n, >, 15);
  for (guint round = 0; round < 2; round++)
    {
      for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
        {
          adj_window_show_page (window, pages[i]);
          reach_window (window, pages[i]);
        }
      if (round > 0)
        break;
      g_assert_true (adj_walk_select (window, "gelu"));
      g_assert_nonnull (adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_INSPECTOR));
      g_assert_true (adj_walk_run (window, "win.compare"));
    }
  adj_walk_close (window);
}

/* On a page without controls Tab leads to the tabs. */
static void
test_empty_page (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");

  g_assert_true (adj_walk_select (window, "primals_1")); /* has no stack trace */
  adj_window_show_page (window, "source");
  adj_walk_settle (window);
  gtk_widget_grab_focus (GTK_WIDGET (adj_window_get_view (window)));
  gtk_widget_activate_action (GTK_WIDGET (window), "win.focus-panel", NULL);
  g_assert_true (gtk_root_get_focus (GTK_ROOT (window)) ==
                 adj_walk_find_mapped (GTK_WIDGET (window), GTK_TYPE_NOTEBOOK));
  adj_walk_close (window);
}

static gboolean
is_traced (gpointer window)
{
  AdjDocument *document = adj_window_get_document (window);

  return adj_document_get_trace (document) != NULL && adj_document_get_scene (document) != NULL &&
         !adj_document_is_busy (document);
}

/* The strip with its options, and two graphs side by side. */
static void
test_stages (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "dynamo");

  gtk_widget_activate_action (GTK_WIDGET (window), "win.trace", NULL);
  g_assert_true (adj_wait_until (is_traced, window, 60));
  reach_window (window, "traced");
  g_assert_true (adj_walk_choose_graph (window, "forward+backward"));
  reach_window (window, "partition");
  gtk_widget_activate_action (GTK_WIDGET (window), "win.show-beside", NULL);
  reach_window (window, "beside");
  adj_walk_close (window);
}

static gboolean
has_results (gpointer bar)
{
  GtkWidget *rows = adj_walk_find_mapped (bar, GTK_TYPE_LIST_VIEW);

  return rows != NULL && gtk_widget_get_first_child (rows) != NULL;
}

static void
test_search (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/torch-trace", "joint");
  GtkWidget *bar;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.find", NULL);
  adj_walk_settle (window);
  bar = adj_walk_find_mapped (GTK_WIDGET (window), ADJ_TYPE_SEARCH_BAR);
  gtk_editable_set_text (GTK_EDITABLE (adj_walk_find (bar, GTK_TYPE_SEARCH_ENTRY, NULL)), "mm");
  g_assert_true (adj_wait_until (has_results, bar, 60));
  adj_walk_settle (window);
  g_assert_cmpuint (reach (gtk_widget_get_ancestor (bar, GTK_TYPE_POPOVER), "search"), >, 2);
  adj_walk_close (window);
}

static void
test_preferences (void)
{
  AdjWindow *window = adj_walk_open_window (application, 1280, 900);
  GtkWidget *dialog;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.preferences", NULL);
  adj_walk_settle (window);
  dialog = adj_walk_find_window ("Preferences");
  g_assert_nonnull (dialog);
  g_assert_cmpuint (reach (dialog, "preferences"), >, 1);
  gtk_window_destroy (GTK_WINDOW (dialog));
  adj_walk_close (window);
}

int
main (int argc, char **argv)
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/controls/start", test_start);
  g_test_add_data_func ("/controls/pages-360", GINT_TO_POINTER (360), test_pages);
  g_test_add_data_func ("/controls/pages-1280", GINT_TO_POINTER (1280), test_pages);
  g_test_add_func ("/controls/empty-page", test_empty_page);
  g_test_add_func ("/controls/stages", test_stages);
  g_test_add_func ("/controls/search", test_search);
  g_test_add_func ("/controls/preferences", test_preferences);
  return g_test_run ();
}
