/* SPDX-License-Identifier: MIT */
#include "session/adj-pipeline.h"

#include <string.h>

/* One entry of the list of steps, "decompose=core". */
typedef struct
{
  const AdjPass *pass;
  char *argument; /* (owned) (nullable) */
} Step;

static void
step_clear (gpointer data)
{
  g_free (((Step *) data)->argument);
}

/* What one does with a graph of that kind when nobody says more. */
static const struct
{
  const char *role;
  const char *steps;
} defaults[] = {
  { "dynamo", "dce,cse" },
  { "joint", "dce,cse" },
};

static const char *
default_steps (const char *role)
{
  for (guint i = 0; i < G_N_ELEMENTS (defaults); i++)
    if (g_str_equal (defaults[i].role, role))
      return defaults[i].steps;
  return "dce,cse";
}

static gboolean
read_step (const char *text, GArray *steps, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "=", 2);
  Step step;

  g_strstrip (parts[0]);
  step.pass = adj_pass_find (parts[0], error);
  if (step.pass == NULL)
    return FALSE;
  step.argument = g_strdup (parts[1]);
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

/* Adds the stage that @step makes of the last one; %FALSE when it failed. */
static gboolean
run_step (const Step *step, AdjRecording *recording)
{
  guint last = adj_recording_get_n_stages (recording) - 1;
  g_autoptr (GError) failure = NULL;
  AdjPassResult result;
  AdjStage stage = { .name = (char *) step->pass->name,
                     .summary = (char *) step->pass->summary,
                     .from = (gint) last };

  if (!adj_pass_run (step->pass, step->argument, adj_recording_get_stage (recording, last)->graph,
                     &result, &failure))
    stage.failure = failure->message;
  stage.graph = result.graph;
  stage.n_notes = result.n_notes;
  stage.notes = result.notes;
  stage.ns = result.ns;
  adj_recording_add (recording, &stage);
  adj_pass_result_clear (&result);
  return failure == NULL;
}

AdjRecording *
adj_pipeline_run (AdjGraph *graph,
                  const char *role,
                  const AdjPipelineOptions *options,
                  GCancellable *cancellable,
                  GError **error)
{
  static const AdjPipelineOptions none = { 0 };
  g_autoptr (AdjRecording) recording = adj_recording_new ();
  g_autoptr (GArray) steps = NULL;

  g_return_val_if_fail (graph != NULL && role != NULL, NULL);

  options = options != NULL ? options : &none;
  steps = read_steps (options->steps != NULL ? options->steps : default_steps (role), error);
  if (steps == NULL)
    return NULL;
  adj_recording_add (recording,
                     &(AdjStage){ .name = (char *) role, .graph = graph, .from = -1, .ns = -1 });
  for (guint i = 0; i < steps->len; i++)
    {
      const Step *step = &g_array_index (steps, Step, i);

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;
      if (options->progress != NULL)
        options->progress (i, steps->len, step->pass->name, options->data);
      if (!run_step (step, recording))
        break;
    }
  if (options->progress != NULL)
    options->progress (steps->len, steps->len, "", options->data);
  return g_steal_pointer (&recording);
}
