/* SPDX-License-Identifier: MIT */
/* AdjDocument: an open file, the graph that is shown, its selection, runs and problems. */

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "ir/adj-graph.h"
#include "model/adj-log.h"
#include "model/adj-opening.h"
#include "model/document-private.h"
#include "report/adj-properties.h"

static GParamSpec *properties[N_PROPS];
static guint remark_signal, saved_signal, exported_signal;

G_DEFINE_FINAL_TYPE (AdjDocument, adj_document, G_TYPE_OBJECT)

void
adj_document_changed (AdjDocument *self, guint property)
{
  g_object_notify_by_pspec (G_OBJECT (self), properties[property]);
}

void
adj_document_remark (AdjDocument *self, const char *text)
{
  g_signal_emit (self, remark_signal, 0, text);
}

void
adj_document_announce_save (AdjDocument *self, gboolean written)
{
  g_signal_emit (self, saved_signal, 0, written);
}

void
adj_document_announce_export (AdjDocument *self, GFile *file)
{
  g_signal_emit (self, exported_signal, 0, file);
}

/* -- long work -- */

static void
on_tasks_changed (gpointer data)
{
  adj_document_changed (data, PROP_STATUS);
}

void
adj_document_report_problem (AdjDocument *self, const GError *error)
{
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      adj_document_remark (self, _ ("Stopped"));
      return;
    }
  adj_log_add (self->log, ADJ_LOG_PROBLEM, "%s", error->message);
  adj_document_remark (self, error->message);
}

/* -- opening -- */

/* The graph of stage @stage of the recording, from 1. */
static guint
find_stage (AdjDocument *self, guint stage)
{
  AdjRecording *recording = adj_bundle_get_recording (adj_document_get_bundle (self));

  if (recording == NULL || stage > adj_recording_get_n_stages (recording))
    return G_MAXUINT;
  return adj_document_find_graph (self, adj_recording_get_stage (recording, stage - 1)->graph);
}

/* What is looked at first when nobody says: where the stages begin in a file without a joint or
 * other graph of that kind, else its first graph that is no part of another. */
static guint
find_first (AdjDocument *self)
{
  guint index = adj_graph_set_find (self->graphs, NULL, NULL);

  if (index == G_MAXUINT)
    index = find_stage (self, 1);
  for (guint i = 0; index == G_MAXUINT && i < adj_graph_set_get_n (self->graphs); i++)
    if (!g_str_equal (adj_graph_set_get (self->graphs, i)->role, "subgraph"))
      index = i;
  return index == G_MAXUINT ? 0 : index;
}

static guint
find_start (AdjDocument *self)
{
  g_autoptr (GError) error = NULL;
  guint index;

  if (self->wanted_graph == NULL && self->wanted_stage == 0)
    return find_first (self);
  index = self->wanted_graph == NULL
              ? find_stage (self, self->wanted_stage)
              : adj_graph_set_find (self->graphs, self->wanted_graph, &error);
  if (index == G_MAXUINT)
    {
      if (error == NULL)
        g_set_error (&error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, _ ("there is no stage %u"),
                     self->wanted_stage);
      g_prefix_error (&error, "%s: ", self->title);
      adj_document_report_problem (self, error);
      index = find_first (self);
    }
  return index;
}

/* The node that a link names. */
static AdjNodeId
find_wanted (AdjDocument *self, guint index, const char *name)
{
  const AdjBundleGraph *graph = adj_graph_set_get (self->graphs, index);
  AdjNodeId node = adj_graph_find_node (graph->graph, name);
  g_autoptr (GError) error = NULL;

  if (!adj_node_id_is_valid (node))
    {
      g_set_error (&error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, _ ("%s: %s has no node “%s”"),
                   self->title, graph->id, name);
      adj_document_report_problem (self, error);
    }
  return node;
}

/* Selects it when its picture is there. */
static void
want_node (AdjDocument *self, AdjNodeId node)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (adj_node_id_is_valid (node))
    g_array_append_val (nodes, node.index);
  adj_document_want (self, nodes);
}

/* Graph, folds and selection, where the file still has them. */
static guint
restore (AdjDocument *self, guint otherwise)
{
  g_autoptr (GBytes) notes = adj_bundle_dup_notes (adj_document_get_bundle (self));
  g_autoptr (AdjSavedView) own = adj_saved_view_from_notes (notes);
  AdjSavedView *saved;
  guint index;
  const AdjBundleGraph *graph;

  g_clear_pointer (&self->restored, adj_saved_view_free);
  if (own != NULL && (self->saved == NULL || self->saved_is_older))
    {
      g_clear_pointer (&self->saved, adj_saved_view_free);
      self->saved = g_steal_pointer (&own);
    }
  self->restored = saved = g_steal_pointer (&self->saved);
  if (saved == NULL || self->wanted_graph != NULL || self->wanted_stage > 0 ||
      self->wanted_name != NULL)
    {
      g_clear_pointer (&self->restored, adj_saved_view_free);
      return otherwise;
    }
  index = adj_graph_set_find (self->graphs, saved->graph, NULL);
  if (index == G_MAXUINT)
    return otherwise;
  graph = adj_graph_set_get (self->graphs, index);
  adj_arrangement_free (self->arrangement);
  self->arrangement = adj_arrangement_copy (saved->arrangement);
  self->run_choice = saved->run;
  if (saved->selected != NULL)
    want_node (self, adj_graph_find_node (graph->graph, saved->selected));
  adj_document_changed (self, PROP_ARRANGEMENT);
  return index;
}

AdjSavedView *
adj_document_steal_restored (AdjDocument *self)
{
  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), NULL);

  return g_steal_pointer (&self->restored);
}

/* As adj_document_set_graph_index() with folds that stay. */
static void
begin (AdjDocument *self, guint index)
{
  self->graph_index = index;
  adj_document_changed (self, PROP_GRAPH_INDEX);
  adj_document_request_layout (self);
}

static void
log_remarks (AdjDocument *self)
{
  const AdjDiags *diags = adj_bundle_get_diags (adj_graph_set_get_bundle (self->graphs));

  for (guint i = 0; diags != NULL && i < adj_diags_get_n (diags); i++)
    {
      const AdjDiag *diag = adj_diags_get (diags, i);

      g_autofree char *text = adj_properties_diag (self->title, diag);

      adj_log_add (self->log, diag->severity == ADJ_SEVERITY_NOTE ? ADJ_LOG_DONE : ADJ_LOG_WARNING,
                   "%s", text);
    }
}

void
adj_document_on_loaded (GObject *source, GAsyncResult *result, gpointer data)
{
  AdjDocument *self = ADJ_DOCUMENT (source);
  gpointer graphs = NULL;
  gint64 age;
  g_autoptr (GError) error = NULL;

  if (!adj_task_list_finish (&self->tasks, ADJ_TASK_OPEN, result, &graphs, &age, &error))
    return;
  if (graphs == NULL)
    {
      adj_log_add (self->log, ADJ_LOG_PROBLEM, "%s", error->message);
      self->error = g_steal_pointer (&error);
      adj_document_blame_source (self);
      adj_document_follow (self, adj_task_from_result (result));
      adj_document_changed (self, PROP_ERROR);
      return;
    }
  self->graphs = graphs;
  self->trace_age = age;
  adj_log_add (self->log, ADJ_LOG_DONE, _ ("Opened %s: %u graphs in %.0f ms. %s"), self->title,
               adj_graph_set_get_n (self->graphs), age / 1e3,
               adj_bundle_get_description (adj_graph_set_get_bundle (self->graphs)));
  log_remarks (self);
  adj_document_set_unsaved (self, self->file == NULL);
  adj_document_changed (self, PROP_BUNDLE);
  if (adj_graph_set_get_n (self->graphs) > 0)
    {
      guint index = restore (self, find_start (self));

      adj_document_take_runs (self);
      if (self->wanted_name != NULL)
        want_node (self, find_wanted (self, index, self->wanted_name));
      begin (self, index);
    }
  adj_document_blame_stages (self);
  adj_document_follow (self, adj_task_from_result (result));
}

void
adj_document_set_saved_view (AdjDocument *self, AdjSavedView *view, gboolean older)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  g_clear_pointer (&self->saved, adj_saved_view_free);
  self->saved = view;
  self->saved_is_older = older;
}

void
adj_document_reset (AdjDocument *self, GFile *file, char *title, const char *graph_id)
{
  for (guint task = 0; task < ADJ_N_TASKS; task++)
    adj_task_list_cancel (&self->tasks, task);
  adj_document_stop_following (self);
  g_clear_error (&self->error);
  adj_document_forget_problem (self);
  adj_document_forget_source (self);
  self->graph = NULL;
  self->graph_index = G_MAXUINT;
  self->selected = ADJ_NO_NODE;
  adj_document_want (self, NULL);
  adj_document_forget_stepping (self);
  g_clear_pointer (&self->captured, adj_captured_unref);
  g_clear_pointer (&self->scene, adj_scene_unref);
  g_hash_table_remove_all (self->evaluations);
  adj_document_forget_folds (self);
  adj_history_reset (&self->history);
  adj_document_changed (self, PROP_SCENE);
  adj_document_changed (self, PROP_SELECTED);
  adj_document_changed (self, PROP_EVALUATION);
  adj_document_changed (self, PROP_HISTORY);
  adj_document_changed (self, PROP_GRAPH_INDEX);
  adj_document_forget_trace (self);
  g_clear_pointer (&self->graphs, adj_graph_set_unref);
  g_clear_pointer (&self->arrangement->runs, g_ptr_array_unref);
  g_clear_pointer (&self->saved_runs, g_ptr_array_unref);
  adj_document_changed (self, PROP_BUNDLE);
  adj_document_changed (self, PROP_ERROR);
  g_set_object (&self->file, file);
  g_free (self->title);
  self->title = title;
  g_free (self->wanted_graph);
  self->wanted_graph = g_strdup (graph_id);
  g_clear_pointer (&self->wanted_name, g_free);
  self->wanted_stage = 0;
  g_clear_pointer (&self->restored, adj_saved_view_free);
  adj_document_set_unsaved (self, FALSE);
  adj_document_set_snapshot (self, NULL);
  adj_document_changed (self, PROP_TITLE);
}

void
adj_document_open (AdjDocument *self, GFile *file, const char *graph_id)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (G_IS_FILE (file));

  adj_document_reset (self, file, g_file_get_basename (file), graph_id);
  adj_task_list_start (&self->tasks, ADJ_TASK_OPEN,
                       adj_opening_start_file (G_OBJECT (self), file, adj_document_on_loaded),
                       self->title);
}

void
adj_document_open_link (AdjDocument *self, const AdjLink *link)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (link != NULL && link->file != NULL);

  adj_document_open (self, link->file, link->graph);
  self->wanted_stage = link->stage;
  self->wanted_name = g_strdup (link->node);
}

void
adj_document_follow_link (AdjDocument *self, const AdjLink *link)
{
  guint index;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->graphs == NULL || self->graph_index == G_MAXUINT)
    return;
  g_free (self->wanted_graph);
  self->wanted_graph = g_strdup (link->graph);
  self->wanted_stage = link->stage;
  index = link->graph != NULL || link->stage > 0 ? find_start (self) : self->graph_index;
  adj_document_show (self, index,
                     link->node != NULL ? find_wanted (self, index, link->node) : ADJ_NO_NODE);
}

void
adj_document_open_text (AdjDocument *self, GBytes *text)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (text != NULL);

  adj_document_reset (self, NULL, g_strdup (_ ("Pasted Text")), NULL);
  adj_task_list_start (&self->tasks, ADJ_TASK_OPEN,
                       adj_opening_start_text (G_OBJECT (self), text, adj_document_on_loaded),
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

guint
adj_document_find_graph (AdjDocument *self, const AdjGraph *graph)
{
  for (guint i = 0; graph != NULL && i < adj_graph_set_get_n (self->graphs); i++)
    if (adj_graph_set_get (self->graphs, i)->graph == graph)
      return i;
  return G_MAXUINT;
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

/* -- what is laid over it -- */

void
adj_document_set_snapshot (AdjDocument *self, const char *path)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (g_strcmp0 (self->snapshot, path) == 0)
    return;
  g_free (self->snapshot);
  self->snapshot = g_strdup (path);
  adj_document_changed (self, PROP_SNAPSHOT);
}

const char *
adj_document_get_snapshot (AdjDocument *self)
{
  return self->snapshot;
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
      g_value_set_string (value, self->tasks.status);
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
    case PROP_CHOSEN:
      g_value_set_pointer (value, self->arrangement->chosen);
      break;
    case PROP_ARRANGEMENT:
      g_value_set_pointer (value, self->arrangement);
      break;
    case PROP_PROBLEM:
      g_value_set_boxed (value, self->problem);
      break;
    case PROP_UNSAVED:
      g_value_set_boolean (value, adj_document_is_unsaved (self));
      break;
    case PROP_RUNS:
      g_value_set_pointer (value, self->arrangement->runs);
      break;
    case PROP_STEPPING:
      g_value_set_object (value, self->stepping);
      break;
    case PROP_SNAPSHOT:
      g_value_set_string (value, self->snapshot);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    }
}

static void
adj_document_dispose (GObject *object)
{
  AdjDocument *self = ADJ_DOCUMENT (object);

  adj_document_stop_following (self);
  adj_task_list_clear (&self->tasks);
  adj_document_forget_stepping (self);

  G_OBJECT_CLASS (adj_document_parent_class)->dispose (object);
}

static void
adj_document_finalize (GObject *object)
{
  AdjDocument *self = ADJ_DOCUMENT (object);

  g_clear_pointer (&self->captured, adj_captured_unref);
  g_clear_pointer (&self->scene, adj_scene_unref);
  g_hash_table_unref (self->evaluations);
  adj_history_clear (&self->history);
  g_clear_pointer (&self->lit, g_array_unref);
  adj_arrangement_free (self->arrangement);
  adj_undo_clear (&self->undo);
  adj_layout_cache_unref (self->layouts);
  adj_document_forget_trace (self);
  g_clear_pointer (&self->graphs, adj_graph_set_unref);
  g_clear_object (&self->file);
  g_clear_object (&self->log);
  g_clear_error (&self->error);
  g_clear_error (&self->problem);
  g_array_unref (self->problem_nodes);
  adj_document_want (self, NULL);
  adj_document_forget_source (self);
  g_free (self->snapshot);
  g_free (self->title);
  g_free (self->wanted_graph);
  g_free (self->wanted_name);
  g_free (self->etag);
  g_clear_pointer (&self->saved_runs, g_ptr_array_unref);
  g_clear_pointer (&self->written_runs, g_ptr_array_unref);
  g_clear_pointer (&self->saved, adj_saved_view_free);
  g_clear_pointer (&self->restored, adj_saved_view_free);

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
  properties[PROP_CHOSEN] = g_param_spec_pointer ("chosen", NULL, NULL, flags);
  properties[PROP_LIT] = g_param_spec_pointer ("lit", NULL, NULL, flags);
  properties[PROP_PROBLEM] = g_param_spec_boxed ("problem", NULL, NULL, G_TYPE_ERROR, flags);
  properties[PROP_UNSAVED] = g_param_spec_boolean ("unsaved", NULL, NULL, FALSE, flags);
  properties[PROP_RUNS] = g_param_spec_pointer ("runs", NULL, NULL, flags);
  properties[PROP_STEPPING] =
      g_param_spec_object ("stepping", NULL, NULL, ADJ_TYPE_STEPPING, flags);
  properties[PROP_SNAPSHOT] = g_param_spec_string ("snapshot", NULL, NULL, NULL, flags);
  g_object_class_install_properties (object_class, N_PROPS, properties);

  remark_signal = g_signal_new ("remark", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  saved_signal = g_signal_new ("saved", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                               NULL, G_TYPE_NONE, 1, G_TYPE_BOOLEAN);
  exported_signal = g_signal_new ("exported", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                  NULL, NULL, G_TYPE_NONE, 1, G_TYPE_FILE);
}

static void
adj_document_init (AdjDocument *self)
{
  self->title = g_strdup ("");
  self->log = g_list_store_new (ADJ_TYPE_LOG_ITEM);
  self->graph_index = G_MAXUINT;
  self->selected = ADJ_NO_NODE;
  self->problem_nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  self->arrangement = adj_arrangement_new ();
  adj_undo_init (&self->undo);
  self->layouts = adj_layout_cache_new (NULL);
  self->evaluations =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) adj_evaluation_unref);
  adj_task_list_init (&self->tasks, on_tasks_changed, self);
  adj_history_init (&self->history);
}

AdjDocument *
adj_document_new (void)
{
  return g_object_new (ADJ_TYPE_DOCUMENT, NULL);
}
