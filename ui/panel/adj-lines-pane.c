/* SPDX-License-Identifier: MIT */
/* The table of source lines, the most expensive first. */

#include "panel/adj-lines-pane.h"

#include <glib/gi18n.h>

#include "model/adj-line-item.h"
#include "report/adj-properties.h"
#include "widgets/adj-column.h"
#include "widgets/name-widgets.h"
#include "widgets/scroll-to-row.h"

struct _AdjLinesPane
{
  AdjPanel parent_instance;

  GtkDropDown *costs;
  GtkLabel *note;
  GtkColumnView *table;
  GtkSortListModel *sorted;      /* (owned) */
  GtkSingleSelection *selection; /* (owned) */
};

G_DEFINE_FINAL_TYPE (AdjLinesPane, adj_lines_pane, ADJ_TYPE_PANEL)

/* -- columns -- */

static char *
get_place (gpointer item)
{
  const AdjFrame *frame = adj_line_item_get_frame (item);
  g_autofree char *base = g_path_get_basename (frame->file);

  return g_strdup_printf ("%s:%u", base, frame->line);
}

static char *
get_code (gpointer item)
{
  return g_strdup (adj_line_item_get_frame (item)->code);
}

static char *
get_time (gpointer item)
{
  gint64 ns = adj_line_item_get_cost (item, ADJ_LINE_TIME);

  return ns > 0 ? adj_properties_time ((double) ns) : g_strdup (ADJ_COLUMN_NOTHING);
}

/* Saved for backward, or read by it while nothing is decided. */
static char *
get_kept (gpointer item)
{
  gint64 bytes = adj_line_item_get_cost (item, ADJ_LINE_SAVED);

  return bytes > 0 ? adj_properties_bytes (bytes) : g_strdup (ADJ_COLUMN_NOTHING);
}

static char *
get_n_nodes (gpointer item)
{
  return g_strdup_printf ("%" G_GINT64_FORMAT, adj_line_item_get_cost (item, ADJ_LINE_NODES));
}

static const AdjColumn columns[] = {
  { N_ ("Line"), get_place, 130, TRUE, FALSE, NULL },
  { N_ ("Time"), get_time, 76, FALSE, TRUE, NULL },
  { N_ ("For backward"), get_kept, 96, FALSE, TRUE, NULL },
  { N_ ("Nodes"), get_n_nodes, 60, FALSE, TRUE, NULL },
  { N_ ("Code"), get_code, -1, FALSE, FALSE, NULL },
};

/* -- the order -- */

/* The rows of the drop-down list. */
static const char *const cost_names[ADJ_N_LINE_COSTS + 1] = {
  [ADJ_LINE_TIME] = N_ ("Time"),
  [ADJ_LINE_SAVED] = N_ ("Bytes for Backward"),
  [ADJ_LINE_NODES] = N_ ("Nodes"),
};

/* The largest cost first; lines that cost the same stay in the order of the program. */
static int
compare_costs (gconstpointer a, gconstpointer b, gpointer data)
{
  AdjLineCost cost = gtk_drop_down_get_selected (((AdjLinesPane *) data)->costs);
  gint64 x = adj_line_item_get_cost ((AdjLineItem *) a, cost);
  gint64 y = adj_line_item_get_cost ((AdjLineItem *) b, cost);

  return x > y ? GTK_ORDERING_SMALLER : x < y ? GTK_ORDERING_LARGER : GTK_ORDERING_EQUAL;
}

static void
tell_note (AdjLinesPane *self)
{
  AdjDocument *document = adj_panel_get_document (self);

  gtk_widget_set_visible (GTK_WIDGET (self->note),
                          gtk_drop_down_get_selected (self->costs) == ADJ_LINE_TIME &&
                              document != NULL && adj_document_get_evaluation (document) == NULL);
}

/* Lists keep what is in view where it is when their order changes. */
static void
show_first (AdjLinesPane *self)
{
  adj_scroll_to_row (GTK_WIDGET (self->table), 0,
                     g_list_model_get_n_items (G_LIST_MODEL (self->selection)));
}

static void
on_cost_chosen (AdjLinesPane *self)
{
  tell_note (self);
  gtk_sorter_changed (gtk_sort_list_model_get_sorter (self->sorted), GTK_SORTER_CHANGE_DIFFERENT);
  show_first (self);
}

/* -- the lines -- */

static void
on_row_selected (AdjLinesPane *self)
{
  AdjLineItem *item = gtk_single_selection_get_selected_item (self->selection);
  AdjDocument *document = adj_panel_get_document (self);

  if (item != NULL && document != NULL)
    adj_document_set_lit (document, adj_line_item_get_nodes (item));
}

static void
on_row_activated (AdjLinesPane *self, guint position)
{
  g_autoptr (AdjLineItem) item = g_list_model_get_item (G_LIST_MODEL (self->selection), position);
  AdjDocument *document = adj_panel_get_document (self);

  if (item != NULL && document != NULL)
    adj_document_choose (document, adj_line_item_get_nodes (item));
}

gboolean
adj_lines_pane_update (AdjLinesPane *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjBundleGraph *graph = document != NULL ? adj_document_get_graph (document) : NULL;
  g_autoptr (GListModel) lines =
      graph != NULL ? adj_line_items_list (graph->graph, adj_document_get_evaluation (document))
                    : NULL;

  adj_panel_leave (GTK_WIDGET (self->table));
  gtk_sort_list_model_set_model (self->sorted, lines);
  adj_columns_show_filled (self->table, columns, G_N_ELEMENTS (columns));
  tell_note (self);
  show_first (self);
  return lines != NULL && g_list_model_get_n_items (lines) > 0;
}

/* -- widget -- */

static void
adj_lines_pane_dispose (GObject *object)
{
  AdjLinesPane *self = ADJ_LINES_PANE (object);

  g_clear_object (&self->selection);
  g_clear_object (&self->sorted);

  G_OBJECT_CLASS (adj_lines_pane_parent_class)->dispose (object);
}

static void
adj_lines_pane_class_init (AdjLinesPaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_lines_pane_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/lines-pane.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjLinesPane, costs);
  gtk_widget_class_bind_template_child (widget_class, AdjLinesPane, note);
  gtk_widget_class_bind_template_child (widget_class, AdjLinesPane, table);
}

static void
adj_lines_pane_init (AdjLinesPane *self)
{
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  gtk_widget_init_template (GTK_WIDGET (self));
  for (guint i = 0; i < ADJ_N_LINE_COSTS; i++)
    gtk_string_list_append (names, _ (cost_names[i]));
  gtk_drop_down_set_model (self->costs, G_LIST_MODEL (names));
  gtk_drop_down_set_selected (self->costs, ADJ_LINE_SAVED);
  adj_name_choices (GTK_WIDGET (self->costs), _ ("Rank Lines by"));
  self->sorted = gtk_sort_list_model_new (
      NULL, GTK_SORTER (gtk_custom_sorter_new (compare_costs, self, NULL)));
  self->selection = gtk_single_selection_new (G_LIST_MODEL (g_object_ref (self->sorted)));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  adj_columns_append (self->table, columns, G_N_ELEMENTS (columns));
  gtk_column_view_set_model (self->table, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_swapped (self->table, "activate", G_CALLBACK (on_row_activated), self);
  g_signal_connect_object (self->selection, "notify::selected-item", G_CALLBACK (on_row_selected),
                           self, G_CONNECT_SWAPPED);
  g_signal_connect_swapped (self->costs, "notify::selected", G_CALLBACK (on_cost_chosen), self);
}
