/* SPDX-License-Identifier: MIT */
/* Dialogs that ask for a file, a seed, inputs or a name. */

#include "window/window-dialogs.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "report/adj-properties.h"

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

void
adj_window_ask_open_folder (AdjWindow *self)
{
  g_autoptr (GtkFileChooserNative) chooser = gtk_file_chooser_native_new (
      _ ("Open a Folder"), GTK_WINDOW (self), GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER, _ ("_Open"),
      _ ("_Cancel"));

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
  choice.kept = NULL;
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
  choice.kept = NULL;
  adj_document_set_run_choice (document, choice);
}

/* @kind: title of the filter, "Tensors (.safetensors)", for files that end in @suffix */
static void
ask_data (AdjWindow *self,
          const char *title,
          const char *accept,
          const char *kind,
          const char *suffix,
          void (*chosen) (AdjWindow *self, GFile *file))
{
  g_autoptr (GtkFileFilter) filter = gtk_file_filter_new ();
  g_autoptr (GtkFileChooserNative) chooser = gtk_file_chooser_native_new (
      title, GTK_WINDOW (self), GTK_FILE_CHOOSER_ACTION_OPEN, accept, _ ("_Cancel"));

  gtk_file_filter_set_name (filter, kind);
  gtk_file_filter_add_suffix (filter, suffix);
  gtk_file_chooser_add_filter (GTK_FILE_CHOOSER (chooser), filter);
  adj_window_choose (self, chooser, chosen);
}

void
adj_window_ask_inputs (AdjWindow *self)
{
  ask_data (self, _ ("Inputs by Name of Placeholder"), _ ("_Take"), _ ("Tensors (.safetensors)"),
            "safetensors", take_inputs);
}

static void
take_values (AdjWindow *self, GFile *file)
{
  AdjDocument *document = adj_window_get_document (self);
  AdjRunChoice choice = adj_document_get_run_choice (document);
  g_autofree char *path = g_file_get_path (file);

  if (path == NULL)
    return;
  choice.values = g_intern_string (path);
  adj_document_set_run_choice (document, choice);
  adj_document_run_against_values (document);
}

void
adj_window_ask_values (AdjWindow *self)
{
  ask_data (self, _ ("Values by Name of Node"), _ ("_Compare"), _ ("Tensors (.safetensors)"),
            "safetensors", take_values);
}

static void
take_snapshot (AdjWindow *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);

  adj_document_set_snapshot (adj_window_get_document (self), path);
  adj_window_show_page (self, "memory");
}

void
adj_window_ask_snapshot (AdjWindow *self)
{
  ask_data (self, _ ("Snapshot of the Memory of a GPU"), _ ("_Lay over It"),
            _ ("Snapshots (.pickle)"), "pickle", take_snapshot);
}

/* -- keeping a run -- */

static gboolean
is_free (AdjDocument *document, const char *name)
{
  g_autoptr (AdjRecordedCall) taken = adj_graph_set_find_run (
      adj_document_get_graphs (document), adj_document_get_graph (document), name);

  return taken == NULL;
}

static void
on_name_changed (GtkEditable *entry, AdwMessageDialog *dialog)
{
  AdjDocument *document =
      adj_window_get_document (ADJ_WINDOW (gtk_window_get_transient_for (GTK_WINDOW (dialog))));
  const char *name = gtk_editable_get_text (entry);
  gboolean good = adj_run_name_is_valid (name) && is_free (document, name);

  adw_message_dialog_set_response_enabled (dialog, "keep", good);
  if (adw_message_dialog_has_response (dialog, "outputs"))
    adw_message_dialog_set_response_enabled (dialog, "outputs", good);
  if (good)
    gtk_widget_remove_css_class (GTK_WIDGET (entry), "error");
  else
    gtk_widget_add_css_class (GTK_WIDGET (entry), "error");
}

static void
on_keep_response (AdwMessageDialog *dialog, const char *response, AdjWindow *self)
{
  GtkEditable *entry = GTK_EDITABLE (adw_message_dialog_get_extra_child (dialog));

  if (!g_str_equal (response, "cancel"))
    adj_document_keep_run (adj_window_get_document (self), gtk_editable_get_text (entry),
                           g_str_equal (response, "keep"));
}

/* "Run 3" */
static char *
propose_name (AdjDocument *document)
{
  for (guint i = 1;; i++)
    {
      g_autofree char *name = g_strdup_printf (_ ("Run %u"), i);

      if (is_free (document, name))
        return g_steal_pointer (&name);
    }
}

static void
add_keep_responses (AdwMessageDialog *dialog, gboolean large)
{
  adw_message_dialog_add_response (dialog, "cancel", _ ("_Cancel"));
  if (large)
    adw_message_dialog_add_response (dialog, "outputs", _ ("Keep _Outputs Only"));
  adw_message_dialog_add_response (dialog, "keep", large ? _ ("Keep _All") : _ ("_Keep"));
  adw_message_dialog_set_close_response (dialog, "cancel");
  adw_message_dialog_set_default_response (dialog, large ? "outputs" : "keep");
  adw_message_dialog_set_response_appearance (dialog, large ? "outputs" : "keep",
                                              ADW_RESPONSE_SUGGESTED);
}

void
adj_window_ask_keep (AdjWindow *self)
{
  AdjDocument *document = adj_window_get_document (self);
  AdjEvaluation *evaluation = adj_document_get_evaluation (document);
  guint64 n_bytes = adj_evaluation_count_bytes (evaluation, TRUE);
  gboolean large = n_bytes > ADJ_SESSION_MAX_KEPT;
  g_autofree char *size = adj_properties_bytes (n_bytes);
  g_autofree char *less = adj_properties_bytes (adj_evaluation_count_bytes (evaluation, FALSE));
  g_autofree char *name = propose_name (document);
  g_autofree char *body = NULL;
  GtkWidget *entry = gtk_entry_new ();
  GtkWidget *dialog;

  if (large)
    body = g_strdup_printf (_ ("With the values of all nodes the file grows by %s, with inputs and "
                               "outputs only by %s."),
                            size, less);
  else
    body = g_strdup_printf (_ ("Saving the file writes inputs, outputs and the values of all nodes "
                               "(%s). They can be run on and compared with later."),
                            size);
  dialog = adw_message_dialog_new (GTK_WINDOW (self), _ ("Keep This Run?"), body);
  gtk_window_set_title (GTK_WINDOW (dialog), _ ("Keep This Run?"));
  add_keep_responses (ADW_MESSAGE_DIALOG (dialog), large);
  gtk_editable_set_text (GTK_EDITABLE (entry), name);
  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Name of the Run"), -1);
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), entry);
  g_signal_connect_object (entry, "changed", G_CALLBACK (on_name_changed), dialog, 0);
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_keep_response), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* -- showing what was written -- */

static void
on_shown (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autofree char *folder = data;
  g_autoptr (GVariant) reply =
      g_dbus_connection_call_finish (G_DBUS_CONNECTION (source), result, NULL);

  /* No file manager answers over D-Bus: opens the folder with the default application. */
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

/* -- tracing -- */

static void
start_trace (AdjWindow *self, AdjGradientsChoice gradients)
{
  AdjDocument *source = adj_window_get_document (self);
  const char *role = adj_document_get_graph (source)->role;
  AdjTraceChoice choice = {
    .gradients = gradients,
    .functionalizes = g_str_equal (role, "dynamo") || g_str_equal (role, "user"),
  };

  if (adj_graph_set_get_n (adj_document_get_graphs (source)) == 1)
    {
      adj_document_trace (source, &choice);
    }
  else
    {
      adj_window_new_tab (self);
      adj_document_open_trace (adj_window_get_document (self), source, &choice);
    }
  adj_window_show_page (self, "changes");
}

static void
on_gradients_response (AdwMessageDialog *dialog, const char *response, AdjWindow *self)
{
  AdjDocument *document = adj_window_get_document (self);

  if (g_str_equal (response, "cancel") || document == NULL ||
      adj_document_get_graph (document) == NULL)
    return;
  start_trace (self, g_str_equal (response, "none") ? ADJ_GRADIENTS_NONE : ADJ_GRADIENTS_GUESSED);
}

static void
ask_gradients (AdjWindow *self, const AdjGraph *graph, const GArray *wanted)
{
  guint n = 0, n_inputs = adj_graph_get_n_inputs (graph);
  g_autofree char *text = NULL;
  GtkWidget *dialog;

  for (guint i = 0; i < wanted->len; i++)
    n += g_array_index (wanted, gboolean, i);
  text = g_strdup_printf (_ ("The text of this graph does not say, and no joint graph beside it "
                             "does.  %u of its %u inputs could."),
                          n, n_inputs);
  dialog = adw_message_dialog_new (GTK_WINDOW (self), _ ("Which Inputs Require a Gradient?"), text);
  gtk_window_set_title (GTK_WINDOW (dialog), _ ("Which Inputs Require a Gradient?"));
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "none",
                                    _ ("_None: Forward Only"), "parameters",
                                    _ ("_Those That Could"), NULL);
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "parameters");
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "parameters",
                                              ADW_RESPONSE_SUGGESTED);
  g_signal_connect_object (dialog, "response", G_CALLBACK (on_gradients_response), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

void
adj_window_ask_trace (AdjWindow *self)
{
  AdjDocument *document = adj_window_get_document (self);
  const AdjBundleGraph *graph = adj_document_get_graph (document);
  g_autoptr (GArray) wanted = NULL;

  if (adj_wanted_gradients_find (adj_document_get_bundle (document), graph, &wanted) ==
      ADJ_GRADIENTS_UNKNOWN)
    ask_gradients (self, graph->graph, wanted);
  else
    start_trace (self, ADJ_GRADIENTS_AS_KNOWN);
}
