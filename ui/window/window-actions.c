/* SPDX-License-Identifier: MIT */
/* The window's actions and shortcuts, made from the table of commands. */

#include "window/window-actions.h"

#include <string.h>

#include "window/window-commands.h"

#define PREFIX "win."
#define N_STAGE_KEYS 9 /* Alt+1 … Alt+9 */

/* The name inside the window; %NULL when the action is not the window's. */
static const char *
get_own_name (const AdjCommand *command)
{
  return command->run != NULL ? command->name + strlen (PREFIX) : NULL;
}

static const AdjCommand *
find_command (GSimpleAction *action)
{
  const char *name = g_action_get_name (G_ACTION (action));
  guint n;
  const AdjCommand *commands = adj_commands_get (&n);

  for (guint i = 0; i < n; i++)
    if (g_strcmp0 (name, get_own_name (&commands[i])) == 0)
      return &commands[i];
  g_assert_not_reached ();
}

static void
on_activate (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  find_command (action)->run (ADJ_WINDOW (data), parameter);
}

static GSimpleAction *
make_action (AdjWindow *self, const AdjCommand *command)
{
  const GVariantType *type =
      command->parameter != NULL ? G_VARIANT_TYPE (command->parameter) : NULL;
  GSimpleAction *action;

  if (command->get_state == NULL)
    {
      action = g_simple_action_new (get_own_name (command), type);
      g_signal_connect (action, "activate", G_CALLBACK (on_activate), self);
      return action;
    }
  action = g_simple_action_new_stateful (get_own_name (command), type,
                                         command->get_state (adj_window_get_document (self)));
  g_signal_connect (action, "change-state", G_CALLBACK (on_activate), self);
  return action;
}

void
adj_window_add_actions (AdjWindow *self)
{
  guint n;
  const AdjCommand *commands = adj_commands_get (&n);

  for (guint i = 0; i < n; i++)
    if (get_own_name (&commands[i]) != NULL)
      {
        g_autoptr (GSimpleAction) action = make_action (self, &commands[i]);

        g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (action));
      }
}

void
adj_window_update_actions (AdjWindow *self)
{
  AdjDocument *document = adj_window_get_document (self);
  guint n;
  const AdjCommand *commands = adj_commands_get (&n);

  for (guint i = 0; i < n; i++)
    {
      const char *name = get_own_name (&commands[i]);
      GAction *action =
          name != NULL ? g_action_map_lookup_action (G_ACTION_MAP (self), name) : NULL;

      if (action == NULL)
        continue;
      g_simple_action_set_enabled (G_SIMPLE_ACTION (action),
                                   adj_command_is_possible (document, commands[i].needs));
      if (commands[i].get_state != NULL)
        g_simple_action_set_state (G_SIMPLE_ACTION (action), commands[i].get_state (document));
    }
}

void
adj_window_add_accels (GtkApplication *application)
{
  guint n;
  const AdjCommand *commands = adj_commands_get (&n);

  for (guint i = 0; i < n; i++)
    if (commands[i].accels[0] != NULL)
      gtk_application_set_accels_for_action (application, commands[i].name, commands[i].accels);
  for (guint stage = 0; stage < N_STAGE_KEYS; stage++)
    {
      g_autofree char *name = g_strdup_printf ("win.stage(uint32 %u)", stage);
      g_autofree char *accel = g_strdup_printf ("<Alt>%u", stage + 1);
      const char *accels[] = { accel, NULL };

      gtk_application_set_accels_for_action (application, name, accels);
    }
}
