/* SPDX-License-Identifier: MIT */
/* A tab's page: sidebar, canvas, panel and inspector of one document. */

#include "window/adj-document-page.h"

#include <glib/gi18n.h>

#include "panel/adj-backward-page.h"
#include "panel/adj-facts-page.h"
#include "panel/adj-log-page.h"
#include "panel/adj-memory-page.h"
#include "panel/adj-run-page.h"
#include "panel/adj-source-page.h"
#include "panel/adj-text-page.h"
#include "panel/adj-values-page.h"
#include "stages/adj-changes-page.h"
#include "stages/adj-contract-page.h"
#include "stages/adj-findings-page.h"
#include "stages/adj-pareto-page.h"
#include "widgets/name-widgets.h"
#include "window/adj-settings.h"
#include "window/adj-start-page.h"
#include "window/page-view-private.h"

#define INSPECTOR_WIDTH 300
#define INSPECTOR_HEIGHT 120 /* least, below the canvas */
#define CANVAS_HEIGHT 320    /* least, above the panel; 3/5 of both where there is less */

G_DEFINE_FINAL_TYPE (AdjDocumentPage, adj_document_page, ADW_TYPE_BIN)

/* -- the pages at the bottom -- */

static const struct
{
  const char *name, *title;
  GType (*get_type) (void); /* a subclass of AdjPanel */
} bottom[] = {
  { "source", N_ ("Source"), adj_source_page_get_type },
  { "run", N_ ("Run"), adj_run_page_get_type },
  { "values", N_ ("Values"), adj_values_page_get_type },
  { "memory", N_ ("Memory"), adj_memory_page_get_type },
  { "backward", N_ ("Backward"), adj_backward_page_get_type },
  { "text", N_ ("Text"), adj_text_page_get_type },
  { "changes", N_ ("Changes"), adj_changes_page_get_type },
  { "contract", N_ ("Contract"), adj_contract_page_get_type },
  { "partitions", N_ ("Partitions"), adj_pareto_page_get_type },
  { "findings", N_ ("Findings"), adj_findings_page_get_type },
  { "facts", N_ ("Facts"), adj_facts_page_get_type },
  { "log", N_ ("Log"), adj_log_page_get_type },
};

/* Its tabs have no names of their own in GTK 4.8. */
static void
on_page_switched (GtkNotebook *panel, GtkWidget *page, guint index, gpointer data)
{
  g_autofree char *name = g_strdup_printf (_ ("Panel, %s, page %u of %u"), _ (bottom[index].title),
                                           index + 1, (guint) G_N_ELEMENTS (bottom));

  gtk_accessible_update_property (GTK_ACCESSIBLE (panel), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

static void
fill_panel (AdjDocumentPage *self)
{
  g_signal_connect (self->panel, "switch-page", G_CALLBACK (on_page_switched), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (bottom); i++)
    {
      GtkWidget *page = g_object_new (bottom[i].get_type (), NULL);

      gtk_notebook_append_page (self->panel, page, gtk_label_new (_ (bottom[i].title)));
      adj_panel_set_document (page, self->document);
    }
}

void
adj_document_page_show (AdjDocumentPage *self, const char *name)
{
  g_return_if_fail (ADJ_IS_DOCUMENT_PAGE (self));

  gtk_widget_set_visible (GTK_WIDGET (self->panel), TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (bottom); i++)
    if (g_str_equal (name, bottom[i].name))
      gtk_notebook_set_current_page (self->panel, (int) i);
}

/* The selected row of a visible list: GTK 4.18 would focus its first row, even if that is out of
 * view. */
static GtkWidget *
find_selected_row (GtkWidget *widget)
{
  GtkWidget *found = NULL;

  if (!gtk_widget_get_mapped (widget))
    return NULL;
  if (g_str_equal (gtk_widget_get_css_name (widget), "row") &&
      (gtk_widget_get_state_flags (widget) & GTK_STATE_FLAG_SELECTED) != 0)
    return widget;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL && found == NULL;
       child = gtk_widget_get_next_sibling (child))
    found = find_selected_row (child);
  return found;
}

void
adj_document_page_focus_panel (AdjDocumentPage *self)
{
  GtkWidget *page, *row;

  g_return_if_fail (ADJ_IS_DOCUMENT_PAGE (self));

  gtk_widget_set_visible (GTK_WIDGET (self->panel), TRUE);
  page = gtk_notebook_get_nth_page (self->panel, gtk_notebook_get_current_page (self->panel));
  row = find_selected_row (page);
  if (ADJ_IS_RUN_PAGE (page))
    adj_run_page_focus (ADJ_RUN_PAGE (page));
  else if (row != NULL)
    gtk_widget_grab_focus (row);
  else if (!gtk_widget_grab_focus (page) && !gtk_widget_child_focus (page, GTK_DIR_TAB_FORWARD))
    gtk_widget_grab_focus (GTK_WIDGET (self->panel)); /* the tabs, as an empty page takes no keys */
}

/* -- what the document says -- */

/* Focuses the canvas with the first picture, unless the focus is elsewhere. */
static void
focus_picture (AdjDocumentPage *self)
{
  GtkRoot *root = gtk_widget_get_root (GTK_WIDGET (self));
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;

  if (gtk_widget_get_mapped (GTK_WIDGET (self->pages)) &&
      (focus == NULL || !GTK_IS_EDITABLE (focus)))
    gtk_widget_grab_focus (GTK_WIDGET (adj_document_page_get_view (self)));
}

static void
update_page (AdjDocumentPage *self)
{
  const char *page = "start", *before = gtk_stack_get_visible_child_name (self->pages);

  if (adj_document_get_error (self->document) != NULL)
    page = "problem";
  else if (adj_document_get_scene (self->document) != NULL)
    page = "work";
  else if (*adj_document_get_title (self->document) != '\0')
    page = "loading";
  gtk_spinner_set_spinning (self->spinner, g_str_equal (page, "loading"));
  gtk_stack_set_visible_child_name (self->pages, page);
  if (g_str_equal (page, "work") && g_strcmp0 (before, page) != 0)
    focus_picture (self);
}

/* Reveals the inspector with the first selection and hides it with the last; it does not cover one
 * of two graphs side by side. */
static void
update_selected (AdjDocumentPage *self)
{
  gboolean any = adj_node_id_is_valid (adj_document_get_selected (self->document));
  gboolean in_the_way = gtk_widget_get_visible (GTK_WIDGET (self->beside_pane)) &&
                        adw_flap_get_folded (self->inspector_flap);

  if (any != self->had_selection && !(any && in_the_way))
    adw_flap_set_reveal_flap (self->inspector_flap, any);
  self->had_selection = any;
}

static void
on_inspector_moved (AdjDocumentPage *self)
{
  if (adw_flap_get_folded (self->inspector_flap) && adw_flap_get_reveal_flap (self->inspector_flap))
    adj_graph_view_uncover_soon (adj_canvas_page_get_view (self->canvas_page));
}

/* Where canvas and inspector do not fit side by side, the inspector covers the lower part of the
 * canvas, which stays usable. */
static void
update_narrow (AdjDocumentPage *self)
{
  GtkWidget *flap = GTK_WIDGET (self->inspector_flap), *inspector = GTK_WIDGET (self->inspector);
  int width = gtk_widget_get_width (flap), height = gtk_widget_get_height (flap), beside;
  gboolean narrow;

  gtk_widget_measure (adw_flap_get_content (self->inspector_flap), GTK_ORIENTATION_HORIZONTAL, -1,
                      &beside, NULL, NULL, NULL);
  narrow = width > 0 && width < beside + INSPECTOR_WIDTH;
  gtk_widget_set_size_request (inspector, narrow ? -1 : INSPECTOR_WIDTH,
                               narrow ? MAX (height * 2 / 5, INSPECTOR_HEIGHT) : -1);
  if (narrow ==
      (gtk_orientable_get_orientation (GTK_ORIENTABLE (flap)) == GTK_ORIENTATION_VERTICAL))
    return;
  adw_flap_set_modal (self->inspector_flap, !narrow);
  adw_flap_set_fold_policy (self->inspector_flap,
                            narrow ? ADW_FLAP_FOLD_POLICY_ALWAYS : ADW_FLAP_FOLD_POLICY_AUTO);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (flap),
                                  narrow ? GTK_ORIENTATION_VERTICAL : GTK_ORIENTATION_HORIZONTAL);
  gtk_orientable_set_orientation (GTK_ORIENTABLE (adw_flap_get_separator (self->inspector_flap)),
                                  narrow ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL);
  on_inspector_moved (self);
}

/* Keeps the canvas at its least height: the panel keeps its own when the window shrinks, and a new
 * window starts with it. */
static void
update_share (AdjDocumentPage *self)
{
  int most, least = MIN (gtk_widget_get_height (GTK_WIDGET (self->paned)) * 3 / 5, CANVAS_HEIGHT);

  g_object_get (self->paned, "max-position", &most, NULL);
  least = MIN (least, most);
  if (gtk_widget_get_mapped (GTK_WIDGET (self->panel)) &&
      gtk_paned_get_position (self->paned) < least)
    gtk_paned_set_position (self->paned, least);
}

static void
on_canvas_changed (AdjDocumentPage *self)
{
  update_narrow (self);
  update_share (self);
}

/* Gives both graphs the same width at first. */
static void
on_beside_shown (AdjDocumentPage *self)
{
  GtkWidget *beside = GTK_WIDGET (self->beside_pane), *both = gtk_widget_get_parent (beside);

  if (gtk_widget_get_visible (beside) && gtk_widget_get_width (both) > 0)
    gtk_paned_set_position (GTK_PANED (both), gtk_widget_get_width (both) / 2);
}

/* Updates the text at the end of the panel's tabs. */
static void
update_note (AdjDocumentPage *self)
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
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->panel_note), text);
}

static void
update_evaluation (AdjDocumentPage *self)
{
  AdjEvaluation *evaluation = adj_document_get_evaluation (self->document);
  const AdjComparison *comparison =
      evaluation != NULL ? adj_evaluation_get_comparison (evaluation) : NULL;

  update_note (self);
  /* Started on the run page, the run shows its outputs there. */
  if (evaluation != NULL && !ADJ_IS_RUN_PAGE (gtk_notebook_get_nth_page (
                                self->panel, gtk_notebook_get_current_page (self->panel))))
    adj_document_page_show (self, "values");
  if (comparison != NULL && comparison->first >= 0)
    adj_document_set_selected (self->document, comparison->nodes[comparison->first].node);
}

/* -- problems -- */

/* Opens the log at the failure of a stage. */
static void
update_problem (AdjDocumentPage *self)
{
  if (adj_document_get_failed_stage (self->document) >= 0)
    adj_document_page_show (self, "log");
}

void
adj_document_page_lay_beside (AdjDocumentPage *self,
                              AdjGraphSet *graphs,
                              const AdjBundleGraph *graph,
                              const char *file)
{
  g_return_if_fail (ADJ_IS_DOCUMENT_PAGE (self));

  adj_beside_pane_set_graph (self->beside_pane, graphs, graph, file);
  gtk_widget_set_visible (GTK_WIDGET (self->beside_pane), TRUE);
}

char *
adj_document_page_get_details (AdjDocumentPage *self)
{
  const GError *error = adj_document_get_error (self->document);
  GFile *file = adj_document_get_file (self->document);
  g_autofree char *path = file != NULL ? g_file_get_parse_name (file)
                                       : g_strdup (adj_document_get_title (self->document));

  if (error == NULL)
    return NULL;
  return g_strdup_printf ("Adjoint %s\n%s\n%s (%s %d)\n", ADJ_VERSION, path, error->message,
                          g_quark_to_string (error->domain), error->code);
}

static void
update_bundle (AdjDocumentPage *self)
{
  GFile *file = adj_document_get_file (self->document);

  if (adj_document_get_bundle (self->document) != NULL && file != NULL)
    {
      g_autofree char *uri = g_file_get_uri (file);

      gtk_recent_manager_add_item (gtk_recent_manager_get_default (), uri);
    }
  update_note (self);
  update_page (self);
}

/* Removes a file that cannot be opened from the recent files. */
static void
forget_recent (AdjDocumentPage *self)
{
  GFile *file = adj_document_get_file (self->document);
  g_autofree char *uri = file != NULL ? g_file_get_uri (file) : NULL;

  if (uri != NULL && adj_document_get_error (self->document) != NULL)
    gtk_recent_manager_remove_item (gtk_recent_manager_get_default (), uri, NULL);
}

/* Shows the error on the page itself, since a bar above would repeat it. */
static void
update_status (AdjDocumentPage *self)
{
  const GError *error = adj_document_get_error (self->document);
  g_autofree char *escaped = error != NULL ? g_markup_escape_text (error->message, -1) : NULL;

  adw_status_page_set_title (self->problem_page, adj_document_is_waiting (self->document)
                                                     ? _ ("Waiting for a Graph")
                                                     : _ ("This File Cannot Be Shown"));
  adw_status_page_set_description (self->problem_page, escaped);
}

static void
update_error (AdjDocumentPage *self)
{
  forget_recent (self);
  update_status (self);
  update_page (self);
}

/* -- for the window -- */

AdjDocument *
adj_document_page_get_document (AdjDocumentPage *self)
{
  return self->document;
}

AdjGraphView *
adj_document_page_get_view (AdjDocumentPage *self)
{
  return adj_canvas_page_get_view (self->canvas_page);
}

gboolean
adj_document_page_is_free (AdjDocumentPage *self)
{
  return adj_document_get_error (self->document) != NULL ||
         *adj_document_get_title (self->document) == '\0';
}

void
adj_document_page_add_actions (AdjDocumentPage *self, GActionMap *map)
{
  const struct
  {
    const char *name;
    gpointer object;
    const char *property;
  } parts[] = {
    { "show-sidebar", self->sidebar_flap, "reveal-flap" },
    { "show-inspector", self->inspector_flap, "reveal-flap" },
    { "show-panel", self->panel, "visible" },
    { "show-beside", self->beside_pane, "visible" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++)
    {
      g_autoptr (GPropertyAction) action =
          g_property_action_new (parts[i].name, parts[i].object, parts[i].property);

      g_action_map_add_action (map, G_ACTION (action));
    }
}

void
adj_document_page_set_drop_target (AdjDocumentPage *self, gboolean target)
{
  if (target)
    gtk_widget_add_css_class (GTK_WIDGET (self->pages), "drop-target");
  else
    gtk_widget_remove_css_class (GTK_WIDGET (self->pages), "drop-target");
}

/* -- widget -- */

static void
adj_document_page_dispose (GObject *object)
{
  AdjDocumentPage *self = ADJ_DOCUMENT_PAGE (object);

  if (self->document != NULL)
    {
      page_view_save (self);
      g_signal_handlers_disconnect_by_data (self->document, self);
      adj_document_stop (self->document);
    }
  adw_bin_set_child (ADW_BIN (object), NULL);
  g_clear_object (&self->document);
  g_clear_object (&self->settings);

  G_OBJECT_CLASS (adj_document_page_parent_class)->dispose (object);
}

static void
ensure_types (void)
{
  g_type_ensure (ADJ_TYPE_BESIDE_PANE);
  g_type_ensure (ADJ_TYPE_CANVAS_PAGE);
  g_type_ensure (ADJ_TYPE_INSPECTOR);
  g_type_ensure (ADJ_TYPE_REMARKS_BAR);
  g_type_ensure (ADJ_TYPE_SIDEBAR);
  g_type_ensure (ADJ_TYPE_STAGE_BAR);
  g_type_ensure (ADJ_TYPE_STAGE_OPTIONS);
  g_type_ensure (ADJ_TYPE_START_PAGE);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjDocumentPage, name)

static void
adj_document_page_class_init (AdjDocumentPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_document_page_dispose;

  ensure_types ();
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/document-page.ui");
  BIND (remarks_bar);
  BIND (pages);
  BIND (problem_page);
  BIND (spinner);
  BIND (sidebar_flap);
  BIND (sidebar);
  BIND (inspector_flap);
  BIND (stage_bar);
  BIND (stage_options);
  BIND (canvas_page);
  BIND (beside_pane);
  BIND (inspector);
  BIND (paned);
  BIND (panel);
  BIND (panel_note);
}

static void
adj_document_page_init (AdjDocumentPage *self)
{
  static const struct
  {
    const char *signal;
    GCallback callback;
  } signals[] = {
    { "notify::title", G_CALLBACK (update_page) },
    { "notify::scene", G_CALLBACK (update_page) },
    { "notify::error", G_CALLBACK (update_error) },
    { "notify::problem", G_CALLBACK (update_problem) },
    { "notify::bundle", G_CALLBACK (update_bundle) },
    { "notify::evaluation", G_CALLBACK (update_evaluation) },
    { "notify::selected", G_CALLBACK (update_selected) },
    { "notify::scene", G_CALLBACK (page_view_restore_camera) },
    { "notify::scene", G_CALLBACK (page_view_save_soon) },
    { "notify::selected", G_CALLBACK (page_view_save_soon) },
    { "notify::arrangement", G_CALLBACK (page_view_save_soon) },
    { "notify::run-choice", G_CALLBACK (page_view_save_soon) },
  };

  self->document = adj_document_new ();
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_set_document (self->remarks_bar, self->document);
  adj_panel_set_document (self->sidebar, self->document);
  adj_panel_set_document (self->stage_bar, self->document);
  adj_panel_set_document (self->stage_options, self->document);
  adj_panel_set_document (self->canvas_page, self->document);
  adj_beside_pane_set_view (self->beside_pane, adj_canvas_page_get_view (self->canvas_page));
  g_signal_connect_object (self->beside_pane, "notify::visible", G_CALLBACK (on_beside_shown), self,
                           G_CONNECT_SWAPPED);
  adj_panel_set_document (self->beside_pane, self->document);
  adj_panel_set_document (self->inspector, self->document);
  fill_panel (self);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_swapped (self->document, signals[i].signal, signals[i].callback, self);
  g_signal_connect_object (adj_canvas_page_get_view (self->canvas_page), "camera-changed",
                           G_CALLBACK (page_view_save_soon), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (adj_canvas_page_get_view (self->canvas_page), "camera-changed",
                           G_CALLBACK (on_canvas_changed), self, G_CONNECT_SWAPPED);
  adj_graph_view_add_cover (adj_canvas_page_get_view (self->canvas_page),
                            GTK_WIDGET (self->inspector));
  g_signal_connect_object (self->inspector_flap, "notify::reveal-progress",
                           G_CALLBACK (on_inspector_moved), self, G_CONNECT_SWAPPED);
  adj_name_widgets (GTK_WIDGET (self));
  update_page (self);
}

GtkWidget *
adj_document_page_new (GSettings *settings)
{
  AdjDocumentPage *self = g_object_new (ADJ_TYPE_DOCUMENT_PAGE, NULL);

  if (settings != NULL)
    self->settings = g_object_ref (settings);
  if (adj_settings_begins_stacked (settings))
    adj_document_set_view (self->document, ADJ_VIEW_STACKED);
  adj_settings_keep (settings, "panel-position", self->paned, "position");
  adj_settings_keep (settings, "show-panel", self->panel, "visible");
  return GTK_WIDGET (self);
}
