/* SPDX-License-Identifier: MIT */

/* The table of commands: palette, keys, menus and the shortcuts window agree with it, and every
 * command is reachable. */

#include <gio/gio.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "support/adj-test.h"
#include "ui/adj-walk.h"
#include "window/adj-command-palette.h"
#include "window/palette-entries.h"
#include "window/window-commands.h"
#include "window/window-shortcuts.h"

static AdjApplication *application;

static AdjPaletteEntry *
find_entry (AdjDocument *document, const char *query, guint at)
{
  g_autoptr (AdjPaletteEntries) entries = adj_palette_entries_new (document);
  g_autoptr (GListStore) found = adj_palette_entries_find (entries, query);

  return g_list_model_get_item (G_LIST_MODEL (found), at);
}

static void
assert_finds (AdjDocument *document, const char *query, const char *wanted)
{
  g_autoptr (AdjPaletteEntry) entry = find_entry (document, query, 0);

  g_assert_nonnull (entry);
  g_assert_cmpstr (adj_palette_entry_get_title (entry), ==, wanted);
}

static void
test_finds (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  AdjPaletteEntry *entry;

  assert_finds (document, "cmp rec", "Compare with Recorded");
  assert_finds (document, "ZOOM in", "Zoom In");
  assert_finds (document, "colour t", "Colour by Time");
  assert_finds (document, "0-0-backward", "0-0-backward");
  assert_finds (document, "h.0.attn", "h.0.attn");
  assert_finds (document, "gelu_backward_1", "gelu_backward_1");
  g_assert_null (find_entry (document, "no such thing at all", 0));

  /* Commands that are not applicable are not offered. */
  g_assert_null (find_entry (document, "Counterpart in the Other Direction", 0));
  g_assert_true (adj_walk_select (window, "gelu"));
  assert_finds (document, "Counterpart in the Other Direction",
                "Counterpart in the Other Direction");
  entry = find_entry (document, "compare with recorded", 0);
  g_assert_cmpstr (adj_palette_entry_get_keys (entry), ==, "Shift+F5");
  g_object_unref (entry);
  adj_walk_close (window);
}

/* As by keyboard: open, type, Enter. */
static void
press_enter_on (AdjWindow *window, const char *query)
{
  GtkWidget *palette, *entry;

  gtk_widget_activate_action (GTK_WIDGET (window), "win.palette", NULL);
  adj_walk_settle (window);
  palette = adj_walk_find (GTK_WIDGET (window), ADJ_TYPE_COMMAND_PALETTE, NULL);
  g_assert_nonnull (palette);
  g_assert_true (gtk_widget_get_mapped (palette));
  entry = adj_walk_find (palette, GTK_TYPE_TEXT, NULL);
  g_assert_true (gtk_widget_has_focus (entry));
  gtk_editable_set_text (GTK_EDITABLE (entry), query);
  g_signal_emit_by_name (entry, "activate");
  adj_walk_settle (window);
  g_assert_false (gtk_widget_get_mapped (palette));
}

static gboolean
shows_backward (gpointer data)
{
  const AdjBundleGraph *graph = adj_document_get_graph (data);

  return graph != NULL && g_str_equal (graph->role, "backward");
}

static void
test_runs (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/gpt2.adjoint", "joint");
  AdjDocument *document = adj_window_get_document (window);
  const AdjGraph *graph = adj_document_get_graph (document)->graph;

  press_enter_on (window, "gelu");
  g_assert_cmpuint (adj_document_get_selected (document).index, ==,
                    adj_graph_find_node (graph, "gelu").index);
  press_enter_on (window, "counterpart");
  g_assert_true (adj_graph_is_backward (graph, adj_document_get_selected (document).index));
  press_enter_on (window, "colour bytes");
  g_assert_cmpint (adj_document_get_arrangement (document)->coloring, ==, ADJ_COLOR_BY_BYTES);
  press_enter_on (window, "0-0-backward");
  g_assert_true (adj_wait_until (shows_backward, document, 60));
  adj_walk_close (window);
}

/* Finds duplicate titles, keys of two commands, and unknown targets. */
static void
test_table (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");
  g_autoptr (GHashTable) keys = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) titles = g_hash_table_new (g_str_hash, g_str_equal);
  GtkWidget *notebook = adj_walk_find (GTK_WIDGET (window), GTK_TYPE_NOTEBOOK, NULL);
  guint n, n_pages = 0;
  const AdjCommand *commands = adj_commands_get (&n);

  for (guint i = 0; i < n; i++)
    {
      const char *name = strchr (commands[i].name, '.') + 1;
      GActionGroup *group = g_str_has_prefix (commands[i].name, "app.")
                                ? G_ACTION_GROUP (application)
                                : G_ACTION_GROUP (window);

      g_test_message ("%s", commands[i].name);
      g_assert_true (g_action_group_has_action (group, name));
      if (commands[i].title != NULL)
        g_assert_true (g_hash_table_add (titles, (gpointer) commands[i].title));
      for (guint k = 0; commands[i].accels[k] != NULL; k++)
        {
          g_assert_true (g_hash_table_add (keys, (gpointer) commands[i].accels[k]));
          g_assert_true (gtk_accelerator_parse (commands[i].accels[k], NULL, NULL));
        }
      if (g_str_equal (name, "show-page"))
        for (; commands[i].targets[n_pages].value != NULL; n_pages++)
          {
            adj_window_show_page (window, commands[i].targets[n_pages].value);
            g_assert_cmpint (gtk_notebook_get_current_page (GTK_NOTEBOOK (notebook)), ==,
                             (int) n_pages);
          }
    }
  g_assert_cmpint (gtk_notebook_get_n_pages (GTK_NOTEBOOK (notebook)), ==, (int) n_pages);
  adj_walk_close (window);
}

static gboolean
has_action (AdjWindow *window, const char *name)
{
  const char *dot = strchr (name, '.');
  GActionGroup *group =
      g_str_has_prefix (name, "app.") ? G_ACTION_GROUP (application) : G_ACTION_GROUP (window);

  return dot != NULL && g_action_group_has_action (group, dot + 1);
}

static void
check_menu (AdjWindow *window, GMenuModel *menu)
{
  for (int i = 0; i < g_menu_model_get_n_items (menu); i++)
    {
      g_autofree char *action = NULL;
      g_autoptr (GMenuLinkIter) links = g_menu_model_iterate_item_links (menu, i);
      g_autoptr (GMenuModel) next = NULL;

      if (g_menu_model_get_item_attribute (menu, i, "action", "s", &action))
        {
          g_test_message ("%s", action);
          g_assert_true (g_str_has_prefix (action, "canvas.") || has_action (window, action));
        }
      while (g_menu_link_iter_next (links))
        {
          g_autoptr (GMenuModel) below = g_menu_link_iter_get_value (links);

          check_menu (window, below);
        }
    }
}

static void
check_menus (AdjWindow *window, GtkWidget *root)
{
  if (GTK_IS_MENU_BUTTON (root) && gtk_menu_button_get_menu_model (GTK_MENU_BUTTON (root)) != NULL)
    check_menu (window, gtk_menu_button_get_menu_model (GTK_MENU_BUTTON (root)));
  for (GtkWidget *child = gtk_widget_get_first_child (root); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    check_menus (window, child);
}

static void
test_menus (void)
{
  AdjWindow *window = adj_walk_open_graph (application, "graphs/mlp.adjoint", "joint");

  check_menus (window, GTK_WIDGET (window));
  adj_walk_close (window);
}

/* The shortcuts window lists every key of the table and of the canvas. */
static void
test_shortcuts (void)
{
  GtkWidget *window = GTK_WIDGET (adj_shortcuts_window_new ());
  guint n;
  const AdjCommand *commands = adj_commands_get (&n);

  for (guint i = 0; i < n; i++)
    if (commands[i].title != NULL && commands[i].accels[0] != NULL)
      {
        g_auto (GStrv) parts = g_strsplit (commands[i].title, "…", 2);

        g_test_message ("%s", parts[0]);
        g_assert_nonnull (adj_walk_find (window, GTK_TYPE_LABEL, parts[0]));
      }
  for (guint i = 0; adj_graph_view_get_command (i) != NULL; i++)
    {
      g_test_message ("%s", adj_graph_view_get_command (i)->title);
      g_assert_nonnull (
          adj_walk_find (window, GTK_TYPE_LABEL, adj_graph_view_get_command (i)->title));
    }
  /* GTK's warnings are fatal here. */
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  gtk_window_destroy (GTK_WINDOW (window));
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
  g_test_add_func ("/ui/commands/finds", test_finds);
  g_test_add_func ("/ui/commands/runs", test_runs);
  g_test_add_func ("/ui/commands/table", test_table);
  g_test_add_func ("/ui/commands/menus", test_menus);
  g_test_add_func ("/ui/commands/shortcuts", test_shortcuts);
  return g_test_run ();
}
