/* SPDX-License-Identifier: MIT */
#include "panel/name-widgets.h"

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

/* @tooltip: (nullable): of the nearest widget around that has one */
static void
name (GtkWidget *widget, const char *tooltip)
{
  const char *own = gtk_widget_get_tooltip_text (widget), *text;

  tooltip = own != NULL ? own : tooltip;
  if (GTK_IS_BUTTON (widget) || GTK_IS_MENU_BUTTON (widget) || GTK_IS_EXPANDER (widget))
    {
      text = find_text (widget);
      /* A sign is no name. */
      if (text != NULL && !g_unichar_isalnum (g_utf8_get_char (text)) && tooltip != NULL)
        text = tooltip;
      text = text != NULL && !GTK_IS_MENU_BUTTON (widget) ? text : tooltip;
      if (text == NULL && gtk_widget_has_css_class (widget, "close"))
        text = _ ("Close");
      if (text != NULL)
        gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                        text, -1);
    }
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    name (child, tooltip);
}

void
adj_name_widgets (GtkWidget *root)
{
  name (root, NULL);
}
