/* SPDX-License-Identifier: MIT */
/* The document's runs: starting, stopping, keeping and removing them. */

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "model/adj-log.h"
#include "model/document-private.h"

/* Drops results of an earlier run of the graph, which do not belong to the failed one. */
static void
fail_run (AdjDocument *self, const char *id, const GError *error)
{
  guint index = adj_graph_set_find (self->graphs, id, NULL);
  AdjGraph *graph = index != G_MAXUINT ? adj_graph_set_get (self->graphs, index)->graph : NULL;

  if (graph != NULL && g_hash_table_remove (self->evaluations, graph))
    adj_document_changed (self, PROP_EVALUATION);
  if (graph != NULL && adj_document_blame (self, graph, error))
    adj_log_add (self->log, ADJ_LOG_PROBLEM, "%s", error->message);
  else
    adj_document_report_problem (self, error);
}

static void
on_evaluated (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  const char *id = adj_evaluation_get_graph_id (adj_task_from_result (result));
  const AdjComparison *comparison;
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  gpointer evaluation = NULL;
  gint64 age;

  if (!adj_task_list_finish (&self->tasks, ADJ_TASK_RUN, result, &evaluation, &age, &error))
    return;
  if (evaluation == NULL)
    {
      fail_run (self, id, error);
      return;
    }
  g_hash_table_insert (self->evaluations, adj_evaluation_get_graph (evaluation), evaluation);
  text = adj_evaluation_describe (evaluation, id);
  adj_log_add (self->log, ADJ_LOG_DONE, "%s", text);
  adj_document_changed (self, PROP_EVALUATION);
  comparison = adj_evaluation_get_comparison (evaluation);
  if (comparison != NULL && comparison->failure != NULL)
    adj_document_blame (self, adj_evaluation_get_graph (evaluation), comparison->failure);
}

AdjRunChoice
adj_document_get_run_choice (AdjDocument *self)
{
  if (self->graph == NULL)
    return self->run_choice;
  return adj_run_choice_fit (self->run_choice, self->graphs, self->graph);
}

AdjRunChoice
adj_document_get_wanted_choice (AdjDocument *self)
{
  return self->run_choice;
}

void
adj_document_set_run_choice (AdjDocument *self, AdjRunChoice choice)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (adj_run_choice_equal (adj_document_get_run_choice (self), choice))
    return;
  self->run_choice = choice;
  adj_task_list_cancel (&self->tasks, ADJ_TASK_RUN);
  g_hash_table_remove_all (self->evaluations);
  adj_document_changed (self, PROP_EVALUATION);
  adj_document_changed (self, PROP_RUN_CHOICE);
}

static void
start_run (AdjDocument *self, const AdjPeer *peer)
{
  adj_document_forget_problem (self);
  adj_task_list_start (&self->tasks, ADJ_TASK_RUN,
                       adj_evaluation_start (G_OBJECT (self), self->graphs, self->graph,
                                             adj_document_get_run_choice (self), peer,
                                             on_evaluated),
                       self->graph->id);
}

void
adj_document_run (AdjDocument *self, gboolean compare)
{
  AdjPeer recorded = { 0 };

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->graph == NULL)
    return;
  if (compare && !adj_run_choice_has_results (adj_document_get_run_choice (self)))
    {
      adj_document_remark (self, adj_graph_set_find_call (self->graphs, self->graph, 0) == NULL
                                     ? _ ("Nothing was recorded for this graph")
                                     : _ ("Nothing was recorded for these inputs"));
      return;
    }
  start_run (self, compare ? &recorded : NULL);
}

void
adj_document_run_against_values (AdjDocument *self)
{
  AdjPeer values = { .values = TRUE };

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (self->run_choice.values != NULL);

  if (self->graph != NULL)
    start_run (self, &values);
}

void
adj_document_run_against (AdjDocument *self, AdjGraphSet *others, const AdjBundleGraph *other)
{
  AdjPeer peer = { .graphs = others, .graph = other };

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (others != NULL && other != NULL);

  if (self->graph != NULL)
    start_run (self, &peer);
}

/* -- runs that are kept -- */

void
adj_document_take_runs (AdjDocument *self)
{
  GPtrArray *runs = adj_bundle_dup_runs (adj_document_get_bundle (self));

  g_clear_pointer (&self->arrangement->runs, g_ptr_array_unref);
  g_clear_pointer (&self->saved_runs, g_ptr_array_unref);
  self->arrangement->runs = runs;
  self->saved_runs = g_ptr_array_ref (runs);
  adj_document_changed (self, PROP_RUNS);
}

void
adj_document_follow_runs (AdjDocument *self)
{
  adj_bundle_set_runs (adj_document_get_bundle (self), self->arrangement->runs);
  if (self->run_choice.kept != NULL)
    {
      g_hash_table_remove_all (self->evaluations);
      adj_document_changed (self, PROP_EVALUATION);
    }
  adj_document_changed (self, PROP_RUNS);
  adj_document_changed (self, PROP_RUN_CHOICE);
  adj_document_changed (self, PROP_UNSAVED);
}

/* @runs: (transfer full) */
static void
set_runs (AdjDocument *self, GPtrArray *runs)
{
  AdjArrangement *next = adj_document_begin_change (self);

  g_clear_pointer (&next->runs, g_ptr_array_unref);
  next->runs = runs;
  adj_document_arrange (self, next);
}

void
adj_document_keep_run (AdjDocument *self, const char *name, gboolean values)
{
  AdjEvaluation *evaluation;
  GPtrArray *runs;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (adj_run_name_is_valid (name));

  evaluation = adj_document_get_evaluation (self);
  if (evaluation == NULL || !adj_evaluation_can_keep (evaluation))
    return;
  runs = adj_runs_without (self->arrangement->runs, self->graph, name);
  g_ptr_array_add (runs, adj_evaluation_make_run (evaluation, name, values));
  set_runs (self, runs);
  adj_log_add (self->log, ADJ_LOG_DONE, _ ("Kept the run “%s” of %s"), name, self->graph->id);
}

void
adj_document_remove_run (AdjDocument *self, const char *name)
{
  const AdjBundleGraph *recorded;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->graph == NULL)
    return;
  recorded = adj_graph_set_get_recorded (self->graphs, self->graph);
  set_runs (self, adj_runs_without (self->arrangement->runs, recorded, name));
  adj_log_add (self->log, ADJ_LOG_DONE, _ ("Removed the run “%s” of %s"), name, recorded->id);
}

void
adj_document_stop (AdjDocument *self)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->stepping != NULL)
    adj_stepping_stop (self->stepping);
  if (!adj_task_list_any (&self->tasks))
    return;
  for (guint task = 0; task < ADJ_N_TASKS; task++)
    adj_task_list_cancel (&self->tasks, task);
  adj_log_add (self->log, ADJ_LOG_WARNING, "%s", _ ("Stopped"));
  adj_document_remark (self, _ ("Stopped"));
}

gboolean
adj_document_is_running (AdjDocument *self)
{
  return adj_task_list_is_busy (&self->tasks, ADJ_TASK_RUN);
}

gboolean
adj_document_is_busy (AdjDocument *self)
{
  return adj_task_list_any (&self->tasks);
}

AdjEvaluation *
adj_document_get_evaluation (AdjDocument *self)
{
  return self->graph != NULL ? g_hash_table_lookup (self->evaluations, self->graph->graph) : NULL;
}

AdjEvaluation *
adj_document_find_evaluation (AdjDocument *self, const AdjGraph *graph)
{
  return g_hash_table_lookup (self->evaluations, graph);
}

const char *
adj_document_get_status (AdjDocument *self)
{
  return self->tasks.status;
}

double
adj_document_get_fraction (AdjDocument *self)
{
  return self->tasks.fraction;
}
