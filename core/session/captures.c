/* SPDX-License-Identifier: MIT */
/* Captures the backwards that a program or a graph runs: every graph with the stages of its order.
 */

#include <string.h>

#include "compiled_autograd/adj-compiled-autograd-internal.h"
#include "compiled_autograd/adj-compiled-autograd.h"
#include "session/pipeline-private.h"

#define STEP "compiled-autograd"

gboolean
captures_are_asked_for (const char *steps)
{
  gsize length = strlen (STEP);

  return steps != NULL && strncmp (steps, STEP, length) == 0 &&
         strchr (",=", steps[length]) != NULL;
}

/* "compiled-autograd=2.6,cse": the order and level, and (@rest, out) "cse". */
static gboolean
read_steps (const AdjPipelineOptions *options,
            AdjCompiledOptions *compiling,
            const char **rest,
            GError **error)
{
  const char *comma, *steps = options->steps;
  g_autofree char *argument = NULL;

  *rest = NULL;
  if (!captures_are_asked_for (steps))
    return adj_capture_order_find (
        options->partition != NULL && options->partition->compat ? "2.6" : NULL, compiling, error);
  steps += strlen (STEP);
  comma = strchr (steps, ',');
  *rest = comma != NULL ? comma + 1 : NULL;
  if (*steps == '=')
    argument =
        comma != NULL ? g_strndup (steps + 1, (gsize) (comma - steps - 1)) : g_strdup (steps + 1);
  else if (options->partition != NULL && options->partition->compat)
    argument = g_strdup ("2.6");
  return adj_capture_order_find (argument, compiling, error);
}

gboolean
captures_check_steps (const AdjPipelineOptions *options, GError **error)
{
  AdjCompiledOptions compiling = { NULL };
  const char *rest;

  return read_steps (options, &compiling, &rest, error);
}

static void
capture_clear (gpointer data)
{
  g_free (((AdjPipelineCapture *) data)->reason);
}

static gboolean
add_capture (const AdjCapture *capture,
             const char *rest,
             const AdjPipelineOptions *options,
             AdjPipelineResult *result,
             GError **error)
{
  AdjPipelineCapture added = { .first = adj_recording_get_n_stages (result->recording),
                               .n_runs = adj_capture_get_n_runs (capture) };

  if (!adj_capture_record (capture, result->recording, error))
    return FALSE;
  added.n_capture = adj_recording_get_n_stages (result->recording) - added.first;
  if (rest != NULL && !pipeline_go_on (rest, options, result, error))
    return FALSE;
  added.n = adj_recording_get_n_stages (result->recording) - added.first;
  added.reason = g_strdup (adj_capture_get_reason (capture));
  g_array_append_val (result->captures, added);
  return TRUE;
}

/* Runs the program and discards its text. */
gboolean
captures_run_program (gconstpointer what,
                      const char *release,
                      AdjCompiledAutograd *compiled,
                      GError **error)
{
  const AdjProgram *program = what;
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (GString) out = g_string_new (NULL);

  adj_context_set_release (cx, release);
  if (adj_compiled_autograd_enable (compiled, cx))
    {
      program->run (cx, out);
      adj_compiled_autograd_restore (cx);
    }
  return !adj_context_take_error (cx, error);
}

gboolean
captures_add (CapturesRun run,
              gconstpointer what,
              const AdjPipelineOptions *options,
              AdjPipelineResult *result,
              GError **error)
{
  AdjCompiledOptions compiling = { NULL };
  g_autoptr (AdjCompiledAutograd) compiled = NULL;
  AdjCompiledCounters counters;
  const char *rest;

  if (!read_steps (options, &compiling, &rest, error))
    return FALSE;
  compiled = adj_compiled_autograd_new (&compiling);
  if (!run (what, adj_capture_order_get_release (compiling.order), compiled, error))
    return FALSE;
  counters = adj_compiled_autograd_get_counters (compiled);
  result->n_hits = counters.hits;
  result->n_fallbacks = counters.fallbacks;
  result->fallback_reason = g_strdup (counters.fallback_reason);
  result->captures = g_array_new (FALSE, FALSE, sizeof (AdjPipelineCapture));
  g_array_set_clear_func (result->captures, capture_clear);
  for (guint i = 0; i < adj_compiled_autograd_get_n_captures (compiled); i++)
    if (!add_capture (adj_compiled_autograd_get_capture (compiled, i), rest, options, result,
                      error))
      return FALSE;
  return TRUE;
}
