/* SPDX-License-Identifier: MIT */
/* Columns of tables, described by data. */

#include "widgets/adj-column.h"

#include <glib/gi18n.h>

#include "widgets/context-menu.h"

#define MAX_ROWS 500

static void
on_setup (GtkSignalListItemFactory *factory, GtkListItem *item, const AdjColumn *column)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_list_item_set_child (item, label);
  adj_context_menu_set_item (label, item);
}

/* Names the row widget around the cells, which has no accessible name in GTK 4.8. */
static void
name_row (GtkWidget *bound)
{
  GtkWidget *row = bound != NULL ? gtk_widget_get_parent (bound) : NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  if (row == NULL)
    return;
  for (GtkWidget *cell = gtk_widget_get_first_child (row); cell != NULL;
       cell = gtk_widget_get_next_sibling (cell))
    {
      GtkWidget *label = gtk_widget_get_first_child (cell);

      if (GTK_IS_LABEL (label) && *gtk_label_get_text (GTK_LABEL (label)) != '\0')
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
                                gtk_label_get_text (GTK_LABEL (label)));
    }
  gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, text->str,
                                  -1);
}

static void
on_bind (GtkSignalListItemFactory *factory, GtkListItem *item, const AdjColumn *column)
{
  GtkWidget *label = gtk_list_item_get_child (item);
  gpointer subject = gtk_list_item_get_item (item);
  g_autofree char *text = column->get (subject);
  const char *classes[4] = { NULL };
  guint n = 0;

  if (column->bold)
    classes[n++] = "heading";
  if (column->numeric)
    classes[n++] = "numeric";
  if (column->get_class != NULL)
    classes[n++] = column->get_class (subject);
  gtk_widget_set_css_classes (label, classes);
  gtk_label_set_text (GTK_LABEL (label), text);
  name_row (gtk_widget_get_parent (label));
}

/* Names the parts of a table, which have none either. */
static void
name_parts (GtkWidget *table)
{
  for (GtkWidget *child = gtk_widget_get_first_child (table); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    gtk_accessible_update_property (GTK_ACCESSIBLE (child), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    GTK_IS_LIST_VIEW (child) ? _ ("Rows") : _ ("Columns"), -1);
}

/* (transfer full) */
static GtkColumnViewColumn *
make_column (const AdjColumn *column)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *made = gtk_column_view_column_new (_ (column->title), factory);

  g_signal_connect (factory, "setup", G_CALLBACK (on_setup), (gpointer) column);
  g_signal_connect (factory, "bind", G_CALLBACK (on_bind), (gpointer) column);
  gtk_column_view_column_set_resizable (made, TRUE);
  if (column->width > 0)
    gtk_column_view_column_set_fixed_width (made, column->width);
  else
    gtk_column_view_column_set_expand (made, TRUE);
  return made;
}

void
adj_columns_append (GtkColumnView *table, const AdjColumn *columns, guint n)
{
  name_parts (GTK_WIDGET (table));
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GtkColumnViewColumn) column = make_column (&columns[i]);

      gtk_column_view_append_column (table, column);
    }
}

static gboolean
has_columns (GListModel *all, const AdjColumn *columns, guint n, const gboolean *shown)
{
  guint at = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GtkColumnViewColumn) there = shown[i] ? g_list_model_get_item (all, at++) : NULL;

      if (shown[i] && (there == NULL || g_strcmp0 (gtk_column_view_column_get_title (there),
                                                   _ (columns[i].title)) != 0))
        return FALSE;
    }
  return at == g_list_model_get_n_items (all);
}

/* If no column expands, the last one does. */
static void
fill_width (GListModel *all)
{
  guint n = g_list_model_get_n_items (all);
  g_autoptr (GtkColumnViewColumn) last = n > 0 ? g_list_model_get_item (all, n - 1) : NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (all, i);

      if (gtk_column_view_column_get_expand (column))
        return;
    }
  if (last != NULL)
    gtk_column_view_column_set_expand (last, TRUE);
}

/* Removes columns instead of hiding them: GTK 4.8 keeps the space of hidden ones. */
void
adj_columns_show (GtkColumnView *table, const AdjColumn *columns, guint n, const gboolean *shown)
{
  GListModel *all = gtk_column_view_get_columns (table);

  if (has_columns (all, columns, n, shown))
    return;
  while (g_list_model_get_n_items (all) > 0)
    {
      g_autoptr (GtkColumnViewColumn) column = g_list_model_get_item (all, 0);

      gtk_column_view_remove_column (table, column);
    }
  for (guint i = 0; i < n; i++)
    if (shown[i])
      adj_columns_append (table, &columns[i], 1);
  fill_width (all);
}

/* Whether any row has a text for the column; of long tables the first rows decide. */
static gboolean
is_filled (GListModel *rows, const AdjColumn *column)
{
  guint n = rows != NULL ? MIN (g_list_model_get_n_items (rows), MAX_ROWS) : 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GObject) item = g_list_model_get_item (rows, i);
      g_autofree char *text = column->get (item);

      if (*text != '\0' && !g_str_equal (text, ADJ_COLUMN_NOTHING))
        return TRUE;
    }
  return n == 0;
}

void
adj_columns_show_filled (GtkColumnView *table, const AdjColumn *columns, guint n)
{
  GListModel *rows = G_LIST_MODEL (gtk_column_view_get_model (table));
  g_autofree gboolean *shown = g_new (gboolean, n);

  for (guint i = 0; i < n; i++)
    shown[i] = is_filled (rows, &columns[i]);
  adj_columns_show (table, columns, n, shown);
}
