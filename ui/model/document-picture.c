/* SPDX-License-Identifier: MIT */
/* The document's picture: requests a layout, keeps scene and arrangement, folds modules. */

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-log.h"
#include "model/adj-stages.h"
#include "model/document-private.h"

/* -- layout -- */

static void
show_scene (AdjDocument *self, AdjScene *scene, guint index)
{
  const AdjBundleGraph *graph = adj_graph_set_get (self->graphs, index);
  gboolean other = self->graph != graph;

  g_clear_pointer (&self->scene, adj_scene_unref);
  self->scene = scene;
  self->graph = graph;
  if (other)
    {
      self->selected = ADJ_NO_NODE;
      adj_document_set_lit (self, NULL);
    }
  adj_document_changed (self, PROP_SCENE);
  if (other)
    {
      adj_document_changed (self, PROP_SELECTED);
      adj_document_changed (self, PROP_EVALUATION);
    }
  adj_document_take_wanted (self);
}

static void
on_laid_out (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  guint index = adj_arrangement_get_tag (adj_task_from_result (result));
  g_autoptr (GError) error = NULL;
  gpointer scene = NULL;
  gint64 age;

  if (!adj_task_list_finish (&self->tasks, ADJ_TASK_LAYOUT, result, &scene, &age, &error))
    return;
  if (scene == NULL)
    {
      adj_document_report_problem (self, error);
      return;
    }
  adj_log_add (self->log, ADJ_LOG_DONE, _ ("Laid out %s: %u boxes in %.0f ms"),
               adj_graph_set_get (self->graphs, index)->id, adj_scene_get_n_boxes (scene),
               age / 1e3);
  show_scene (self, scene, index);
}

/* The graphs of the stages strip, in its order.  (transfer full): of AdjGraph */
static GPtrArray *
list_stages (AdjDocument *self)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (self);
  GPtrArray *stages = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_graph_unref);

  for (guint i = 0; i < steps->len; i++)
    {
      guint index = g_array_index (steps, AdjStep, i).graph;

      if (index != G_MAXUINT)
        g_ptr_array_add (stages, adj_graph_ref (adj_graph_set_get (self->graphs, index)->graph));
    }
  return stages;
}

void
adj_document_request_layout (AdjDocument *self)
{
  g_autoptr (GPtrArray) stages = NULL;
  AdjArrangementSubject subject;
  gint before;

  if (self->graphs == NULL || self->graph_index == G_MAXUINT)
    return;
  stages = list_stages (self);
  before = adj_stages_find_before (self, adj_stages_get_current_step (self));
  subject = (AdjArrangementSubject){
    .graph = adj_graph_set_get (self->graphs, self->graph_index),
    .before = before >= 0 ? adj_graph_set_get (self->graphs, (guint) before)->graph : NULL,
    .stages = stages,
    .bundle = adj_document_get_bundle (self),
  };
  adj_task_list_start (&self->tasks, ADJ_TASK_LAYOUT,
                       adj_arrangement_start (self->arrangement, &subject, self->layouts,
                                              G_OBJECT (self), self->graph_index, on_laid_out),
                       subject.graph->id);
}

guint
adj_document_get_graph_index (AdjDocument *self)
{
  return self->graph_index;
}

const AdjBundleGraph *
adj_document_get_graph (AdjDocument *self)
{
  return self->graph;
}

AdjCaptured *
adj_document_get_captured (AdjDocument *self)
{
  if (self->graph == NULL)
    return NULL;
  if (self->captured != NULL && adj_captured_get_graph (self->captured) != self->graph->graph)
    g_clear_pointer (&self->captured, adj_captured_unref);
  if (self->captured == NULL)
    self->captured = adj_captured_new (self->graph->graph, adj_document_get_bundle (self));
  return self->captured;
}

AdjScene *
adj_document_get_scene (AdjDocument *self)
{
  return self->scene;
}

/* -- arrangement -- */

const AdjArrangement *
adj_document_get_arrangement (AdjDocument *self)
{
  return self->arrangement;
}

void
adj_document_arrange (AdjDocument *self, AdjArrangement *next)
{
  g_autoptr (AdjArrangement) before = self->arrangement;

  self->arrangement = next;
  adj_document_changed (self, PROP_ARRANGEMENT);
  if (before->chosen != next->chosen)
    adj_document_follow_chosen (self, before);
  if (before->runs != next->runs)
    adj_document_follow_runs (self);
  if (!adj_arrangement_same_layout (before, next))
    adj_document_request_layout (self);
}

AdjArrangement *
adj_document_begin_change (AdjDocument *self)
{
  adj_undo_push (&self->undo, self->arrangement);
  return adj_arrangement_copy (self->arrangement);
}

void
adj_document_set_view (AdjDocument *self, AdjLayoutView view)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (view == ADJ_VIEW_FLOW && !adj_node_id_is_valid (self->selected))
    {
      adj_document_remark (self, _ ("Select a node to follow its value"));
      adj_document_changed (self, PROP_ARRANGEMENT);
      return;
    }
  if (self->arrangement->view == view &&
      (view != ADJ_VIEW_FLOW || (self->arrangement->flow.index == self->selected.index &&
                                 self->arrangement->flow_chosen == self->arrangement->chosen)))
    return;
  next = adj_document_begin_change (self);
  next->view = view;
  next->flow = self->selected;
  g_clear_pointer (&next->flow_chosen, g_array_unref);
  next->flow_chosen = next->chosen != NULL ? g_array_ref (next->chosen) : NULL;
  adj_document_arrange (self, next);
}

void
adj_document_set_only_changed (AdjDocument *self, gboolean only)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->arrangement->only_changed == only)
    return;
  next = adj_document_begin_change (self);
  next->only_changed = only;
  adj_document_arrange (self, next);
}

void
adj_document_set_fold_depth (AdjDocument *self, guint depth)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  next = adj_document_begin_change (self);
  adj_arrangement_set_fold_depth (next, depth);
  adj_document_arrange (self, next);
}

gboolean
adj_document_can_show_modules (AdjDocument *self)
{
  g_autoptr (AdjArrangement) modules = NULL;

  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  if (!self->tasks.is_long)
    return FALSE;
  modules = adj_arrangement_copy (self->arrangement);
  adj_arrangement_set_fold_depth (modules, 1);
  return !adj_arrangement_same_layout (modules, self->arrangement);
}

void
adj_document_toggle_module (AdjDocument *self, const char *path)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  next = adj_document_begin_change (self);
  adj_arrangement_toggle (next, self->scene, path);
  adj_document_arrange (self, next);
}

void
adj_document_set_coloring (AdjDocument *self, AdjColoring coloring)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (coloring < ADJ_N_COLORINGS);

  if (self->arrangement->coloring == coloring)
    return;
  next = adj_document_begin_change (self);
  next->coloring = coloring;
  adj_document_arrange (self, next);
}

void
adj_document_set_labeling (AdjDocument *self, AdjLabeling labeling)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (labeling < ADJ_N_LABELINGS);

  if (self->arrangement->labeling == labeling)
    return;
  next = adj_document_begin_change (self);
  next->labeling = labeling;
  adj_document_arrange (self, next);
}

gboolean
adj_document_can_undo (AdjDocument *self, gint step)
{
  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  return adj_undo_can (&self->undo, step);
}

void
adj_document_undo (AdjDocument *self, gint step)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  next = adj_undo_step (&self->undo, step, self->arrangement);
  if (next != NULL)
    adj_document_arrange (self, next);
}

/* Folds and flows belong to one graph; other settings of the view stay. */
void
adj_document_forget_folds (AdjDocument *self)
{
  adj_arrangement_set_fold_depth (self->arrangement, self->arrangement->fold_depth);
  if (self->arrangement->view == ADJ_VIEW_FLOW)
    self->arrangement->view = ADJ_VIEW_MIRROR;
  self->arrangement->flow = ADJ_NO_NODE;
  g_clear_pointer (&self->arrangement->flow_chosen, g_array_unref);
  adj_arrangement_set_chosen (self->arrangement, NULL);
  adj_undo_reset (&self->undo);
  adj_document_changed (self, PROP_ARRANGEMENT);
  adj_document_changed (self, PROP_CHOSEN);
}

void
adj_document_set_graph_index (AdjDocument *self, guint index)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->graphs == NULL || index >= adj_graph_set_get_n (self->graphs) ||
      index == self->graph_index)
    return;
  self->graph_index = index;
  adj_document_forget_folds (self);
  adj_document_changed (self, PROP_GRAPH_INDEX);
  adj_document_request_layout (self);
}
