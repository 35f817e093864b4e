/* SPDX-License-Identifier: MIT */
/* Runs one pass: its arguments, notes and steps; the result is verified. */

#include "passes/adj-pass.h"

#include "ir/adj-graph.h"
#include "ir/adj-verify.h"
#include "passes/adj-effects.h"
#include "passes/adj-pass-internal.h"

struct _AdjPassContext
{
  const char *argument;
  const char *role;
  GArray *notes; /* of AdjPassNote */
  GArray *steps; /* of AdjPassStep */
  GPtrArray *warnings;
};

gboolean
adj_pass_run (const AdjPass *pass,
              const char *argument,
              AdjGraph *graph,
              AdjPassResult *result,
              GError **error)
{
  AdjPassContext context = { argument, pass->name, g_array_new (FALSE, FALSE, sizeof (AdjPassNote)),
                             g_array_new (FALSE, FALSE, sizeof (AdjPassStep)),
                             g_ptr_array_new_with_free_func (g_free) };
  gint64 started = g_get_monotonic_time ();
  AdjGraph *out = NULL;

  if (argument != NULL && pass->argument == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "takes no argument, not '%s'", argument);
  else if (adj_graph_verify (graph, error) && adj_graph_verify_tokens (graph, error))
    out = pass->run (graph, &context, error);
  if (out != NULL &&
      (!adj_graph_verify_tokens (out, error) || !adj_graph_verify_effects_kept (graph, out, error)))
    g_clear_pointer (&out, adj_graph_unref);
  if (out == NULL)
    g_prefix_error (error, "pass '%s': ", pass->name);
  *result = (AdjPassResult){
    .graph = out,
    .role = context.role,
    .n_notes = context.notes->len,
    .n_steps = context.steps->len,
    .warnings = context.warnings,
    .ns = (g_get_monotonic_time () - started) * 1000,
  };
  result->notes = (gpointer) g_array_free (context.notes, FALSE);
  result->steps = (gpointer) g_array_free (context.steps, FALSE);
  if (out == NULL)
    adj_pass_result_clear (result);
  return out != NULL;
}

void
adj_pass_result_clear (AdjPassResult *result)
{
  g_clear_pointer (&result->graph, adj_graph_unref);
  for (guint i = 0; i < result->n_notes; i++)
    g_free (result->notes[i].reason);
  for (guint i = 0; i < result->n_steps; i++)
    {
      g_free (result->steps[i].name);
      g_free (result->steps[i].note);
    }
  g_clear_pointer (&result->notes, g_free);
  g_clear_pointer (&result->steps, g_free);
  g_clear_pointer (&result->warnings, g_ptr_array_unref);
  result->n_notes = result->n_steps = 0;
}

void
adj_pass_note (AdjPassContext *context, AdjNodeId before, AdjNodeId after, const char *format, ...)
{
  AdjPassNote note = { before, after, NULL };
  va_list args;

  va_start (args, format);
  note.reason = g_strdup_vprintf (format, args);
  va_end (args);
  g_array_append_val (context->notes, note);
}

void
adj_pass_step (AdjPassContext *context, const char *name, const char *note, gint64 ns)
{
  AdjPassStep step = { g_strdup (name), g_strdup (note), ns };

  g_array_append_val (context->steps, step);
}

void
adj_pass_warn (AdjPassContext *context, const char *text)
{
  g_ptr_array_add (context->warnings, g_strdup (text));
}

void
adj_pass_context_set_role (AdjPassContext *context, const char *role)
{
  context->role = role;
}

const char *
adj_pass_context_get_argument (const AdjPassContext *context)
{
  return context->argument;
}
