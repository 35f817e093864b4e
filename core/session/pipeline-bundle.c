/* SPDX-License-Identifier: MIT */
/* The stages of a pipeline as a bundle that can be saved. */

#include "session/adj-pipeline.h"

/* "0-0-cse", the second time "0-0-cse-2". */
static char *
make_id (const char *region, const char *name, GHashTable *taken)
{
  char *id = g_strdup_printf ("%s-%s", region, name);

  for (guint n = 2; g_hash_table_contains (taken, id); n++)
    {
      g_free (id);
      id = g_strdup_printf ("%s-%s-%u", region, name, n);
    }
  g_hash_table_add (taken, g_strdup (id));
  return id;
}

/* A call as the source file has it. */
typedef struct
{
  AdjBundle *bundle;
  AdjRecordedCall *call;
} SourceCall;

static AdjTensorData *
get_value (const char *node, gboolean float64, gpointer data)
{
  const SourceCall *source = data;
  AdjTensorData *value = adj_bundle_get_tap (source->bundle, source->call, node, float64);

  return value != NULL ? adj_tensor_data_ref (value) : NULL;
}

static void
source_call_free (gpointer data)
{
  SourceCall *source = data;

  adj_run_unref (source->call);
  adj_bundle_unref (source->bundle);
  g_free (source);
}

static void
add_call (AdjBundleBuilder *builder, AdjBundle *bundle, AdjRecordedCall *call, const char *id)
{
  SourceCall source = { adj_bundle_ref (bundle), adj_run_ref (call) };

  adj_bundle_builder_add_call (builder, call, id, NULL);
  adj_bundle_builder_set_taps (builder, get_value, g_memdup2 (&source, sizeof source),
                               source_call_free);
}

/* Adds the recorded calls and kept runs of @graph, with the values of its nodes. */
static void
add_calls (AdjBundleBuilder *builder,
           AdjBundle *source,
           const AdjBundleGraph *graph,
           const char *id)
{
  g_autoptr (GPtrArray) runs = adj_bundle_dup_runs (source);

  for (guint i = 0; i < adj_bundle_get_n_calls (source); i++)
    if (adj_bundle_get_call (source, i)->graph == graph)
      add_call (builder, source, (AdjRecordedCall *) adj_bundle_get_call (source, i), id);
  for (guint i = 0; i < runs->len; i++)
    if (((const AdjRecordedCall *) runs->pdata[i])->graph == graph)
      add_call (builder, source, runs->pdata[i], id);
}

/* (nullable): the id that the graph of @stage got; @role: (nullable): instead of the stage's name.
 */
static const char *
add_stage (AdjBundleBuilder *builder,
           const AdjRegion *region,
           const AdjStage *stage,
           const char *role,
           GPtrArray *ids,
           GHashTable *taken)
{
  AdjBundleGraph entry = { .role = role != NULL ? role : stage->name,
                           .compile_id = region->compile_id,
                           .rank = region->rank,
                           .graph = stage->graph };
  char *id;

  if (stage->graph == NULL)
    return NULL;
  id = make_id (region->id, entry.role, taken);
  entry.id = id;
  g_ptr_array_add (ids, id);
  adj_bundle_builder_add_graph (builder, &entry, NULL);
  return id;
}

/* Adds a capture as a region of its own: "ca0". */
static void
add_capture (AdjBundleBuilder *builder,
             AdjRecording *recording,
             const AdjPipelineCapture *capture,
             guint number,
             GHashTable *taken)
{
  g_autofree char *name = g_strdup_printf ("ca%u", number);
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
  AdjRegion region = { .id = name, .rank = -1, .num_fwd_outputs = -1 };

  for (guint i = 0; i < capture->n; i++)
    add_stage (builder, &region, adj_recording_get_stage (recording, capture->first + i),
               i + 1 == capture->n_capture ? "compiled_autograd" : NULL, ids, taken);
  region.n_graphs = ids->len;
  adj_bundle_builder_add_region (builder, &region, (const char *const *) ids->pdata, NULL);
}

/* The number of stages before those of captures. */
static guint
count_stages (const AdjPipelineResult *result)
{
  if (result->captures != NULL && result->captures->len > 0)
    return g_array_index (result->captures, AdjPipelineCapture, 0).first;
  return adj_recording_get_n_stages (result->recording);
}

AdjBundle *
adj_pipeline_result_to_bundle (const AdjPipelineResult *result,
                               AdjBundle *source,
                               const AdjBundleGraph *graph)
{
  AdjRecording *recording = result->recording;
  g_autoptr (AdjBundleBuilder) builder = adj_bundle_builder_new ();
  g_autoptr (GHashTable) taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) ids = g_ptr_array_new_with_free_func (g_free);
  const AdjRegion *from = graph != NULL ? adj_bundle_find_region (source, graph) : NULL;
  AdjRegion region = { .id = from != NULL ? from->id : "0-0",
                       .compile_id = from != NULL ? from->compile_id : NULL,
                       .rank = from != NULL ? from->rank : -1,
                       .process = from != NULL ? from->process : 0,
                       .num_fwd_outputs = -1 };
  guint n = count_stages (result);

  if (result->partition != NULL)
    region.num_fwd_outputs = (gint) result->partition->num_fwd_outputs;

  for (guint i = 0; i < n; i++)
    {
      const char *id =
          add_stage (builder, &region, adj_recording_get_stage (recording, i), NULL, ids, taken);

      if (i == 0 && graph != NULL && id != NULL)
        add_calls (builder, source, graph, id);
    }
  region.n_graphs = ids->len;
  if (ids->len > 0)
    adj_bundle_builder_add_region (builder, &region, (const char *const *) ids->pdata, NULL);
  for (guint i = 0; result->captures != NULL && i < result->captures->len; i++)
    add_capture (builder, recording, &g_array_index (result->captures, AdjPipelineCapture, i), i,
                 taken);
  adj_bundle_builder_set_description (builder, source != NULL ? adj_bundle_get_description (source)
                                                              : "recorded by Adjoint");
  adj_bundle_builder_set_recording (builder, recording);
  return adj_bundle_builder_end (g_steal_pointer (&builder), NULL);
}
