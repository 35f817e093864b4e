/* SPDX-License-Identifier: MIT */
/* The panel page of partitions: the chart and a table. */

#include "stages/adj-pareto-page.h"

#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-task-list.h"
#include "model/adj-tradeoff.h"
#include "report/adj-properties.h"
#include "stages/adj-pareto-chart.h"
#include "widgets/adj-column.h"
#include "widgets/legend.h"

struct _AdjParetoPage
{
  AdjPanel parent_instance;

  GtkStack *stack;
  AdwStatusPage *stopped;
  GtkLabel *doing;
  GtkProgressBar *progress;
  GtkButton *cancel;
  GtkButton *again;
  AdjParetoChart *chart;
  GtkFlowBox *names;
  GtkColumnView *table;

  AdjGraph *joint, *backward; /* (owned) (nullable): of the curve shown or being computed */
  AdjTaskList tasks;
};

G_DEFINE_FINAL_TYPE (AdjParetoPage, adj_pareto_page, ADJ_TYPE_PANEL)

/* -- the table -- */

static const AdjTradeoffPlan *
get_plan (gpointer item)
{
  return adj_plan_item_get (item);
}

static char *
get_kind (gpointer item)
{
  return g_strdup (adj_plan_kind_title (get_plan (item)->kind));
}

static char *
get_budgets (gpointer item)
{
  return g_strdup (get_plan (item)->budgets);
}

static char *
get_peak (gpointer item)
{
  return adj_properties_bytes ((gint64) MIN (get_plan (item)->peak, G_MAXINT64));
}

static char *
get_saved (gpointer item)
{
  return adj_properties_bytes ((gint64) MIN (get_plan (item)->saved_bytes, G_MAXINT64));
}

static char *
get_again (gpointer item)
{
  return adj_plan_item_get_again (item);
}

static char *
get_remark (gpointer item)
{
  if (get_plan (item)->wrong != NULL)
    return g_strdup_printf ("%s%s",
                            get_plan (item)->is_shown ? _ ("shown, wrong: ") : _ ("wrong: "),
                            _ (get_plan (item)->wrong));
  if (get_plan (item)->is_shown)
    return g_strdup (get_plan (item)->is_dominated ? _ ("shown, beaten") : _ ("shown"));
  return g_strdup (get_plan (item)->is_dominated ? _ ("beaten") : "");
}

static const char *
get_class (gpointer item)
{
  if (get_plan (item)->wrong != NULL)
    return "verdict-differs";
  return get_plan (item)->is_dominated ? "dim-label" : NULL;
}

static const AdjColumn columns[] = {
  { N_ ("By"), get_kind, 70, TRUE, FALSE, get_class },
  { N_ ("Budget"), get_budgets, 84, FALSE, TRUE, get_class },
  { N_ ("Peak beside inputs"), get_peak, 134, FALSE, TRUE, get_class },
  { N_ ("Saved beside inputs"), get_saved, 140, FALSE, TRUE, get_class },
  { N_ ("Computed Again"), get_again, 116, FALSE, TRUE, get_class },
  { N_ ("Remark"), get_remark, -1, FALSE, FALSE, get_class },
};

/* -- the names of the signs -- */

static void
draw_name (GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
  if (GPOINTER_TO_UINT (data) == ADJ_N_PLAN_KINDS)
    adj_pareto_chart_draw_wrong (cr, width / 2.0, height / 2.0);
  else
    adj_pareto_chart_draw_sign (cr, GPOINTER_TO_UINT (data), width / 2.0, height / 2.0, FALSE);
}

static void
fill_names (AdjParetoPage *self)
{
  static const char *const texts[ADJ_N_PLAN_KINDS + 1] = {
    N_ ("PyTorch at a budget"),
    N_ ("Adjoint: lowest peak for as much again"),
    N_ ("this file"),
    N_ ("another program"),
  };

  for (guint kind = 0; kind <= ADJ_N_PLAN_KINDS; kind++)
    adj_legend_add (self->names, 20, draw_name, GUINT_TO_POINTER (kind), _ (texts[kind]));
}

/* Shows the last name of the legend only if one of the plans would be another program. */
static void
update_names (AdjParetoPage *self, GListModel *plans)
{
  gboolean any = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (plans); i++)
    {
      g_autoptr (AdjPlanItem) item = g_list_model_get_item (plans, i);

      any |= get_plan (item)->wrong != NULL;
    }
  gtk_widget_set_visible (gtk_widget_get_last_child (GTK_WIDGET (self->names)), any);
}

/* -- choosing -- */

static void
open_plan (AdjParetoPage *self, AdjPlanItem *item)
{
  AdjPartitionChoice choice;

  if (adj_plan_item_get_choice (item, &choice))
    gtk_widget_activate_action (GTK_WIDGET (self), "win.open-partition", "(sdb)",
                                choice.partitioner, choice.budget, choice.compat);
}

static void
on_plan_chosen (AdjParetoPage *self, AdjPlanItem *item)
{
  open_plan (self, item);
}

static void
on_row_activated (AdjParetoPage *self, guint position)
{
  g_autoptr (AdjPlanItem) item =
      g_list_model_get_item (G_LIST_MODEL (gtk_column_view_get_model (self->table)), position);

  if (item != NULL)
    open_plan (self, item);
}

/* -- computing -- */

static void
forget (AdjParetoPage *self)
{
  adj_task_list_cancel (&self->tasks, ADJ_TASK_PARTITIONS);
  g_clear_pointer (&self->joint, adj_graph_unref);
  g_clear_pointer (&self->backward, adj_graph_unref);
  if (self->chart != NULL)
    adj_pareto_chart_set_plans (self->chart, NULL);
  if (self->table != NULL)
    {
      adj_panel_leave (GTK_WIDGET (self->table));
      gtk_column_view_set_model (self->table, NULL);
    }
}

static void
show_stopped (AdjParetoPage *self, const char *title, const char *why)
{
  g_autofree char *escaped = g_markup_escape_text (why, -1);

  adw_status_page_set_title (self->stopped, title);
  adw_status_page_set_description (self->stopped, escaped);
  gtk_stack_set_visible_child_name (self->stack, "stopped");
}

static void
show_plans (AdjParetoPage *self, GListModel *plans)
{
  g_autoptr (GtkSingleSelection) selection = gtk_single_selection_new (plans);
  gboolean had_focus = gtk_widget_has_focus (GTK_WIDGET (self->cancel));

  gtk_single_selection_set_autoselect (selection, FALSE);
  gtk_single_selection_set_can_unselect (selection, TRUE);
  gtk_single_selection_set_selected (selection, GTK_INVALID_LIST_POSITION);
  gtk_column_view_set_model (self->table, GTK_SELECTION_MODEL (selection));
  adj_pareto_chart_set_plans (self->chart, selection);
  update_names (self, plans);
  gtk_stack_set_visible_child_name (self->stack, "curve");
  if (had_focus)
    gtk_widget_grab_focus (GTK_WIDGET (self->chart));
}

static void
on_computed (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjParetoPage *self = ADJ_PARETO_PAGE (source);
  g_autoptr (GError) error = NULL;
  gpointer plans = NULL;
  gint64 age;

  /* It was stopped, or another graph was requested meanwhile. */
  if (!adj_task_list_finish (&self->tasks, ADJ_TASK_PARTITIONS, result, &plans, &age, &error))
    return;
  if (plans != NULL)
    show_plans (self, plans);
  else
    show_stopped (self, _ ("No Partitions"), error->message);
}

static void
on_tasks_changed (gpointer data)
{
  AdjParetoPage *self = data;

  if (self->doing == NULL)
    return;
  gtk_label_set_text (self->doing,
                      self->tasks.status != NULL ? self->tasks.status : _ ("Comparing partitions"));
  gtk_progress_bar_set_fraction (self->progress, MAX (self->tasks.fraction, 0));
}

static void
begin (AdjParetoPage *self, const AdjTradeoffSubject *subject)
{
  self->joint = adj_graph_ref (subject->joint->graph);
  self->backward = subject->backward != NULL ? adj_graph_ref (subject->backward) : NULL;
  adj_task_list_start (&self->tasks, ADJ_TASK_PARTITIONS,
                       adj_tradeoff_start (G_OBJECT (self), subject, on_computed),
                       subject->joint->id);
  gtk_stack_set_visible_child_name (self->stack, "work");
}

static void
update (AdjParetoPage *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjTradeoffSubject subject = { NULL };
  gboolean any = document != NULL && adj_tradeoff_find_subject (document, &subject);

  if (any && subject.joint->graph == self->joint && subject.backward == self->backward)
    return;
  forget (self);
  if (!any)
    gtk_stack_set_visible_child_name (self->stack, "empty");
  else if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    begin (self, &subject);
}

static void
on_cancel (AdjParetoPage *self)
{
  if (!adj_task_list_any (&self->tasks))
    return;
  adj_task_list_cancel (&self->tasks, ADJ_TASK_PARTITIONS);
  show_stopped (self, _ ("Stopped"), _ ("The partitions were not compared"));
  gtk_widget_grab_focus (GTK_WIDGET (self->again));
}

static void
on_again (AdjParetoPage *self)
{
  forget (self);
  update (self);
}

static gboolean
on_escape (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjParetoPage *self = ADJ_PARETO_PAGE (widget);

  if (!adj_task_list_any (&self->tasks))
    return FALSE;
  on_cancel (self);
  return TRUE;
}

/* -- widget -- */

/* The task holds a reference to the page, which would keep it alive in a closed tab. */
static void
adj_pareto_page_unroot (GtkWidget *widget)
{
  forget (ADJ_PARETO_PAGE (widget));

  GTK_WIDGET_CLASS (adj_pareto_page_parent_class)->unroot (widget);
}

static void
adj_pareto_page_dispose (GObject *object)
{
  forget (ADJ_PARETO_PAGE (object));
  adj_task_list_clear (&ADJ_PARETO_PAGE (object)->tasks);

  G_OBJECT_CLASS (adj_pareto_page_parent_class)->dispose (object);
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjParetoPage, name)

static void
adj_pareto_page_class_init (AdjParetoPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_pareto_page_dispose;
  widget_class->unroot = adj_pareto_page_unroot;
  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;

  g_type_ensure (ADJ_TYPE_PARETO_CHART);
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/pareto-page.ui");
  BIND (stack);
  BIND (stopped);
  BIND (doing);
  BIND (progress);
  BIND (cancel);
  BIND (again);
  BIND (chart);
  BIND (names);
  BIND (table);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Escape, 0, on_escape, NULL);
}

static void
adj_pareto_page_init (AdjParetoPage *self)
{
  adj_task_list_init (&self->tasks, on_tasks_changed, self);
  gtk_widget_init_template (GTK_WIDGET (self));
  adj_columns_append (self->table, columns, G_N_ELEMENTS (columns));
  fill_names (self);
  adj_panel_watch (ADJ_PANEL (self), "notify::scene", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::bundle", G_CALLBACK (update));
  g_signal_connect (self, "map", G_CALLBACK (update), NULL);
  g_signal_connect_swapped (self->cancel, "clicked", G_CALLBACK (on_cancel), self);
  g_signal_connect_swapped (self->again, "clicked", G_CALLBACK (on_again), self);
  g_signal_connect_swapped (self->chart, "plan-chosen", G_CALLBACK (on_plan_chosen), self);
  g_signal_connect_swapped (self->table, "activate", G_CALLBACK (on_row_activated), self);
}
