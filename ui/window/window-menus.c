/* SPDX-License-Identifier: MIT */
/* The content of context menus, and how they are shown. */

#include "window/window-menus.h"

#include <glib/gi18n.h>

#include "window/window-commands.h"
#include "window/window-private.h"

/* -- what stands in a menu -- */

static void
append (GMenu *section, const char *title, const char *action, GVariant *target, const char *keys)
{
  g_autoptr (GMenuItem) item = g_menu_item_new (title, NULL);
  guint key;
  GdkModifierType mods;

  g_menu_item_set_action_and_target_value (item, action, target);
  if (keys != NULL && gtk_accelerator_parse (keys, &key, &mods))
    g_menu_item_set_attribute (item, "accel", "s", keys);
  g_menu_append_item (section, item);
}

static void
append_choice (GMenu *section, const AdjCommand *command)
{
  g_autoptr (GMenu) choices = g_menu_new ();

  for (guint i = 0; command->targets[i].value != NULL; i++)
    append (choices, _ (command->targets[i].title), command->name,
            g_variant_new_string (command->targets[i].value), NULL);
  g_menu_append_submenu (section, _ (command->title), G_MENU_MODEL (choices));
}

static void
append_command (GMenu *section, const AdjCommand *command, const char *target)
{
  if (command->targets != NULL)
    append_choice (section, command);
  else
    append (section, _ (command->title), command->name,
            command->parameter != NULL ? g_variant_new_string (target) : NULL, NULL);
}

static void
append_section (GMenu *menu, GMenu *section)
{
  if (g_menu_model_get_n_items (G_MENU_MODEL (section)) > 0)
    g_menu_append_section (menu, NULL, G_MENU_MODEL (section));
  g_object_unref (section);
}

static void
append_canvas (GMenu *menu, AdjMenu subject)
{
  GMenu *section = g_menu_new ();
  const AdjCanvasCommand *command;

  for (guint i = 0; (command = adj_graph_view_get_command (i)) != NULL; i++)
    if (command->menus & subject)
      append (section, _ (command->title), command->action, NULL, command->keys);
  append_section (menu, section);
}

GMenuModel *
adj_context_menu_new (AdjMenu subject, const char *target)
{
  GMenu *menu = g_menu_new ();
  guint n;
  const AdjCommand *commands = adj_commands_get (&n);

  append_canvas (menu, subject);
  /* Commands on nodes come first, commands on files last. */
  for (guint group = ADJ_N_COMMAND_GROUPS; group-- > 0;)
    {
      GMenu *section = g_menu_new ();

      for (guint i = 0; i < n; i++)
        if (commands[i].group == group && commands[i].menus & subject)
          append_command (section, &commands[i], target);
      append_section (menu, section);
    }
  return G_MENU_MODEL (menu);
}

/* -- the popover -- */

/* Returns the focus to the widget that asked for the menu. */
static void
on_closed (AdjWindow *self)
{
  GtkWidget *before = g_object_get_data (G_OBJECT (self->context_menu), "adj-focus");

  if (before != NULL)
    gtk_widget_grab_focus (before);
  g_object_set_data (G_OBJECT (self->context_menu), "adj-focus", NULL);
}

void
adj_window_add_context_menu (AdjWindow *self)
{
  self->context_menu = g_object_ref_sink (GTK_POPOVER (gtk_popover_menu_new_from_model (NULL)));
  gtk_popover_set_has_arrow (self->context_menu, FALSE);
  gtk_popover_set_position (self->context_menu, GTK_POS_BOTTOM);
  gtk_widget_set_halign (GTK_WIDGET (self->context_menu), GTK_ALIGN_START);
  gtk_widget_set_parent (GTK_WIDGET (self->context_menu), self->content);
  g_signal_connect_swapped (self->context_menu, "closed", G_CALLBACK (on_closed), self);
}

void
adj_window_pop_menu (AdjWindow *self, GVariant *request)
{
  g_autoptr (GMenuModel) model = NULL;
  const char *target;
  GdkRectangle at;
  guint menu;
  double x, y;
  GtkWidget *focus = gtk_root_get_focus (GTK_ROOT (self));

  g_variant_get (request, "(u&siiii)", &menu, &target, &at.x, &at.y, &at.width, &at.height);
  model = adj_context_menu_new (menu, target);
  gtk_widget_translate_coordinates (GTK_WIDGET (self), self->content, at.x, at.y, &x, &y);
  at.x = (int) x;
  at.y = (int) y;
  gtk_popover_menu_set_menu_model (GTK_POPOVER_MENU (self->context_menu), model);
  gtk_popover_set_pointing_to (self->context_menu, &at);
  g_object_set_data_full (G_OBJECT (self->context_menu), "adj-focus",
                          focus != NULL ? g_object_ref (focus) : NULL, g_object_unref);
  gtk_popover_popup (self->context_menu);
}
