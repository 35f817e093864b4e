/* SPDX-License-Identifier: MIT */
#include "window/adj-window.h"

#include <glib/gi18n.h>
#include <string.h>

#include "canvas/adj-canvas-page.h"
#include "inspect/adj-inspector.h"
#include "model/adj-facts.h"
#include "panel/adj-log-page.h"
#include "panel/adj-source-page.h"
#include "panel/adj-text-page.h"
#include "panel/adj-values-page.h"
#include "sidebar/adj-sidebar.h"
#include "window/adj-file-list.h"
#include "window/adj-search-bar.h"
#include "window/adj-start-page.h"
#include "window/window-actions.h"

struct _AdjWindow
{
  AdwApplicationWindow parent_instance;

  AdjDocument *document;
  GtkFileChooserNative *chooser; /* (owned) (nullable): while it is open */
  void (*chosen) (AdjWindow *self, GFile *file);
  gboolean had_selection;

  AdwWindowTitle *title;
  AdwSplitButton *run_button;
  AdwButtonContent *run_content;
  GMenu *inputs_menu;
  GtkMenuButton *find_button;
  AdjSearchBar *search_bar;
  AdwToastOverlay *toasts;
  GtkStack *pages;
  AdwStatusPage *problem_page;
  GtkSpinner *spinner;
  AdwFlap *sidebar_flap;
  AdjSidebar *sidebar;
  GtkInfoBar *remarks_bar;
  GtkLabel *remarks_label;
  AdwFlap *inspector_flap;
  AdjCanvasPage *canvas_page;
  AdjInspector *inspector;
  GtkNotebook *panel;
  GtkLabel *panel_note;
  AdjSourcePage *source_page;
  AdjValuesPage *values_page;
  AdjTextPage *text_page;
  AdjLogPage *log_page;
  GtkRevealer *status_revealer;
  GtkProgressBar *progress;
  GtkLabel *status;
};

G_DEFINE_FINAL_TYPE (AdjWindow, adj_window, ADW_TYPE_APPLICATION_WINDOW)

/* -- what the document says -- */

static char *
describe_comparison (const AdjEvaluation *evaluation)
{
  const AdjComparison *comparison = adj_evaluation_get_comparison (evaluation);
  const AdjValueComparison *first;

  if (comparison == NULL)
    return NULL;
  if (comparison->first < 0)
    return g_strdup (_ ("agrees with what was recorded"));
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

static void
update_page (AdjWindow *self)
{
  const GError *error = adj_document_get_error (self->document);
  const char *page = "start";

  if (error != NULL)
    page = "problem";
  else if (adj_document_get_scene (self->document) != NULL)
    page = "work";
  else if (*adj_document_get_title (self->document) != '\0')
    page = "loading";
  if (error != NULL)
    {
      g_autofree char *text = g_markup_escape_text (error->message, -1);

      adw_status_page_set_description (self->problem_page, text);
    }
  gtk_spinner_set_spinning (self->spinner, g_str_equal (page, "loading"));
  gtk_stack_set_visible_child_name (self->pages, page);
}

/* The calls that were recorded of the shown graph, to choose one. */
static void
update_inputs (AdjWindow *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  guint n = graph != NULL
                ? adj_run_choice_count_calls (adj_document_get_bundle (self->document), graph)
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
  update_page (self);
  update_title (self);
  adj_window_update_actions (self);
}

/* The inspector comes with the first selection and goes with the last. */
static void
update_selected (AdjWindow *self)
{
  gboolean any = adj_node_id_is_valid (adj_document_get_selected (self->document));

  if (any != self->had_selection)
    adw_flap_set_reveal_flap (self->inspector_flap, any);
  self->had_selection = any;
  adj_window_update_actions (self);
}

/* What stands at the end of the panel's tabs. */
static void
update_note (AdjWindow *self)
{
  AdjBundle *bundle = adj_document_get_bundle (self->document);
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  AdjEvaluation *evaluation = adj_document_get_evaluation (self->document);
  g_autofree char *text = NULL;

  if (evaluation != NULL)
    text = adj_evaluation_describe (evaluation, graph->id);
  else if (bundle != NULL)
    text = g_strdup (adj_bundle_get_description (bundle));
  gtk_label_set_text (self->panel_note, text != NULL ? text : "");
}

static void
update_bundle (AdjWindow *self)
{
  AdjBundle *bundle = adj_document_get_bundle (self->document);
  const AdjDiags *diags = bundle != NULL ? adj_bundle_get_diags (bundle) : NULL;
  guint n = diags != NULL ? adj_diags_count (diags, ADJ_SEVERITY_WARNING) : 0;
  g_autofree char *text = NULL;
  GFile *file = adj_document_get_file (self->document);

  if (n > 0)
    {
      text =
          g_strdup_printf (ngettext ("%u remark about this file, which is usable nevertheless",
                                     "%u remarks about this file, which is usable nevertheless", n),
                           n);
      gtk_label_set_text (self->remarks_label, text);
    }
  gtk_info_bar_set_revealed (self->remarks_bar, n > 0);
  if (bundle != NULL && file != NULL)
    {
      g_autofree char *uri = g_file_get_uri (file);

      gtk_recent_manager_add_item (gtk_recent_manager_get_default (), uri);
    }
  update_note (self);
  update_scene (self);
}

static void
update_evaluation (AdjWindow *self)
{
  AdjEvaluation *evaluation = adj_document_get_evaluation (self->document);
  const AdjComparison *comparison =
      evaluation != NULL ? adj_evaluation_get_comparison (evaluation) : NULL;

  update_title (self);
  update_note (self);
  if (evaluation != NULL)
    adj_window_show_page (self, "values");
  if (comparison != NULL && comparison->first >= 0)
    adj_document_set_selected (self->document, comparison->nodes[comparison->first].node);
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

/* -- opening -- */

void
adj_window_open (AdjWindow *self, GFile *file)
{
  g_autofree char *path = g_file_get_path (file);
  g_auto (AdjGraphName) name = { 0 };
  g_autoptr (GFile) named = NULL;

  g_return_if_fail (ADJ_IS_WINDOW (self));

  if (path == NULL)
    {
      adj_document_open (self->document, file, NULL);
      return;
    }
  adj_graph_name_init (&name, path);
  named = g_file_new_for_path (name.path);
  adj_document_open (self->document, named, name.id);
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
  adj_document_open_text (self->document, bytes);
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

  gtk_widget_remove_css_class (GTK_WIDGET (self->pages), "drop-target");
  if (files == NULL)
    return FALSE;
  adj_window_open (self, files->data);
  return TRUE;
}

static GdkDragAction
on_drag_enter (GtkDropTarget *target, double x, double y, AdjWindow *self)
{
  gtk_widget_add_css_class (GTK_WIDGET (self->pages), "drop-target");
  return GDK_ACTION_COPY;
}

static void
on_drag_leave (GtkDropTarget *target, AdjWindow *self)
{
  gtk_widget_remove_css_class (GTK_WIDGET (self->pages), "drop-target");
}

/* -- parts -- */

void
adj_window_show_page (AdjWindow *self, const char *name)
{
  const struct
  {
    const char *name;
    gpointer page;
  } pages[] = { { "source", self->source_page },
                { "values", self->values_page },
                { "text", self->text_page },
                { "log", self->log_page } };

  gtk_widget_set_visible (GTK_WIDGET (self->panel), TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (pages); i++)
    if (g_str_equal (name, pages[i].name))
      gtk_notebook_set_current_page (
          self->panel, gtk_notebook_page_num (self->panel, GTK_WIDGET (pages[i].page)));
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
  const GError *error = adj_document_get_error (self->document);
  GFile *file = adj_document_get_file (self->document);
  g_autofree char *path = file != NULL ? g_file_get_parse_name (file)
                                       : g_strdup (adj_document_get_title (self->document));
  g_autofree char *text = NULL;

  if (error == NULL)
    return;
  text = g_strdup_printf ("Adjoint %s\n%s\n%s (%s %d)\n", ADJ_VERSION, path, error->message,
                          g_quark_to_string (error->domain), error->code);
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
  return adj_canvas_page_get_view (self->canvas_page);
}

/* -- widget -- */

static void
adj_window_dispose (GObject *object)
{
  AdjWindow *self = ADJ_WINDOW (object);

  if (self->document != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->document, self);
      adj_document_stop (self->document);
    }
  g_clear_object (&self->chooser);
  g_clear_object (&self->document);

  G_OBJECT_CLASS (adj_window_parent_class)->dispose (object);
}

static void
ensure_types (void)
{
  g_type_ensure (ADJ_TYPE_CANVAS_PAGE);
  g_type_ensure (ADJ_TYPE_FILE_LIST);
  g_type_ensure (ADJ_TYPE_INSPECTOR);
  g_type_ensure (ADJ_TYPE_LOG_PAGE);
  g_type_ensure (ADJ_TYPE_SEARCH_BAR);
  g_type_ensure (ADJ_TYPE_SIDEBAR);
  g_type_ensure (ADJ_TYPE_SOURCE_PAGE);
  g_type_ensure (ADJ_TYPE_START_PAGE);
  g_type_ensure (ADJ_TYPE_TEXT_PAGE);
  g_type_ensure (ADJ_TYPE_VALUES_PAGE);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjWindow, name)

static void
adj_window_class_init (AdjWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_window_dispose;

  ensure_types ();
  gtk_widget_class_set_template_from_resource (widget_class, "/org/adjoint/Workbench/ui/window.ui");
  /* Not an accelerator of the application: entries paste before us. */
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_v, GDK_CONTROL_MASK, "win.paste",
                                       NULL);
  BIND (title);
  BIND (run_button);
  BIND (run_content);
  BIND (inputs_menu);
  BIND (find_button);
  BIND (search_bar);
  BIND (toasts);
  BIND (pages);
  BIND (problem_page);
  BIND (spinner);
  BIND (sidebar_flap);
  BIND (sidebar);
  BIND (remarks_bar);
  BIND (remarks_label);
  BIND (inspector_flap);
  BIND (canvas_page);
  BIND (inspector);
  BIND (panel);
  BIND (panel_note);
  BIND (source_page);
  BIND (values_page);
  BIND (text_page);
  BIND (log_page);
  BIND (status_revealer);
  BIND (progress);
  BIND (status);
}

static void
add_panel_actions (AdjWindow *self)
{
  g_autoptr (GPropertyAction) sidebar =
      g_property_action_new ("show-sidebar", self->sidebar_flap, "reveal-flap");
  g_autoptr (GPropertyAction) inspector =
      g_property_action_new ("show-inspector", self->inspector_flap, "reveal-flap");
  g_autoptr (GPropertyAction) panel = g_property_action_new ("show-panel", self->panel, "visible");

  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (sidebar));
  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (inspector));
  g_action_map_add_action (G_ACTION_MAP (self), G_ACTION (panel));
}

static void
connect_document (AdjWindow *self)
{
  static const struct
  {
    const char *signal;
    GCallback callback;
  } signals[] = {
    { "notify::title", G_CALLBACK (update_scene) },
    { "notify::scene", G_CALLBACK (update_scene) },
    { "notify::error", G_CALLBACK (update_scene) },
    { "notify::bundle", G_CALLBACK (update_bundle) },
    { "notify::evaluation", G_CALLBACK (update_evaluation) },
    { "notify::selected", G_CALLBACK (update_selected) },
    { "notify::run-choice", G_CALLBACK (update_choice) },
    { "notify::history", G_CALLBACK (adj_window_update_actions) },
    { "notify::status", G_CALLBACK (update_status) },
    { "remark", G_CALLBACK (on_remark) },
    { "exported", G_CALLBACK (on_exported) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_swapped (self->document, signals[i].signal, signals[i].callback, self);
  adj_panel_set_document (self->sidebar, self->document);
  adj_panel_set_document (self->canvas_page, self->document);
  adj_panel_set_document (self->inspector, self->document);
  adj_panel_set_document (self->source_page, self->document);
  adj_panel_set_document (self->values_page, self->document);
  adj_panel_set_document (self->text_page, self->document);
  adj_panel_set_document (self->log_page, self->document);
  adj_panel_set_document (self->search_bar, self->document);
}

static void
adj_window_init (AdjWindow *self)
{
  GtkDropTarget *drop = gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  self->document = adj_document_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_window_add_actions (self);
  add_panel_actions (self);
  connect_document (self);
  g_signal_connect (drop, "drop", G_CALLBACK (on_drop), self);
  g_signal_connect (drop, "enter", G_CALLBACK (on_drag_enter), self);
  g_signal_connect (drop, "leave", G_CALLBACK (on_drag_leave), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drop));
  update_scene (self);
  update_status (self);
}

GtkWidget *
adj_window_new (AdwApplication *application)
{
  return g_object_new (ADJ_TYPE_WINDOW, "application", application, NULL);
}
