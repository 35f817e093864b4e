/* SPDX-License-Identifier: MIT */
/* What was captured, and what can be asked of it. */

#include "compiled_autograd/compiled-private.h"
#include "ir/adj-graph.h"

static void
clear_call (gpointer data)
{
  g_free ((char *) ((AdjCaptureCall *) data)->name);
}

static void
clear_origin (gpointer data)
{
  g_free ((char *) ((AdjCaptureOrigin *) data)->name);
}

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
  g_array_unref (capture->calls);
  g_array_unref (capture->inputs);
  g_array_unref (capture->objects);
  g_free (capture->reason);
  g_free (capture);
}

static void
note_calls (AdjCapture *capture, const Collection *collection)
{
  guint begin = 0;

  for (guint i = 0; i < collection->calls->len; i++)
    {
      const CollectedCall *call = &g_array_index (collection->calls, CollectedCall, i);
      const AdjCaptureCall noted = { g_strdup (call->node->name), call->id,
                                     call->key_end - begin - (guint) sizeof (KeyHead),
                                     call->needed };

      begin = call->key_end;
      g_array_append_val (capture->calls, noted);
    }
  for (guint i = 0; i < collection->inputs->len; i++)
    {
      const CollectedOrigin *from = &g_array_index (collection->input_origins, CollectedOrigin, i);
      const AdjCaptureOrigin origin = { from->call, g_strdup (from->name) };

      g_array_append_val (capture->inputs, origin);
    }
  for (guint i = 0; i < collection->objects->len; i++)
    {
      guint call = g_array_index (collection->object_origins, CollectedOrigin, i).call;
      const AdjCaptureOrigin origin = { call, adj_opaque_describe (
                                                  g_ptr_array_index (collection->objects, i)) };

      g_array_append_val (capture->objects, origin);
    }
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
  capture->calls = g_array_new (FALSE, FALSE, sizeof (AdjCaptureCall));
  g_array_set_clear_func (capture->calls, clear_call);
  capture->inputs = g_array_new (FALSE, FALSE, sizeof (AdjCaptureOrigin));
  g_array_set_clear_func (capture->inputs, clear_origin);
  capture->objects = g_array_new (FALSE, FALSE, sizeof (AdjCaptureOrigin));
  g_array_set_clear_func (capture->objects, clear_origin);
  note_calls (capture, collection);
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

  return capture->calls->len;
}

AdjCaptureCall
adj_capture_get_call (const AdjCapture *capture, guint index)
{
  g_return_val_if_fail (capture != NULL && index < capture->calls->len, (AdjCaptureCall){ 0 });

  return g_array_index (capture->calls, AdjCaptureCall, index);
}

guint
adj_capture_get_n_inputs (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, 0);

  return capture->inputs->len;
}

AdjCaptureOrigin
adj_capture_get_input (const AdjCapture *capture, guint index)
{
  g_return_val_if_fail (capture != NULL && index < capture->inputs->len, (AdjCaptureOrigin){ 0 });

  return g_array_index (capture->inputs, AdjCaptureOrigin, index);
}

guint
adj_capture_get_n_hooks (const AdjCapture *capture)
{
  g_return_val_if_fail (capture != NULL, 0);

  return capture->objects->len;
}

AdjCaptureOrigin
adj_capture_get_hook (const AdjCapture *capture, guint index)
{
  g_return_val_if_fail (capture != NULL && index < capture->objects->len, (AdjCaptureOrigin){ 0 });

  return g_array_index (capture->objects, AdjCaptureOrigin, index);
}
