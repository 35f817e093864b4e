/* SPDX-License-Identifier: MIT */
/* Gives widgets accessible names where the toolkit gives none. */

#include "widgets/name-widgets.h"

#include <adwaita.h>
#include <glib/gi18n.h>

static const char *
find_text (GtkWidget *widget)
{
  if (GTK_IS_LABEL (widget))
    return gtk_label_get_text (GTK_LABEL (widget));
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      const char *text = GTK_IS_POPOVER (child) ? NULL : find_text (child);

      if (text != NULL && *text != '\0')
        return text;
    }
  return NULL;
}

/* A button is named by its text, else by its tooltip. */
static const char *
find_name (GtkWidget *button, const char *tooltip)
{
  const char *text = GTK_IS_MENU_BUTTON (button) ? NULL : find_text (button);

  /* A symbol is not a name. */
  if (text != NULL && !g_unichar_isalnum (g_utf8_get_char (text)) && tooltip != NULL)
    return tooltip;
  if (text != NULL || tooltip != NULL)
    return text != NULL ? text : tooltip;
  return gtk_widget_has_css_class (button, "close") ? _ ("Close") : NULL;
}

static void
set_name (GtkWidget *widget, const char *text)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  /* Drops the label relation of the toolkit, which would repeat the name. */
  gtk_accessible_reset_relation (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY);
}

static void
on_label_changed (GtkWidget *button)
{
  const char *text = find_text (button);

  if (text != NULL)
    set_name (button, text);
}

static gboolean
is_menu_item (GtkWidget *widget)
{
  GtkAccessibleRole role = gtk_accessible_get_accessible_role (GTK_ACCESSIBLE (widget));

  return role == GTK_ACCESSIBLE_ROLE_MENU_ITEM || role == GTK_ACCESSIBLE_ROLE_MENU_ITEM_CHECKBOX ||
         role == GTK_ACCESSIBLE_ROLE_MENU_ITEM_RADIO;
}

/* In GTK 4.18 the label of a menu item may lack a name.  Items change with the model and with their
 * state, so they are named whenever the menu is shown. */
static void
on_menu_shown (GtkWidget *widget)
{
  const char *text = is_menu_item (widget) ? find_text (widget) : NULL;

  if (text != NULL)
    set_name (widget, text);
  /* Its button shows the choice, and has no name of its own. */
  if (GTK_IS_DROP_DOWN (widget))
    return;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    on_menu_shown (child);
}

/* Connects only once per widget. */
static void
follow (GtkWidget *widget, const char *signal, void (*on_changed) (GtkWidget *))
{
  g_signal_handlers_disconnect_by_func (widget, on_changed, NULL);
  g_signal_connect (widget, signal, G_CALLBACK (on_changed), NULL);
}

/* @tooltip: (nullable): of the nearest ancestor that has one */
static void
name (GtkWidget *widget, const char *tooltip)
{
  const char *own = gtk_widget_get_tooltip_text (widget), *text = NULL;

  tooltip = own != NULL ? own : tooltip;
  if (GTK_IS_BUTTON (widget) || GTK_IS_MENU_BUTTON (widget) || GTK_IS_EXPANDER (widget))
    text = find_name (widget, tooltip);
  else if (ADW_IS_STATUS_PAGE (widget))
    tooltip = adw_status_page_get_title (ADW_STATUS_PAGE (widget));
  else if (GTK_IS_SCROLLED_WINDOW (widget) && tooltip != NULL)
    text = tooltip;
  else if (GTK_IS_PANED (widget))
    text = _ ("Divider");
  else if (GTK_IS_POPOVER_MENU (widget))
    follow (widget, "map", on_menu_shown);
  if (GTK_IS_BUTTON (widget))
    follow (widget, "notify::label", on_label_changed);
  if (text != NULL)
    set_name (widget, text);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    name (child, tooltip);
}

/* The rows are made anew when they are shown. */
static void
on_choices_shown (GtkWidget *list)
{
  for (GtkWidget *row = gtk_widget_get_first_child (list); row != NULL;
       row = gtk_widget_get_next_sibling (row))
    {
      const char *text = find_text (row);

      if (text != NULL)
        gtk_accessible_update_property (GTK_ACCESSIBLE (row), GTK_ACCESSIBLE_PROPERTY_LABEL, text,
                                        -1);
    }
}

void
adj_name_choices (GtkWidget *widget, const char *name)
{
  if (GTK_IS_LIST_VIEW (widget))
    {
      gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name,
                                      -1);
      g_signal_connect (widget, "map", G_CALLBACK (on_choices_shown), NULL);
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    adj_name_choices (child, name);
}

void
adj_name_widgets (GtkWidget *root)
{
  name (root, NULL);
}
