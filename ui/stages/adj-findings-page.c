/* SPDX-License-Identifier: MIT */
/* The panel page of findings. */

#include "stages/adj-findings-page.h"

#include <glib/gi18n.h>

#include "model/adj-checking.h"
#include "widgets/adj-row-look.h"
#include "widgets/node-rows.h"
#include "widgets/quick-find.h"

struct _AdjFindingsPage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  AdwStatusPage *nothing;
  GtkSearchBar *bar;
  GtkListView *rows;
  AdjBundle *bundle;     /* (owned) (nullable): bundle that was or is being checked */
  AdjTask *checking;     /* (owned) (nullable) */
  AdjFindings *findings; /* (owned) (nullable) */
};

G_DEFINE_FINAL_TYPE (AdjFindingsPage, adj_findings_page, ADJ_TYPE_PANEL)

static const AdjFinding *
get_finding (AdjFindingsPage *self, guint position)
{
  return adj_findings_get (self->findings, position);
}

static char *
describe (const AdjFinding *finding)
{
  return g_strdup_printf ("%s: %s", finding->check->summary, finding->message);
}

static void
bind (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  AdjFindingsPage *self = data;
  AdjDocument *document = adj_panel_get_document (self);
  const AdjFinding *finding = get_finding (self, gtk_list_item_get_position (item));
  guint graph = document != NULL ? adj_document_find_graph (document, finding->graph) : G_MAXUINT;
  g_autofree char *text = describe (finding);

  gtk_label_set_text (
      cells[0],
      graph != G_MAXUINT ? adj_graph_set_get (adj_document_get_graphs (document), graph)->id : "");
  gtk_label_set_text (cells[1], text);
  gtk_label_set_text (cells[2], finding->check->versions);
  gtk_widget_set_tooltip_text (row, finding->check->explain);
}

static const AdjRowLook look = {
  .n = 3,
  .cells = { { .css_class = "dim-label" },
             { .expand = TRUE, .wrap = TRUE },
             { .css_class = "caption" } },
  .spacing = 12,
  .bind = bind,
};

/* The nodes of the finding, the culprit at the end, which makes it the current one.
 * (transfer full) */
static GArray *
list_nodes (const AdjFinding *finding)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = finding->n_nodes; i-- > 0;)
    g_array_append_val (nodes, finding->nodes[i].index);
  return nodes;
}

static void
on_activated (AdjFindingsPage *self, guint position)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjFinding *finding = get_finding (self, position);
  guint graph = adj_document_find_graph (document, finding->graph);
  g_autoptr (GArray) nodes = list_nodes (finding);

  if (graph != G_MAXUINT)
    adj_document_show_nodes (document, graph, nodes);
}

static AdjMenu
prepare_row (gpointer item, guint position, char **target, gpointer data)
{
  AdjFindingsPage *self = data;
  AdjDocument *document = adj_panel_get_document (self);
  const AdjFinding *finding = get_finding (self, position);
  g_autoptr (GArray) nodes = list_nodes (finding);

  gtk_selection_model_select_item (gtk_list_view_get_model (self->rows), position, TRUE);
  return adj_node_rows_take (document, adj_document_find_graph (document, finding->graph), nodes,
                             target);
}

static char *
get_row_text (gpointer item, guint position, gpointer self)
{
  return describe (get_finding (self, position));
}

static void
list_findings (AdjFindingsPage *self)
{
  guint n = adj_findings_get_n (self->findings);
  g_autoptr (GListStore) store = g_list_store_new (G_TYPE_OBJECT);
  g_autoptr (GtkSelectionModel) model = NULL;
  g_autofree char *text = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GObject) row = g_object_new (G_TYPE_OBJECT, NULL);

      g_list_store_append (store, row);
    }
  model = GTK_SELECTION_MODEL (gtk_single_selection_new (G_LIST_MODEL (g_steal_pointer (&store))));
  gtk_list_view_set_model (self->rows, model);
  text = g_strdup_printf (_ ("None of the %u known ways in which a graph is silently wrong"),
                          adj_checks_get_n ());
  adw_status_page_set_title (self->nothing, _ ("No Findings"));
  adw_status_page_set_description (self->nothing, text);
  gtk_stack_set_visible_child_name (self->stack, n > 0 ? "findings" : "nothing");
}

static void
on_checked (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjFindingsPage *self = ADJ_FINDINGS_PAGE (source);

  /* Another file was opened meanwhile. */
  if (adj_task_from_result (result) != self->checking)
    return;
  g_clear_pointer (&self->checking, adj_task_unref);
  self->findings = adj_task_finish (result, NULL);
  if (self->findings != NULL)
    list_findings (self);
}

static void
forget (AdjFindingsPage *self)
{
  if (self->checking != NULL)
    adj_task_cancel (self->checking);
  g_clear_pointer (&self->checking, adj_task_unref);
  if (self->findings != NULL)
    {
      adj_panel_leave (GTK_WIDGET (self->rows));
      gtk_list_view_set_model (self->rows, NULL);
    }
  g_clear_pointer (&self->findings, adj_findings_free);
  g_clear_pointer (&self->bundle, adj_bundle_unref);
}

/* Checks only when the page is visible. */
static void
update (AdjFindingsPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjBundle *bundle = document != NULL ? adj_document_get_bundle (document) : NULL;

  if (bundle == self->bundle || (bundle != NULL && !gtk_widget_get_mapped (GTK_WIDGET (self))))
    return;
  forget (self);
  if (bundle == NULL)
    return;
  self->bundle = adj_bundle_ref (bundle);
  adw_status_page_set_title (self->nothing, _ ("Checking…"));
  adw_status_page_set_description (self->nothing, NULL);
  gtk_stack_set_visible_child_name (self->stack, "nothing");
  self->checking = adj_checking_start (G_OBJECT (self), bundle, on_checked);
}

static void
adj_findings_page_dispose (GObject *object)
{
  forget (ADJ_FINDINGS_PAGE (object));

  G_OBJECT_CLASS (adj_findings_page_parent_class)->dispose (object);
}

static void
adj_findings_page_class_init (AdjFindingsPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_findings_page_dispose;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/findings-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjFindingsPage, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjFindingsPage, nothing);
  gtk_widget_class_bind_template_child (widget_class, AdjFindingsPage, rows);
  gtk_widget_class_bind_template_child (widget_class, AdjFindingsPage, bar);
}

static void
adj_findings_page_init (AdjFindingsPage *self)
{
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&look, self);

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_list_view_set_factory (self->rows, factory);
  g_signal_connect_swapped (self->rows, "activate", G_CALLBACK (on_activated), self);
  adj_context_menu_watch_rows (GTK_WIDGET (self->rows), prepare_row, self);
  adj_quick_find_add_rows (self->bar, GTK_WIDGET (self->rows), _ ("Find a Finding"), get_row_text,
                           self);
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
  adj_panel_watch (ADJ_PANEL (self), "notify::bundle", G_CALLBACK (update));
}
