/* SPDX-License-Identifier: MIT */
/* Rows of lists with icon, title and detail, described by data. */

#include "widgets/adj-row-look.h"

#include "widgets/context-menu.h"

typedef struct
{
  const AdjRowLook *look;
  gpointer data;
} Factory;

static GtkWidget *
make_label (const AdjCellLook *cell)
{
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), cell->xalign);
  gtk_widget_set_hexpand (label, cell->expand);
  gtk_label_set_ellipsize (GTK_LABEL (label), cell->ellipsize);
  gtk_label_set_wrap (GTK_LABEL (label), cell->wrap);
  if (cell->least > 0)
    gtk_label_set_width_chars (GTK_LABEL (label), cell->least);
  gtk_label_set_selectable (GTK_LABEL (label), cell->selectable);
  if (cell->css_class != NULL)
    gtk_widget_add_css_class (label, cell->css_class);
  if (cell->numeric)
    gtk_widget_add_css_class (label, "numeric");
  return label;
}

static void
on_setup (GtkSignalListItemFactory *factory, GtkListItem *item, Factory *self)
{
  const AdjRowLook *look = self->look;
  GtkWidget *row = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, look->spacing), *child = row;

  for (guint i = 0; i < look->n; i++)
    gtk_box_append (GTK_BOX (row), make_label (&look->cells[i]));
  if (look->tree)
    {
      child = gtk_tree_expander_new ();
      gtk_tree_expander_set_child (GTK_TREE_EXPANDER (child), row);
    }
  gtk_list_item_set_child (item, child);
  adj_context_menu_set_item (child, item);
  gtk_list_item_set_activatable (item, !look->inactivable);
  if (look->setup != NULL)
    look->setup (item, row, self->data);
}

/* Names the row widget and its expander, which have no accessible names in GTK 4.8. */
static void
name_row (GtkWidget *child, GtkLabel *const *cells, guint n)
{
  GtkWidget *parent = gtk_widget_get_parent (child);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    if (*gtk_label_get_text (cells[i]) != '\0')
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "",
                              gtk_label_get_text (cells[i]));
  if (parent != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (parent), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    text->str, -1);
  if (GTK_IS_TREE_EXPANDER (child))
    gtk_accessible_update_property (GTK_ACCESSIBLE (child), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    text->str, -1);
  g_string_free (text, TRUE);
}

static void
on_bind (GtkSignalListItemFactory *factory, GtkListItem *item, Factory *self)
{
  GtkWidget *child = gtk_list_item_get_child (item), *row = child, *label;
  GtkLabel *cells[ADJ_MAX_CELLS] = { NULL };

  if (self->look->tree)
    {
      row = gtk_tree_expander_get_child (GTK_TREE_EXPANDER (child));
      gtk_tree_expander_set_list_row (GTK_TREE_EXPANDER (child), gtk_list_item_get_item (item));
    }
  label = gtk_widget_get_first_child (row);
  for (guint i = 0; i < self->look->n; i++, label = gtk_widget_get_next_sibling (label))
    cells[i] = GTK_LABEL (label);
  self->look->bind (item, row, cells, self->data);
  name_row (child, cells, self->look->n);
}

static void
free_factory (gpointer data, GClosure *closure)
{
  g_free (data);
}

GtkListItemFactory *
adj_row_look_make_factory (const AdjRowLook *look, gpointer data)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  Factory *self = g_new (Factory, 1);

  g_assert (look->n <= ADJ_MAX_CELLS);
  *self = (Factory){ look, data };
  g_signal_connect_data (factory, "setup", G_CALLBACK (on_setup), self, free_factory, 0);
  g_signal_connect (factory, "bind", G_CALLBACK (on_bind), self);
  return factory;
}
