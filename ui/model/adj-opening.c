/* SPDX-License-Identifier: MIT */
/* Tasks that open files and pasted text, and trace. */

#include "model/adj-opening.h"

#include <glib/gi18n.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "model/adj-graph-set.h"
#include "session/adj-pipeline.h"
#include "session/adj-wanted-gradients.h"

static AdjGraphSet *
make_set (AdjBundle *bundle)
{
  return bundle != NULL ? adj_graph_set_new (bundle) : NULL;
}

static gpointer
load (AdjTask *task, GCancellable *cancellable, GError **error)
{
  g_autofree char *path = g_file_get_path (adj_task_get_input (task));

  if (path == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   _ ("Only files of this computer can be opened"));
      return NULL;
    }
  return make_set (adj_bundle_load (path, cancellable, error));
}

static gpointer
load_text (AdjTask *task, GCancellable *cancellable, GError **error)
{
  GBytes *text = adj_task_get_input (task);
  gsize length;
  const char *chars = g_bytes_get_data (text, &length);

  return make_set (
      adj_bundle_load_text (chars != NULL ? chars : "", (gssize) length, "clipboard", error));
}

AdjTask *
adj_opening_start_file (GObject *owner, GFile *file, GAsyncReadyCallback done)
{
  return adj_task_start (owner, ADJ_LOAD_LIGHT, load, g_object_ref (file), g_object_unref,
                         (GDestroyNotify) adj_graph_set_unref, done);
}

AdjTask *
adj_opening_start_text (GObject *owner, GBytes *text, GAsyncReadyCallback done)
{
  return adj_task_start (owner, ADJ_LOAD_LIGHT, load_text, g_bytes_ref (text),
                         (GDestroyNotify) g_bytes_unref, (GDestroyNotify) adj_graph_set_unref,
                         done);
}

/* -- tracing -- */

typedef struct
{
  AdjBundle *bundle; /* (owned) */
  const AdjBundleGraph *graph;
  AdjTraceChoice choice;
} Source;

static void
source_free (gpointer data)
{
  Source *source = data;

  adj_bundle_unref (source->bundle);
  g_free (source);
}

static void
report_step (guint done, guint total, const char *step, gpointer task)
{
  adj_task_report (task, done, total, 0);
}

/* A step that failed stands in the recording; without any stage behind the first it is an error. */
static gpointer
trace (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Source *source = adj_task_get_input (task);
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
  AdjPipelineOptions options = { .progress = report_step, .data = task };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (AdjGraph) graph = NULL;
  const AdjStage *second;

  if (source->choice.partition.partitioner != NULL)
    {
      partition.budget = source->choice.partition.budget;
      partition.compat = source->choice.partition.compat;
      partition.num_fwd_outputs = source->choice.partition.num_fwd_outputs;
      options.partitioner = source->choice.partition.partitioner;
      options.partition = &partition;
    }
  graph = adj_wanted_gradients_apply (source->bundle, source->graph, source->choice.gradients, NULL,
                                      error);
  if (graph == NULL ||
      !adj_pipeline_run (graph, source->graph->role, &options, &result, cancellable, error))
    return NULL;
  second = adj_recording_get_n_stages (result.recording) > 1
               ? adj_recording_get_stage (result.recording, 1)
               : NULL;
  if (second != NULL && second->failure != NULL)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, second->failure);
      for (guint i = 0; i < second->n_blamed; i++)
        adj_error_blame_node (
            *error, adj_graph_get_node (source->graph->graph, second->blamed[i].index)->name,
            second->blamed[i].index);
      return NULL;
    }
  return make_set (adj_pipeline_result_to_bundle (&result, source->bundle, source->graph));
}

AdjTask *
adj_opening_start_trace (GObject *owner,
                         AdjBundle *bundle,
                         const AdjBundleGraph *graph,
                         const AdjTraceChoice *choice,
                         GAsyncReadyCallback done)
{
  Source *source = g_new (Source, 1);

  *source = (Source){ adj_bundle_ref (bundle), graph,
                      choice != NULL ? *choice : (AdjTraceChoice){ .gradients = 0 } };
  return adj_task_start (owner, ADJ_LOAD_LIGHT, trace, source, source_free,
                         (GDestroyNotify) adj_graph_set_unref, done);
}
