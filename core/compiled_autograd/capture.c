/* SPDX-License-Identifier: MIT */
/* A captured backward and queries on it. */

#include "compiled_autograd/adj-compiled-autograd-internal.h"
#include "compiled_autograd/compiled-private.h"
#include "ir/adj-graph.h"

AdjCapture *
adj_capture_ref (AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, NULL);

  capture->ref_count++;
  return capture;
}

void
adj_capture_unref (AdjCapture *capture)
{
  if (capture == NULL || --capture->ref_count > 0)
    return;
  g_clear_pointer (&capture->replayed, adj_graph_unref);
  g_clear_pointer (&capture->graph, adj_graph_unref);
  g_clear_pointer (&capture->compiled, adj_function_unref);
  g_clear_pointer (&capture->rules, g_array_unref);
  g_array_unref (capture->sizes);
  g_array_unref (capture->moved);
  g_free (capture->reason);
  g_free (capture);
}

AdjCapture *
capture_new (guint id, const Collection *collection, const char *reason)
{
  AdjCapture *capture = g_new0 (AdjCapture, 1);

  capture->ref_count = 1;
  capture->id = id;
  capture->reason = g_strdup (reason);
  capture->sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  capture->moved = g_array_new (FALSE, FALSE, sizeof (guint));
  capture->n_calls = collection->calls->len;
  return capture;
}

/* -- questions -- */

AdjGraph *
adj_capture_get_graph (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, NULL);

  return capture->graph;
}

gboolean
adj_capture_record (const AdjCapture *capture, AdjRecording *recording, GError **error)
{
  g_autoptr (AdjGraph) graph = NULL;

  g_return_val_if_fail (capture != NULL && recording != NULL, FALSE);

  graph = reorder (capture->replayed, capture->order, recording, capture->reason, error);
  if (graph != NULL && capture->n_lists == 5)
    adj_recording_add (recording,
                       &(AdjStage){ .name = (char *) "sizes",
                                    .summary = (char *) "Drop sizes that nobody reads",
                                    .graph = capture->graph,
                                    .from = (gint) adj_recording_get_n_stages (recording) - 1,
                                    .ns = -1 });
  return graph != NULL;
}

const char *
adj_capture_get_reason (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, NULL);

  return capture->reason;
}

guint64
adj_capture_get_n_runs (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, 0);

  return capture->n_runs;
}

guint
adj_capture_get_n_calls (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, 0);

  return capture->n_calls;
}
