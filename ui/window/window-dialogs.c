/* SPDX-License-Identifier: MIT */
#include "window/window-dialogs.h"

#include <glib/gi18n.h>

/* -- opening -- */

static GtkFileFilter *
make_graph_filter (void)
{
  GtkFileFilter *filter = gtk_file_filter_new ();

  gtk_file_filter_set_name (filter, _ ("Graphs"));
  for (guint i = 0; i < adj_formats_get_n (); i++)
    {
      const AdjFormat *format = adj_formats_get (i);
      g_auto (GStrv) extensions = g_strsplit (format->extensions, " ", -1);

      for (guint k = 0; format->load != NULL && extensions[k] != NULL; k++)
        if (*extensions[k] == '.')
          gtk_file_filter_add_suffix (filter, extensions[k] + 1);
    }
  return filter;
}

void
adj_window_ask_open (AdjWindow *self)
{
  g_autoptr (GtkFileFilter) filter = make_graph_filter ();
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();
  g_autoptr (GtkFileChooserNative) chooser =
      gtk_file_chooser_native_new (_ ("Open a Graph"), GTK_WINDOW (self),
                                   GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Open"), _ ("_Cancel"));

  gtk_file_filter_set_name (all, _ ("All Files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), filter);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), all);
  adj_window_choose (self, chooser, adj_window_open);
}

/* -- random inputs -- */

static void
on_seed_response (AdwMessageDialog *dialog, const char *response, AdjWindow *self)
{
  GtkSpinButton *seed = GTK_SPIN_BUTTON (adw_message_dialog_get_extra_child (dialog));
  AdjDocument *document = adj_window_get_document (self);
  AdjRunChoice choice;

  if (!g_str_equal (response, "run") || document == NULL)
    return;
  choice = adj_document_get_run_choice (document);
  choice.random = TRUE;
  choice.file = NULL;
  gtk_spin_button_update (seed);
  choice.seed = (guint32) gtk_spin_button_get_value (seed);
  adj_document_set_run_choice (document, choice);
  adj_document_run (document, FALSE);
}

void
adj_window_ask_seed (AdjWindow *self)
{
  AdjRunChoice choice = adj_document_get_run_choice (adj_window_get_document (self));
  GtkWidget *seed = gtk_spin_button_new_with_range (0, G_MAXUINT32, 1);
  GtkWidget *dialog = adw_message_dialog_new (
      GTK_WINDOW (self), _ ("Random Inputs"),
      _ ("Floating-point inputs are drawn from a normal distribution, integers are small. The same "
         "seed draws the same inputs."));

  gtk_window_set_title (GTK_WINDOW (dialog), _ ("Random Inputs"));
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (seed), choice.seed);
  gtk_accessible_update_property (GTK_ACCESSIBLE (seed), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Seed"),
                                  -1);
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), seed);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "run",
                                    _ ("_Run"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "run",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "run");
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_seed_response), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* -- inputs of a file -- */

static void
take_inputs (AdjWindow *self, GFile *file)
{
  AdjDocument *document = adj_window_get_document (self);
  AdjRunChoice choice = adj_document_get_run_choice (document);
  g_autofree char *path = g_file_get_path (file);

  choice.file = path != NULL ? g_intern_string (path) : NULL;
  adj_document_set_run_choice (document, choice);
}

void
adj_window_ask_inputs (AdjWindow *self)
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  g_autoptr (GtkFileChooserNative) chooser =
      gtk_file_chooser_native_new (_ ("Inputs by Name of Placeholder"), GTK_WINDOW (self),
                                   GTK_FILE_CHOOSER_ACTION_OPEN, _ ("_Take"), _ ("_Cancel"));

  gtk_file_filter_set_name (filter, _ ("Tensors (.safetensors)"));
  gtk_file_filter_add_suffix (filter, "safetensors");
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), filter);
  adj_window_choose (self, chooser, take_inputs);
}

/* -- showing what was written -- */

static void
on_shown (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree char *folder = data;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, NULL);

  /* No file manager listens: whatever opens folders. */
  if (reply == NULL)
    g_app_info_launch_default_for_uri_async (folder, NULL, NULL, NULL, NULL);
}

void
adj_window_show_file (AdjWindow *self, const char *uri)
{
  GtkApplication *application = gtk_window_get_application (GTK_WINDOW (self));
  GDBusConnection *bus = g_application_get_dbus_connection (G_APPLICATION (application));
  g_autoptr (GFile) file = g_file_new_for_uri (uri);
  g_autoptr (GFile) folder = g_file_get_parent (file);
  const char *uris[] = { uri, NULL };

  if (folder != NULL && bus != NULL)
    g_dbus_connection_call (bus, "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1",
                            "org.freedesktop.FileManager1", "ShowItems",
                            g_variant_new ("(^ass)", uris, ""), NULL, G_DBUS_CALL_FLAGS_NONE, -1,
                            NULL, on_shown, g_file_get_uri (folder));
}
