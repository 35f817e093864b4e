/* SPDX-License-Identifier: MIT */
/* The panel page of the metadata of AOTAutograd and the tape of functionalization. */

#include "stages/adj-contract-page.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-contract.h"
#include "model/adj-stages.h"
#include "widgets/adj-row-look.h"

struct _AdjContractPage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  AdwStatusPage *nothing;
  GtkListView *rows, *tape;
  GtkLabel *rows_title;
  GtkWidget *writes;     /* the part with the tape */
  AdjGraph *graph;       /* (owned) (nullable): graph that was or is being traced */
  AdjTask *tracing;      /* (owned) (nullable) */
  AdjContract *contract; /* (owned) (nullable) */
};

G_DEFINE_FINAL_TYPE (AdjContractPage, adj_contract_page, ADJ_TYPE_PANEL)

static void
bind_one (GPtrArray *rows, GtkListItem *item, GtkWidget *row, GtkLabel *const *cells)
{
  const AdjContractRow *one = rows->pdata[gtk_list_item_get_position (item)];
  g_autofree char *rule =
      *one->why != '\0' ? g_strdup_printf ("%s: %s", one->rule, one->why) : g_strdup (one->rule);

  gtk_label_set_text (cells[0], one->name);
  gtk_label_set_text (cells[1], one->text);
  gtk_label_set_text (cells[2], rule);
  gtk_widget_set_tooltip_text (GTK_WIDGET (cells[2]), _ ("Numbers are those of core/aot/SPEC.md"));
}

static void
bind_row (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  bind_one (ADJ_CONTRACT_PAGE (data)->contract->rows, item, row, cells);
}

static void
bind_event (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  bind_one (ADJ_CONTRACT_PAGE (data)->contract->tape, item, row, cells);
}

#define CELLS                                                                                      \
  {                                                                                                \
    { .css_class = "heading", .least = 12, .ellipsize = PANGO_ELLIPSIZE_END },                     \
        { .expand = TRUE, .wrap = TRUE }, { .css_class = "dim-label", .least = 22, .wrap = TRUE }, \
  }

static const AdjRowLook row_look = { .n = 3, .cells = CELLS, .spacing = 12, .bind = bind_row };
static const AdjRowLook event_look = {
  .n = 3, .cells = CELLS, .spacing = 12, .inactivable = TRUE, .bind = bind_event
};

static void
on_activated (AdjContractPage *self, guint position)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjContractRow *row = self->contract->rows->pdata[position];
  guint graph = adj_document_find_graph (document, self->graph);

  if (graph != G_MAXUINT && adj_node_id_is_valid (row->node))
    adj_document_show (document, graph, row->node);
}

static void
fill (GtkListView *list, guint n)
{
  g_autoptr (GListStore) store = g_list_store_new (G_TYPE_OBJECT);
  g_autoptr (GtkSelectionModel) model = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GObject) row = g_object_new (G_TYPE_OBJECT, NULL);

      g_list_store_append (store, row);
    }
  model = GTK_SELECTION_MODEL (gtk_single_selection_new (G_LIST_MODEL (g_steal_pointer (&store))));
  gtk_single_selection_set_autoselect (GTK_SINGLE_SELECTION (model), FALSE);
  gtk_single_selection_set_can_unselect (GTK_SINGLE_SELECTION (model), TRUE);
  gtk_single_selection_set_selected (GTK_SINGLE_SELECTION (model), GTK_INVALID_LIST_POSITION);
  gtk_list_view_set_model (list, model);
}

static void
on_traced (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjContractPage *self = ADJ_CONTRACT_PAGE (source);
  g_autoptr (GError) error = NULL;

  /* Another graph was requested meanwhile. */
  if (adj_task_from_result (result) != self->tracing)
    return;
  g_clear_pointer (&self->tracing, adj_task_unref);
  self->contract = adj_task_finish (result, &error);
  if (self->contract == NULL)
    {
      adw_status_page_set_title (self->nothing, _ ("This Graph Cannot Be Traced"));
      adw_status_page_set_description (self->nothing, error->message);
      return;
    }
  gtk_label_set_text (self->rows_title,
                      self->contract->tape->len > 0
                          ? _ ("What Every Call Takes and Returns")
                          : _ ("What Every Call Takes and Returns; Nothing Is Written in Place"));
  gtk_widget_set_visible (self->writes, self->contract->tape->len > 0);
  fill (self->rows, self->contract->rows->len);
  fill (self->tape, self->contract->tape->len);
  gtk_stack_set_visible_child_name (self->stack, "contract");
}

static void
forget (AdjContractPage *self)
{
  if (self->tracing != NULL)
    adj_task_cancel (self->tracing);
  g_clear_pointer (&self->tracing, adj_task_unref);
  if (self->contract != NULL)
    {
      adj_panel_leave (GTK_WIDGET (self->rows));
      adj_panel_leave (GTK_WIDGET (self->tape));
      gtk_list_view_set_model (self->rows, NULL);
      gtk_list_view_set_model (self->tape, NULL);
    }
  g_clear_pointer (&self->contract, adj_contract_free);
  g_clear_pointer (&self->graph, adj_graph_unref);
}

/* The function as it was captured, before compiling changed it.  (nullable) */
static AdjGraph *
find_captured (AdjDocument *document)
{
  static const char *const captured[] = { "dynamo", "user", "subgraph", NULL };
  AdjRecording *recording = adj_stages_get_recording (document);
  const AdjStage *first = recording != NULL && adj_recording_get_n_stages (recording) > 0
                              ? adj_recording_get_stage (recording, 0)
                              : NULL;

  return first != NULL && g_strv_contains (captured, first->name) ? first->graph : NULL;
}

/* Traces only when the page is visible. */
static void
update (AdjContractPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjGraph *graph = document != NULL ? find_captured (document) : NULL;

  if (graph != NULL && graph == self->graph)
    return;
  if (document != NULL && !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  forget (self);
  gtk_stack_set_visible_child_name (self->stack, "nothing");
  if (graph == NULL)
    {
      adw_status_page_set_title (self->nothing, _ ("The Captured Function Is Not Here"));
      adw_status_page_set_description (
          self->nothing, _ ("The rules are about a function before it was compiled: open the graph "
                            "that Dynamo captured"));
      return;
    }
  self->graph = adj_graph_ref (graph);
  adw_status_page_set_title (self->nothing, _ ("Tracing…"));
  adw_status_page_set_description (self->nothing, NULL);
  self->tracing = adj_contract_start (G_OBJECT (self), graph, on_traced);
}

static void
adj_contract_page_dispose (GObject *object)
{
  forget (ADJ_CONTRACT_PAGE (object));

  G_OBJECT_CLASS (adj_contract_page_parent_class)->dispose (object);
}

static void
adj_contract_page_class_init (AdjContractPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_contract_page_dispose;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/contract-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjContractPage, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjContractPage, nothing);
  gtk_widget_class_bind_template_child (widget_class, AdjContractPage, rows);
  gtk_widget_class_bind_template_child (widget_class, AdjContractPage, tape);
  gtk_widget_class_bind_template_child (widget_class, AdjContractPage, rows_title);
  gtk_widget_class_bind_template_child (widget_class, AdjContractPage, writes);
}

static void
adj_contract_page_init (AdjContractPage *self)
{
  g_autoptr (GtkListItemFactory) rows = adj_row_look_make_factory (&row_look, self);
  g_autoptr (GtkListItemFactory) tape = adj_row_look_make_factory (&event_look, self);

  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_list_view_set_factory (self->rows, rows);
  gtk_list_view_set_factory (self->tape, tape);
  g_signal_connect_swapped (self->rows, "activate", G_CALLBACK (on_activated), self);
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
  adj_panel_watch (ADJ_PANEL (self), "notify::bundle", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
}
