/* SPDX-License-Identifier: MIT */
/* The pane of one tensor's differences: map, table of elements and choice of dimensions. */

#include "panel/adj-difference-pane.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-difference-map.h"
#include "model/adj-element-list.h"
#include "panel/adj-difference-view.h"
#include "report/adj-properties.h"
#include "widgets/adj-column.h"
#include "widgets/name-widgets.h"
#include "widgets/scroll-to-row.h"

struct _AdjDifferencePane
{
  AdjPanel parent_instance;

  GtkLabel *title, *range, *element;
  GtkDropDown *rows, *columns;
  GtkBox *dims, *places; /* hidden for matrices; one spin button for each other dimension */
  AdjDifferenceView *view;
  GtkButton *worst;
  GtkStack *stack;
  GtkWidget *map_page; /* (unowned): of @stack */
  GtkColumnView *numbers;

  AdjDifferenceMap *map;        /* (owned) (nullable) */
  GtkSingleSelection *elements; /* (owned) (nullable): of AdjElementItem: rows of @numbers */
  AdjTensorData *a, *b;         /* (unowned) (nullable): what is shown */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (AdjDifferencePane, adj_difference_pane, ADJ_TYPE_PANEL)

/* -- the numbers -- */

static char *
get_place (gpointer item)
{
  return adj_element_item_get_place (item);
}

static char *
get_value (gpointer item)
{
  return adj_properties_number (adj_element_item_get_value (item));
}

static char *
get_beside (gpointer item)
{
  return adj_properties_number (adj_element_item_get_beside (item));
}

static char *
get_delta (gpointer item)
{
  return adj_properties_number (adj_element_item_get_delta (item));
}

static const AdjColumn number_columns[] = {
  { N_ ("Element"), get_place, -1, FALSE, TRUE, NULL },
  { N_ ("This Run"), get_value, 96, TRUE, TRUE, NULL },
  { N_ ("Other Side"), get_beside, 96, FALSE, TRUE, NULL },
  { N_ ("Apart"), get_delta, 80, FALSE, TRUE, NULL },
};

/* Hides the columns of the reference when there is none. */
static void
show_columns (AdjDifferencePane *self)
{
  gboolean both = self->map != NULL;

  adj_columns_show (self->numbers, number_columns, G_N_ELEMENTS (number_columns),
                    (gboolean[]){ TRUE, TRUE, both, both });
}

/* Selects the row of the chosen element, which follows the chosen row in turn. */
static void
follow_element (AdjDifferencePane *self)
{
  gint64 element = adj_difference_view_get_element (self->view);
  guint n = self->elements != NULL ? g_list_model_get_n_items (G_LIST_MODEL (self->elements)) : 0;

  if (element < 0 || element >= n)
    return;
  self->updating = TRUE;
  gtk_single_selection_set_selected (self->elements, (guint) element);
  self->updating = FALSE;
  adj_scroll_to_row (GTK_WIDGET (self->numbers), (guint) element, n);
}

static void
show_element (AdjDifferencePane *self)
{
  gint64 element = adj_difference_view_get_described (self->view);
  g_autofree char *text =
      element >= 0 ? adj_difference_map_describe (self->map, element) : g_strdup ("");

  gtk_label_set_text (self->element, text);
  follow_element (self);
}

/* -- which part is shown -- */

static void
on_place_changed (AdjDifferencePane *self, GtkSpinButton *place)
{
  guint dim = GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (place), "dim"));

  if (self->updating)
    return;
  adj_difference_map_set_at (self->map, dim, (gint64) gtk_spin_button_get_value (place));
  adj_difference_view_set_map (self->view, self->map);
  adj_difference_view_set_element (self->view, adj_difference_map_index (self->map, 0, 0));
  show_element (self);
}

static void
add_place (AdjDifferencePane *self, guint dim)
{
  GtkWidget *place = gtk_spin_button_new_with_range (0, (double) (self->map->size[dim] - 1), 1);
  g_autofree char *name = g_strdup_printf (_ ("Place in dimension %u"), dim);
  g_autofree char *text = g_strdup_printf (_ ("dim %u at"), dim);
  GtkWidget *label = gtk_label_new (text);

  gtk_widget_add_css_class (label, "dim-label");
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (place), (double) self->map->at[dim]);
  gtk_accessible_update_property (GTK_ACCESSIBLE (place), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  g_object_set_data (G_OBJECT (place), "dim", GUINT_TO_POINTER (dim));
  g_signal_connect_swapped (place, "value-changed", G_CALLBACK (on_place_changed), self);
  gtk_box_append (self->places, label);
  gtk_box_append (self->places, place);
}

static void
fill_places (AdjDifferencePane *self)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->places))))
    gtk_box_remove (self->places, child);
  for (guint i = 0; i < self->map->rank; i++)
    if (i != self->map->row_dim && i != self->map->column_dim)
      add_place (self, i);
}

static void
on_dims_changed (AdjDifferencePane *self)
{
  guint rows = gtk_drop_down_get_selected (self->rows);
  guint columns = gtk_drop_down_get_selected (self->columns);

  if (self->updating || self->map == NULL || rows >= self->map->rank || columns >= self->map->rank)
    return;
  self->updating = TRUE;
  /* If both are equal, the other one takes the previous choice of this one. */
  if (rows == columns && rows != self->map->row_dim)
    gtk_drop_down_set_selected (self->columns, columns = self->map->row_dim);
  else if (rows == columns)
    gtk_drop_down_set_selected (self->rows, rows = self->map->column_dim);
  adj_difference_map_set_dims (self->map, rows, columns);
  fill_places (self);
  self->updating = FALSE;
  adj_difference_view_set_map (self->view, self->map);
  show_element (self);
}

static GtkStringList *
list_dims (const AdjDifferenceMap *map)
{
  GtkStringList *names = gtk_string_list_new (NULL);

  for (guint i = 0; i < map->rank; i++)
    gtk_string_list_take (names,
                          g_strdup_printf (_ ("dim %u (%" G_GINT64_FORMAT ")"), i, map->size[i]));
  return names;
}

static void
fill_dims (AdjDifferencePane *self)
{
  g_autoptr (GtkStringList) names = list_dims (self->map);

  gtk_drop_down_set_model (self->rows, G_LIST_MODEL (names));
  gtk_drop_down_set_model (self->columns, G_LIST_MODEL (names));
  gtk_drop_down_set_selected (self->rows, self->map->row_dim);
  gtk_drop_down_set_selected (self->columns, self->map->column_dim);
  gtk_widget_set_visible (GTK_WIDGET (self->dims), self->map->rank > 2);
  fill_places (self);
}

/* Chooses an element, and moves the map to it. */
static void
show_at (AdjDifferencePane *self, gint64 element)
{
  adj_difference_map_show (self->map, element);
  self->updating = TRUE;
  fill_places (self);
  self->updating = FALSE;
  adj_difference_view_set_map (self->view, self->map);
  adj_difference_view_set_element (self->view, element);
  show_element (self);
}

static void
on_row_selected (AdjDifferencePane *self)
{
  guint row = gtk_single_selection_get_selected (self->elements);

  if (!self->updating && self->map != NULL && row != GTK_INVALID_LIST_POSITION)
    show_at (self, row);
}

static void
fill_numbers (AdjDifferencePane *self)
{
  self->elements =
      gtk_single_selection_new (adj_element_list_new (self->a, self->map != NULL ? self->b : NULL));
  g_signal_connect_object (self->elements, "notify::selected", G_CALLBACK (on_row_selected), self,
                           G_CONNECT_SWAPPED);
  gtk_column_view_set_model (self->numbers, GTK_SELECTION_MODEL (self->elements));
  show_columns (self);
}

static void
show_worst (AdjDifferencePane *self)
{
  gint64 worst = self->map != NULL ? adj_difference_map_find_worst (self->map) : -1;

  if (worst >= 0)
    show_at (self, worst);
}

/* -- what is compared -- */

static void
forget (AdjDifferencePane *self)
{
  adj_difference_view_set_map (self->view, NULL);
  gtk_column_view_set_model (self->numbers, NULL);
  g_clear_object (&self->elements);
  g_clear_pointer (&self->map, adj_difference_map_free);
  self->a = self->b = NULL;
}

static void
make_map (AdjDifferencePane *self)
{
  g_autofree char *max = NULL, *range = NULL;

  self->map = adj_difference_map_new (self->a, self->b);
  if (self->map == NULL)
    return;
  max = adj_properties_number (self->map->max);
  range = g_strdup_printf ("0 – %s", max);
  gtk_label_set_text (self->range, range);
  self->updating = TRUE;
  fill_dims (self);
  self->updating = FALSE;
}

/* Shows the map only where there are two tensors. */
static void
show_parts (AdjDifferencePane *self, gboolean had_map)
{
  gboolean has_map = self->map != NULL;

  gtk_stack_page_set_visible (gtk_stack_get_page (self->stack, self->map_page), has_map);
  if (!has_map || !had_map)
    gtk_stack_set_visible_child_name (self->stack, has_map ? "map" : "numbers");
  gtk_widget_set_visible (GTK_WIDGET (self->range), has_map);
  gtk_widget_set_visible (gtk_widget_get_parent (GTK_WIDGET (self->worst)), has_map);
}

static void
fill (AdjDifferencePane *self, const char *name, gboolean had_map)
{
  g_autofree char *title = NULL;

  if (self->b != NULL)
    make_map (self);
  title = self->map != NULL ? g_strdup_printf (_ ("%s, how far apart"), name) : g_strdup (name);
  gtk_label_set_text (self->title, title);
  fill_numbers (self);
  show_parts (self, had_map);
  show_worst (self);
}

static void
update (AdjDifferencePane *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjEvaluation *evaluation = document != NULL ? adj_document_get_evaluation (document) : NULL;
  AdjNodeId id = document != NULL ? adj_document_get_selected (document) : ADJ_NO_NODE;
  AdjTensorData *a = NULL, *b = NULL;
  gboolean had_map = self->map != NULL;
  gboolean had_focus = gtk_widget_get_focus_child (GTK_WIDGET (self->stack)) != NULL;

  if (evaluation != NULL && adj_node_id_is_valid (id))
    {
      a = adj_evaluation_get_value (evaluation, id);
      b = adj_evaluation_get_beside (evaluation, id);
    }
  if (a != self->a || b != self->b)
    {
      forget (self);
      self->a = a;
      self->b = b;
      if (a != NULL && adj_tensor_data_get_numel (a) > 0)
        fill (self, adj_graph_get_node (adj_evaluation_get_graph (evaluation), id.index)->name,
              had_map);
    }
  gtk_widget_set_visible (GTK_WIDGET (self), self->elements != NULL);
  /* The row that had the focus is gone, and perhaps its page. */
  if (had_focus && self->elements != NULL)
    gtk_widget_grab_focus (gtk_widget_get_mapped (GTK_WIDGET (self->view))
                               ? GTK_WIDGET (self->view)
                               : GTK_WIDGET (self->numbers));
}

static void
adj_difference_pane_dispose (GObject *object)
{
  AdjDifferencePane *self = ADJ_DIFFERENCE_PANE (object);

  if (self->view != NULL)
    forget (self);

  G_OBJECT_CLASS (adj_difference_pane_parent_class)->dispose (object);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjDifferencePane, name)

static void
adj_difference_pane_class_init (AdjDifferencePaneClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_difference_pane_dispose;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  g_type_ensure (ADJ_TYPE_DIFFERENCE_VIEW);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/difference-pane.ui");
  BIND (title);
  BIND (range);
  BIND (element);
  BIND (rows);
  BIND (columns);
  BIND (dims);
  BIND (places);
  BIND (view);
  BIND (worst);
  BIND (stack);
  BIND (map_page);
  BIND (numbers);
}

static void
adj_difference_pane_init (AdjDifferencePane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_name_choices (GTK_WIDGET (self->rows), _ ("Dimension Going Down"));
  adj_name_choices (GTK_WIDGET (self->columns), _ ("Dimension Going Across"));
  adj_columns_append (self->numbers, number_columns, G_N_ELEMENTS (number_columns));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::evaluation", G_CALLBACK (update));
  g_signal_connect_swapped (self->rows, "notify::selected", G_CALLBACK (on_dims_changed), self);
  g_signal_connect_swapped (self->columns, "notify::selected", G_CALLBACK (on_dims_changed), self);
  g_signal_connect_swapped (self->worst, "clicked", G_CALLBACK (show_worst), self);
  g_signal_connect_swapped (self->view, "described", G_CALLBACK (show_element), self);
  g_signal_connect_swapped (self->numbers, "map", G_CALLBACK (follow_element), self);
}
