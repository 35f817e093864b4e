/* SPDX-License-Identifier: MIT */
/* The row of options under the strip of stages. */

#include "stages/adj-stage-options.h"

#include <glib/gi18n.h>

#include "model/adj-stages.h"
#include "model/adj-tradeoff.h"
#include "partition/adj-partition.h"
#include "trace/adj-decompose.h"

struct _AdjStageOptions
{
  AdjPanel parent_instance;

  GtkWidget *joint, *partition; /* options of the joint graph and of the partition */
  GtkCheckButton *functionalizes, *compat;
  GtkDropDown *decompositions, *partitioner;
  GtkSpinButton *budget;
  gboolean updating;
};

G_DEFINE_FINAL_TYPE (AdjStageOptions, adj_stage_options, ADJ_TYPE_PANEL)

/* -- what is chosen -- */

static guint
find_partitioner (const char *name)
{
  for (guint i = 0; i < adj_partitioners_get_n (); i++)
    if (g_strcmp0 (adj_partitioners_get (i)->name, name != NULL ? name : "min-cut") == 0)
      return i;
  return 0;
}

/* 0: none. */
static guint
find_decompositions (const char *name)
{
  for (guint i = 0; name != NULL && i < adj_decompositions_get_n (); i++)
    if (g_str_equal (adj_decompositions_get (i)->name, name))
      return i + 1;
  return 0;
}

static AdjTraceChoice
read_choice (AdjStageOptions *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  AdjTraceChoice choice = *adj_document_get_trace (document);
  guint table = gtk_drop_down_get_selected (self->decompositions);
  AdjTradeoffSubject subject;

  choice.functionalizes = gtk_check_button_get_active (self->functionalizes);
  choice.decompositions = table > 0 ? adj_decompositions_get (table - 1)->name : NULL;
  choice.partition.partitioner =
      adj_partitioners_get (gtk_drop_down_get_selected (self->partitioner))->name;
  choice.partition.budget = gtk_spin_button_get_value (self->budget);
  choice.partition.compat = gtk_check_button_get_active (self->compat);
  choice.partition.num_fwd_outputs =
      adj_tradeoff_find_subject (document, &subject) ? subject.num_fwd_outputs : -1;
  return choice;
}

static void
on_changed (AdjStageOptions *self)
{
  AdjTraceChoice choice;

  if (self->updating)
    return;
  choice = read_choice (self);
  adj_document_trace (adj_panel_get_document (self), &choice);
}

/* -- what is shown -- */

static gboolean
is_partitioned (AdjDocument *document)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (document);
  gint current = adj_stages_get_current_step (document);
  const AdjStep *step = current >= 0 ? &g_array_index (steps, AdjStep, current) : NULL;

  return step != NULL &&
         (step->stage < 0 ||
          adj_stages_is_half (adj_stages_get_recording (document), (guint) step->stage));
}

static gboolean
is_first (AdjDocument *document)
{
  return adj_stages_get_current (document) == 0;
}

static void
update (AdjStageOptions *self)
{
  AdjDocument *document = adj_panel_get_document (self);
  const AdjTraceChoice *choice = document != NULL ? adj_document_get_trace (document) : NULL;
  gboolean partitioned = choice != NULL && is_partitioned (document);

  gtk_widget_set_visible (GTK_WIDGET (self), choice != NULL && !is_first (document));
  if (choice == NULL)
    return;
  gtk_widget_set_visible (self->partition, partitioned);
  gtk_widget_set_visible (self->joint, !partitioned);
  self->updating = TRUE;
  gtk_check_button_set_active (self->functionalizes, choice->functionalizes);
  gtk_drop_down_set_selected (self->decompositions, find_decompositions (choice->decompositions));
  gtk_drop_down_set_selected (self->partitioner, find_partitioner (choice->partition.partitioner));
  gtk_spin_button_set_value (self->budget,
                             choice->partition.partitioner != NULL ? choice->partition.budget : 1);
  gtk_check_button_set_active (self->compat, choice->partition.compat);
  self->updating = FALSE;
}

/* -- widget -- */

static void
fill_lists (AdjStageOptions *self)
{
  g_autoptr (GtkStringList) tables = gtk_string_list_new (NULL);
  g_autoptr (GtkStringList) partitioners = gtk_string_list_new (NULL);

  gtk_string_list_append (tables, _ ("none"));
  for (guint i = 0; i < adj_decompositions_get_n (); i++)
    gtk_string_list_append (tables, adj_decompositions_get (i)->name);
  for (guint i = 0; i < adj_partitioners_get_n (); i++)
    gtk_string_list_append (partitioners, adj_partitioners_get (i)->name);
  self->updating = TRUE;
  gtk_drop_down_set_model (self->decompositions, G_LIST_MODEL (tables));
  gtk_drop_down_set_model (self->partitioner, G_LIST_MODEL (partitioners));
  self->updating = FALSE;
}

#define BIND(name) gtk_widget_class_bind_template_child (widget_class, AdjStageOptions, name)

static void
adj_stage_options_class_init (AdjStageOptionsClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  ADJ_PANEL_CLASS (klass)->update = (AdjPanelUpdate) update;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/stage-options.ui");
  BIND (joint);
  BIND (partition);
  BIND (functionalizes);
  BIND (compat);
  BIND (decompositions);
  BIND (partitioner);
  BIND (budget);
}

static void
adj_stage_options_init (AdjStageOptions *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  fill_lists (self);
  g_signal_connect_swapped (self->functionalizes, "toggled", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (self->compat, "toggled", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (self->decompositions, "notify::selected", G_CALLBACK (on_changed),
                            self);
  g_signal_connect_swapped (self->partitioner, "notify::selected", G_CALLBACK (on_changed), self);
  g_signal_connect_swapped (self->budget, "value-changed", G_CALLBACK (on_changed), self);
  adj_panel_watch (ADJ_PANEL (self), "notify::bundle", G_CALLBACK (update));
  adj_panel_watch (ADJ_PANEL (self), "notify::graph-index", G_CALLBACK (update));
}
