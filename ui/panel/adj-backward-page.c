/* SPDX-License-Identifier: MIT */
/* The panel page of a captured backward: its calls, and why it was captured again. */

#include "panel/adj-backward-page.h"

#include <glib/gi18n.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "model/adj-tensor-stats.h"
#include "panel/adj-backward-chart.h"
#include "report/adj-properties.h"
#include "widgets/adj-row-look.h"
#include "widgets/quick-find.h"
#include "widgets/scroll-to-row.h"

#define MAX_REASONS 40
#define N_ELEMENTS 4 /* elements of a value that are shown */

struct _AdjBackwardPage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  GtkSearchBar *bar;
  GtkListView *calls;
  AdjBackwardChart *chart;
  GtkBox *reasons;
  GtkGrid *sizes;
  GtkLabel *state;
  GtkBox *values_part;
  GtkBox *values;
  AdjStepping *stepping;       /* (owned) (nullable): of the shown graph; made when first visible */
  const AdjBackward *backward; /* (nullable): of @stepping */
  GListStore *rows;            /* (nullable): rows of the listed calls */
  GArray *numbers;             /* of guint: call number of each row */
  GArray *marks;               /* of guint: Mark flags that each row shows */
};

G_DEFINE_FINAL_TYPE (AdjBackwardPage, adj_backward_page, ADJ_TYPE_PANEL)

/* -- nodes of autograd -- */

typedef enum
{
  MARK_BREAKPOINT = 1 << 0,
  MARK_WAITS = 1 << 1,
} Mark;

static guint
get_number (AdjBackwardPage *self, guint position)
{
  return g_array_index (self->numbers, guint, position);
}

static char *
get_row_text (gpointer item, guint position, gpointer data)
{
  AdjBackwardPage *self = data;

  return adj_captured_name_call (self->backward->captured, get_number (self, position));
}

static void
bind_call (GtkListItem *item, GtkWidget *row, GtkLabel *const *cells, gpointer data)
{
  AdjBackwardPage *self = data;
  guint number = get_number (self, gtk_list_item_get_position (item));
  const AdjCapturedCall *call = adj_captured_get_call (self->backward->captured, number);
  g_autofree char *full = adj_captured_name_call (self->backward->captured, number);
  g_autofree char *name = g_strdup_printf ("%u · %.*s", number, (int) strcspn (full, " "), full);
  guint marks = g_array_index (self->marks, guint, gtk_list_item_get_position (item));
  g_autofree char *marked = g_strdup_printf ("%s%s%s", (marks & MARK_WAITS) != 0 ? "▶ " : "",
                                             (marks & MARK_BREAKPOINT) != 0 ? "● " : "", name);
  g_autofree char *nodes = adj_properties_count (call->n_nodes);
  g_autofree char *hooks =
      g_strdup_printf (ngettext ("%u hook", "%u hooks", call->n_hooks), call->n_hooks);
  g_autofree char *both = g_strdup_printf (_ ("%s, %s"), nodes, hooks);

  gtk_label_set_text (cells[0], marked);
  gtk_label_set_text (cells[1], call->n_nodes == 0 ? "–" : call->n_hooks == 0 ? nodes : both);
}

static const AdjRowLook call_look = {
  .n = 2,
  .cells = { { .expand = TRUE, .ellipsize = PANGO_ELLIPSIZE_END }, { .css_class = "caption" } },
  .spacing = 10,
  .bind = bind_call,
};

static void
on_activated (AdjBackwardPage *self, guint position)
{
  AdjNodeId first =
      adj_captured_get_call (self->backward->captured, get_number (self, position))->first;

  if (adj_node_id_is_valid (first))
    adj_document_set_selected (adj_panel_get_document (self), first);
}

/* The Mark flags of the row of call @number, from all of its steps. */
static guint
find_marks (AdjBackwardPage *self, guint number)
{
  AdjSteppingEvent event = { .step = G_MAXUINT };
  guint marks = 0;

  adj_stepping_get_event (self->stepping, &event);
  for (guint i = 0; i < self->backward->steps->len; i++)
    {
      const AdjBackwardStep *step = &g_array_index (self->backward->steps, AdjBackwardStep, i);

      if (adj_captured_get_node (self->backward->captured, step->node.index)->call != number)
        continue;
      marks |= i == event.step ? MARK_WAITS : 0;
      marks |= adj_stepping_has_breakpoint (self->stepping, i) ? MARK_BREAKPOINT : 0;
    }
  return marks;
}

static void
list_calls (AdjBackwardPage *self)
{
  g_autoptr (GtkSelectionModel) model = NULL;
  GListStore *store = g_list_store_new (G_TYPE_OBJECT);

  self->rows = store;
  g_array_set_size (self->numbers, 0);
  g_array_set_size (self->marks, 0);
  for (guint i = 0; i < adj_captured_get_n_calls (self->backward->captured); i++)
    if (adj_captured_get_call (self->backward->captured, i)->name != NULL)
      {
        g_autoptr (GObject) row = g_object_new (G_TYPE_OBJECT, NULL);

        const guint marks = find_marks (self, i);

        g_array_append_val (self->numbers, i);
        g_array_append_val (self->marks, marks);
        g_list_store_append (store, row);
      }
  model = GTK_SELECTION_MODEL (gtk_single_selection_new (G_LIST_MODEL (g_object_ref (store))));
  gtk_list_view_set_model (self->calls, model);
}

/* -- reasons and sizes -- */

static void
empty_box (GtkBox *box)
{
  while (gtk_widget_get_first_child (GTK_WIDGET (box)) != NULL)
    gtk_box_remove (box, gtk_widget_get_first_child (GTK_WIDGET (box)));
}

static GtkWidget *
make_label (const char *text, const char *css_class)
{
  GtkWidget *label = gtk_label_new (text);

  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  if (css_class != NULL)
    gtk_widget_add_css_class (label, css_class);
  return label;
}

/* Says how many sizes changed; the table below has them. */
static void
fill_changed_sizes (AdjBackwardPage *self, guint n)
{
  g_autofree char *text =
      g_strdup_printf (ngettext ("%u size changed: it is a symbol from now on",
                                 "%u sizes changed: each is a symbol from now on", n),
                       n);

  gtk_box_append (self->reasons, make_label (text, NULL));
}

static void
add_reason (AdjBackwardPage *self, guint reason)
{
  g_autofree char *text = adj_backward_explain (self->backward, reason);
  GtkWidget *label = make_label (text, NULL);

  gtk_widget_set_tooltip_text (label, adj_captured_get_reason (self->backward->captured, reason));
  gtk_box_append (self->reasons, label);
}

static void
fill_reasons (AdjBackwardPage *self)
{
  guint n = adj_captured_get_n_reasons (self->backward->captured), n_sizes = 0;

  for (guint i = 0; i < n; i++)
    n_sizes += adj_backward_reason_is_size (self->backward, i);
  if (n_sizes > 0)
    fill_changed_sizes (self, n_sizes);
  for (guint i = 0; i < MIN (n, MAX_REASONS); i++)
    if (!adj_backward_reason_is_size (self->backward, i))
      add_reason (self, i);
  if (n > MAX_REASONS)
    {
      g_autofree char *more = g_strdup_printf (_ ("and %u more"), n - MAX_REASONS);

      gtk_box_append (self->reasons, make_label (more, "dim-label"));
    }
  if (n == 0)
    gtk_box_append (self->reasons, make_label (_ ("It was not recorded"), "dim-label"));
}

static void
fill_sizes (AdjBackwardPage *self)
{
  static const char *const titles[] = { N_ ("Symbol"), N_ ("First"), N_ ("Now"), N_ ("Owner") };
  const GArray *sizes = self->backward->sizes;

  gboolean filled[G_N_ELEMENTS (titles)] = { FALSE };

  for (guint i = 0; i < sizes->len; i++)
    {
      const AdjBackwardSize *size = &g_array_index (sizes, AdjBackwardSize, i);

      filled[0] = TRUE;
      filled[1] |= size->first != NULL;
      filled[2] |= size->now != NULL;
      filled[3] |= size->owner != NULL;
    }
  for (guint c = 0; c < G_N_ELEMENTS (titles); c++)
    if (filled[c])
      gtk_grid_attach (self->sizes, make_label (_ (titles[c]), "dim-label"), (int) c, 0, 1, 1);
  for (guint i = 0; i < sizes->len; i++)
    {
      const AdjBackwardSize *size = &g_array_index (sizes, AdjBackwardSize, i);
      const char *const cells[] = { size->symbol, size->first, size->now, size->owner };

      for (guint c = 0; c < G_N_ELEMENTS (cells); c++)
        if (filled[c])
          gtk_grid_attach (self->sizes, make_label (cells[c] != NULL ? cells[c] : "–", NULL),
                           (int) c, (int) i + 1, 1, 1);
    }
  if (sizes->len == 0)
    gtk_grid_attach (self->sizes,
                     make_label (_ ("All are fixed: another size is another graph"), "dim-label"),
                     0, 0, 1, 1);
}

/* -- running event by event -- */

/* "f32[4, 8]", the first elements, and their range. */
static char *
describe_value (AdjTensorData *value)
{
  g_autoptr (GString) type = g_string_new (NULL);
  g_autofree char *first = adj_tensor_stats_first (value, N_ELEMENTS);
  g_autofree char *low = NULL, *high = NULL;
  AdjTensorStats stats;

  adj_tensor_meta_print (adj_tensor_data_get_meta (value), NULL, type);
  adj_tensor_stats_compute (value, &stats);
  low = adj_properties_number (stats.min);
  high = adj_properties_number (stats.max);
  return stats.n > 1 ? g_strdup_printf (_ ("%s  %s; from %s to %s"), type->str, first, low, high)
                     : g_strdup_printf ("%s  %s", type->str, first);
}

static void
fill_values (AdjBackwardPage *self)
{
  const GArray *values = adj_stepping_get_values (self->stepping);
  const AdjGraph *graph = adj_captured_get_graph (self->backward->captured);
  AdjSteppingEvent event;
  const gboolean waits = adj_stepping_get_event (self->stepping, &event);

  empty_box (self->values);
  gtk_widget_set_visible (GTK_WIDGET (self->values_part), waits);
  for (guint i = 0; waits && i < values->len; i++)
    {
      const AdjSteppingValue *value = &g_array_index (values, AdjSteppingValue, i);
      g_autofree char *text = describe_value (value->value);

      gtk_box_append (self->values, make_label (adj_graph_get_node (graph, value->node.index)->name,
                                                "dim-label"));
      gtk_box_append (self->values, make_label (text, NULL));
    }
  if (waits && values->len == 0)
    gtk_box_append (self->values, make_label (event.ends ? _ ("It gave no tensor")
                                                         : _ ("It takes nothing that was computed"),
                                              "dim-label"));
}

/* Rebinds only rows whose marks changed, so that the others keep their place. */
static void
update_stepping (AdjBackwardPage *self)
{
  g_autofree char *text = NULL;

  if (self->stepping == NULL)
    return;
  text = adj_stepping_describe (self->stepping);
  gtk_label_set_text (self->state, text);
  for (guint i = 0; i < self->numbers->len; i++)
    {
      const guint marks = find_marks (self, get_number (self, i));
      g_autoptr (GObject) row = NULL;

      if (marks == g_array_index (self->marks, guint, i))
        continue;
      g_array_index (self->marks, guint, i) = marks;
      /* A list view would keep the row of an object that is inserted again, so a new object is
       * used. */
      row = g_object_new (G_TYPE_OBJECT, NULL);
      g_list_store_splice (self->rows, i, 1, (gpointer *) &row, 1);
      if ((marks & MARK_WAITS) != 0)
        adj_scroll_to_row (GTK_WIDGET (self->calls), i, self->numbers->len);
    }
  fill_values (self);
  adj_backward_chart_set_stepping (self->chart, self->stepping);
}

/* -- the page -- */

static void
forget (AdjBackwardPage *self)
{
  adj_backward_chart_set_backward (self->chart, NULL);
  adj_backward_chart_set_stepping (self->chart, NULL);
  adj_panel_leave (GTK_WIDGET (self->calls));
  gtk_list_view_set_model (self->calls, NULL);
  g_clear_object (&self->rows);
  empty_box (self->reasons);
  empty_box (self->values);
  while (gtk_widget_get_first_child (GTK_WIDGET (self->sizes)) != NULL)
    gtk_grid_remove (self->sizes, gtk_widget_get_first_child (GTK_WIDGET (self->sizes)));
  self->backward = NULL;
  g_clear_object (&self->stepping);
}

static void
update_selected (AdjBackwardPage *self)
{
  if (self->backward != NULL)
    adj_backward_chart_choose_node (self->chart,
                                    adj_document_get_selected (adj_panel_get_document (self)));
}

/* Makes the chart of the shown backward, once the page is visible. */
static void
update (AdjBackwardPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjCaptured *captured = document != NULL ? adj_document_get_captured (document) : NULL;

  if (self->backward != NULL && self->backward->captured != captured)
    forget (self);
  gtk_stack_set_visible_child_name (self->stack, captured != NULL ? "backward" : "empty");
  if (captured == NULL || self->backward != NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  self->stepping = g_object_ref (adj_document_get_stepping (document));
  self->backward = adj_stepping_get_backward (self->stepping);
  adj_backward_chart_set_backward (self->chart, self->backward);
  list_calls (self);
  fill_reasons (self);
  fill_sizes (self);
  update_stepping (self);
  update_selected (self);
}

static void
adj_backward_page_dispose (GObject *object)
{
  AdjBackwardPage *self = ADJ_BACKWARD_PAGE (object);

  if (self->backward != NULL)
    forget (self);

  G_OBJECT_CLASS (adj_backward_page_parent_class)->dispose (object);
}

static void
adj_backward_page_finalize (GObject *object)
{
  g_array_unref (ADJ_BACKWARD_PAGE (object)->numbers);
  g_array_unref (ADJ_BACKWARD_PAGE (object)->marks);

  G_OBJECT_CLASS (adj_backward_page_parent_class)->finalize (object);
}

static void
adj_backward_page_class_init (AdjBackwardPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_backward_page_dispose;
  G_OBJECT_CLASS (klass)->finalize = adj_backward_page_finalize;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;

  g_type_ensure (ADJ_TYPE_BACKWARD_CHART);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/backward-page.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjBackwardPage, stack);
  gtk_widget_class_bind_template_child (widget_class, AdjBackwardPage, bar);
  gtk_widget_class_bind_template_child (widget_class, AdjBackwardPage, calls);
  gtk_widget_class_bind_template_child (widget_class, AdjBackwardPage, chart);
  gtk_widget_class_bind_template_child (widget_class, AdjBackwardPage, reasons);
  gtk_widget_class_bind_template_child (widget_class, AdjBackwardPage, sizes);
  gtk_widget_class_bind_template_child (widget_class, AdjBackwardPage, state);
  gtk_widget_class_bind_template_child (widget_class, AdjBackwardPage, values_part);
  gtk_widget_class_bind_template_child (widget_class, AdjBackwardPage, values);
}

static void
adj_backward_page_init (AdjBackwardPage *self)
{
  g_autoptr (GtkListItemFactory) factory = adj_row_look_make_factory (&call_look, self);

  self->numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  self->marks = g_array_new (FALSE, FALSE, sizeof (guint));
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_list_view_set_factory (self->calls, factory);
  g_signal_connect_swapped (self->calls, "activate", G_CALLBACK (on_activated), self);
  adj_quick_find_add_rows (self->bar, GTK_WIDGET (self->calls), _ ("Find a Node of Autograd"),
                           get_row_text, self);
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::selected", G_CALLBACK (update_selected));
  adj_panel_watch (ADJ_PANEL (self), "notify::stepping", G_CALLBACK (update_stepping));
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
}
