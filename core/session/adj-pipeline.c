/* SPDX-License-Identifier: MIT */
/* Runs a list of steps, passes and a partitioner, on a graph and records every stage. */

#include "session/adj-pipeline.h"

#include <gio/gio.h>
#include <string.h>

#include "base/adj-diag-internal.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "partition/adj-partition-tag.h"
#include "session/pipeline-private.h"

/* One entry of the list of steps: a pass, "decompose=core", or a partitioner. */
typedef struct
{
  const AdjPass *pass;
  char *argument; /* (owned) (nullable) */
  const AdjPartitioner *partitioner;
} Step;

static void
step_clear (gpointer data)
{
  g_free (((Step *) data)->argument);
}

static const char *
step_name (const Step *step)
{
  return step->pass != NULL ? step->pass->name : step->partitioner->name;
}

/* The steps for a graph of each role when the caller gives none; a partitioner follows. */
static const struct
{
  const char *role;
  const char *steps;
  gboolean is_joint; /* whether the graph is a joint graph afterwards */
} defaults[] = {
  { "dynamo", "joint", TRUE },
  { "export", "joint", TRUE },
  { "user", "joint", TRUE },
  { "joint", "", TRUE },
};

static gboolean
is_forward (const char *role)
{
  for (guint i = 0; i < G_N_ELEMENTS (defaults); i++)
    if (g_str_equal (defaults[i].role, role))
      return g_str_equal (defaults[i].steps, "joint");
  return FALSE;
}

/* (transfer full) */
static char *
list_steps (const char *role, const AdjPipelineOptions *options)
{
  const char *usual = options->usual_partitioner != NULL ? options->usual_partitioner : "min-cut";
  const char *partitioner = options->partitioner != NULL ? options->partitioner : usual;
  const char *steps = "dce,cse";
  gboolean is_joint = FALSE;
  const AdjRelease *release =
      options->release != NULL ? options->release : adj_release_find (NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (defaults); i++)
    if (g_str_equal (defaults[i].role, role))
      {
        steps = defaults[i].steps;
        is_joint = defaults[i].is_joint;
      }
  if (g_str_equal (steps, "joint"))
    steps = options->partition != NULL && options->partition->compat ? release->joint
                                                                     : release->formulas;
  if (options->steps != NULL)
    steps = options->steps;
  if (g_str_equal (partitioner, "none") ||
      (options->partitioner == NULL && options->steps != NULL) ||
      (options->partitioner == NULL && !is_joint))
    return g_strdup (steps);
  return g_strconcat (steps, *steps != '\0' ? "," : "", partitioner, NULL);
}

/* -- reading the list -- */

static gboolean
read_step (const char *text, GArray *steps, GError **error)
{
  const char *equals = strchr (text, '=');
  g_autofree char *name =
      g_strndup (text, equals != NULL ? (gsize) (equals - text) : strlen (text));
  Step step = { .partitioner = adj_partitioner_find (g_strstrip (name), NULL) };

  if (steps->len > 0 && g_array_index (steps, Step, steps->len - 1).partitioner != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "'%s' comes after a partitioner, which ends a pipeline", name);
      return FALSE;
    }
  if (step.partitioner == NULL)
    step.pass = adj_pass_find (name, error);
  if (step.partitioner == NULL && step.pass == NULL)
    return FALSE;
  step.argument = g_strdup (equals != NULL ? equals + 1 : NULL);
  g_array_append_val (steps, step);
  return TRUE;
}

static GArray *
read_steps (const char *text, GError **error)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (Step));
  g_auto (GStrv) texts = g_strsplit (text, ",", -1);

  g_array_set_clear_func (steps, step_clear);
  for (guint i = 0; texts[i] != NULL; i++)
    if (!read_step (texts[i], steps, error))
      return NULL;
  return g_steal_pointer (&steps);
}

/* -- running it -- */

void
pipeline_warn (const char *text, gpointer diags)
{
  if (diags == NULL)
    return;
  adj_diags_remove (diags, "%s", text);
  adj_diags_add (diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 }, "%s", text);
}

static void
add_failure (AdjPipelineResult *result, const Step *step, const GError *failure)
{
  guint last = adj_recording_get_n_stages (result->recording) - 1;
  const AdjGraph *graph = adj_recording_get_stage (result->recording, last)->graph;
  guint n;
  g_autofree AdjNodeId *blamed = adj_graph_find_blamed (graph, failure, &n);

  adj_recording_add (result->recording, &(AdjStage){ .name = (char *) step_name (step),
                                                     .from = (gint) last,
                                                     .ns = -1,
                                                     .failure = failure->message,
                                                     .n_blamed = n,
                                                     .blamed = blamed });
}

/* Adds what a pass made. */
static void
add_made (AdjPipelineResult *result, const AdjPassResult *made, const char *summary)
{
  gint last = (gint) adj_recording_get_n_stages (result->recording) - 1;

  adj_recording_add (result->recording, &(AdjStage){ .name = (char *) made->role,
                                                     .summary = (char *) summary,
                                                     .graph = made->graph,
                                                     .from = last,
                                                     .n_notes = made->n_notes,
                                                     .notes = made->notes,
                                                     .n_steps = made->n_steps,
                                                     .steps = made->steps,
                                                     .ns = made->ns });
}

static gboolean
run_pass (
    const Step *step, AdjGraph *graph, AdjDiags *diags, AdjPipelineResult *result, GError **error)
{
  AdjPassResult made;

  if (!adj_pass_run (step->pass, step->argument, graph, &made, error))
    return FALSE;
  add_made (result, &made, step->pass->summary);
  g_ptr_array_foreach (made.warnings, (GFunc) pipeline_warn, diags);
  adj_pass_result_clear (&made);
  return TRUE;
}

/* Whether the last stage has no backward that a partitioner could separate. */
static gboolean
ends_in_inference (const AdjPipelineResult *result)
{
  guint last = adj_recording_get_n_stages (result->recording) - 1;

  return g_str_equal (adj_recording_get_stage (result->recording, last)->name, "inference");
}

/* Adds a half of a partition as a stage, with the reason of each node. */
static void
add_half (AdjPipelineResult *result, const char *name, AdjGraph *graph, gint from, gint64 ns)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autoptr (GArray) notes = g_array_new (FALSE, FALSE, sizeof (AdjPassNote));

  for (guint i = 0; i < n; i++)
    {
      AdjNodeId origin = adj_graph_get_node (graph, i)->origin;
      AdjPassNote note = { origin, { i }, NULL };

      if (!adj_node_id_is_valid (origin))
        continue;
      note.reason = adj_partition_explain (result->partition, origin);
      g_array_append_val (notes, note);
    }
  adj_recording_add (result->recording,
                     &(AdjStage){ .name = (char *) name,
                                  .summary = (char *) result->partition->partitioner,
                                  .graph = graph,
                                  .from = from,
                                  .n_notes = notes->len,
                                  .notes = (gpointer) notes->data,
                                  .ns = ns });
  for (guint i = 0; i < notes->len; i++)
    g_free (g_array_index (notes, AdjPassNote, i).reason);
}

/* Adds the tags that decide what is recomputed as a stage, if there are any. */
static gboolean
add_tags (AdjPipelineResult *result,
          AdjGraph *joint,
          const AdjPartitionOptions *options,
          GError **error)
{
  AdjPassResult made;

  if (!adj_partition_tag (joint, options, &made, error))
    return FALSE;
  if (made.graph != NULL)
    add_made (result, &made, "Tags of checkpoints, as the partitioner goes by them");
  adj_pass_result_clear (&made);
  return TRUE;
}

/* The partitioner reads @joint, not the graph with the tags, which it would have from @joint: equal
 * calls are merged before the rules for tags apply. */
static gboolean
run_partitioner (const Step *step,
                 AdjGraph *joint,
                 const AdjPartitionOptions *options,
                 AdjPipelineResult *result,
                 GError **error)
{
  gint64 started;
  gint last;

  if (step->argument != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "'%s' takes no argument, not '%s'",
                   step->partitioner->name, step->argument);
      return FALSE;
    }
  if (ends_in_inference (result))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "nothing in the graph requires a gradient: there is no backward to separate");
      return FALSE;
    }
  if (!add_tags (result, joint, options, error))
    return FALSE;
  last = (gint) adj_recording_get_n_stages (result->recording) - 1;
  started = g_get_monotonic_time ();
  result->partition = adj_partition (step->partitioner, joint, options, error);
  if (result->partition == NULL)
    return FALSE;
  add_half (result, "forward", result->partition->forward, last,
            (g_get_monotonic_time () - started) * 1000);
  add_half (result, "backward", result->partition->backward, last, -1);
  return TRUE;
}

/* %FALSE: the step failed, which the recording says, or (@error) it was cancelled. */
static gboolean
run_step (const Step *step,
          const AdjPartitionOptions *partition,
          AdjDiags *diags,
          AdjPipelineResult *result,
          GError **error)
{
  guint last = adj_recording_get_n_stages (result->recording) - 1;
  AdjGraph *graph = adj_recording_get_stage (result->recording, last)->graph;
  g_autoptr (GError) failure = NULL;

  if (g_cancellable_set_error_if_cancelled (partition->cancellable, error))
    return FALSE;
  if (step->pass != NULL ? run_pass (step, graph, diags, result, &failure)
                         : run_partitioner (step, graph, partition, result, &failure))
    return TRUE;
  if (g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    g_propagate_error (error, g_steal_pointer (&failure));
  else
    add_failure (result, step, failure);
  return FALSE;
}

/* PyTorch's partitioner as the release has it. */
static void
follow_release (const AdjPipelineOptions *options, AdjPartitionOptions *partition)
{
  const AdjRelease *release =
      options->release != NULL ? options->release : adj_release_find (NULL, NULL);

  partition->merge_by_need = release->merge_by_need;
  partition->recompute_splits = release->recompute_splits;
  partition->save_effects = release->save_effects;
  partition->forgets_tokens = release->forgets_tokens;
}

/* %FALSE: cancelled; a step that failed is in the recording. */
static gboolean
run_steps (const GArray *steps,
           const AdjPipelineOptions *options,
           const AdjPartitionOptions *partition,
           AdjPipelineResult *result,
           GError **error)
{
  gboolean is_asked_for = options->steps != NULL || options->partitioner != NULL;
  GError *cancelled = NULL;

  for (guint i = 0; i < steps->len; i++)
    {
      const Step *step = &g_array_index (steps, Step, i);

      if (step->partitioner != NULL && !is_asked_for && ends_in_inference (result))
        break;
      if (options->progress != NULL)
        options->progress (i, steps->len, step_name (step), options->data);
      if (!run_step (step, partition, options->diags, result, &cancelled))
        break;
    }
  if (cancelled != NULL)
    {
      g_propagate_error (error, cancelled);
      return FALSE;
    }
  if (options->progress != NULL)
    options->progress (steps->len, steps->len, "", options->data);
  return TRUE;
}

gboolean
pipeline_go_on (const char *list,
                const AdjPipelineOptions *options,
                AdjPipelineResult *result,
                GError **error)
{
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GArray) steps = read_steps (list, error);

  if (steps == NULL)
    return FALSE;
  if (options->partition != NULL)
    partition = *options->partition;
  if (partition.compat)
    follow_release (options, &partition);
  return run_steps (steps, options, &partition, result, error);
}

/* Runs the steps that capture backwards; %FALSE: the steps cannot be read. */
static gboolean
capture (AdjGraph *graph,
         const AdjPipelineOptions *options,
         AdjPipelineResult *result,
         GError **error)
{
  const Step step = { .pass = adj_pass_find ("compiled-autograd", NULL) };
  g_autoptr (GError) failure = NULL;

  if (!captures_check_steps (options, error))
    return FALSE;
  if (!captures_add (captures_run_graph, graph, options, result, &failure))
    add_failure (result, &step, failure);
  else if (result->captures->len == 0)
    {
      g_set_error (&failure, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the backward was not captured: %s",
                   result->fallback_reason);
      add_failure (result, &step, failure);
    }
  return TRUE;
}

gboolean
adj_pipeline_run (AdjGraph *graph,
                  const char *role,
                  const AdjPipelineOptions *options,
                  AdjPipelineResult *result,
                  GCancellable *cancellable,
                  GError **error)
{
  static const AdjPipelineOptions none = { 0 };
  AdjPartitionOptions partition = ADJ_PARTITION_OPTIONS_INIT;
  g_autofree char *list = NULL;
  g_autoptr (GArray) steps = NULL;
  gboolean done;

  g_return_val_if_fail (graph != NULL && role != NULL && result != NULL, FALSE);

  *result = (AdjPipelineResult){ NULL };
  if (!adj_graph_check_understood (graph, error))
    return FALSE;
  options = options != NULL ? options : &none;
  list = list_steps (role, options);
  steps = read_steps (list, error);
  if (steps == NULL)
    return FALSE;
  if (options->partition != NULL)
    partition = *options->partition;
  if (partition.compat)
    follow_release (options, &partition);
  partition.cancellable = cancellable;
  result->recording = adj_recording_new ();
  adj_recording_add (result->recording,
                     &(AdjStage){ .name = (char *) role, .graph = graph, .from = -1, .ns = -1 });
  if (cancellable != NULL)
    g_cancellable_push_current (cancellable); /* for the contexts of passes */
  done = is_forward (role) && captures_are_asked_for (options->steps)
             ? capture (graph, options, result, error)
             : run_steps (steps, options, &partition, result, error);
  if (cancellable != NULL)
    g_cancellable_pop_current (cancellable);
  if (done)
    return TRUE;
  adj_pipeline_result_clear (result);
  return FALSE;
}

void
adj_pipeline_result_clear (AdjPipelineResult *result)
{
  g_clear_pointer (&result->recording, adj_recording_unref);
  g_clear_pointer (&result->partition, adj_partition_unref);
  g_clear_pointer (&result->captures, g_array_unref);
  g_clear_pointer (&result->fallback_reason, g_free);
}
