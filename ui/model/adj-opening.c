/* SPDX-License-Identifier: MIT */
/* Tasks that open files and pasted text, and trace. */

#include "model/adj-opening.h"

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "model/adj-graph-set.h"
#include "session/adj-pipeline.h"
#include "session/adj-wanted-gradients.h"

/* (nullable) (owned): what files name that are opened from now on */
static AdjExtensions *known;

void
adj_opening_set_extensions (AdjExtensions *extensions)
{
  AdjExtensions *before = known;

  known = extensions != NULL ? adj_extensions_ref (extensions) : NULL;
  adj_extensions_unref (before);
}

typedef struct
{
  GFile *source;             /* (owned) (nullable) */
  GBytes *text;              /* (owned) (nullable) */
  AdjExtensions *extensions; /* (owned) (nullable) */
  gboolean may_grow;         /* a program may still be writing it */
} Reading;

static Reading *
reading_new (GFile *file, GBytes *text)
{
  Reading *reading = g_new0 (Reading, 1);

  reading->source = file != NULL ? g_object_ref (file) : NULL;
  reading->text = text != NULL ? g_bytes_ref (text) : NULL;
  reading->extensions = known != NULL ? adj_extensions_ref (known) : NULL;
  return reading;
}

static void
reading_free (gpointer data)
{
  Reading *reading = data;

  g_clear_object (&reading->source);
  g_clear_pointer (&reading->text, g_bytes_unref);
  adj_extensions_unref (reading->extensions);
  g_free (reading);
}

static AdjGraphSet *
make_set (AdjBundle *bundle)
{
  return bundle != NULL ? adj_graph_set_new (bundle) : NULL;
}

/* Ends @bundle (nullable). */
static AdjGraphSet *
make_extended_set (const Reading *reading, AdjBundle *bundle, GError **error)
{
  if (bundle == NULL || reading->extensions == NULL ||
      adj_bundle_extend (bundle, reading->extensions, error))
    return make_set (bundle);
  adj_bundle_unref (bundle);
  return NULL;
}

static gboolean
may_grow (const char *path)
{
  const AdjFormat *format = adj_format_detect (path, NULL);

  return format != NULL ? format->load_growing != NULL : g_file_test (path, G_FILE_TEST_IS_DIR);
}

static gpointer
load (AdjTask *task, GCancellable *cancellable, GError **error)
{
  Reading *reading = adj_task_get_input (task);
  g_autofree char *path = g_file_get_path (reading->source);
  g_autoptr (GError) reason = NULL;
  AdjBundle *bundle;

  if (path == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   _ ("Only files of this computer can be opened"));
      return NULL;
    }
  bundle = adj_bundle_load (path, cancellable, &reason);
  reading->may_grow =
      (bundle != NULL || g_error_matches (reason, ADJ_ERROR, ADJ_ERROR_PARSE)) && may_grow (path);
  if (bundle != NULL)
    return make_extended_set (reading, bundle, error);
  g_propagate_error (error, g_steal_pointer (&reason));
  return NULL;
}

gboolean
adj_opening_may_grow (AdjTask *opening)
{
  const Reading *reading = adj_task_get_input (opening);

  return reading->may_grow;
}

static gpointer
load_text (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Reading *reading = adj_task_get_input (task);
  gsize length;
  const char *chars = g_bytes_get_data (reading->text, &length);

  return make_extended_set (
      reading,
      adj_bundle_load_text (chars != NULL ? chars : "", (gssize) length, "clipboard", error),
      error);
}

AdjTask *
adj_opening_start_file (GObject *owner, GFile *file, GAsyncReadyCallback done)
{
  return adj_task_start (owner, ADJ_LOAD_LIGHT, load, reading_new (file, NULL), reading_free,
                         (GDestroyNotify) adj_graph_set_unref, done);
}

AdjTask *
adj_opening_start_text (GObject *owner, GBytes *text, GAsyncReadyCallback done)
{
  return adj_task_start (owner, ADJ_LOAD_LIGHT, load_text, reading_new (NULL, text), reading_free,
                         (GDestroyNotify) adj_graph_set_unref, done);
}

/* -- what grows -- */

typedef struct
{
  AdjFollower *follower; /* (owned) */
  AdjGraphSet *before;   /* (owned) (nullable) */
} Growth;

static void
growth_free (gpointer data)
{
  Growth *growth = data;

  adj_follower_unref (growth->follower);
  g_clear_pointer (&growth->before, adj_graph_set_unref);
  g_free (growth);
}

static gpointer
grow (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Growth *growth = adj_task_get_input (task);
  AdjBundle *bundle = adj_follower_next (growth->follower, cancellable, error);

  return bundle != NULL ? adj_graph_set_new_grown (bundle, growth->before) : NULL;
}

AdjTask *
adj_opening_start_growth (GObject *owner,
                          AdjFollower *follower,
                          AdjGraphSet *before,
                          GAsyncReadyCallback done)
{
  Growth *growth = g_new0 (Growth, 1);

  growth->follower = adj_follower_ref (follower);
  growth->before = before != NULL ? adj_graph_set_ref (before) : NULL;
  return adj_task_start (owner, ADJ_LOAD_LIGHT, grow, growth, growth_free,
                         (GDestroyNotify) adj_graph_set_unref, done);
}

AdjFollower *
adj_opening_make_follower (GFile *file, AdjBundle *bundle)
{
  return adj_follower_new (g_file_peek_path (file), bundle, known);
}

/* -- tracing -- */

typedef struct
{
  AdjGraphSet *graphs; /* (owned) */
  const AdjBundleGraph *graph;
  AdjTraceChoice choice;
  AdjRecording *before; /* (owned) (nullable): its first @n_kept stages stay */
  guint n_kept;
} Source;

static void
source_free (gpointer data)
{
  Source *source = data;

  adj_graph_set_unref (source->graphs);
  g_clear_pointer (&source->before, adj_recording_unref);
  g_free (source);
}

static void
report_step (guint done, guint total, const char *step, gpointer task)
{
  adj_task_report (task, done, total, 0);
}

/* The last stage that stays.  (nullable) */
static const AdjStage *
get_last_kept (const Source *source)
{
  return source->n_kept > 0 ? adj_recording_get_stage (source->before, source->n_kept - 1) : NULL;
}

/* (transfer full) (nullable): "functionalize,joint=core"; %NULL: what the role asks for */
static char *
make_steps (const Source *source, const char *partitioner)
{
  const AdjTraceChoice *choice = &source->choice;
  const AdjStage *kept = get_last_kept (source);
  GString *steps;

  if (g_str_equal (kept != NULL ? kept->name : source->graph->role, "joint") ||
      (choice->decompositions == NULL && !choice->functionalizes))
    return NULL;
  steps = g_string_new (choice->functionalizes && kept == NULL ? "functionalize,joint" : "joint");
  if (choice->decompositions != NULL)
    g_string_append_printf (steps, "=%s", choice->decompositions);
  g_string_append_printf (steps, ",%s", partitioner != NULL ? partitioner : "min-cut");
  return g_string_free (steps, FALSE);
}

static gboolean
run_pipeline (const Source *source,
              AdjTask *task,
              AdjPipelineResult *result,
              GCancellable *cancellable,
              GError **error)
{
  const AdjPartitionChoice *choice = &source->choice.partition;
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
  g_autofree char *steps = make_steps (source, choice->partitioner);
  AdjPipelineOptions options = { .progress = report_step, .data = task, .steps = steps };
  const AdjStage *kept = get_last_kept (source);
  g_autoptr (AdjGraph) graph = NULL;

  if (choice->partitioner != NULL)
    {
      partition.budget = choice->budget;
      partition.compat = choice->compat;
      options.release = adj_release_find (
          adj_bundle_get_torch_version (adj_graph_set_get_bundle (source->graphs)), NULL);
      partition.num_fwd_outputs = choice->num_fwd_outputs;
      options.partitioner = steps == NULL ? choice->partitioner : NULL;
      options.partition = &partition;
    }
  if (kept != NULL)
    return adj_pipeline_run (kept->graph, kept->name, &options, result, cancellable, error);
  graph = adj_wanted_gradients_apply (adj_graph_set_get_bundle (source->graphs), source->graph,
                                      source->choice.gradients, NULL, error);
  return graph != NULL &&
         adj_pipeline_run (graph, source->graph->role, &options, result, cancellable, error);
}

/* The stages that stay, then those that were made anew of the last of them. */
static void
join_stages (const Source *source, AdjPipelineResult *result)
{
  AdjRecording *joined = adj_recording_new ();

  for (guint i = 0; i < source->n_kept; i++)
    adj_recording_add (joined, adj_recording_get_stage (source->before, i));
  for (guint i = 1; i < adj_recording_get_n_stages (result->recording); i++)
    {
      AdjStage stage = *adj_recording_get_stage (result->recording, i);

      stage.from += (gint) source->n_kept - 1;
      adj_recording_add (joined, &stage);
    }
  adj_recording_unref (result->recording);
  result->recording = joined;
}

static gboolean
has_failed (const AdjPipelineResult *result, guint stage)
{
  return stage < adj_recording_get_n_stages (result->recording) &&
         adj_recording_get_stage (result->recording, stage)->failure != NULL;
}

/* A step that failed stands in the recording; without any stage behind the first it is an error. */
static gpointer
trace (AdjTask *task, GCancellable *cancellable, GError **error)
{
  Source *source = adj_task_get_input (task);
  g_auto (AdjPipelineResult) result = { 0 };

  if (!run_pipeline (source, task, &result, cancellable, error))
    return NULL;
  /* What has no form without writes may have a joint graph. */
  if (source->choice.functionalizes && source->n_kept == 0 && has_failed (&result, 1))
    {
      adj_pipeline_result_clear (&result);
      source->choice.functionalizes = FALSE;
      if (!run_pipeline (source, task, &result, cancellable, error))
        return NULL;
    }
  if (has_failed (&result, 1))
    {
      const AdjGraph *first = adj_recording_get_stage (result.recording, 0)->graph;
      const AdjStage *second = adj_recording_get_stage (result.recording, 1);

      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, second->failure);
      for (guint i = 0; i < second->n_blamed; i++)
        adj_error_blame_node (*error, adj_graph_get_node (first, second->blamed[i].index)->name,
                              second->blamed[i].index);
      return NULL;
    }
  if (source->n_kept > 0)
    join_stages (source, &result);
  return make_set (adj_pipeline_result_to_bundle (
      &result, adj_graph_set_get_bundle (source->graphs), source->graph));
}

AdjTask *
adj_opening_start_trace (GObject *owner,
                         AdjGraphSet *graphs,
                         const AdjBundleGraph *graph,
                         const AdjTraceChoice *choice,
                         AdjRecording *done_before,
                         guint n_kept,
                         GAsyncReadyCallback done)
{
  Source *source = g_new0 (Source, 1);

  *source = (Source){ .graphs = adj_graph_set_ref (graphs), .graph = graph, .n_kept = n_kept };
  if (choice != NULL)
    source->choice = *choice;
  if (n_kept > 0)
    source->before = adj_recording_ref (done_before);
  return adj_task_start (owner, ADJ_LOAD_LIGHT, trace, source, source_free,
                         (GDestroyNotify) adj_graph_set_unref, done);
}
