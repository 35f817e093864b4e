/* SPDX-License-Identifier: MIT */
/* The planned executor: runs a plan of the graph over one arena.  What plans do not support
 * (float64, replaced values) and graphs without a plan run by the interpreter, which the note says.
 */

#include "base/adj-clock.h"
#include "call/adj-context-internal.h"
#include "call/adj-object-call-internal.h"
#include "exec/adj-executor.h"
#include "exec/by-interpreter-private.h"
#include "exec/captured-run-private.h"
#include "exec/generator-state-private.h"
#include "exec/planned-private.h"
#include "exec/run-objects-private.h"
#include "ir/adj-graph.h"
#include "plan/adj-plan-internal.h"
#include "plan/adj-plan-parts.h"

typedef struct
{
  const AdjRunRequest *request;
  AdjRunResult *result;
  AdjKQueue queue;
  AdjPlan *plan;
  CapturedRun captured;
  gint64 started; /* when the current region started */
} Running;

/* Attributes the time of a region to its last node. */
static gboolean
see_region (guint index, guint n, gpointer data)
{
  Running *running = data;
  gint64 time = adj_clock_now ();
  AdjRunRegion *seen = &running->result->regions[index];
  AdjPlanRegion region;

  adj_plan_get_region (running->plan, index, &region);
  *seen = (AdjRunRegion){ .kind = region.kind,
                          .last = region.nodes[region.n_nodes - 1],
                          .n_nodes = region.n_nodes,
                          .ns = time - running->started,
                          .bytes = region.bytes,
                          .flops = region.flops };
  running->result->node_ns[seen->last.index] += seen->ns;
  running->started = time;
  if (running->request->progress != NULL)
    running->request->progress (index + 1, n, running->request->data);
  return TRUE;
}

static gboolean
see_node (AdjNodeId id, const AdjValue *value, gpointer data)
{
  Running *running = data;
  gboolean go_on = running->request->tap (id, value, running->request->data);

  running->started = adj_clock_now ();
  return go_on;
}

static gboolean
replace_call (
    const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value, gpointer data)
{
  return captured_replace (&((Running *) data)->captured, graph, id, args, value);
}

static gboolean
run_space (AdjPlanSpace *space, Running *running, GCancellable *cancellable, GError **error)
{
  const AdjRunRequest *request = running->request;
  AdjRunResult *result = running->result;
  AdjContext *cx = adj_plan_space_get_context (space);
  const AdjPlanHooks hooks = { .region = see_region,
                               .node = request->tap != NULL ? see_node : NULL,
                               .replace = replace_call,
                               .data = running };
  gint64 started = adj_clock_now ();
  gboolean done;

  exec_be_of_release (cx, request);
  if (adj_plan_may_draw (running->plan) && !exec_restore_generator (cx, request, error))
    return FALSE;
  *result = (AdjRunResult){ .n_nodes = adj_graph_get_n_nodes (request->graph) };
  result->node_ns = g_new0 (gint64, result->n_nodes);
  result->n_regions = adj_plan_get_n_regions (running->plan);
  result->regions = g_new0 (AdjRunRegion, result->n_regions + 1);
  adj_context_set_cancellable (cx, cancellable);
  adj_context_set_object_copies (cx, FALSE);
  adj_context_set_queue (cx, &running->queue);
  captured_run_init (&running->captured, cx, request);
  running->started = started;
  done = adj_plan_space_run (space, request->inputs, request->n_inputs, &hooks, &result->output);
  result->total_ns = adj_clock_now () - started;
  result->peak_bytes = adj_plan_space_get_peak_bytes (space);
  captured_run_end (&running->captured, result);
  adj_context_set_queue (cx, NULL);
  if (done)
    {
      run_objects_note (cx, request, result);
      return TRUE;
    }
  adj_context_take_error (cx, error);
  adj_run_result_clear (result);
  return FALSE;
}

gboolean
exec_run_planned (const AdjRunRequest *request,
                  AdjPlanFlags flags,
                  const AdjKBackend *kernels,
                  AdjRunResult *result,
                  GCancellable *cancellable,
                  GError **error)
{
  g_autofree char *refusal = NULL;
  AdjPlanSpace *space;
  Running running = { .request = request, .result = result, .queue = { .backend = kernels } };
  gboolean done;

  if (exec_find_unplannable (request) != NULL)
    return exec_run_by_interpreter (request, exec_find_unplannable (request), result, cancellable,
                                    error);
  space = adj_plan_space_take (request->graph, request->inputs, request->n_inputs,
                               request->tap != NULL ? flags | ADJ_PLAN_OBSERVED : flags, NULL,
                               &refusal, error);
  if (refusal != NULL)
    return exec_run_by_interpreter (request, refusal, result, cancellable, error);
  if (space == NULL)
    return FALSE;
  running.plan = adj_plan_space_get_plan (space);
  done = run_space (space, &running, cancellable, error);
  adj_plan_space_give (space);
  return done;
}

static gboolean
planned_available (GError **error)
{
  return TRUE;
}

static gboolean
planned_run (const AdjRunRequest *request,
             AdjRunResult *result,
             GCancellable *cancellable,
             GError **error)
{
  return exec_run_planned (request, 0, &adj_k_cpu_backend, result, cancellable, error);
}

const AdjExecutor adj_executor_planned = {
  .name = "planned",
  .summary = "Fused regions over one arena, by a plan of the graph, on the CPU",
  .available = planned_available,
  .run = planned_run,
};
