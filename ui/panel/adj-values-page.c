/* SPDX-License-Identifier: MIT */
/* The panel page of a run's values, node by node. */

#include "panel/adj-values-page.h"

#include <glib/gi18n.h>

#include "analysis/adj-modules.h"
#include "canvas/adj-scene-painter.h"
#include "ir/adj-graph.h"
#include "model/adj-node-item.h"
#include "model/adj-tensor-stats.h"
#include "panel/adj-difference-pane.h"
#include "report/adj-properties.h"
#include "widgets/adj-column.h"
#include "widgets/context-menu.h"
#include "widgets/quick-find.h"
#include "widgets/scroll-to-row.h"

struct _AdjValuesPage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  GtkWidget *compare; /* shown where there are recorded results */
  GtkColumnView *table;
  GtkSearchBar *bar;
  AdjDifferencePane *difference;
  AdjNodeList *nodes;
  GtkMultiSelection *selection;
  gboolean following; /* the rows are following the document */
};

G_DEFINE_FINAL_TYPE (AdjValuesPage, adj_values_page, ADJ_TYPE_PANEL)

/* -- columns -- */

static char *
get_name (gpointer item)
{
  return g_strdup (adj_node_item_get_node (item)->name);
}

static char *
get_module (gpointer item)
{
  return g_strdup (adj_graph_get_module_path (adj_node_item_get_graph (item),
                                              adj_node_item_get_id (item).index));
}

static char *
get_shape (gpointer item)
{
  char *shape =
      adj_properties_shape (adj_node_item_get_graph (item), adj_node_item_get_node (item));

  return shape != NULL ? shape : g_strdup ("");
}

static char *
get_value (gpointer item)
{
  AdjEvaluation *evaluation = adj_node_item_get_evaluation (item);
  AdjTensorData *value = evaluation != NULL
                             ? adj_evaluation_get_value (evaluation, adj_node_item_get_id (item))
                             : NULL;
  AdjTensorStats stats;
  g_autofree char *mean = NULL;

  if (value == NULL)
    return g_strdup (ADJ_COLUMN_NOTHING);
  adj_tensor_stats_compute (value, &stats);
  mean = adj_properties_number (stats.mean);
  return stats.n == 1 ? g_steal_pointer (&mean) : g_strdup_printf (_ ("mean %s"), mean);
}

static char *
number_of (gpointer item, gsize offset)
{
  const AdjValueComparison *comparison = adj_node_item_get_comparison (item);

  if (comparison == NULL || comparison->verdict == ADJ_VERDICT_SKIPPED)
    return g_strdup (ADJ_COLUMN_NOTHING);
  return adj_properties_number (G_STRUCT_MEMBER (double, comparison, offset));
}

static char *
get_max_abs (gpointer item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, difference.max_abs));
}

static char *
get_max_rel (gpointer item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, difference.max_rel));
}

static char *
get_local (gpointer item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, own.rel_l2));
}

static char *
get_accumulated (gpointer item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, accumulated));
}

static char *
get_peer (gpointer item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, peer));
}

static char *
get_status (gpointer item)
{
  const AdjValueComparison *comparison = adj_node_item_get_comparison (item);

  if (comparison == NULL)
    return g_strdup ("");
  return g_strdup_printf ("%s  %s", adj_verdict_sign (comparison->verdict),
                          adj_properties_comparison (comparison));
}

static char *
get_time (gpointer item)
{
  gint64 time = adj_node_item_get_time (item);

  return time > 0 ? adj_properties_time ((double) time) : g_strdup (ADJ_COLUMN_NOTHING);
}

static const char *
get_verdict_class (gpointer item)
{
  static const char *const names[] = { "verdict-equal", "verdict-within", "verdict-differs",
                                       "verdict-skipped" };
  const AdjValueComparison *comparison = adj_node_item_get_comparison (item);

  return comparison != NULL ? names[MIN (comparison->verdict, ADJ_VERDICT_SKIPPED)] : NULL;
}

static const AdjColumn columns[] = {
  { N_ ("Node"), get_name, 170, TRUE, FALSE, NULL },
  { N_ ("Module"), get_module, 120, FALSE, FALSE, NULL },
  { N_ ("Shape"), get_shape, 120, FALSE, TRUE, NULL },
  { N_ ("Value"), get_value, 120, FALSE, TRUE, NULL },
  { N_ ("Max abs"), get_max_abs, 86, FALSE, TRUE, NULL },
  { N_ ("Max rel"), get_max_rel, 86, FALSE, TRUE, NULL },
  { N_ ("Local"), get_local, 86, FALSE, TRUE, NULL },
  { N_ ("Accumulated"), get_accumulated, 96, FALSE, TRUE, NULL },
  { N_ ("PyTorch"), get_peer, 86, FALSE, TRUE, NULL },
  { N_ ("Status"), get_status, 150, FALSE, FALSE, get_verdict_class },
  { N_ ("Time"), get_time, -1, FALSE, TRUE, NULL },
};

/* -- the page -- */

/* Nodes that compute something, without inputs and the output. */
static GArray *
computed_nodes (const AdjGraph *graph)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      AdjOpcode opcode = adj_graph_get_node (graph, i)->opcode;

      if (opcode != ADJ_OPCODE_PLACEHOLDER && opcode != ADJ_OPCODE_OUTPUT)
        g_array_append_val (nodes, i);
    }
  return nodes;
}

static void
select_rows (AdjValuesPage *self, const GArray *chosen)
{
  g_autoptr (GtkBitset) rows = gtk_bitset_new_empty ();
  g_autoptr (GtkBitset) all =
      gtk_bitset_new_range (0, g_list_model_get_n_items (G_LIST_MODEL (self->nodes)));

  for (guint i = 0; i < chosen->len; i++)
    {
      guint row =
          adj_node_list_find (self->nodes, (AdjNodeId){ g_array_index (chosen, guint32, i) });

      if (row != G_MAXUINT)
        gtk_bitset_add (rows, row);
    }
  gtk_selection_model_set_selection (GTK_SELECTION_MODEL (self->selection), rows, all);
}

static void
update_selected (AdjValuesPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  guint row;

  if (document == NULL)
    return;
  row = adj_node_list_find (self->nodes, adj_document_get_selected (document));
  self->following = TRUE;
  if (adj_document_get_chosen (document) != NULL)
    select_rows (self, adj_document_get_chosen (document));
  else if (row != G_MAXUINT)
    gtk_selection_model_select_item (GTK_SELECTION_MODEL (self->selection), row, TRUE);
  else
    gtk_selection_model_unselect_all (GTK_SELECTION_MODEL (self->selection));
  self->following = FALSE;
  if (row != G_MAXUINT)
    adj_scroll_to_row (GTK_WIDGET (self->table), row,
                       g_list_model_get_n_items (G_LIST_MODEL (self->nodes)));
}

static void
update (AdjValuesPage *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (adj_panel_get_document (self));
  AdjEvaluation *evaluation = adj_document_get_evaluation (adj_panel_get_document (self));
  g_autoptr (GArray) nodes = NULL;

  adj_panel_set_document (self->difference, adj_panel_get_document (self));
  if (evaluation == NULL)
    {
      adj_panel_leave (GTK_WIDGET (self->table));
      adj_node_list_set (self->nodes, NULL, NULL, NULL);
      gtk_widget_set_visible (
          self->compare, graph != NULL && adj_run_choice_has_results (adj_document_get_run_choice (
                                              adj_panel_get_document (self))));
      gtk_stack_set_visible_child_name (self->stack, "empty");
      return;
    }
  nodes = computed_nodes (graph->graph);
  adj_node_list_set (self->nodes, graph->graph, nodes, evaluation);
  adj_columns_show_filled (self->table, columns, G_N_ELEMENTS (columns));
  gtk_stack_set_visible_child_name (self->stack, "values");
  update_selected (self);
}

/* Passes the selection on, with the node that was added last at its end, which makes it the current
 * one. */
static void
on_selection_changed (AdjValuesPage *self, guint position, guint n)
{
  AdjDocument *document = adj_panel_get_document (self);
  g_autoptr (GtkBitset) rows = NULL;
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  guint32 last = G_MAXUINT32;

  if (self->following || document == NULL)
    return;
  rows = gtk_selection_model_get_selection (GTK_SELECTION_MODEL (self->selection));
  for (guint i = 0; i < gtk_bitset_get_size (rows); i++)
    {
      g_autoptr (AdjNodeItem) item =
          g_list_model_get_item (G_LIST_MODEL (self->nodes), gtk_bitset_get_nth (rows, i));
      guint32 node = adj_node_item_get_id (item).index;

      if (last == G_MAXUINT32 && gtk_bitset_get_nth (rows, i) >= position)
        last = node;
      else
        g_array_append_val (nodes, node);
    }
  if (last != G_MAXUINT32)
    g_array_append_val (nodes, last);
  adj_document_choose (document, nodes);
}

/* A row of several selected ones keeps the selection. */
static AdjMenu
prepare_row (gpointer item, guint position, char **target, gpointer data)
{
  GtkSelectionModel *selection = GTK_SELECTION_MODEL (((AdjValuesPage *) data)->selection);

  if (!gtk_selection_model_is_selected (selection, position))
    gtk_selection_model_select_item (selection, position, TRUE);
  return ADJ_MENU_NODE;
}

static char *
get_row_text (gpointer item, guint position, gpointer self)
{
  return get_name (item);
}

static void
adj_values_page_dispose (GObject *object)
{
  AdjValuesPage *self = ADJ_VALUES_PAGE (object);

  g_clear_object (&self->selection);
  g_clear_object (&self->nodes);

  G_OBJECT_CLASS (adj_values_page_parent_class)->dispose (object);
}

static void
adj_values_page_class_init (AdjValuesPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  G_OBJECT_CLASS (klass)->dispose = adj_values_page_dispose;
  g_type_ensure (ADJ_TYPE_DIFFERENCE_PANE);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/values-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjValuesPage, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjValuesPage, compare);
  gtk_widget_class_bind_template_child (widget_class, AdjValuesPage, table);
  gtk_widget_class_bind_template_child (widget_class, AdjValuesPage, bar);
  gtk_widget_class_bind_template_child (widget_class, AdjValuesPage, difference);
}

static void
adj_values_page_init (AdjValuesPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_watch (ADJ_PANEL (self), "notify::evaluation", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::run-choice", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (update_selected));
  adj_panel_watch (ADJ_PANEL (self), "notify::chosen", G_CALLBACK (update_selected));
  self->nodes = adj_node_list_new ();
  self->selection = gtk_multi_selection_new (G_LIST_MODEL (g_object_ref (self->nodes)));
  adj_columns_append (self->table, columns, G_N_ELEMENTS (columns));
  gtk_column_view_set_model (self->table, GTK_SELECTION_MODEL (self->selection));
  adj_context_menu_watch_rows (GTK_WIDGET (self->table), prepare_row, self);
  g_signal_connect_swapped (self->table, "map", G_CALLBACK (update_selected), self);
  adj_quick_find_add_rows (self->bar, GTK_WIDGET (self->table), _ ("Find a Node"), get_row_text,
                           self);
  g_signal_connect_object (self->selection, "selection-changed", G_CALLBACK (on_selection_changed),
                           self, G_CONNECT_SWAPPED);
}
