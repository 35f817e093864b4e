/* SPDX-License-Identifier: MIT */
#include "passes/adj-pass.h"

#include "ir/adj-verify.h"

extern const AdjPass adj_pass_dce;

static const AdjPass *const passes[] = {
  &adj_pass_dce,
};

struct _AdjPassContext
{
  GArray *notes; /* of AdjPassNote */
};

guint
adj_passes_get_n (void)
{
  return G_N_ELEMENTS (passes);
}

const AdjPass *
adj_passes_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (passes), NULL);

  return passes[index];
}

/**
 * adj_pass_find:
 *
 * Returns: (transfer none) (nullable): %NULL with ADJ_ERROR_NOT_FOUND
 */
const AdjPass *
adj_pass_find (const char *name, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    if (g_str_equal (passes[i]->name, name))
      return passes[i];
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "there is no pass '%s'", name);
  return NULL;
}

gboolean
adj_pass_run (const AdjPass *pass, AdjGraph *graph, AdjPassResult *result, GError **error)
{
  AdjPassContext context = { g_array_new (FALSE, FALSE, sizeof (AdjPassNote)) };
  gint64 started = g_get_monotonic_time ();
  AdjGraph *out = NULL;

  if (adj_graph_verify (graph, error))
    out = pass->run (graph, &context, error);
  if (out == NULL)
    g_prefix_error (error, "pass '%s': ", pass->name);
  *result = (AdjPassResult){
    .pass = pass,
    .graph = out,
    .n_notes = context.notes->len,
    .ns = (g_get_monotonic_time () - started) * 1000,
  };
  result->notes = (gpointer) g_array_free (context.notes, FALSE);
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
  g_clear_pointer (&result->notes, g_free);
  result->n_notes = 0;
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
