/* SPDX-License-Identifier: MIT */
/* The panel page of memory: the chart and the table of what is held. */

#include "panel/adj-memory-page.h"

#include <glib/gi18n.h>

#include "analysis/adj-modules.h"
#include "panel/adj-memory-chart.h"
#include "report/adj-properties.h"
#include "widgets/adj-column.h"
#include "widgets/context-menu.h"
#include "widgets/quick-find.h"

struct _AdjMemoryPage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  AdjMemoryChart *chart;
  GtkBox *names;
  GtkSearchBar *bar;
  GtkColumnView *ledger;
  AdjTimeline *memory; /* (owned) (nullable): of the shown graph, once somebody looks */
};

G_DEFINE_FINAL_TYPE (AdjMemoryPage, adj_memory_page, ADJ_TYPE_PANEL)

/* -- the ledger -- */

static const AdjNode *
get_node (gpointer item)
{
  return adj_graph_get_node (adj_held_item_get_graph (item), adj_held_item_get (item)->node.index);
}

static char *
get_name (gpointer item)
{
  return g_strdup (get_node (item)->name);
}

static char *
get_module (gpointer item)
{
  return g_strdup (adj_node_get_module_path (get_node (item)));
}

static char *
get_shape (gpointer item)
{
  return adj_properties_annotation (adj_held_item_get_graph (item), get_node (item));
}

static char *
get_bytes (gpointer item)
{
  return adj_properties_bytes (adj_held_item_get (item)->bytes);
}

static char *
get_steps (gpointer item)
{
  const AdjHeld *held = adj_held_item_get (item);

  return g_strdup_printf ("%u → %u", held->first + 1, held->last + 1);
}

static char *
get_why (gpointer item)
{
  const AdjHeld *held = adj_held_item_get (item);

  if (get_node (item)->opcode == ADJ_OPCODE_PLACEHOLDER)
    return g_strdup (_ ("input"));
  return g_strdup (held->saved ? _ ("saved") : "");
}

static char *
get_line (gpointer item)
{
  const AdjNodeMeta *meta = &get_node (item)->meta;
  const AdjFrame *frame = meta->n_frames > 0 ? &meta->frames[meta->n_frames - 1] : NULL;
  g_autofree char *base = frame != NULL ? g_path_get_basename (frame->file) : NULL;

  return frame != NULL ? g_strdup_printf ("%s:%u", base, frame->line) : g_strdup ("");
}

static const AdjColumn columns[] = {
  { N_ ("Value"), get_name, 130, TRUE, FALSE, NULL },
  { N_ ("Module"), get_module, 104, FALSE, FALSE, NULL },
  { N_ ("Shape"), get_shape, 104, FALSE, TRUE, NULL },
  { N_ ("Bytes"), get_bytes, 76, FALSE, TRUE, NULL },
  { N_ ("Steps"), get_steps, 84, FALSE, TRUE, NULL },
  { N_ ("Why"), get_why, 64, FALSE, FALSE, NULL },
  { N_ ("Line"), get_line, -1, FALSE, FALSE, NULL },
};

static void
on_row_selected (AdjMemoryPage *self, GParamSpec *pspec, GtkSingleSelection *selection)
{
  AdjHeldItem *item = gtk_single_selection_get_selected_item (selection);
  AdjDocument *document = adj_panel_get_document (self);

  if (item == NULL || document == NULL)
    return;
  adj_memory_chart_set_stretch (self->chart, adj_held_item_get (item)->first,
                                adj_held_item_get (item)->last);
  adj_document_set_selected (document, adj_held_item_get (item)->node);
}

static AdjMenu
prepare_row (gpointer item, guint position, char **target, gpointer data)
{
  AdjMemoryPage *self = data;

  gtk_selection_model_select_item (gtk_column_view_get_model (self->ledger), position, TRUE);
  return ADJ_MENU_NODE;
}

static char *
get_row_text (gpointer item, guint position, gpointer self)
{
  return get_name (item);
}

static void
fill_ledger (AdjMemoryPage *self)
{
  g_autoptr (GtkSingleSelection) selection =
      gtk_single_selection_new (adj_timeline_make_ledger (self->memory));

  gtk_single_selection_set_autoselect (selection, FALSE);
  gtk_single_selection_set_can_unselect (selection, TRUE);
  gtk_single_selection_set_selected (selection, GTK_INVALID_LIST_POSITION);
  g_signal_connect_object (selection, "notify::selected-item", G_CALLBACK (on_row_selected), self,
                           G_CONNECT_SWAPPED);
  gtk_column_view_set_model (self->ledger, GTK_SELECTION_MODEL (selection));
}

/* -- the chart -- */

static void
paint_swatch (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
  GdkRGBA color = adj_memory_chart_color (GPOINTER_TO_UINT (data));

  gdk_cairo_set_source_rgba (cr, &color);
  cairo_paint (cr);
}

static void
fill_names (AdjMemoryPage *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->names))))
    gtk_box_remove (self->names, child);
  for (guint g = 0; g < self->memory->n_groups; g++)
    {
      GtkWidget *swatch = gtk_drawing_area_new ();
      GtkWidget *label = gtk_label_new (self->memory->groups[g]);

      gtk_widget_set_size_request (swatch, 10, 10);
      gtk_widget_set_valign (swatch, GTK_ALIGN_CENTER);
      gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (swatch), paint_swatch, GUINT_TO_POINTER (g),
                                      NULL);
      gtk_widget_add_css_class (label, "caption");
      gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
      gtk_box_append (self->names, swatch);
      gtk_box_append (self->names, label);
    }
}

static void
on_step_chosen (AdjMemoryPage *self, guint step)
{
  AdjDocument *document = adj_panel_get_document (self);
  g_autoptr (GArray) live = step != G_MAXUINT ? adj_timeline_get_live (self->memory, step) : NULL;

  if (document != NULL)
    adj_document_set_lit (document, live);
}

/* Nothing is counted until somebody looks. */
static void
update (AdjMemoryPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjBundleGraph *graph = document != NULL ? adj_document_get_graph (document) : NULL;

  if (self->memory != NULL && (graph == NULL || graph->graph != self->memory->graph))
    {
      gtk_column_view_set_model (self->ledger, NULL);
      adj_memory_chart_set_memory (self->chart, NULL);
      g_clear_pointer (&self->memory, adj_timeline_free);
    }
  if (graph == NULL || self->memory != NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  self->memory = adj_timeline_new (graph->graph);
  adj_memory_chart_set_memory (self->chart, self->memory);
  fill_names (self);
  fill_ledger (self);
  gtk_stack_set_visible_child_name (self->stack, self->memory->held->len > 0 ? "memory" : "empty");
}

static void
adj_memory_page_dispose (GObject *object)
{
  AdjMemoryPage *self = ADJ_MEMORY_PAGE (object);

  if (self->memory != NULL)
    adj_memory_chart_set_memory (self->chart, NULL);
  g_clear_pointer (&self->memory, adj_timeline_free);

  G_OBJECT_CLASS (adj_memory_page_parent_class)->dispose (object);
}

static void
adj_memory_page_class_init (AdjMemoryPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_memory_page_dispose;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;

  g_type_ensure (ADJ_TYPE_MEMORY_CHART);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/memory-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjMemoryPage, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjMemoryPage, chart);
  gtk_widget_class_bind_template_child (widget_class, AdjMemoryPage, names);
  gtk_widget_class_bind_template_child (widget_class, AdjMemoryPage, ledger);
  gtk_widget_class_bind_template_child (widget_class, AdjMemoryPage, bar);
}

static void
adj_memory_page_init (AdjMemoryPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_columns_append (self->ledger, columns, G_N_ELEMENTS (columns));
  adj_context_menu_watch_rows (GTK_WIDGET (self->ledger), prepare_row, self);
  adj_quick_find_add_rows (self->bar, GTK_WIDGET (self->ledger), _ ("Find a Value"), get_row_text,
                           self);
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
  g_signal_connect_swapped (self->chart, "step-chosen", G_CALLBACK (on_step_chosen), self);
}
