/* SPDX-License-Identifier: MIT */
/* Find as you type in lists and tables. */

#include "widgets/quick-find.h"

#include <string.h>

#include "widgets/scroll-to-row.h"

typedef struct
{
  GtkSearchBar *bar;
  GtkWidget *list;
  GtkWidget *entry;
  const AdjQuickFind *find;
  gpointer self;
  guint from; /* row at which the search started */
} Finding;

/* -- matching -- */

typedef gboolean (*Match) (const char *row, const char *text);

static gboolean
begins (const char *row, const char *text)
{
  return g_str_has_prefix (row, text);
}

static gboolean
contains (const char *row, const char *text)
{
  return strstr (row, text) != NULL;
}

static gboolean
row_matches (const AdjQuickFind *find, gpointer self, guint row, const char *text, Match match)
{
  g_autofree char *shown = find->get_text (self, row);
  g_autofree char *folded = g_utf8_casefold (shown, -1);

  return match (folded, text);
}

static guint
match_from (
    const AdjQuickFind *find, gpointer self, const char *text, guint from, int step, Match match)
{
  guint n = find->count (self);
  guint begin = from < n ? from : 0;
  int by = step < 0 ? -1 : 1;

  for (guint i = step != 0; i < n + (step != 0); i++)
    {
      guint row = (guint) (((gint64) begin + n + (gint64) by * i) % n);

      if (row_matches (find, self, row, text, match))
        return row;
    }
  return G_MAXUINT;
}

guint
adj_quick_find_match (
    const AdjQuickFind *find, gpointer self, const char *text, guint from, int step)
{
  g_autofree char *folded = g_utf8_casefold (text, -1);
  guint row;

  if (*folded == '\0')
    return G_MAXUINT;
  row = match_from (find, self, folded, from, step, begins);
  return row != G_MAXUINT ? row : match_from (find, self, folded, from, step, contains);
}

/* -- the bar -- */

static void
go (Finding *finding, guint from, int step)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (finding->entry));
  guint row = adj_quick_find_match (finding->find, finding->self, text, from, step);

  if (row == G_MAXUINT && *text != '\0')
    gtk_widget_add_css_class (finding->entry, "error");
  else
    gtk_widget_remove_css_class (finding->entry, "error");
  if (row != G_MAXUINT)
    finding->find->show (finding->self, row);
}

static void
on_search_changed (Finding *finding)
{
  go (finding, finding->from, 0);
}

static void
on_next (Finding *finding)
{
  go (finding, finding->find->get_current (finding->self), 1);
}

static void
on_previous (Finding *finding)
{
  go (finding, finding->find->get_current (finding->self), -1);
}

/* The widget of the selected row, which gets the focus so that arrows continue from there. */
static GtkWidget *
find_row (GtkWidget *widget)
{
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      GtkWidget *found = child;

      if (!gtk_widget_get_focusable (child) ||
          !(gtk_widget_get_state_flags (child) & GTK_STATE_FLAG_SELECTED))
        found = find_row (child);
      if (found != NULL)
        return found;
    }
  return NULL;
}

static void
go_back (Finding *finding)
{
  GtkWidget *row = find_row (finding->list);

  gtk_search_bar_set_search_mode (finding->bar, FALSE);
  gtk_widget_grab_focus (row != NULL ? row : finding->list);
}

static void
on_activate (Finding *finding)
{
  if (finding->find->activate != NULL)
    finding->find->activate (finding->self);
  go_back (finding);
}

static void
on_mode_changed (Finding *finding)
{
  if (gtk_search_bar_get_search_mode (finding->bar))
    finding->from = finding->find->get_current (finding->self);
}

static gboolean
on_entry_key (Finding *finding, guint key, guint code, GdkModifierType state)
{
  if (key != GDK_KEY_Up && key != GDK_KEY_Down)
    return GDK_EVENT_PROPAGATE;
  go (finding, finding->find->get_current (finding->self), key == GDK_KEY_Down ? 1 : -1);
  return GDK_EVENT_STOP;
}

/* Passes letters to the bar. */
static gboolean
on_list_key (Finding *finding, guint key, guint code, GdkModifierType state)
{
  if (key != GDK_KEY_slash || (state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return GDK_EVENT_PROPAGATE;
  gtk_search_bar_set_search_mode (finding->bar, TRUE);
  gtk_widget_grab_focus (finding->entry);
  return GDK_EVENT_STOP;
}

static void
watch_keys (GtkWidget *widget, GCallback callback, Finding *finding)
{
  GtkEventController *keys = gtk_event_controller_key_new ();

  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (keys, "key-pressed", callback, finding);
  gtk_widget_add_controller (widget, keys);
}

void
adj_quick_find_add (
    GtkSearchBar *bar, GtkWidget *list, const char *what, const AdjQuickFind *find, gpointer self)
{
  Finding *finding = g_new0 (Finding, 1);

  g_return_if_fail (GTK_IS_SEARCH_BAR (bar));

  *finding = (Finding){ bar, list, gtk_search_entry_new (), find, self, 0 };
  g_object_set_data_full (G_OBJECT (bar), "adj-finding", finding, g_free);
  gtk_accessible_update_property (GTK_ACCESSIBLE (finding->entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  what, -1);
  g_object_set (finding->entry, "placeholder-text", what, NULL);
  gtk_widget_set_hexpand (finding->entry, TRUE);
  gtk_search_entry_set_search_delay (GTK_SEARCH_ENTRY (finding->entry), 0);
  gtk_search_bar_set_child (bar, finding->entry);
  gtk_search_bar_connect_entry (bar, GTK_EDITABLE (finding->entry));
  gtk_search_bar_set_key_capture_widget (bar, list);
  watch_keys (list, G_CALLBACK (on_list_key), finding);
  watch_keys (finding->entry, G_CALLBACK (on_entry_key), finding);
  g_signal_connect_swapped (finding->entry, "search-changed", G_CALLBACK (on_search_changed),
                            finding);
  g_signal_connect_swapped (finding->entry, "next-match", G_CALLBACK (on_next), finding);
  g_signal_connect_swapped (finding->entry, "previous-match", G_CALLBACK (on_previous), finding);
  g_signal_connect_swapped (finding->entry, "activate", G_CALLBACK (on_activate), finding);
  g_signal_connect_swapped (finding->entry, "stop-search", G_CALLBACK (go_back), finding);
  g_signal_connect_swapped (bar, "notify::search-mode-enabled", G_CALLBACK (on_mode_changed),
                            finding);
}

/* -- rows of a list -- */

typedef struct
{
  GtkWidget *list;
  AdjRowText get_text;
  gpointer self;
} Rows;

static GtkSelectionModel *
get_model (const Rows *rows)
{
  return GTK_IS_COLUMN_VIEW (rows->list) ? gtk_column_view_get_model (GTK_COLUMN_VIEW (rows->list))
                                         : gtk_list_view_get_model (GTK_LIST_VIEW (rows->list));
}

static guint
count_rows (gpointer data)
{
  GtkSelectionModel *model = get_model (data);

  return model != NULL ? g_list_model_get_n_items (G_LIST_MODEL (model)) : 0;
}

static char *
get_row_text (gpointer data, guint row)
{
  const Rows *rows = data;
  g_autoptr (GObject) item = g_list_model_get_item (G_LIST_MODEL (get_model (rows)), row);

  return rows->get_text (item, row, rows->self);
}

/* The first selected row. */
static guint
get_current_row (gpointer data)
{
  GtkSelectionModel *model = get_model (data);
  g_autoptr (GtkBitset) selected =
      model != NULL ? gtk_selection_model_get_selection (model) : gtk_bitset_new_empty ();

  return gtk_bitset_is_empty (selected) ? 0 : gtk_bitset_get_minimum (selected);
}

static void
show_row (gpointer data, guint row)
{
  gtk_selection_model_select_item (get_model (data), row, TRUE);
  adj_scroll_to_row (((const Rows *) data)->list, row, count_rows (data));
}

static void
activate_row (gpointer data)
{
  if (count_rows (data) > 0)
    g_signal_emit_by_name (((const Rows *) data)->list, "activate", get_current_row (data));
}

void
adj_quick_find_add_rows (
    GtkSearchBar *bar, GtkWidget *list, const char *what, AdjRowText get_text, gpointer self)
{
  static const AdjQuickFind find = { count_rows, get_row_text, get_current_row, show_row,
                                     activate_row };
  Rows *rows = g_new (Rows, 1);

  *rows = (Rows){ list, get_text, self };
  g_object_set_data_full (G_OBJECT (bar), "adj-finding-rows", rows, g_free);
  adj_quick_find_add (bar, list, what, &find, rows);
}
