/* SPDX-License-Identifier: MIT */
/* A file that was read, with the classes and operators of plugins. */

#include "formats/adj-bundle-private.h"
#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "objects/adj-extensions-internal.h"

static gboolean
extend_values (AdjExtender *extender, const AdjValue *values, guint n, GError **error)
{
  for (guint i = 0; values != NULL && i < n; i++)
    if (!adj_extender_take_value (extender, (AdjValue *) &values[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
extend_calls (AdjExtender *extender, GPtrArray *calls, GError **error)
{
  for (guint i = 0; i < calls->len; i++)
    {
      const AdjRecordedCall *call = calls->pdata[i];

      if (!extend_values (extender, call->inputs, call->n_inputs, error) ||
          !extend_values (extender, call->outputs, call->n_outputs, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
extend_graph (AdjExtender *extender, AdjGraph **graph, GError **error)
{
  AdjGraph *taken = adj_extender_take_graph (extender, *graph, error);

  if (taken == NULL)
    return FALSE;
  adj_graph_unref (*graph);
  *graph = taken;
  return TRUE;
}

static gboolean
extend_graphs (AdjExtender *extender, GPtrArray *graphs, GError **error)
{
  for (guint i = 0; i < graphs->len; i++)
    {
      AdjBundleGraph *entry = graphs->pdata[i];

      if (!extend_graph (extender, &entry->graph, error))
        {
          g_prefix_error (error, "%s: ", entry->id);
          return FALSE;
        }
    }
  return TRUE;
}

static gboolean
extend_recording (AdjExtender *extender, AdjRecording **recording, GError **error)
{
  g_autoptr (AdjRecording) extended = adj_recording_new ();

  for (guint i = 0; i < adj_recording_get_n_stages (*recording); i++)
    {
      AdjStage stage = *adj_recording_get_stage (*recording, i);
      g_autoptr (AdjGraph) graph =
          stage.graph != NULL ? adj_extender_take_graph (extender, stage.graph, error) : NULL;

      if (stage.graph != NULL && graph == NULL)
        return FALSE;
      stage.graph = graph;
      adj_recording_add (extended, &stage);
    }
  adj_recording_unref (*recording);
  *recording = g_steal_pointer (&extended);
  return TRUE;
}

gboolean
adj_bundle_extend (AdjBundle *bundle, const AdjExtensions *extensions, GError **error)
{
  g_autoptr (AdjExtender) extender = NULL;

  g_return_val_if_fail (bundle != NULL && extensions != NULL, FALSE);

  extender = adj_extender_new (extensions, bundle->diags);
  return extend_graphs (extender, bundle->graphs, error) &&
         extend_calls (extender, bundle->calls, error) &&
         extend_calls (extender, bundle->weights, error) &&
         extend_calls (extender, bundle->runs, error) &&
         (bundle->recording == NULL || extend_recording (extender, &bundle->recording, error));
}
