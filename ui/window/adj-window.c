/* SPDX-License-Identifier: MIT */
#include "window/adj-window.h"

#include <glib/gi18n.h>
#include <string.h>

#include "model/adj-facts.h"
#include "panel/name-widgets.h"
#include "window/adj-document-page.h"
#include "window/adj-file-list.h"
#include "window/adj-search-bar.h"
#include "window/adj-settings.h"
#include "window/window-actions.h"

struct _AdjWindow
{
  AdwApplicationWindow parent_instance;

  GSettings *settings;           /* (owned) (nullable) */
  AdjDocument *document;         /* (owned) (nullable): of the chosen tab */
  GSignalGroup *signals;         /* of it */
  GtkFileChooserNative *chooser; /* (owned) (nullable): while it is open */
  void (*chosen) (AdjWindow *self, GFile *file);

  AdwWindowTitle *title;
  AdwSplitButton *run_button;
  AdwButtonContent *run_content;
  GMenu *inputs_menu;
  GMenu *compare_menu;
  GtkMenuButton *find_button;
  AdjSearchBar *search_bar;
  AdwToastOverlay *toasts;
  AdwTabView *tabs;
  GtkRevealer *status_revealer;
  GtkProgressBar *progress;
  GtkLabel *status;
};

G_DEFINE_FINAL_TYPE (AdjWindow, adj_window, ADW_TYPE_APPLICATION_WINDOW)

static AdjDocumentPage *
get_page (AdjWindow *self)
{
  AdwTabPage *tab = adw_tab_view_get_selected_page (self->tabs);

  return tab != NULL ? ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (tab)) : NULL;
}

/* -- what the document says -- */

static char *
describe_comparison (const AdjEvaluation *evaluation)
{
  const AdjComparison *comparison = adj_evaluation_get_comparison (evaluation);
  const AdjValueComparison *first;

  if (comparison == NULL)
    return NULL;
  if (comparison->first < 0)
    return adj_evaluation_get_peer (evaluation) != NULL
               ? g_strdup_printf (_ ("agrees with %s"), adj_evaluation_get_peer (evaluation))
               : g_strdup (_ ("agrees with what was recorded"));
  first = &comparison->nodes[comparison->first];
  return g_strdup_printf (
      first->inputs_agree ? _ ("first difference: %s, its inputs agree")
                          : _ ("first difference: %s"),
      adj_graph_get_node (adj_evaluation_get_graph (evaluation), first->node.index)->name);
}

static void
update_title (AdjWindow *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  AdjEvaluation *evaluation = adj_document_get_evaluation (self->document);
  AdjScene *scene = adj_document_get_scene (self->document);
  GString *subtitle = g_string_new (NULL);
  g_autofree char *title = NULL;

  if (graph == NULL || scene == NULL)
    {
      title = g_strdup (*adj_document_get_title (self->document) != '\0'
                            ? adj_document_get_title (self->document)
                            : _ ("Adjoint"));
    }
  else
    {
      g_autofree char *count = adj_facts_count (adj_graph_get_n_calls (graph->graph));
      g_autofree char *choice =
          adj_run_choice_describe (adj_document_get_run_choice (self->document));
      g_autofree char *verdict = evaluation != NULL ? describe_comparison (evaluation) : NULL;

      title = g_strdup_printf ("%s — %s", adj_document_get_title (self->document),
                               adj_facts_role_title (graph->role));
      if (graph->compile_id != NULL)
        g_string_append_printf (subtitle, _ ("region %s · "), graph->compile_id);
      g_string_append (subtitle, count);
      if (adj_scene_get_saved_bytes (scene) > 0 && g_strcmp0 (graph->role, "joint") == 0)
        {
          g_autofree char *bytes = adj_facts_bytes (adj_scene_get_saved_bytes (scene));

          g_string_append_printf (subtitle, _ (" · %s saved for backward"), bytes);
        }
      if (choice != NULL)
        g_string_append_printf (subtitle, " · %s", choice);
      if (verdict != NULL)
        g_string_append_printf (subtitle, " · %s", verdict);
    }
  adw_window_title_set_title (self->title, title);
  adw_window_title_set_subtitle (self->title, subtitle->str);
  gtk_window_set_title (GTK_WINDOW (self), title);
  g_string_free (subtitle, TRUE);
}

/* The calls that were recorded of the shown graph, to choose one. */
static void
update_inputs (AdjWindow *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  guint n = graph != NULL
                ? adj_run_choice_count_calls (adj_document_get_graphs (self->document), graph)
                : 0;

  g_menu_remove_all (self->inputs_menu);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *label = g_strdup_printf (_ ("Recorded Call %u"), i + 1);
      g_autofree char *action = g_strdup_printf ("win.inputs::call-%u", i);

      g_menu_append (self->inputs_menu, label, action);
    }
  g_menu_append (self->inputs_menu, _ ("Random _Inputs…"), "win.inputs::random");
}

/* -- comparing with another graph -- */

static AdjDocument *
get_nth_document (AdjWindow *self, int n)
{
  if (n < 0 || n >= adw_tab_view_get_n_pages (self->tabs))
    return NULL;
  return adj_document_page_get_document (
      ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (adw_tab_view_get_nth_page (self->tabs, n))));
}

/* The graphs of a document that take as many inputs as the shown one. */
static GMenu *
list_peers (AdjWindow *self, int n, const AdjBundleGraph *shown)
{
  AdjGraphSet *graphs = adj_document_get_graphs (get_nth_document (self, n));
  GMenu *menu = g_menu_new ();

  for (guint i = 0; graphs != NULL && i < adj_graph_set_get_n (graphs); i++)
    {
      const AdjBundleGraph *other = adj_graph_set_get (graphs, i);
      g_autoptr (GMenuItem) item = NULL;
      g_autofree char *label = NULL;

      if (other == shown ||
          adj_graph_get_n_inputs (other->graph) != adj_graph_get_n_inputs (shown->graph))
        continue;
      label = g_strdup_printf ("%s (%s)", adj_facts_role_title (other->role), other->id);
      item = g_menu_item_new (label, NULL);
      g_menu_item_set_action_and_target (item, "win.compare-with", "(us)", (guint) n, other->id);
      g_menu_append_item (menu, item);
    }
  return menu;
}

static void
update_peers (AdjWindow *self)
{
  const AdjBundleGraph *shown = adj_document_get_graph (self->document);

  g_menu_remove_all (self->compare_menu);
  for (int n = 0; shown != NULL && n < adw_tab_view_get_n_pages (self->tabs); n++)
    {
      g_autoptr (GMenu) peers = list_peers (self, n, shown);

      if (g_menu_model_get_n_items (G_MENU_MODEL (peers)) > 0)
        g_menu_append_section (self->compare_menu,
                               adj_document_get_title (get_nth_document (self, n)),
                               G_MENU_MODEL (peers));
    }
}

void
adj_window_compare_with (AdjWindow *self, guint tab, const char *id)
{
  AdjDocument *document = get_nth_document (self, (int) MIN (tab, G_MAXINT));
  AdjGraphSet *graphs = document != NULL ? adj_document_get_graphs (document) : NULL;
  guint index = graphs != NULL ? adj_graph_set_find (graphs, id, NULL) : G_MAXUINT;

  if (index != G_MAXUINT)
    adj_document_run_against (self->document, graphs, adj_graph_set_get (graphs, index));
}

static void
update_choice (AdjWindow *self)
{
  update_title (self);
  adj_window_update_actions (self);
}

static void
update_scene (AdjWindow *self)
{
  update_inputs (self);
  update_peers (self);
  update_title (self);
  adj_window_update_actions (self);
}

static void
update_status (AdjWindow *self)
{
  const char *status = adj_document_get_status (self->document);
  double fraction = adj_document_get_fraction (self->document);
  gboolean running = adj_document_is_running (self->document);
  g_autofree char *label = NULL;

  gtk_revealer_set_reveal_child (self->status_revealer, status != NULL);
  if (status != NULL)
    {
      gtk_label_set_text (self->status, status);
      if (fraction >= 0)
        gtk_progress_bar_set_fraction (self->progress, fraction);
      else
        gtk_progress_bar_pulse (self->progress);
    }
  if (running && fraction >= 0)
    label = g_strdup_printf (_ ("Stop (%.0f %%)"), 100 * fraction);
  else
    label = g_strdup (running ? _ ("Stop") : _ ("Run on CPU"));
  adw_button_content_set_label (self->run_content, label);
  adw_button_content_set_icon_name (self->run_content, running ? "media-playback-stop-symbolic"
                                                               : "media-playback-start-symbolic");
  gtk_actionable_set_action_name (GTK_ACTIONABLE (self->run_button),
                                  running ? "win.stop" : "win.run");
  adj_window_update_actions (self);
}

static void
on_remark (AdjWindow *self, const char *text)
{
  AdwToast *toast;
  g_autofree char *escaped = g_markup_escape_text (text, -1);

  toast = adw_toast_new (escaped);
  adw_toast_set_timeout (toast, 4);
  adw_toast_set_button_label (toast, _ ("Log"));
  adw_toast_set_action_name (toast, "win.show-page");
  adw_toast_set_action_target (toast, "s", "log");
  adw_toast_overlay_add_toast (self->toasts, toast);
}

static void
on_exported (AdjWindow *self, GFile *file)
{
  g_autofree char *name = g_file_get_basename (file);
  g_autofree char *uri = g_file_get_uri (file);
  g_autofree char *text = g_strdup_printf (_ ("Exported %s"), name);
  g_autofree char *escaped = g_markup_escape_text (text, -1);
  AdwToast *toast = adw_toast_new (escaped);

  adw_toast_set_button_label (toast, _ ("Show"));
  adw_toast_set_action_name (toast, "win.show-file");
  adw_toast_set_action_target (toast, "s", uri);
  adw_toast_overlay_add_toast (self->toasts, toast);
}

/* -- tabs -- */

static AdwTabPage *
find_tab (AdjWindow *self, AdjDocument *document)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tabs); i++)
    {
      AdwTabPage *tab = adw_tab_view_get_nth_page (self->tabs, i);

      if (adj_document_page_get_document (ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (tab))) ==
          document)
        return tab;
    }
  return NULL;
}

static void
update_tab (AdjWindow *self, GParamSpec *pspec, AdjDocument *document)
{
  AdwTabPage *tab = find_tab (self, document);
  const char *title = adj_document_get_title (document);
  GFile *file = adj_document_get_file (document);
  g_autofree char *tooltip = file != NULL ? g_file_get_parse_name (file) : g_strdup (title);
  g_autoptr (GIcon) icon = NULL;

  if (tab == NULL)
    return;
  if (adj_document_get_error (document) != NULL)
    icon = g_themed_icon_new ("dialog-error-symbolic");
  adw_tab_page_set_title (tab, *title != '\0' ? title : _ ("New Tab"));
  adw_tab_page_set_tooltip (tab, tooltip);
  adw_tab_page_set_icon (tab, icon);
  adw_tab_page_set_loading (tab, adj_document_get_status (document) != NULL);
}

static void
on_tab_status (AdjDocument *document, GParamSpec *pspec, AdjWindow *self)
{
  update_tab (self, pspec, document);
}

/* A result in a tab that nobody sees. */
static void
on_tab_evaluated (AdjDocument *document, GParamSpec *pspec, AdjWindow *self)
{
  AdwTabPage *tab = find_tab (self, document);

  if (tab != NULL && document != self->document && adj_document_get_evaluation (document) != NULL)
    adw_tab_page_set_needs_attention (tab, TRUE);
}

static void
on_selected_tab (AdjWindow *self)
{
  AdjDocumentPage *page = get_page (self);

  /* While the window goes. */
  if (page == NULL)
    return;
  adw_tab_page_set_needs_attention (adw_tab_view_get_selected_page (self->tabs), FALSE);
  g_set_object (&self->document, adj_document_page_get_document (page));
  g_signal_group_set_target (self->signals, self->document);
  adj_panel_set_document (self->search_bar, self->document);
  adj_document_page_add_actions (page, G_ACTION_MAP (self));
  update_scene (self);
  update_status (self);
}

static AdjDocumentPage *
add_tab (AdjWindow *self)
{
  GtkWidget *page = adj_document_page_new (self->settings);
  AdjDocument *document = adj_document_page_get_document (ADJ_DOCUMENT_PAGE (page));
  AdwTabPage *tab = adw_tab_view_append (self->tabs, page);
  static const struct
  {
    const char *signal;
    GCallback callback;
  } signals[] = {
    { "notify::title", G_CALLBACK (on_tab_status) },
    { "notify::error", G_CALLBACK (on_tab_status) },
    { "notify::status", G_CALLBACK (on_tab_status) },
    { "notify::evaluation", G_CALLBACK (on_tab_evaluated) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (document, signals[i].signal, signals[i].callback, self, 0);
  g_signal_connect_object (document, "remark", G_CALLBACK (on_remark), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "exported", G_CALLBACK (on_exported), self, G_CONNECT_SWAPPED);
  update_tab (self, NULL, document);
  adw_tab_view_set_selected_page (self->tabs, tab);
  return ADJ_DOCUMENT_PAGE (page);
}

static gboolean
on_close_tab (AdjWindow *self, AdwTabPage *tab)
{
  AdjDocumentPage *page = ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (tab));

  adj_document_stop (adj_document_page_get_document (page));
  adw_tab_view_close_page_finish (self->tabs, tab, TRUE);
  if (adw_tab_view_get_n_pages (self->tabs) == 0)
    gtk_window_close (GTK_WINDOW (self));
  return GDK_EVENT_STOP;
}

void
adj_window_new_tab (AdjWindow *self)
{
  g_return_if_fail (ADJ_IS_WINDOW (self));

  add_tab (self);
}

void
adj_window_close_tab (AdjWindow *self)
{
  g_return_if_fail (ADJ_IS_WINDOW (self));

  adw_tab_view_close_page (self->tabs, adw_tab_view_get_selected_page (self->tabs));
}

/* -- opening -- */

/* The chosen tab when it is free, else a new one. */
static AdjDocumentPage *
get_room (AdjWindow *self)
{
  AdjDocumentPage *page = get_page (self);

  if (page == NULL || !adj_document_page_is_free (page))
    page = add_tab (self);
  return page;
}

/* Shows the tab of @file, if it has one. */
static AdjDocumentPage *
find_open (AdjWindow *self, GFile *file)
{
  for (int i = 0; i < adw_tab_view_get_n_pages (self->tabs); i++)
    {
      AdwTabPage *tab = adw_tab_view_get_nth_page (self->tabs, i);
      AdjDocumentPage *page = ADJ_DOCUMENT_PAGE (adw_tab_page_get_child (tab));
      GFile *other = adj_document_get_file (adj_document_page_get_document (page));

      if (other != NULL && g_file_equal (other, file))
        {
          adw_tab_view_set_selected_page (self->tabs, tab);
          return page;
        }
    }
  return NULL;
}

void
adj_window_open (AdjWindow *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  g_auto (AdjGraphName) name = { 0 };
  g_autoptr (GFile) named = NULL;
  AdjDocumentPage *page;

  g_return_if_fail (ADJ_IS_WINDOW (self));

  if (path == NULL)
    {
      adj_document_page_open (get_room (self), file, NULL);
      return;
    }
  adj_graph_name_init (&name, path);
  named = g_file_new_for_path (name.path);
  page = find_open (self, named);
  if (page == NULL)
    page = get_room (self);
  /* Once more: it may have been written anew. */
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
      on_remark (self, _ ("There is no text to paste"));
      return;
    }
  bytes = g_bytes_new (text, strlen (text));
  adj_document_open_text (adj_document_page_get_document (get_room (self)), bytes);
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

  adj_document_page_set_drop_target (get_page (self), FALSE);
  for (GSList *l = files; l != NULL; l = l->next)
    adj_window_open (self, l->data);
  return files != NULL;
}

static GdkDragAction
on_drag_enter (GtkDropTarget *target, double x, double y, AdjWindow *self)
{
  adj_document_page_set_drop_target (get_page (self), TRUE);
  return GDK_ACTION_COPY;
}

static void
on_drag_leave (GtkDropTarget *target, AdjWindow *self)
{
  adj_document_page_set_drop_target (get_page (self), FALSE);
}

/* -- parts -- */

void
adj_window_show_page (AdjWindow *self, const char *name)
{
  adj_document_page_show (get_page (self), name);
}

void
adj_window_find (AdjWindow *self)
{
  gtk_menu_button_popup (self->find_button);
  adj_search_bar_focus (self->search_bar);
}

void
adj_window_find_step (AdjWindow *self, gint step)
{
  adj_search_bar_step (self->search_bar, step);
}

void
adj_window_copy_details (AdjWindow *self)
{
  g_autofree char *text = adj_document_page_get_details (get_page (self));

  if (text == NULL)
    return;
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text);
  on_remark (self, _ ("Copied"));
}

AdjDocument *
adj_window_get_document (AdjWindow *self)
{
  return self->document;
}

AdjGraphView *
adj_window_get_view (AdjWindow *self)
{
  return adj_document_page_get_view (get_page (self));
}

/* -- widget -- */

static void
adj_window_dispose (GObject *object)
{
  AdjWindow *self = ADJ_WINDOW (object);

  if (self->signals != NULL)
    g_signal_group_set_target (self->signals, NULL);
  g_clear_object (&self->signals);
  g_clear_object (&self->settings);
  g_clear_object (&self->chooser);
  g_clear_object (&self->document);

  G_OBJECT_CLASS (adj_window_parent_class)->dispose (object);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjWindow, name)

static void
adj_window_class_init (AdjWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_window_dispose;

  g_type_ensure (ADJ_TYPE_FILE_LIST);
  g_type_ensure (ADJ_TYPE_SEARCH_BAR);
  gtk_widget_class_set_template_from_resource (widget_class, "/org/adjoint/Workbench/ui/window.ui");
  /* Not an accelerator of the application: entries paste before us. */
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_v, GDK_CONTROL_MASK, "win.paste",
                                       NULL);
  BIND (title);
  BIND (run_button);
  BIND (run_content);
  BIND (inputs_menu);
  BIND (compare_menu);
  BIND (find_button);
  BIND (search_bar);
  BIND (toasts);
  BIND (tabs);
  BIND (status_revealer);
  BIND (progress);
  BIND (status);
}

static void
watch_document (AdjWindow *self)
{
  static const struct
  {
    const char *signal;
    GCallback callback;
  } signals[] = {
    { "notify::title", G_CALLBACK (update_scene) },
    { "notify::scene", G_CALLBACK (update_scene) },
    { "notify::error", G_CALLBACK (update_scene) },
    { "notify::bundle", G_CALLBACK (update_scene) },
    { "notify::evaluation", G_CALLBACK (update_title) },
    { "notify::selected", G_CALLBACK (adj_window_update_actions) },
    { "notify::run-choice", G_CALLBACK (update_choice) },
    { "notify::history", G_CALLBACK (adj_window_update_actions) },
    { "notify::arrangement", G_CALLBACK (adj_window_update_actions) },
    { "notify::status", G_CALLBACK (update_status) },
  };

  self->signals = g_signal_group_new (ADJ_TYPE_DOCUMENT);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_group_connect_swapped (self->signals, signals[i].signal, signals[i].callback, self);
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
  watch_document (self);
  adj_window_add_actions (self);
  /* Alt with a digit is for passes. */
  adw_tab_view_remove_shortcuts (self->tabs,
                                 ADW_TAB_VIEW_SHORTCUT_ALT_DIGITS | ADW_TAB_VIEW_SHORTCUT_ALT_ZERO);
  g_signal_connect_swapped (self->tabs, "notify::selected-page", G_CALLBACK (on_selected_tab),
                            self);
  g_signal_connect_swapped (self->tabs, "close-page", G_CALLBACK (on_close_tab), self);
  add_tab (self);
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
