/* SPDX-License-Identifier: MIT */
/* The panel page of memory: the chart, the plan to compare with, and the table of live values. */

#include "panel/adj-memory-page.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-memory-plan.h"
#include "model/adj-task-list.h"
#include "panel/adj-memory-chart.h"
#include "panel/memory-columns.h"
#include "report/adj-properties.h"
#include "widgets/context-menu.h"
#include "widgets/legend.h"
#include "widgets/name-widgets.h"
#include "widgets/quick-find.h"

struct _AdjMemoryPage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  AdjMemoryChart *chart;
  GtkFlowBox *names;
  GtkSearchBar *bar;
  GtkColumnView *ledger;
  GtkDropDown *plan;
  GtkSpinner *spinner;
  GtkButton *cancel, *clear, *show_all;
  GtkLabel *note, *listed;
  AdjTimeline *memory; /* (owned) (nullable): of the shown graph; computed when first visible */
  AdjTimeline *other;  /* (owned) (nullable): of the plan or snapshot that is compared */
  AdjTaskList tasks;
};

G_DEFINE_FINAL_TYPE (AdjMemoryPage, adj_memory_page, ADJ_TYPE_PANEL)

/* -- the ledger -- */

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
  return memory_columns_get_name (item);
}

/* "Alive at step 12 of 88, addmm_3: 9 values, 37.4 KiB with inputs" */
static void
tell_listed (AdjMemoryPage *self, guint step, guint n_listed)
{
  const AdjTimeline *memory = self->memory;
  g_autofree char *text = NULL;

  if (step == G_MAXUINT && n_listed == memory->held->len)
    text = g_strdup_printf (_ ("All %u values, the heaviest by bytes × steps first"), n_listed);
  else if (step == G_MAXUINT)
    text = g_strdup_printf (_ ("%u of %u values, the heaviest by bytes × steps first"), n_listed,
                            memory->held->len);
  else
    {
      g_autoptr (GArray) live = adj_timeline_get_live (memory, step);
      g_autofree char *bytes = adj_properties_bytes ((gint64) memory->live[step]);

      text = g_strdup_printf (_ ("Alive at step %u of %u, %s: %u values, %s with inputs"), step + 1,
                              memory->n_steps, adj_graph_get_node (memory->graph, step)->name,
                              live->len, bytes);
    }
  gtk_label_set_text (self->listed, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->listed), text);
}

static void
fill_ledger (AdjMemoryPage *self, guint step)
{
  GListModel *lines = adj_timeline_make_ledger (self->memory, step);
  g_autoptr (GtkSingleSelection) selection = gtk_single_selection_new (lines);

  gtk_single_selection_set_autoselect (selection, FALSE);
  gtk_single_selection_set_can_unselect (selection, TRUE);
  gtk_single_selection_set_selected (selection, GTK_INVALID_LIST_POSITION);
  g_signal_connect_object (selection, "notify::selected-item", G_CALLBACK (on_row_selected), self,
                           G_CONNECT_SWAPPED);
  adj_panel_leave (GTK_WIDGET (self->ledger));
  gtk_column_view_set_model (self->ledger, GTK_SELECTION_MODEL (selection));
  memory_columns_update (self->ledger);
  gtk_widget_set_visible (GTK_WIDGET (self->show_all), step != G_MAXUINT);
  tell_listed (self, step, g_list_model_get_n_items (lines));
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
  adj_legend_clear (self->names);
  for (guint g = 0; g < self->memory->n_groups; g++)
    adj_legend_add (self->names, 10, paint_swatch, GUINT_TO_POINTER (g), self->memory->groups[g]);
}

static void
on_step_chosen (AdjMemoryPage *self, guint step)
{
  AdjDocument *document = adj_panel_get_document (self);
  g_autoptr (GArray) live = step != G_MAXUINT ? adj_timeline_get_live (self->memory, step) : NULL;

  if (document != NULL)
    adj_document_set_lit (document, live);
}

static void
on_step_pinned (AdjMemoryPage *self, guint step)
{
  adj_memory_chart_set_stretch (self->chart, 0, 0);
  on_step_chosen (self, step);
  fill_ledger (self, step);
}

static void
on_show_all (AdjMemoryPage *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->chart));
  adj_memory_chart_pin (self->chart, G_MAXUINT);
}

static void
on_zoom (AdjMemoryPage *self, GtkWidget *button)
{
  static const struct
  {
    const char *name;
    double factor;
  } zooms[] = { { "in", 1.5 }, { "out", 1 / 1.5 }, { "all", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    if (g_str_equal (gtk_buildable_get_buildable_id (GTK_BUILDABLE (button)), zooms[i].name))
      adj_memory_chart_zoom (self->chart, zooms[i].factor);
}

/* -- another plan, a snapshot -- */

static void
tell_plan (AdjMemoryPage *self, const char *text)
{
  gtk_label_set_text (self->note, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->note), text);
  gtk_widget_set_visible (GTK_WIDGET (self->note), *text != '\0');
}

static void
on_tasks_changed (gpointer data)
{
  AdjMemoryPage *self = data;
  gboolean busy = adj_task_list_any (&self->tasks);

  if (self->spinner == NULL)
    return;
  gtk_widget_set_visible (GTK_WIDGET (self->spinner), busy);
  gtk_widget_set_visible (GTK_WIDGET (self->cancel), busy);
  gtk_spinner_set_spinning (self->spinner, busy);
}

static void
forget_plan (AdjMemoryPage *self)
{
  adj_task_list_cancel (&self->tasks, ADJ_TASK_PARTITIONS);
  if (self->chart != NULL)
    adj_memory_chart_set_other (self->chart, NULL, NULL);
  g_clear_pointer (&self->other, adj_timeline_free);
  if (self->note != NULL)
    tell_plan (self, "");
}

/* The title of the line.  (transfer full) */
static char *
name_line (AdjMemoryPage *self)
{
  guint chosen = gtk_drop_down_get_selected (self->plan);

  if (chosen > 0)
    return g_strdup (_ (adj_memory_plans_get (chosen - 1)->title));
  return g_path_get_basename (adj_document_get_snapshot (adj_panel_get_document (self)));
}

static void
on_plan_made (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjMemoryPage *self = ADJ_MEMORY_PAGE (source);
  g_autoptr (GError) error = NULL;
  g_autofree char *note = NULL, *bytes = NULL, *name = NULL;
  gpointer other = NULL;
  gint64 age;

  /* It was stopped, or another plan or graph was chosen meanwhile. */
  if (!adj_task_list_finish (&self->tasks, ADJ_TASK_PARTITIONS, result, &other, &age, &error))
    return;
  if (other == NULL)
    {
      tell_plan (self, error->message);
      return;
    }
  self->other = other;
  bytes = adj_properties_bytes ((gint64) self->other->live[self->other->peak]);
  name = name_line (self);
  note = g_strdup_printf (_ ("Line: %s, peak of %s with inputs, at %s"), name, bytes,
                          adj_graph_get_node (self->other->graph, self->other->peak)->name);
  tell_plan (self, note);
  adj_memory_chart_set_other (self->chart, self->other, note);
}

static void
lay_snapshot_over (AdjMemoryPage *self, const char *path)
{
  adj_task_list_start (
      &self->tasks, ADJ_TASK_PARTITIONS,
      adj_memory_snapshot_start (G_OBJECT (self), self->memory->graph, path, on_plan_made), path);
}

static void
on_plan_chosen (AdjMemoryPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  guint chosen = gtk_drop_down_get_selected (self->plan);
  AdjTradeoffSubject subject;
  AdjMemoryPart part;

  forget_plan (self);
  if (self->memory == NULL || document == NULL)
    return;
  if (chosen == 0 && adj_document_get_snapshot (document) != NULL)
    lay_snapshot_over (self, adj_document_get_snapshot (document));
  if (chosen == 0 || chosen > adj_memory_plans_get_n () ||
      !adj_memory_plan_find (document, &subject, &part))
    return;
  adj_task_list_start (&self->tasks, ADJ_TASK_PARTITIONS,
                       adj_memory_plan_start (G_OBJECT (self), &subject, part,
                                              adj_memory_plans_get (chosen - 1), on_plan_made),
                       subject.joint->id);
}

/* Only one line is shown: the snapshot replaces a plan. */
static void
on_snapshot (AdjMemoryPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  gboolean any = document != NULL && adj_document_get_snapshot (document) != NULL;

  gtk_widget_set_visible (GTK_WIDGET (self->clear), any);
  if (gtk_drop_down_get_selected (self->plan) != 0)
    gtk_drop_down_set_selected (self->plan, 0);
  else
    on_plan_chosen (self);
}

static void
on_clear (AdjMemoryPage *self)
{
  gtk_widget_grab_focus (GTK_WIDGET (self->chart));
  adj_document_set_snapshot (adj_panel_get_document (self), NULL);
}

static void
on_cancel (AdjMemoryPage *self)
{
  if (gtk_drop_down_get_selected (self->plan) == 0)
    {
      on_clear (self);
      return;
    }
  gtk_widget_grab_focus (GTK_WIDGET (self->plan));
  gtk_drop_down_set_selected (self->plan, 0);
}

static void
fill_plans (AdjMemoryPage *self)
{
  g_autoptr (GtkStringList) titles = gtk_string_list_new (NULL);

  gtk_string_list_append (titles, _ ("No other plan"));
  for (guint i = 0; i < adj_memory_plans_get_n (); i++)
    gtk_string_list_append (titles, _ (adj_memory_plans_get (i)->title));
  gtk_drop_down_set_model (self->plan, G_LIST_MODEL (titles));
  adj_name_choices (GTK_WIDGET (self->plan), _ ("Plan to Compare With"));
}

static void
update_plans (AdjMemoryPage *self)
{
  AdjTradeoffSubject subject;
  AdjMemoryPart part;
  gboolean can = adj_memory_plan_find (adj_panel_get_document (self), &subject, &part);

  gtk_widget_set_sensitive (GTK_WIDGET (self->plan), can);
  gtk_widget_set_tooltip_text (
      GTK_WIDGET (self->plan),
      can ? _ ("Draws what another plan of this region holds as a line over this one")
          : _ ("Another plan needs a joint graph: trace a captured graph to get one"));
  on_plan_chosen (self);
}

/* -- what is shown -- */

static void
forget (AdjMemoryPage *self)
{
  forget_plan (self);
  if (self->ledger != NULL)
    {
      adj_panel_leave (GTK_WIDGET (self->ledger));
      gtk_column_view_set_model (self->ledger, NULL);
    }
  if (self->chart != NULL)
    adj_memory_chart_set_memory (self->chart, NULL);
  g_clear_pointer (&self->memory, adj_timeline_free);
}

/* Computes the memory of the shown graph, once the page is visible. */
static void
update (AdjMemoryPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjBundleGraph *graph = document != NULL ? adj_document_get_graph (document) : NULL;

  if (self->memory != NULL && (graph == NULL || graph->graph != self->memory->graph))
    forget (self);
  if (graph == NULL || self->memory != NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  self->memory = adj_timeline_new (graph->graph);
  adj_memory_chart_set_memory (self->chart, self->memory);
  fill_names (self);
  fill_ledger (self, G_MAXUINT);
  update_plans (self);
  gtk_stack_set_visible_child_name (self->stack, self->memory->held->len > 0 ? "memory" : "empty");
}

/* The task holds a reference to the page, which would keep it alive in a closed tab. */
static void
adj_memory_page_unroot (GtkWidget *widget)
{
  forget (ADJ_MEMORY_PAGE (widget));

  GTK_WIDGET_CLASS (adj_memory_page_parent_class)->unroot (widget);
}

static void
adj_memory_page_dispose (GObject *object)
{
  AdjMemoryPage *self = ADJ_MEMORY_PAGE (object);

  forget (self);
  adj_task_list_clear (&self->tasks);

  G_OBJECT_CLASS (adj_memory_page_parent_class)->dispose (object);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjMemoryPage, name)

static void
adj_memory_page_class_init (AdjMemoryPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_memory_page_dispose;
  widget_class->unroot = adj_memory_page_unroot;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;

  g_type_ensure (ADJ_TYPE_MEMORY_CHART);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/memory-page.ui");
  BIND (stack);
  BIND (chart);
  BIND (names);
  BIND (ledger);
  BIND (bar);
  BIND (plan);
  BIND (spinner);
  BIND (cancel);
  BIND (clear);
  BIND (show_all);
  BIND (note);
  BIND (listed);
  gtk_widget_class_bind_template_callback (widget_class, on_zoom);
}

static void
adj_memory_page_init (AdjMemoryPage *self)
{
  adj_task_list_init (&self->tasks, on_tasks_changed, self);
  gtk_widget_init_template (GTK_WIDGET (self));
  fill_plans (self);
  memory_columns_append (self->ledger);
  adj_context_menu_watch_rows (GTK_WIDGET (self->ledger), prepare_row, self);
  adj_quick_find_add_rows (self->bar, GTK_WIDGET (self->ledger), _ ("Find a Value"), get_row_text,
                           self);
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::snapshot", G_CALLBACK (on_snapshot));
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
  g_signal_connect_swapped (self->chart, "step-chosen", G_CALLBACK (on_step_chosen), self);
  g_signal_connect_swapped (self->chart, "step-pinned", G_CALLBACK (on_step_pinned), self);
  g_signal_connect_swapped (self->show_all, "clicked", G_CALLBACK (on_show_all), self);
  g_signal_connect_swapped (self->clear, "clicked", G_CALLBACK (on_clear), self);
  g_signal_connect_swapped (self->cancel, "clicked", G_CALLBACK (on_cancel), self);
  g_signal_connect_swapped (self->plan, "notify::selected", G_CALLBACK (on_plan_chosen), self);
}
