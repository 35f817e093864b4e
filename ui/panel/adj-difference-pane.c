/* SPDX-License-Identifier: MIT */
#include "panel/adj-difference-pane.h"

#include <glib/gi18n.h>

#include "model/adj-difference-map.h"
#include "model/adj-facts.h"
#include "panel/adj-difference-view.h"

struct _AdjDifferencePane
{
  AdjPanel parent_instance;

  GtkLabel *title, *range, *element;
  GtkDropDown *rows, *columns;
  GtkBox *dims, *places; /* hidden for matrices; one spin button for each other dimension */
  AdjDifferenceView *view;
  GtkButton *worst;

  AdjDifferenceMap *map; /* (owned) (nullable) */
  AdjTensorData *a, *b;  /* (unowned): what it is of */
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (AdjDifferencePane, adj_difference_pane, ADJ_TYPE_PANEL)

static void
show_element (AdjDifferencePane *self)
{
  gint64 element = adj_difference_view_get_told (self->view);
  g_autofree char *text =
      element >= 0 ? adj_difference_map_describe (self->map, element) : g_strdup ("");

  gtk_label_set_text (self->element, text);
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
  /* The other one takes what this one leaves. */
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

static void
show_worst (AdjDifferencePane *self)
{
  gint64 worst = self->map != NULL ? adj_difference_map_find_worst (self->map) : -1;

  if (worst < 0)
    return;
  adj_difference_map_show (self->map, worst);
  self->updating = TRUE;
  fill_places (self);
  self->updating = FALSE;
  adj_difference_view_set_map (self->view, self->map);
  adj_difference_view_set_element (self->view, worst);
  show_element (self);
}

/* -- what is compared -- */

static void
drop_map (AdjDifferencePane *self)
{
  adj_difference_view_set_map (self->view, NULL);
  g_clear_pointer (&self->map, adj_difference_map_free);
  self->a = self->b = NULL;
}

static void
make_map (AdjDifferencePane *self, const char *name, AdjTensorData *a, AdjTensorData *b)
{
  g_autofree char *max = NULL, *range = NULL, *title = NULL;

  self->map = adj_difference_map_new (a, b);
  if (self->map == NULL)
    return;
  self->a = a;
  self->b = b;
  max = adj_facts_number (self->map->max);
  range = g_strdup_printf ("0 – %s", max);
  title = g_strdup_printf (_ ("%s, how far apart"), name);
  gtk_label_set_text (self->title, title);
  gtk_label_set_text (self->range, range);
  self->updating = TRUE;
  fill_dims (self);
  self->updating = FALSE;
  show_worst (self);
}

static void
update (AdjDifferencePane *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjEvaluation *evaluation = document != NULL ? adj_document_get_evaluation (document) : NULL;
  AdjNodeId id = document != NULL ? adj_document_get_selected (document) : ADJ_NO_NODE;
  AdjTensorData *a = NULL, *b = NULL;

  if (evaluation != NULL && adj_node_id_is_valid (id))
    {
      a = adj_evaluation_get_value (evaluation, id);
      b = adj_evaluation_get_beside (evaluation, id);
    }
  if (a != self->a || b != self->b || self->map == NULL)
    {
      drop_map (self);
      if (a != NULL && b != NULL)
        make_map (self, adj_graph_get_node (adj_evaluation_get_graph (evaluation), id.index)->name,
                  a, b);
    }
  gtk_widget_set_visible (GTK_WIDGET (self), self->map != NULL);
}

static void
adj_difference_pane_dispose (GObject *object)
{
  AdjDifferencePane *self = ADJ_DIFFERENCE_PANE (object);

  if (self->map != NULL)
    drop_map (self);

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
}

static void
adj_difference_pane_init (AdjDifferencePane *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::evaluation", G_CALLBACK (update));
  g_signal_connect_swapped (self->rows, "notify::selected", G_CALLBACK (on_dims_changed), self);
  g_signal_connect_swapped (self->columns, "notify::selected", G_CALLBACK (on_dims_changed), self);
  g_signal_connect_swapped (self->worst, "clicked", G_CALLBACK (show_worst), self);
  g_signal_connect_swapped (self->view, "told", G_CALLBACK (show_element), self);
}
