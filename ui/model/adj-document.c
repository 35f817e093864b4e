/* SPDX-License-Identifier: MIT */
#include "model/adj-document.h"

#include <glib/gi18n.h>

#include "model/adj-arrangement.h"
#include "model/adj-export.h"
#include "model/adj-facts.h"
#include "model/adj-history.h"
#include "model/adj-log.h"
#include "model/adj-opening.h"
#include "model/adj-undo.h"
#include "model/adj-works.h"

struct _AdjDocument
{
  GObject parent_instance;

  GFile *file;
  char *title;
  AdjGraphSet *graphs;
  GError *error;
  GListStore *log;
  char *wanted_graph;  /* (nullable): id to begin with */
  AdjSavedView *saved; /* (nullable): for what is being opened */

  guint graph_index;
  const AdjBundleGraph *graph; /* (unowned): of @graphs */
  AdjScene *scene;
  AdjArrangement *arrangement;
  AdjUndo undo;
  AdjLayoutCache *layouts;

  AdjNodeId selected;
  AdjNodeId wanted_node; /* to select when the picture of another graph is ready */
  AdjHistory history;
  GArray *lit; /* (nullable): of guint32 */

  AdjRunChoice run_choice; /* what was asked for; graphs may not have it */
  GHashTable *evaluations; /* AdjGraph → AdjEvaluation */
  AdjWorks works;
};

enum
{
  PROP_TITLE = 1,
  PROP_BUNDLE,
  PROP_GRAPH_INDEX,
  PROP_SCENE,
  PROP_SELECTED,
  PROP_EVALUATION,
  PROP_ERROR,
  PROP_STATUS,
  PROP_RUN_CHOICE,
  PROP_HISTORY,
  PROP_ARRANGEMENT,
  PROP_LIT,
  N_PROPS
};

static GParamSpec *properties[N_PROPS];
static guint remark_signal, exported_signal;

G_DEFINE_FINAL_TYPE (AdjDocument, adj_document, G_TYPE_OBJECT)

static void
changed (AdjDocument *self, guint property)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

/* -- long work -- */

static void
on_works_changed (gpointer data)
{
  changed (data, PROP_STATUS);
}

static void
report_problem (AdjDocument *self, const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_signal_emit (self, remark_signal, 0, _ ("Stopped"));
      return;
    }
  adj_log_add (self->log, ADJ_LOG_PROBLEM, "%s", error->message);
  g_signal_emit (self, remark_signal, 0, error->message);
}

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
  changed (self, PROP_SCENE);
  if (other)
    {
      changed (self, PROP_SELECTED);
      changed (self, PROP_EVALUATION);
    }
  if (adj_node_id_is_valid (self->wanted_node))
    adj_document_set_selected (self, self->wanted_node);
  self->wanted_node = ADJ_NO_NODE;
}

static void
on_laid_out (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  guint index = adj_arrangement_get_tag (adj_work_from_result (result));
  g_autoptr (GError) error = NULL;
  gpointer scene = NULL;
  gint64 age;

  if (!adj_works_finish (&self->works, ADJ_TASK_LAYOUT, result, &scene, &age, &error))
    return;
  if (scene == NULL)
    {
      report_problem (self, error);
      return;
    }
  adj_log_add (self->log, ADJ_LOG_DONE, _ ("Laid out %s: %u boxes in %.0f ms"),
               adj_graph_set_get (self->graphs, index)->id, adj_scene_get_n_boxes (scene),
               age / 1e3);
  show_scene (self, scene, index);
}

static void
request_layout (AdjDocument *self)
{
  const AdjBundleGraph *graph;

  if (self->graphs == NULL || self->graph_index == G_MAXUINT)
    return;
  graph = adj_graph_set_get (self->graphs, self->graph_index);
  adj_works_start (&self->works, ADJ_TASK_LAYOUT,
                   adj_arrangement_start (self->arrangement, self->layouts, G_OBJECT (self),
                                          graph->graph, self->graph_index, on_laid_out),
                   graph->id);
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

/* Takes over @next (transfer full), laying out where that shows. */
static void
arrange (AdjDocument *self, AdjArrangement *next)
{
  g_autoptr (AdjArrangement) before = self->arrangement;

  self->arrangement = next;
  changed (self, PROP_ARRANGEMENT);
  if (!adj_arrangement_same_layout (before, next))
    request_layout (self);
}

/* A copy to be changed; what is can be undone to. */
static AdjArrangement *
begin_change (AdjDocument *self)
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
      g_signal_emit (self, remark_signal, 0, _ ("Select a node to follow its value"));
      changed (self, PROP_ARRANGEMENT);
      return;
    }
  if (self->arrangement->view == view &&
      (view != ADJ_VIEW_FLOW || self->arrangement->flow.index == self->selected.index))
    return;
  next = begin_change (self);
  next->view = view;
  next->flow = self->selected;
  arrange (self, next);
}

void
adj_document_set_fold_depth (AdjDocument *self, guint depth)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  next = begin_change (self);
  adj_arrangement_set_fold_depth (next, depth);
  arrange (self, next);
}

void
adj_document_toggle_module (AdjDocument *self, const char *path)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  next = begin_change (self);
  adj_arrangement_toggle (next, self->scene, path);
  arrange (self, next);
}

void
adj_document_set_coloring (AdjDocument *self, AdjColoring coloring)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (coloring < ADJ_N_COLORINGS);

  if (self->arrangement->coloring == coloring)
    return;
  next = begin_change (self);
  next->coloring = coloring;
  arrange (self, next);
}

void
adj_document_set_labeling (AdjDocument *self, AdjLabeling labeling)
{
  AdjArrangement *next;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (labeling < ADJ_N_LABELINGS);

  if (self->arrangement->labeling == labeling)
    return;
  next = begin_change (self);
  next->labeling = labeling;
  arrange (self, next);
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
    arrange (self, next);
}

/* Folds and flows are of one graph; how it looks stays. */
static void
forget_folds (AdjDocument *self)
{
  adj_arrangement_set_fold_depth (self->arrangement, self->arrangement->fold_depth);
  if (self->arrangement->view == ADJ_VIEW_FLOW)
    self->arrangement->view = ADJ_VIEW_MIRROR;
  self->arrangement->flow = ADJ_NO_NODE;
  adj_undo_reset (&self->undo);
  changed (self, PROP_ARRANGEMENT);
}

void
adj_document_set_graph_index (AdjDocument *self, guint index)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->graphs == NULL || index >= adj_graph_set_get_n (self->graphs) ||
      index == self->graph_index)
    return;
  self->graph_index = index;
  forget_folds (self);
  changed (self, PROP_GRAPH_INDEX);
  request_layout (self);
}

/* -- exporting -- */

static void
on_exported (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  const char *path = adj_export_get_path (adj_work_from_result (result));
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *remark = NULL;
  g_autoptr (GFile) file = NULL;
  g_autoptr (GError) error = NULL;
  gpointer written = NULL;
  gint64 age;

  if (!adj_works_finish (&self->works, ADJ_TASK_EXPORT, result, &written, &age, &error))
    return;
  file = written;
  if (file != NULL)
    {
      adj_log_add (self->log, ADJ_LOG_DONE, _ ("Exported %s in %.0f ms"), path, age / 1e3);
      g_signal_emit (self, exported_signal, 0, file);
      return;
    }
  remark = g_strdup_printf (_ ("%s could not be exported"), name);
  adj_log_add (self->log, ADJ_LOG_PROBLEM, "%s: %s", remark, error->message);
  g_signal_emit (self, remark_signal, 0, remark);
}

void
adj_document_export (AdjDocument *self, const char *path, AdjScheme scheme)
{
  g_autofree char *name = NULL;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (path != NULL);

  if (self->scene == NULL)
    return;
  name = g_path_get_basename (path);
  adj_works_start (&self->works, ADJ_TASK_EXPORT,
                   adj_export_start (G_OBJECT (self), self->scene, scheme, path, on_exported),
                   name);
}

/* -- opening -- */

static guint
find_start (AdjDocument *self)
{
  g_autoptr (GError) error = NULL;
  guint index = adj_graph_set_find (self->graphs, self->wanted_graph, &error);

  if (index == G_MAXUINT)
    {
      adj_log_add (self->log, ADJ_LOG_WARNING, "%s", error->message);
      index = adj_graph_set_find (self->graphs, NULL, NULL);
    }
  return index == G_MAXUINT ? 0 : index;
}

/* Graph, folds and selection, where the file still has them. */
static guint
restore (AdjDocument *self, guint otherwise)
{
  g_autoptr (AdjSavedView) saved = g_steal_pointer (&self->saved);
  guint index;
  const AdjBundleGraph *graph;

  if (saved == NULL || self->wanted_graph != NULL)
    return otherwise;
  index = adj_graph_set_find (self->graphs, saved->graph, NULL);
  if (index == G_MAXUINT)
    return otherwise;
  graph = adj_graph_set_get (self->graphs, index);
  adj_arrangement_free (self->arrangement);
  self->arrangement = adj_arrangement_copy (saved->arrangement);
  if (saved->selected != NULL)
    self->wanted_node = adj_graph_find_node (graph->graph, saved->selected);
  changed (self, PROP_ARRANGEMENT);
  return index;
}

/* As adj_document_set_graph_index() with folds that stay. */
static void
begin (AdjDocument *self, guint index)
{
  self->graph_index = index;
  changed (self, PROP_GRAPH_INDEX);
  request_layout (self);
}

static void
log_remarks (AdjDocument *self)
{
  const AdjDiags *diags = adj_bundle_get_diags (adj_graph_set_get_bundle (self->graphs));

  for (guint i = 0; diags != NULL && i < adj_diags_get_n (diags); i++)
    {
      const AdjDiag *diag = adj_diags_get (diags, i);

      g_autofree char *text = adj_facts_diag (self->title, diag);

      adj_log_add (self->log, diag->severity == ADJ_SEVERITY_NOTE ? ADJ_LOG_DONE : ADJ_LOG_WARNING,
                   "%s", text);
    }
}

static void
on_loaded (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  gpointer graphs = NULL;
  gint64 age;
  g_autoptr (GError) error = NULL;

  if (!adj_works_finish (&self->works, ADJ_TASK_OPEN, result, &graphs, &age, &error))
    return;
  if (graphs == NULL)
    {
      adj_log_add (self->log, ADJ_LOG_PROBLEM, "%s", error->message);
      self->error = g_steal_pointer (&error);
      changed (self, PROP_ERROR);
      return;
    }
  self->graphs = graphs;
  adj_log_add (self->log, ADJ_LOG_DONE, _ ("Opened %s: %u graphs in %.0f ms. %s"), self->title,
               adj_graph_set_get_n (self->graphs), age / 1e3,
               adj_bundle_get_description (adj_graph_set_get_bundle (self->graphs)));
  log_remarks (self);
  changed (self, PROP_BUNDLE);
  if (adj_graph_set_get_n (self->graphs) > 0)
    begin (self, restore (self, find_start (self)));
}

void
adj_document_set_saved_view (AdjDocument *self, AdjSavedView *view)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  g_clear_pointer (&self->saved, adj_saved_view_free);
  self->saved = view;
}

/* Drops everything of the old file.  @title: (transfer full): of the new one */
static void
reset (AdjDocument *self, GFile *file, char *title, const char *graph_id)
{
  for (guint task = 0; task < ADJ_N_TASKS; task++)
    adj_works_cancel (&self->works, task);
  g_clear_error (&self->error);
  self->graph = NULL;
  self->graph_index = G_MAXUINT;
  self->selected = self->wanted_node = ADJ_NO_NODE;
  g_clear_pointer (&self->scene, adj_scene_unref);
  g_hash_table_remove_all (self->evaluations);
  forget_folds (self);
  adj_history_reset (&self->history);
  changed (self, PROP_SCENE);
  changed (self, PROP_SELECTED);
  changed (self, PROP_EVALUATION);
  changed (self, PROP_HISTORY);
  changed (self, PROP_GRAPH_INDEX);
  g_clear_pointer (&self->graphs, adj_graph_set_unref);
  changed (self, PROP_BUNDLE);
  changed (self, PROP_ERROR);
  g_set_object (&self->file, file);
  g_free (self->title);
  self->title = title;
  g_free (self->wanted_graph);
  self->wanted_graph = g_strdup (graph_id);
  changed (self, PROP_TITLE);
}

void
adj_document_open (AdjDocument *self, GFile *file, const char *graph_id)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (G_IS_FILE (file));

  reset (self, file, g_file_get_basename (file), graph_id);
  adj_works_start (&self->works, ADJ_TASK_OPEN,
                   adj_opening_start_file (G_OBJECT (self), file, on_loaded), self->title);
}

void
adj_document_open_text (AdjDocument *self, GBytes *text)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (text != NULL);

  reset (self, NULL, g_strdup (_ ("Pasted Text")), NULL);
  adj_works_start (&self->works, ADJ_TASK_OPEN,
                   adj_opening_start_text (G_OBJECT (self), text, on_loaded), self->title);
}

void
adj_document_open_trace (AdjDocument *self, AdjDocument *source)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (ADJ_IS_DOCUMENT (source) && source != self && source->graph != NULL);

  reset (self, NULL, g_strdup_printf (_ ("%s, traced"), source->title), source->graph->id);
  adj_works_start (&self->works, ADJ_TASK_OPEN,
                   adj_opening_start_trace (G_OBJECT (self), adj_document_get_bundle (source),
                                            source->graph, on_loaded),
                   self->title);
}

GFile *
adj_document_get_file (AdjDocument *self)
{
  return self->file;
}

const char *
adj_document_get_title (AdjDocument *self)
{
  return self->title;
}

AdjBundle *
adj_document_get_bundle (AdjDocument *self)
{
  return self->graphs != NULL ? adj_graph_set_get_bundle (self->graphs) : NULL;
}

AdjGraphSet *
adj_document_get_graphs (AdjDocument *self)
{
  return self->graphs;
}

const GError *
adj_document_get_error (AdjDocument *self)
{
  return self->error;
}

GListStore *
adj_document_get_log (AdjDocument *self)
{
  return self->log;
}

/* -- selection -- */

AdjNodeId
adj_document_get_selected (AdjDocument *self)
{
  return self->selected;
}

static gboolean
select_node (AdjDocument *self, AdjNodeId node)
{
  if (self->graph == NULL || node.index >= adj_graph_get_n_nodes (self->graph->graph))
    node = ADJ_NO_NODE;
  if (node.index == self->selected.index)
    return FALSE;
  self->selected = node;
  changed (self, PROP_SELECTED);
  return TRUE;
}

void
adj_document_set_selected (AdjDocument *self, AdjNodeId node)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (!select_node (self, node) || !adj_node_id_is_valid (self->selected))
    return;
  adj_history_push (&self->history, (AdjVisit){ self->graph_index, self->selected });
  changed (self, PROP_HISTORY);
}

void
adj_document_set_lit (AdjDocument *self, GArray *nodes)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (nodes == self->lit)
    return;
  g_clear_pointer (&self->lit, g_array_unref);
  self->lit = nodes != NULL ? g_array_ref (nodes) : NULL;
  changed (self, PROP_LIT);
}

GArray *
adj_document_get_lit (AdjDocument *self)
{
  return self->lit;
}

gboolean
adj_document_can_go (AdjDocument *self, gint step)
{
  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  return adj_history_can_go (&self->history, step);
}

void
adj_document_go (AdjDocument *self, gint step)
{
  const AdjVisit *place;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  place = adj_history_go (&self->history, step);
  if (place == NULL)
    return;
  if (place->graph == self->graph_index)
    select_node (self, place->node);
  else
    {
      self->wanted_node = place->node;
      adj_document_set_graph_index (self, place->graph);
    }
  changed (self, PROP_HISTORY);
}

void
adj_document_show (AdjDocument *self, guint index, AdjNodeId node)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (index == self->graph_index)
    {
      adj_document_set_selected (self, node);
      return;
    }
  self->wanted_node = node;
  adj_document_set_graph_index (self, index);
}

/* -- running -- */

static void
on_evaluated (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  const char *id = adj_evaluation_get_graph_id (adj_work_from_result (result));
  g_autoptr (GError) error = NULL;
  g_autofree char *text = NULL;
  gpointer evaluation = NULL;
  gint64 age;

  if (!adj_works_finish (&self->works, ADJ_TASK_RUN, result, &evaluation, &age, &error))
    return;
  if (evaluation == NULL)
    {
      report_problem (self, error);
      return;
    }
  g_hash_table_insert (self->evaluations, adj_evaluation_get_graph (evaluation), evaluation);
  text = adj_evaluation_describe (evaluation, id);
  adj_log_add (self->log, ADJ_LOG_DONE, "%s", text);
  changed (self, PROP_EVALUATION);
}

AdjRunChoice
adj_document_get_run_choice (AdjDocument *self)
{
  if (self->graph == NULL)
    return self->run_choice;
  return adj_run_choice_fit (self->run_choice, self->graphs, self->graph);
}

void
adj_document_set_run_choice (AdjDocument *self, AdjRunChoice choice)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (adj_run_choice_equal (adj_document_get_run_choice (self), choice))
    return;
  self->run_choice = choice;
  adj_works_cancel (&self->works, ADJ_TASK_RUN);
  g_hash_table_remove_all (self->evaluations);
  changed (self, PROP_EVALUATION);
  changed (self, PROP_RUN_CHOICE);
}

static void
start_run (AdjDocument *self, const AdjPeer *peer)
{
  adj_works_start (&self->works, ADJ_TASK_RUN,
                   adj_evaluation_start (G_OBJECT (self), self->graphs, self->graph,
                                         adj_document_get_run_choice (self), peer, on_evaluated),
                   self->graph->id);
}

void
adj_document_run (AdjDocument *self, gboolean compare)
{
  AdjPeer recorded = { 0 };

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->graph == NULL)
    return;
  if (compare && adj_document_get_run_choice (self).random)
    {
      g_signal_emit (self, remark_signal, 0,
                     adj_graph_set_find_call (self->graphs, self->graph, 0) == NULL
                         ? _ ("Nothing was recorded for this graph")
                         : _ ("Nothing was recorded for random inputs"));
      return;
    }
  start_run (self, compare ? &recorded : NULL);
}

void
adj_document_run_against (AdjDocument *self, AdjGraphSet *others, const AdjBundleGraph *other)
{
  AdjPeer peer = { others, other };

  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (others != NULL && other != NULL);

  if (self->graph != NULL)
    start_run (self, &peer);
}

void
adj_document_stop (AdjDocument *self)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (!adj_works_any (&self->works))
    return;
  for (guint task = 0; task < ADJ_N_TASKS; task++)
    adj_works_cancel (&self->works, task);
  adj_log_add (self->log, ADJ_LOG_WARNING, "%s", _ ("Stopped"));
  g_signal_emit (self, remark_signal, 0, _ ("Stopped"));
}

gboolean
adj_document_is_running (AdjDocument *self)
{
  return adj_works_is_busy (&self->works, ADJ_TASK_RUN);
}

gboolean
adj_document_is_busy (AdjDocument *self)
{
  return adj_works_any (&self->works);
}

AdjEvaluation *
adj_document_get_evaluation (AdjDocument *self)
{
  return self->graph != NULL ? g_hash_table_lookup (self->evaluations, self->graph->graph) : NULL;
}

const char *
adj_document_get_status (AdjDocument *self)
{
  return self->works.status;
}

double
adj_document_get_fraction (AdjDocument *self)
{
  return self->works.fraction;
}

/* -- object -- */

static void
adj_document_get_property (GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  AdjDocument *self = ADJ_DOCUMENT (object);

  switch (id)
    {
    case PROP_TITLE:
      g_value_set_string (value, self->title);
      break;
    case PROP_BUNDLE:
      g_value_set_pointer (value, adj_document_get_bundle (self));
      break;
    case PROP_GRAPH_INDEX:
      g_value_set_uint (value, self->graph_index);
      break;
    case PROP_SCENE:
      g_value_set_pointer (value, self->scene);
      break;
    case PROP_SELECTED:
      g_value_set_uint (value, self->selected.index);
      break;
    case PROP_EVALUATION:
      g_value_set_pointer (value, adj_document_get_evaluation (self));
      break;
    case PROP_ERROR:
      g_value_set_boxed (value, self->error);
      break;
    case PROP_STATUS:
      g_value_set_string (value, self->works.status);
      break;
    case PROP_RUN_CHOICE:
      g_value_set_pointer (value, &self->run_choice);
      break;
    case PROP_HISTORY:
      g_value_set_int (value, self->history.at);
      break;
    case PROP_LIT:
      g_value_set_pointer (value, self->lit);
      break;
    case PROP_ARRANGEMENT:
      g_value_set_pointer (value, self->arrangement);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
adj_document_dispose (GObject *object)
{
  AdjDocument *self = ADJ_DOCUMENT (object);

  adj_works_clear (&self->works);

  G_OBJECT_CLASS (adj_document_parent_class)->dispose (object);
}

static void
adj_document_finalize (GObject *object)
{
  AdjDocument *self = ADJ_DOCUMENT (object);

  g_clear_pointer (&self->scene, adj_scene_unref);
  g_hash_table_unref (self->evaluations);
  adj_history_clear (&self->history);
  g_clear_pointer (&self->lit, g_array_unref);
  adj_arrangement_free (self->arrangement);
  adj_undo_clear (&self->undo);
  adj_layout_cache_unref (self->layouts);
  g_clear_pointer (&self->graphs, adj_graph_set_unref);
  g_clear_object (&self->file);
  g_clear_object (&self->log);
  g_clear_error (&self->error);
  g_free (self->title);
  g_free (self->wanted_graph);
  g_clear_pointer (&self->saved, adj_saved_view_free);

  G_OBJECT_CLASS (adj_document_parent_class)->finalize (object);
}

static void
adj_document_class_init (AdjDocumentClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GParamFlags flags = G_PARAM_READABLE | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS;

  object_class->get_property = adj_document_get_property;
  object_class->dispose = adj_document_dispose;
  object_class->finalize = adj_document_finalize;

  properties[PROP_TITLE] = g_param_spec_string ("title", NULL, NULL, "", flags);
  properties[PROP_BUNDLE] = g_param_spec_pointer ("bundle", NULL, NULL, flags);
  properties[PROP_GRAPH_INDEX] =
      g_param_spec_uint ("graph-index", NULL, NULL, 0, G_MAXUINT, G_MAXUINT, flags);
  properties[PROP_SCENE] = g_param_spec_pointer ("scene", NULL, NULL, flags);
  properties[PROP_SELECTED] =
      g_param_spec_uint ("selected", NULL, NULL, 0, G_MAXUINT, G_MAXUINT, flags);
  properties[PROP_EVALUATION] = g_param_spec_pointer ("evaluation", NULL, NULL, flags);
  properties[PROP_ERROR] = g_param_spec_boxed ("error", NULL, NULL, G_TYPE_ERROR, flags);
  properties[PROP_STATUS] = g_param_spec_string ("status", NULL, NULL, NULL, flags);
  properties[PROP_RUN_CHOICE] = g_param_spec_pointer ("run-choice", NULL, NULL, flags);
  properties[PROP_HISTORY] =
      g_param_spec_int ("history", NULL, NULL, G_MININT, G_MAXINT, -1, flags);
  properties[PROP_ARRANGEMENT] = g_param_spec_pointer ("arrangement", NULL, NULL, flags);
  properties[PROP_LIT] = g_param_spec_pointer ("lit", NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  remark_signal = g_signal_new ("remark", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  exported_signal = g_signal_new ("exported", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 1, G_TYPE_FILE);
}

static void
adj_document_init (AdjDocument *self)
{
  self->title = g_strdup ("");
  self->log = g_list_store_new (ADJ_TYPE_LOG_ITEM);
  self->graph_index = G_MAXUINT;
  self->selected = self->wanted_node = ADJ_NO_NODE;
  self->arrangement = adj_arrangement_new ();
  adj_undo_init (&self->undo);
  self->layouts = adj_layout_cache_new (NULL);
  self->evaluations =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) adj_evaluation_unref);
  adj_works_init (&self->works, on_works_changed, self);
  adj_history_init (&self->history);
}

AdjDocument *
adj_document_new (void)
{
  return g_object_new (ADJ_TYPE_DOCUMENT, NULL);
}
