/* SPDX-License-Identifier: MIT */
/* The main window: opening, pasting, dropping, closing. */

#include "window/adj-window.h"

#include <glib/gi18n.h>
#include <string.h>

#include "model/adj-log.h"
#include "widgets/name-widgets.h"
#include "window/adj-file-list.h"
#include "window/adj-preferences.h"
#include "window/adj-settings.h"
#include "window/window-actions.h"
#include "window/window-menus.h"
#include "window/window-private.h"
#include "window/window-saving.h"
#include "window/window-shortcuts.h"

G_DEFINE_FINAL_TYPE (AdjWindow, adj_window, ADW_TYPE_APPLICATION_WINDOW)

/* -- opening -- */

static void
open_link (AdjWindow *self, const char *text)
{
  g_auto (AdjLink) link = { NULL };
  g_autoptr (GError) error = NULL;
  AdjDocumentPage *page;

  if (!adj_link_parse (&link, text, &error))
    {
      adj_log_add (adj_document_get_log (self->document), ADJ_LOG_PROBLEM, "%s", error->message);
      adj_window_remark (self, error->message);
      return;
    }
  page = adj_window_find_open (self, link.file);
  if (page != NULL && adj_document_get_graph (adj_document_page_get_document (page)) != NULL)
    adj_document_follow_link (adj_document_page_get_document (page), &link);
  else
    adj_document_page_open_link (page != NULL ? page : adj_window_get_room (self), &link);
}

void
adj_window_open (AdjWindow *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  g_auto (AdjGraphName) name = { 0 };
  g_autoptr (GFile) named = NULL;
  AdjDocumentPage *page;

  g_return_if_fail (ADJ_IS_WINDOW (self));

  if (g_file_has_uri_scheme (file, ADJ_LINK_SCHEME))
    {
      g_autofree char *uri = g_file_get_uri (file);

      open_link (self, uri);
      return;
    }
  if (path == NULL)
    {
      adj_document_page_open (adj_window_get_room (self), file, NULL);
      return;
    }
  adj_graph_name_init (&name, path);
  named = g_file_new_for_path (name.path);
  page = adj_window_find_open (self, named);
  if (page == NULL)
    page = adj_window_get_room (self);
  /* Opens it again, as the file may have changed. */
  adj_document_page_open (page, named, name.id);
}

static void
on_clipboard (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (AdjWindow) self = data;
  g_autofree char *text = gdk_clipboard_read_text_finish (GDK_CLIPBOARD (source), result, NULL);
  g_autoptr (GBytes) bytes = NULL;

  if (self->document == NULL)
    return;
  if (text == NULL || *text == '\0')
    {
      adj_window_remark (self, _ ("There is no text to paste"));
      return;
    }
  if (adj_link_is (g_strstrip (text)))
    {
      open_link (self, text);
      return;
    }
  bytes = g_bytes_new (text, strlen (text));
  adj_document_open_text (adj_document_page_get_document (adj_window_get_room (self)), bytes);
}

void
adj_window_paste (AdjWindow *self)
{
  g_return_if_fail (ADJ_IS_WINDOW (self));

  gdk_clipboard_read_text_async (gtk_widget_get_clipboard (GTK_WIDGET (self)), NULL, on_clipboard,
                                 g_object_ref (self));
}

static void
on_response (AdjWindow *self, int response)
{
  g_autoptr (GFile) file = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (self->chooser));
  g_clear_object (&self->chooser);
  if (file != NULL)
    self->chosen (self, file);
  else
    adj_window_stay (self);
}

void
adj_window_choose (AdjWindow *self,
                   GtkFileChooserNative *chooser,
                   void (*chosen) (AdjWindow *self, GFile *file))
{
  g_return_if_fail (ADJ_IS_WINDOW (self));

  g_set_object (&self->chooser, chooser);
  self->chosen = chosen;
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (chooser), TRUE);
  g_signal_connect_swapped (chooser, "response", G_CALLBACK (on_response), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

static gboolean
on_drop (GtkDropTarget *target, const GValue *value, double x, double y, AdjWindow *self)
{
  GSList *files = g_value_get_boxed (value);

  adj_document_page_set_drop_target (adj_window_get_page (self), FALSE);
  for (GSList *l = files; l != NULL; l = l->next)
    adj_window_open (self, l->data);
  return files != NULL;
}

static GdkDragAction
on_drag_enter (GtkDropTarget *target, double x, double y, AdjWindow *self)
{
  adj_document_page_set_drop_target (adj_window_get_page (self), TRUE);
  return GDK_ACTION_COPY;
}

static void
on_drag_leave (GtkDropTarget *target, AdjWindow *self)
{
  adj_document_page_set_drop_target (adj_window_get_page (self), FALSE);
}

/* -- parts -- */

void
adj_window_show_page (AdjWindow *self, const char *name)
{
  adj_document_page_show (adj_window_get_page (self), name);
}

void
adj_window_focus_panel (AdjWindow *self)
{
  adj_document_page_focus_panel (adj_window_get_page (self));
}

void
adj_window_find (AdjWindow *self)
{
  gtk_menu_button_popup (self->find_button);
  adj_search_bar_focus (self->search_bar);
}

void
adj_window_open_palette (AdjWindow *self)
{
  GtkWidget *header = gtk_widget_get_first_child (self->content);

  /* Below the title. */
  gtk_popover_set_pointing_to (GTK_POPOVER (self->palette),
                               &(GdkRectangle){ gtk_widget_get_width (self->content) / 2,
                                                gtk_widget_get_height (header), 1, 1 });
  adj_command_palette_open (self->palette, self->document);
}

void
adj_window_show_preferences (AdjWindow *self)
{
  GtkWidget *window = adj_preferences_new (self->settings);

  gtk_window_set_transient_for (GTK_WINDOW (window), GTK_WINDOW (self));
  gtk_window_present (GTK_WINDOW (window));
}

void
adj_window_show_shortcuts (AdjWindow *self)
{
  GtkApplicationWindow *window = GTK_APPLICATION_WINDOW (self);

  /* The overlay has the action from then on. */
  if (gtk_application_window_get_help_overlay (window) == NULL)
    gtk_application_window_set_help_overlay (window, adj_shortcuts_window_new ());
  gtk_window_present (GTK_WINDOW (gtk_application_window_get_help_overlay (window)));
}

void
adj_window_find_step (AdjWindow *self, gint step)
{
  adj_search_bar_step (self->search_bar, step);
}

void
adj_window_copy (AdjWindow *self, const char *text)
{
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text);
  adj_window_remark (self, _ ("Copied"));
}

void
adj_window_copy_details (AdjWindow *self)
{
  g_autofree char *text = adj_document_page_get_details (adj_window_get_page (self));

  if (text != NULL)
    adj_window_copy (self, text);
}

AdjDocument *
adj_window_get_document (AdjWindow *self)
{
  return self->document;
}

AdjGraphView *
adj_window_get_view (AdjWindow *self)
{
  return adj_document_page_get_view (adj_window_get_page (self));
}

/* -- widget -- */

static void
adj_window_dispose (GObject *object)
{
  AdjWindow *self = ADJ_WINDOW (object);

  /* A stopped task reports to its tab, which must still exist. */
  for (int i = 0; self->tabs != NULL && i < adw_tab_view_get_n_pages (self->tabs); i++)
    adj_document_stop (adj_window_get_nth_document (self, i));
  if (self->signals != NULL)
    g_signal_group_set_target (self->signals, NULL);
  g_clear_object (&self->signals);
  if (self->palette != NULL)
    gtk_widget_unparent (GTK_WIDGET (self->palette));
  g_clear_object (&self->palette);
  if (self->context_menu != NULL)
    gtk_widget_unparent (GTK_WIDGET (self->context_menu));
  g_clear_object (&self->context_menu);
  g_clear_object (&self->settings);
  g_clear_object (&self->chooser);
  g_clear_object (&self->document);

  G_OBJECT_CLASS (adj_window_parent_class)->dispose (object);
}

/* The files of the last window are restored in the next session. */
static void
keep_open_files (AdjWindow *self)
{
  g_autoptr (GPtrArray) uris = g_ptr_array_new_with_free_func (g_free);

  for (int i = 0; i < adw_tab_view_get_n_pages (self->tabs); i++)
    {
      AdjDocument *document = adj_window_get_nth_document (self, i);
      GFile *file = adj_document_get_file (document);

      if (file != NULL && adj_document_get_error (document) == NULL)
        g_ptr_array_add (uris, g_file_get_uri (file));
    }
  g_ptr_array_add (uris, NULL);
  adj_settings_set_open_files (self->settings, (const char *const *) uris->pdata);
}

void
adj_window_reopen (AdjWindow *self)
{
  g_auto (GStrv) uris = adj_settings_get_open_files (self->settings);

  g_return_if_fail (ADJ_IS_WINDOW (self));

  for (guint i = 0; uris != NULL && uris[i] != NULL; i++)
    {
      g_autoptr (GFile) file = g_file_new_for_uri (uris[i]);

      if (g_file_query_exists (file, NULL))
        adj_window_open (self, file);
    }
}

static gboolean
adj_window_close_request (GtkWindow *window)
{
  if (!adj_window_may_close_all (ADJ_WINDOW (window)))
    return TRUE;
  keep_open_files (ADJ_WINDOW (window));
  return GTK_WINDOW_CLASS (adj_window_parent_class)->close_request (window);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjWindow, name)

static void
adj_window_class_init (AdjWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_window_dispose;
  GTK_WINDOW_CLASS (klass)->close_request = adj_window_close_request;

  g_type_ensure (ADJ_TYPE_FILE_LIST);
  g_type_ensure (ADJ_TYPE_SEARCH_BAR);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/adjoint/Workbench/ui/window.ui");
  /* Not an accelerator of the application: entries paste before us. */
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_v, GDK_CONTROL_MASK, "win.paste",
                                       NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_c, GDK_CONTROL_MASK, "win.copy-names",
                                       NULL);
  BIND (content);
  BIND (title);
  BIND (run_button);
  BIND (trace_box);
  BIND (run_content);
  BIND (inputs_menu);
  BIND (compare_menu);
  BIND (beside_menu);
  BIND (find_button);
  BIND (search_bar);
  BIND (toasts);
  BIND (tabs);
  BIND (status_revealer);
  BIND (progress);
  BIND (status);
  BIND (modules_button);
}

static void
adj_window_init (AdjWindow *self)
{
  GtkDropTarget *drop = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  gtk_widget_init_template (GTK_WIDGET (self));
  self->settings = adj_settings_new ();
  adj_settings_keep (self->settings, "window-width", self, "default-width");
  adj_settings_keep (self->settings, "window-height", self, "default-height");
  adj_settings_keep (self->settings, "window-maximized", self, "maximized");
  adj_window_watch_document (self);
  adj_window_watch_tabs (self);
  adj_window_add_tab (self);
  adj_window_add_actions (self);
  adj_window_update_actions (self);
  self->palette = g_object_ref_sink (adj_command_palette_new ());
  gtk_widget_set_parent (GTK_WIDGET (self->palette), self->content);
  adj_window_add_context_menu (self);
  adj_name_widgets (GTK_WIDGET (self));
  g_signal_connect (drop, "drop", G_CALLBACK (on_drop), self);
  g_signal_connect (drop, "enter", G_CALLBACK (on_drag_enter), self);
  g_signal_connect (drop, "leave", G_CALLBACK (on_drag_leave), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drop));
}

GtkWidget *
adj_window_new (AdwApplication *application)
{
  return g_object_new (ADJ_TYPE_WINDOW, "application", application, NULL);
}
