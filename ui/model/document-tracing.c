/* SPDX-License-Identifier: MIT */
/* The stages that a document makes of a graph: of another one's, or of its own in place. */

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-log.h"
#include "model/adj-stages.h"
#include "model/adj-tradeoff.h"
#include "model/document-private.h"

/* A trace that took less can be repeated quickly, so that it is dropped without asking. */
#define MOMENT (2 * G_TIME_SPAN_SECOND)

void
adj_document_forget_trace (AdjDocument *self)
{
  g_clear_pointer (&self->traced_from, adj_graph_set_unref);
  g_clear_pointer (&self->shown_from, adj_graph_set_unref);
  self->traced = NULL;
}

static void
remember (AdjDocument *self,
          AdjGraphSet *graphs,
          const AdjBundleGraph *graph,
          const AdjTraceChoice *choice)
{
  adj_document_forget_trace (self);
  self->traced_from = adj_graph_set_ref (graphs);
  self->traced = graph;
  self->trace_choice = choice != NULL ? *choice : (AdjTraceChoice){ .gradients = 0 };
  self->trace_age = 0;
}

/* -- of another document -- */

static void
start_opening (AdjDocument *self,
               AdjGraphSet *graphs,
               const AdjBundleGraph *graph,
               const AdjTraceChoice *choice)
{
  remember (self, graphs, graph, choice);
  adj_task_list_start (&self->tasks, ADJ_TASK_OPEN,
                       adj_opening_start_trace (G_OBJECT (self), graphs, graph, choice, NULL, 0,
                                                adj_document_on_loaded),
                       self->title);
}

void
adj_document_open_trace (AdjDocument *self, AdjDocument *source, const AdjTraceChoice *choice)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (ADJ_IS_DOCUMENT (source) && source != self && source->graph != NULL);

  adj_document_reset (self, NULL, g_strdup_printf (_ ("%s, traced"), source->title),
                      source->graph->id);
  adj_document_set_source (self, source, source->graph->graph);
  start_opening (self, source->graphs, source->graph, choice);
}

void
adj_document_open_partition (AdjDocument *self,
                             AdjDocument *source,
                             const AdjPartitionChoice *choice)
{
  AdjTraceChoice complete = { .partition = *choice };
  AdjTradeoffSubject subject;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (ADJ_IS_DOCUMENT (source) && source != self);

  if (!adj_tradeoff_find_subject (source, &subject))
    return;
  complete.partition.num_fwd_outputs = subject.num_fwd_outputs;
  adj_document_reset (
      self, NULL,
      g_strdup_printf (choice->compat ? _ ("%s, PyTorch at %.2g") : _ ("%s, Adjoint at %.2g"),
                       source->title, choice->budget),
      ADJ_PAIR_ROLE);
  adj_document_set_source (self, source, subject.joint->graph);
  start_opening (self, source->graphs, subject.joint, &complete);
}

/* -- in place -- */

/* The last graph of @role, else the first joint or inference graph. */
static guint
find_shown (AdjDocument *self, const char *role)
{
  guint found = 0;

  for (guint i = adj_graph_set_get_n (self->graphs); i-- > 0;)
    {
      const char *other = adj_graph_set_get (self->graphs, i)->role;

      if (g_strcmp0 (other, role) == 0)
        return i;
      if (g_str_equal (other, "joint") || g_str_equal (other, "inference"))
        found = i;
    }
  return found;
}

static void
take_graphs (AdjDocument *self, AdjGraphSet *graphs)
{
  const char *role = self->traced_from != NULL && self->graph != NULL ? self->graph->role : NULL;
  const char *name = adj_node_id_is_valid (self->selected)
                         ? adj_graph_get_node (self->graph->graph, self->selected.index)->name
                         : NULL;
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  AdjNodeId node;

  if (self->traced_from == NULL)
    remember (self, self->graphs, self->graph, &self->next_trace_choice);
  g_clear_pointer (&self->shown_from, adj_graph_set_unref);
  self->shown_from = self->graphs;
  self->graphs = graphs;
  self->graph_index = find_shown (self, role);
  adj_document_take_runs (self);
  node = name != NULL
             ? adj_graph_find_node (adj_graph_set_get (graphs, self->graph_index)->graph, name)
             : ADJ_NO_NODE;
  if (adj_node_id_is_valid (node))
    g_array_append_val (nodes, node.index);
  adj_document_want (self, nodes);
}

static void
on_traced (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  gpointer graphs = NULL;
  gint64 age;
  g_autoptr (GError) error = NULL;

  if (!adj_task_list_finish (&self->tasks, ADJ_TASK_OPEN, result, &graphs, &age, &error))
    return;
  if (graphs == NULL)
    {
      if (!adj_document_blame (self, self->graph->graph, error))
        adj_document_report_problem (self, error);
      else
        adj_log_add (self->log, ADJ_LOG_PROBLEM, "%s", error->message);
      return;
    }
  take_graphs (self, graphs);
  self->trace_choice = self->next_trace_choice;
  self->trace_age = age;
  adj_history_reset (&self->history);
  adj_log_add (self->log, ADJ_LOG_DONE, _ ("Traced %s in %.0f ms"), self->title, age / 1e3);
  adj_document_changed (self, PROP_HISTORY);
  adj_document_changed (self, PROP_BUNDLE);
  adj_document_changed (self, PROP_GRAPH_INDEX);
  adj_document_request_layout (self);
  adj_document_blame_stages (self);
}

/* The number of stages that stay: if only the partition differs, those up to the partitioned graph;
 * if decompositions differ, those up to the graph without writes. */
static guint
count_kept (AdjDocument *self, const AdjTraceChoice *choice, AdjRecording *recording)
{
  const AdjTraceChoice *before = &self->trace_choice;
  gint partitioned = recording != NULL ? adj_stages_find_partitioned (recording) : -1;

  if (self->traced_from == NULL || partitioned < 0 || choice->gradients != before->gradients ||
      choice->functionalizes != before->functionalizes)
    return 0;
  if (g_strcmp0 (choice->decompositions, before->decompositions) == 0)
    return (guint) partitioned + 1;
  return (guint) (adj_recording_find (recording, "functionalize") + 1);
}

void
adj_document_trace (AdjDocument *self, const AdjTraceChoice *choice)
{
  AdjRecording *recording;
  AdjGraphSet *graphs;
  const AdjBundleGraph *graph;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (choice != NULL);

  if (self->graph == NULL)
    return;
  graphs = self->traced_from != NULL ? self->traced_from : self->graphs;
  graph = self->traced_from != NULL ? self->traced : self->graph;
  recording = adj_stages_get_recording (self);
  adj_document_forget_problem (self);
  self->next_trace_choice = *choice;
  adj_task_list_start (&self->tasks, ADJ_TASK_OPEN,
                       adj_opening_start_trace (G_OBJECT (self), graphs, graph, choice, recording,
                                                count_kept (self, choice, recording), on_traced),
                       self->title);
}

const AdjTraceChoice *
adj_document_get_trace (AdjDocument *self)
{
  return self->traced_from != NULL ? &self->trace_choice : NULL;
}

gboolean
adj_document_can_remake (AdjDocument *self)
{
  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  return self->traced_from != NULL && self->trace_age < MOMENT &&
         self->arrangement->runs == self->saved_runs;
}
