/* SPDX-License-Identifier: MIT */
#include "panel/adj-values-page.h"

#include <glib/gi18n.h>

#include "canvas/adj-scene-painter.h"
#include "model/adj-facts.h"
#include "model/adj-node-item.h"
#include "model/adj-tensor-stats.h"
#include "panel/scroll-to-row.h"

struct _AdjValuesPage
{
  AdwBin parent_instance;

  GtkStack *stack;
  GtkColumnView *table;
  AdjNodeList *nodes;
  GtkSingleSelection *selection;
  AdjDocument *document; /* (owned) (nullable) */
};

G_DEFINE_FINAL_TYPE (AdjValuesPage, adj_values_page, ADW_TYPE_BIN)

/* -- columns -- */

static char *
get_name (AdjNodeItem *item)
{
  return g_strdup (adj_node_item_get_node (item)->name);
}

static char *
get_module (AdjNodeItem *item)
{
  return g_strdup (adj_facts_module (adj_node_item_get_node (item)));
}

static char *
get_shape (AdjNodeItem *item)
{
  char *shape = adj_facts_shape (adj_node_item_get_graph (item), adj_node_item_get_node (item));

  return shape != NULL ? shape : g_strdup ("");
}

static char *
get_value (AdjNodeItem *item)
{
  AdjEvaluation *evaluation = adj_node_item_get_evaluation (item);
  AdjTensorData *value = evaluation != NULL
                             ? adj_evaluation_get_value (evaluation, adj_node_item_get_id (item))
                             : NULL;
  AdjTensorStats stats;
  g_autofree char *mean = NULL;

  if (value == NULL)
    return g_strdup ("–");
  adj_tensor_stats_compute (value, &stats);
  mean = adj_facts_number (stats.mean);
  return stats.n == 1 ? g_steal_pointer (&mean) : g_strdup_printf (_ ("mean %s"), mean);
}

static char *
number_of (AdjNodeItem *item, gsize offset)
{
  const AdjValueComparison *comparison = adj_node_item_get_comparison (item);

  if (comparison == NULL || comparison->verdict == ADJ_VERDICT_SKIPPED)
    return g_strdup ("–");
  return adj_facts_number (G_STRUCT_MEMBER (double, comparison, offset));
}

static char *
get_max_abs (AdjNodeItem *item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, difference.max_abs));
}

static char *
get_max_rel (AdjNodeItem *item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, difference.max_rel));
}

static char *
get_local (AdjNodeItem *item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, local));
}

static char *
get_accumulated (AdjNodeItem *item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, accumulated));
}

static char *
get_peer (AdjNodeItem *item)
{
  return number_of (item, G_STRUCT_OFFSET (AdjValueComparison, peer));
}

static char *
get_status (AdjNodeItem *item)
{
  const AdjValueComparison *comparison = adj_node_item_get_comparison (item);

  if (comparison == NULL)
    return g_strdup ("");
  return g_strdup_printf ("%s  %s", adj_verdict_sign (comparison->verdict),
                          adj_facts_verdict (comparison->verdict));
}

static char *
get_time (AdjNodeItem *item)
{
  gint64 time = adj_node_item_get_time (item);

  return time > 0 ? g_strdup_printf (_ ("%.1f µs"), time / 1e3) : g_strdup ("–");
}

static const struct
{
  const char *title;
  char *(*get) (AdjNodeItem *item);
  int width; /* -1: takes what is left */
  gboolean bold, numeric;
} columns[] = {
  { N_ ("Node"), get_name, 170, TRUE, FALSE },
  { N_ ("Module"), get_module, -1, FALSE, FALSE },
  { N_ ("Shape"), get_shape, 120, FALSE, TRUE },
  { N_ ("Value"), get_value, 120, FALSE, TRUE },
  { N_ ("Max abs"), get_max_abs, 86, FALSE, TRUE },
  { N_ ("Max rel"), get_max_rel, 86, FALSE, TRUE },
  { N_ ("Local"), get_local, 86, FALSE, TRUE },
  { N_ ("Accumulated"), get_accumulated, 96, FALSE, TRUE },
  { N_ ("PyTorch"), get_peer, 86, FALSE, TRUE },
  { N_ ("Status"), get_status, 150, FALSE, FALSE },
  { N_ ("Time"), get_time, 80, FALSE, TRUE },
};

static void
on_setup (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  guint column = GPOINTER_TO_UINT (data);
  GtkWidget *label = gtk_label_new (NULL);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  if (columns[column].bold)
    gtk_widget_add_css_class (label, "heading");
  if (columns[column].numeric)
    gtk_widget_add_css_class (label, "numeric");
  gtk_list_item_set_child (item, label);
}

static void
set_verdict_class (GtkWidget *label, AdjNodeItem *item)
{
  static const char *const names[] = { "verdict-equal", "verdict-within", "verdict-differs",
                                       "verdict-skipped" };
  const AdjValueComparison *comparison = adj_node_item_get_comparison (item);
  const char *classes[] = { "verdict", NULL, NULL };

  if (comparison != NULL)
    classes[1] = names[MIN (comparison->verdict, ADJ_VERDICT_SKIPPED)];
  gtk_widget_set_css_classes (label, classes);
}

static void
on_bind (GtkSignalListItemFactory *factory, GtkListItem *item, gpointer data)
{
  guint column = GPOINTER_TO_UINT (data);
  AdjNodeItem *node = gtk_list_item_get_item (item);
  GtkWidget *label = gtk_list_item_get_child (item);
  g_autofree char *text = columns[column].get (node);

  gtk_label_set_text (GTK_LABEL (label), text);
  if (columns[column].get == get_status)
    set_verdict_class (label, node);
}

static void
add_column (AdjValuesPage *self, guint index)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  GtkColumnViewColumn *column;

  g_signal_connect (factory, "setup", G_CALLBACK (on_setup), GUINT_TO_POINTER (index));
  g_signal_connect (factory, "bind", G_CALLBACK (on_bind), GUINT_TO_POINTER (index));
  column = gtk_column_view_column_new (_ (columns[index].title), factory);
  gtk_column_view_column_set_resizable (column, TRUE);
  if (columns[index].width > 0)
    gtk_column_view_column_set_fixed_width (column, columns[index].width);
  else
    gtk_column_view_column_set_expand (column, TRUE);
  gtk_column_view_append_column (self->table, column);
  g_object_unref (column);
}

/* -- the page -- */

/* Nodes that compute something: inputs and the output have no values of their own. */
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
update_selected (AdjValuesPage *self)
{
  guint row;

  if (self->document == NULL)
    return;
  row = adj_node_list_find (self->nodes, adj_document_get_selected (self->document));

  if (gtk_single_selection_get_selected (self->selection) != row)
    gtk_single_selection_set_selected (self->selection,
                                       row == G_MAXUINT ? GTK_INVALID_LIST_POSITION : row);
  if (row != G_MAXUINT)
    adj_scroll_to_row (GTK_WIDGET (self->table), row,
                       g_list_model_get_n_items (G_LIST_MODEL (self->nodes)));
}

static void
update (AdjValuesPage *self)
{
  const AdjBundleGraph *graph = adj_document_get_graph (self->document);
  AdjEvaluation *evaluation = adj_document_get_evaluation (self->document);
  g_autoptr (GArray) nodes = NULL;

  if (evaluation == NULL)
    {
      adj_node_list_set (self->nodes, NULL, NULL, NULL);
      gtk_stack_set_visible_child_name (self->stack, "empty");
      return;
    }
  nodes = computed_nodes (graph->graph);
  adj_node_list_set (self->nodes, graph->graph, nodes, evaluation);
  gtk_stack_set_visible_child_name (self->stack, "values");
  update_selected (self);
}

static void
on_row_selected (AdjValuesPage *self)
{
  AdjNodeItem *item = gtk_single_selection_get_selected_item (self->selection);

  if (item != NULL && self->document != NULL)
    adj_document_set_selected (self->document, adj_node_item_get_id (item));
}

static void
adj_values_page_dispose (GObject *object)
{
  AdjValuesPage *self = ADJ_VALUES_PAGE (object);

  adj_values_page_set_document (self, NULL);
  adw_bin_set_child (ADW_BIN (object), NULL);
  g_clear_object (&self->selection);
  g_clear_object (&self->nodes);

  G_OBJECT_CLASS (adj_values_page_parent_class)->dispose (object);
}

static void
adj_values_page_class_init (AdjValuesPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_values_page_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/values-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjValuesPage, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjValuesPage, table);
}

static void
adj_values_page_init (AdjValuesPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->nodes = adj_node_list_new ();
  self->selection = gtk_single_selection_new (G_LIST_MODEL (g_object_ref (self->nodes)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    add_column (self, i);
  gtk_column_view_set_model (self->table, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_swapped (self->table, "map", G_CALLBACK (update_selected), self);
  g_signal_connect_object (self->selection, "notify::selected-item", G_CALLBACK (on_row_selected),
                           self, G_CONNECT_SWAPPED);
}

void
adj_values_page_set_document (AdjValuesPage *self, AdjDocument *document)
{
  if (self->document == document)
    return;
  if (self->document != NULL)
    g_signal_handlers_disconnect_by_data (self->document, self);
  g_set_object (&self->document, document);
  if (document == NULL)
    return;
  g_signal_connect_swapped (document, "notify::evaluation", G_CALLBACK (update), self);
  g_signal_connect_swapped (document, "notify::selected", G_CALLBACK (update_selected), self);
  update (self);
}
