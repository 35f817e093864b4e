/* SPDX-License-Identifier: MIT */
/* The window of shortcuts, generated as XML for GtkBuilder. */

#include "window/window-shortcuts.h"

#include <glib/gi18n.h>

#include "canvas/adj-graph-view.h"
#include "window/window-commands.h"

static void
write_shortcut (GString *xml, const char *title, const char *keys)
{
  g_autofree char *row = g_markup_printf_escaped ("<child><object class='GtkShortcutsShortcut'>"
                                                  "<property name='title'>%s</property>"
                                                  "<property name='accelerator'>%s</property>"
                                                  "</object></child>",
                                                  title, keys);

  g_string_append (xml, row);
}

static void
open_group (GString *xml, const char *title)
{
  g_autofree char *head = g_markup_printf_escaped ("<child><object class='GtkShortcutsGroup'>"
                                                   "<property name='title'>%s</property>",
                                                   title);

  g_string_append (xml, head);
}

static void
close_group (GString *xml)
{
  g_string_append (xml, "</object></child>");
}

/* Dots at the end of a title, for commands that ask, are left out here. */
static void
write_command (GString *xml, const AdjCommand *command)
{
  g_autofree char *keys = g_strjoinv (" ", (char **) command->accels);
  g_auto (GStrv) words = g_strsplit (_ (command->title), "…", 2);

  write_shortcut (xml, words[0], keys);
}

static void
write_group (GString *xml, AdjCommandGroup group)
{
  guint n;
  const AdjCommand *commands = adj_commands_get (&n);

  open_group (xml, adj_command_group_title (group));
  for (guint i = 0; i < n; i++)
    if (commands[i].group == group && commands[i].title != NULL && commands[i].accels[0] != NULL)
      write_command (xml, &commands[i]);
  /* Adds the keys of the toolkit and of entries. */
  if (group == ADJ_COMMANDS_FILES)
    {
      write_shortcut (xml, _ ("Paste a Graph as Text"), "<Control>v");
      write_shortcut (xml, _ ("Next Tab, Previous Tab"), "<Control>Page_Down <Control>Page_Up");
      write_shortcut (xml, _ ("Main Menu"), "F10");
    }
  if (group == ADJ_COMMANDS_GRAPH)
    {
      {
        write_shortcut (xml, _ ("Copy Names of Selected Nodes"), "<Control>c");
        write_shortcut (xml, _ ("Find a Row of a List"), "slash");
      }
      write_shortcut (xml, _ ("Context Menu"), "Menu <Shift>F10");
    }
  if (group == ADJ_COMMANDS_RUN)
    write_shortcut (xml, _ ("Stage by Number"), "<Alt>1...9");
  close_group (xml);
}

static void
write_canvas (GString *xml)
{
  const AdjCanvasCommand *command;

  open_group (xml, _ ("On the Canvas"));
  for (guint i = 0; (command = adj_graph_view_get_command (i)) != NULL; i++)
    write_shortcut (xml, _ (command->title), command->keys);
  close_group (xml);
}

GtkShortcutsWindow *
adj_shortcuts_window_new (void)
{
  g_autoptr (GtkBuilder) builder = gtk_builder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) xml = g_string_new (NULL);
  GtkWindow *window;

  g_string_append (xml, "<interface><object class='GtkShortcutsWindow' id='window'>"
                        "<property name='accessible-role'>window</property>"
                        "<property name='modal'>1</property><child>"
                        "<object class='GtkShortcutsSection'>"
                        "<property name='section-name'>shortcuts</property>"
                        "<property name='max-height'>14</property>");
  for (guint group = 0; group < ADJ_N_COMMAND_GROUPS; group++)
    write_group (xml, group);
  write_canvas (xml);
  g_string_append (xml, "</object></child></object></interface>");
  if (!gtk_builder_add_from_string (builder, xml->str, -1, &error))
    g_error ("%s", error->message);
  /* GTK owns the window, like every toplevel. */
  window = GTK_WINDOW (gtk_builder_get_object (builder, "window"));
  gtk_window_set_title (window, _ ("Keyboard Shortcuts"));
  return GTK_SHORTCUTS_WINDOW (window);
}
