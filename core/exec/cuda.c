/* SPDX-License-Identifier: MIT */
/* The GPU executor: runs a plan of the graph on one.  Regions that ran on the CPU, and the copies
 * for them, are in the result's regions and note. */

#include "base/adj-clock.h"
#include "base/adj-format-bytes.h"
#include "call/adj-context-internal.h"
#include "call/adj-object-call-internal.h"
#include "device/adj-gpu-internal.h"
#include "exec/adj-executor.h"
#include "exec/by-interpreter-private.h"
#include "exec/captured-run-private.h"
#include "exec/generator-state-private.h"
#include "exec/run-objects-private.h"
#include "ir/adj-graph.h"
#include "plan/adj-plan-internal.h"
#include "plan/adj-plan-parts.h"

typedef struct
{
  const AdjRunRequest *request;
  AdjRunResult *result;
  AdjGpu *gpu; /* (owned) */
  CapturedRun captured;
} Running;

static gboolean
cuda_available (GError **error)
{
  return adj_gpu_count (error) > 0;
}

/* -- while it runs -- */

static gboolean
see_region (guint index, guint n, gpointer data)
{
  Running *running = data;

  if (running->request->progress != NULL)
    running->request->progress (index + 1, n, running->request->data);
  return TRUE;
}

static gboolean
see_node (AdjNodeId id, const AdjValue *value, gpointer data)
{
  Running *running = data;

  return running->request->tap (id, value, running->request->data);
}

static gboolean
replace_call (
    const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value, gpointer data)
{
  return captured_replace (&((Running *) data)->captured, graph, id, args, value);
}

/* -- what it did -- */

static void
tell_region (AdjPlanSpace *space, guint index, GArray *regions)
{
  AdjPlanRegion region;
  AdjRunRegion seen, copies;
  const char *reason;

  adj_plan_get_region (adj_plan_space_get_plan (space), index, &region);
  seen = (AdjRunRegion){ .kind = region.kind,
                         .last = region.nodes[region.n_nodes - 1],
                         .n_nodes = region.n_nodes,
                         .bytes = region.bytes,
                         .flops = region.flops };
  copies = (AdjRunRegion){ .kind = "copies", .last = seen.last };
  seen.ns = adj_plan_space_get_region_ns (space, index, &copies.ns, &copies.bytes, &reason);
  if (reason != NULL)
    seen.kind = "on cpu";
  g_array_append_val (regions, seen);
  if (copies.bytes > 0)
    g_array_append_val (regions, copies);
}

static void
tell_regions (AdjPlanSpace *space, AdjRunResult *result)
{
  GArray *regions = g_array_new (TRUE, FALSE, sizeof (AdjRunRegion));

  for (guint i = 0; i < adj_plan_get_n_regions (adj_plan_space_get_plan (space)); i++)
    tell_region (space, i, regions);
  for (guint i = 0; i < regions->len; i++)
    {
      const AdjRunRegion *region = &g_array_index (regions, AdjRunRegion, i);

      result->node_ns[region->last.index] += region->ns;
    }
  result->n_regions = regions->len;
  result->regions = (AdjRunRegion *) (gpointer) g_array_free (regions, FALSE);
}

/* Appends why the first such region ran on the CPU, and its node. */
static void
append_reason (AdjPlanSpace *space, GString *note)
{
  AdjPlan *plan = adj_plan_space_get_plan (space);
  const char *reason = NULL;
  gint64 copy_ns;
  guint64 copied;
  guint i = 0;
  AdjPlanRegion region;

  for (; i < adj_plan_get_n_regions (plan) && reason == NULL; i++)
    adj_plan_space_get_region_ns (space, i, &copy_ns, &copied, &reason);
  if (reason == NULL)
    return;
  adj_plan_get_region (plan, i - 1, &region);
  g_string_append_printf (
      note, "; of '%s', %s",
      adj_graph_get_node (adj_plan_get_graph (plan), region.nodes[0].index)->name, reason);
}

static char *
write_note (AdjPlanSpace *space, const AdjGpu *gpu)
{
  g_autoptr (GString) note = g_string_new (NULL);
  AdjPlanGpuRun run;
  g_autofree char *to_cpu = NULL, *to_gpu = NULL;

  adj_plan_space_get_gpu_run (space, &run);
  to_cpu = adj_format_bytes (run.to_cpu);
  to_gpu = adj_format_bytes (run.to_gpu);
  g_string_printf (note, "on %s", adj_gpu_get_name (gpu));
  if (run.replayed)
    g_string_append (note, " as one captured graph");
  if (run.n_on_cpu > 0)
    {
      g_string_append_printf (
          note, "; the CPU ran %u of %u regions, for which %u copies moved %s to it and %s back",
          run.n_on_cpu, adj_plan_get_n_regions (adj_plan_space_get_plan (space)), run.n_copies,
          to_cpu, to_gpu);
      append_reason (space, note);
    }
  if (run.uncaptured != NULL)
    g_string_append_printf (note, "; it is no captured graph: %s", run.uncaptured);
  return g_string_free (g_steal_pointer (&note), FALSE);
}

/* -- running -- */

static gboolean
run_space (AdjPlanSpace *space, Running *running, GCancellable *cancellable, GError **error)
{
  const AdjRunRequest *request = running->request;
  AdjRunResult *result = running->result;
  AdjContext *cx = adj_plan_space_get_context (space);
  const AdjPlanHooks hooks = { .region = see_region,
                               .node = request->tap != NULL ? see_node : NULL,
                               .replace = replace_call,
                               .timed = request->timed,
                               .data = running };
  gint64 started = adj_clock_now ();
  AdjPlanGpuRun run;
  gboolean done;

  if (!exec_be_as_recorded (cx, request, error))
    return FALSE;
  *result = (AdjRunResult){ .n_nodes = adj_graph_get_n_nodes (request->graph) };
  result->node_ns = g_new0 (gint64, result->n_nodes);
  adj_context_set_cancellable (cx, cancellable);
  adj_context_set_object_copies (cx, FALSE);
  captured_run_init (&running->captured, cx, request);
  done = adj_plan_space_run (space, request->inputs, request->n_inputs, &hooks, &result->output);
  result->total_ns = adj_clock_now () - started;
  captured_run_end (&running->captured, result);
  if (!done)
    {
      adj_context_take_error (cx, error);
      adj_run_result_clear (result);
      return FALSE;
    }
  adj_plan_space_get_gpu_run (space, &run);
  result->peak_bytes = run.device_bytes;
  result->device_ns = run.device_ns;
  tell_regions (space, result);
  run_objects_note (cx, request, result);
  result->note = write_note (space, running->gpu);
  return TRUE;
}

/* After a kernel refused its data, runs on the CPU to get an error that names the node and the
 * value. */
static void
explain_by_cpu (const AdjRunRequest *request, GCancellable *cancellable, GError **error)
{
  AdjRunRequest again = *request;
  AdjRunResult result = { 0 };
  g_autoptr (GError) said = NULL;
  const AdjExecutor *planned = adj_executor_find ("planned", NULL);

  again.gpu = NULL;
  again.tap = NULL;
  again.progress = NULL;
  if (planned->run (&again, &result, cancellable, &said))
    adj_run_result_clear (&result);
  else
    {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&said));
    }
}

static gboolean
run_there (Running *running, GCancellable *cancellable, GError **error)
{
  const AdjRunRequest *request = running->request;
  g_autofree char *refusal = NULL;
  GError *failure = NULL;
  AdjPlanSpace *space = adj_plan_space_take (request->graph, request->inputs, request->n_inputs,
                                             request->tap != NULL ? ADJ_PLAN_OBSERVED : 0,
                                             running->gpu, &refusal, &failure);

  if (refusal != NULL)
    return exec_run_by_interpreter (request, refusal, running->result, cancellable, error);
  if (space != NULL && run_space (space, running, cancellable, &failure))
    {
      adj_plan_space_give (space);
      return TRUE;
    }
  adj_plan_space_free (space);
  if (g_error_matches (failure, ADJ_ERROR, ADJ_ERROR_DEVICE))
    adj_gpu_recover (running->gpu);
  if (g_error_matches (failure, ADJ_ERROR, ADJ_ERROR_STALE))
    explain_by_cpu (request, cancellable, &failure);
  g_propagate_error (error, failure);
  return FALSE;
}

static gboolean
cuda_run (const AdjRunRequest *request,
          AdjRunResult *result,
          GCancellable *cancellable,
          GError **error)
{
  Running running = { .request = request, .result = result };
  gboolean done;

  if (exec_find_unplannable (request) != NULL)
    return exec_run_by_interpreter (request, exec_find_unplannable (request), result, cancellable,
                                    error);
  running.gpu = request->gpu != NULL ? adj_gpu_ref (request->gpu) : adj_gpu_open (NULL, error);
  if (running.gpu == NULL)
    return FALSE;
  done = run_there (&running, cancellable, error);
  adj_gpu_unref (running.gpu);
  return done;
}

const AdjExecutor adj_executor_cuda = {
  .name = "cuda",
  .summary = "The plan of the graph on an NVIDIA GPU",
  .available = cuda_available,
  .run = cuda_run,
};
