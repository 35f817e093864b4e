/* SPDX-License-Identifier: MIT */
/* A space on a GPU: one allocation holds all buffers; regions are queued in order, and after a few
 * runs they are captured into one graph. */

#include <string.h>

#include "base/adj-format-bytes.h"
#include "call/adj-context-internal.h"
#include "ir/adj-graph.h"
#include "plan/gpu-space-private.h"
#include "tensor/adj-late-bytes-internal.h"

#define ALIGNMENT 256
/* Number of runs before one is captured: the first loads kernels and determines the scratch size.
 */
#define RUNS_BEFORE_CAPTURE 2

static const AdjGpuRuntimeType *
type_of (const PlanGpu *self)
{
  return adj_gpu_get_runtime (self->gpu)->type;
}

static AdjGpuRuntime *
runtime_of (const PlanGpu *self)
{
  return adj_gpu_get_runtime (self->gpu);
}

/* -- memory -- */

static guint64
align (guint64 n_bytes)
{
  return (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Sets the offsets of buffers: those of the arena first, then the others. */
static guint64
place_buffers (const AdjPlan *plan, guint64 *offsets)
{
  guint64 end = align (plan->arena_bytes);

  for (guint32 i = 0; i < plan->buffers->len; i++)
    {
      const PlanBuffer *buffer = plan_buffer (plan, i);

      if (offsets != NULL)
        offsets[i] = buffer->memory == PLAN_MEMORY_ARENA ? buffer->offset : end;
      if (buffer->memory != PLAN_MEMORY_ARENA)
        end += align (MAX (buffer->n_bytes, 1));
    }
  return MAX (end, ALIGNMENT);
}

static gboolean
check_memory (const PlanGpu *self, GError **error)
{
  AdjGpuInfo info;
  g_autofree char *needed = adj_format_bytes (self->n_bytes);
  g_autofree char *there = NULL;

  if (!adj_gpu_describe (self->gpu, &info, error))
    return FALSE;
  if (self->n_bytes <= info.free_bytes)
    return TRUE;
  there = adj_format_bytes (info.free_bytes);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY,
               "running this graph needs about %s of the memory of %s, %s are free there", needed,
               adj_gpu_get_name (self->gpu), there);
  return FALSE;
}

static gboolean
make_there (PlanGpu *self, const AdjPlan *plan, GError **error)
{
  if (!adj_gpu_use (self->gpu, error) || !check_memory (self, error))
    return FALSE;
  self->memory = type_of (self)->alloc (runtime_of (self), self->n_bytes, error);
  if (self->memory != NULL)
    self->queue = adj_gpu_queue_new (self->gpu, error);
  if (self->queue != NULL)
    self->staging = adj_gpu_staging_new (self->gpu, error);
  if (self->staging != NULL)
    self->arrived = type_of (self)->event_new (runtime_of (self), error);
  if (self->arrived != NULL)
    self->queued = type_of (self)->event_new (runtime_of (self), error);
  return self->queued != NULL && plan_gpu_make_random (self, plan, error);
}

PlanGpu *
plan_gpu_new (const AdjPlan *plan, AdjGpu *gpu, GError **error)
{
  PlanGpu *self = g_new0 (PlanGpu, 1);

  self->gpu = adj_gpu_ref (gpu);
  self->generation = adj_gpu_get_generation (gpu);
  self->offsets = g_new0 (guint64, plan->buffers->len + 1);
  self->there = g_new0 (AdjTensorData *, plan->buffers->len + 1);
  self->shadows = g_new0 (gpointer, plan->buffers->len + 1);
  self->regions = g_new0 (PlanGpuRegion, plan->regions->len + 1);
  self->marks = g_new0 (AdjGpuEvent *, plan->regions->len + 2);
  self->n_bytes = place_buffers (plan, self->offsets);
  if (make_there (self, plan, error))
    return self;
  plan_gpu_free (self, plan);
  return NULL;
}

static void
free_there (PlanGpu *self, const AdjPlan *plan)
{
  const AdjGpuRuntimeType *type = type_of (self);

  for (guint i = 0; i <= plan->regions->len; i++)
    if (self->marks[i] != NULL)
      type->event_free (runtime_of (self), self->marks[i]);
  plan_gpu_free_random (self);
  if (self->graph != NULL)
    type->graph_free (runtime_of (self), self->graph);
  if (self->arrived != NULL)
    type->event_free (runtime_of (self), self->arrived);
  if (self->queued != NULL)
    type->event_free (runtime_of (self), self->queued);
  if (self->memory != NULL)
    type->release (runtime_of (self), self->memory);
}

void
plan_gpu_free (PlanGpu *self, const AdjPlan *plan)
{
  if (self == NULL)
    return;

  adj_gpu_use (self->gpu, NULL);
  adj_gpu_queue_free (self->queue);
  adj_gpu_staging_free (self->staging);
  if (self->generation == adj_gpu_get_generation (self->gpu))
    free_there (self, plan);
  for (guint32 i = 0; i < plan->buffers->len; i++)
    {
      g_clear_pointer (&self->there[i], adj_tensor_data_unref);
      g_aligned_free (self->shadows[i]);
    }
  for (guint32 i = 0; i < plan->regions->len; i++)
    g_free (self->regions[i].on_cpu);
  g_free (self->offsets);
  g_free (self->there);
  g_free (self->shadows);
  g_free (self->regions);
  g_free (self->marks);
  g_free (self->uncaptured);
  adj_gpu_unref (self->gpu);
  g_free (self);
}

gpointer
plan_gpu_place (const PlanGpu *self, guint32 index)
{
  return self->memory + self->offsets[index];
}

/* -- what goes in and out -- */

/* Sets @error (transfer full) in the context. */
static gboolean
fail_with (AdjPlanSpace *space, GError *error)
{
  adj_context_fail (space->cx, error->domain, error->code, "%s", error->message);
  g_error_free (error);
  return FALSE;
}

gboolean
plan_gpu_begin (AdjPlanSpace *space)
{
  PlanGpu *self = space->gpu;
  GError *error = NULL;

  self->run = (AdjPlanGpuRun){ .uncaptured = self->uncaptured };
  self->timed = FALSE;
  self->draws_there = FALSE;
  for (guint32 i = 0; i < space->plan->regions->len; i++)
    {
      self->regions[i].ns = self->regions[i].copy_ns = 0;
      self->regions[i].copied = 0;
    }
  return adj_gpu_use (self->gpu, &error) || fail_with (space, error);
}

gboolean
plan_gpu_fill (AdjPlanSpace *space, guint32 index, AdjTensorData *from)
{
  PlanGpu *self = space->gpu;
  const PlanBuffer *buffer = plan_buffer (space->plan, index);
  gboolean stays = buffer->memory == PLAN_MEMORY_INPUT || buffer->memory == PLAN_MEMORY_CONSTANT;
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;

  if (buffer->n_bytes == 0 || (buffer->memory == PLAN_MEMORY_ARENA && buffer->first == PLAN_NONE) ||
      (stays && self->there[index] != NULL &&
       adj_tensor_data_get_storage (self->there[index]) == adj_tensor_data_get_storage (from)))
    return TRUE;
  bytes = adj_tensor_data_read_bytes (from, &error);
  if (error != NULL)
    return fail_with (space, error);
  self->run.bytes_in += buffer->n_bytes;
  g_clear_pointer (&self->there[index], adj_tensor_data_unref);
  if (!adj_gpu_staging_send (self->staging, plan_gpu_place (self, index),
                             g_bytes_get_data (bytes, NULL), buffer->n_bytes, &error))
    return fail_with (space, error);
  if (stays)
    self->there[index] = adj_tensor_data_ref (from);
  return TRUE;
}

/* Work queued from now on waits for the uploads. */
static gboolean
hold_for_arrival (PlanGpu *self, GError **error)
{
  return type_of (self)->event_record (runtime_of (self), self->arrived,
                                       adj_gpu_staging_get_stream (self->staging), error) &&
         type_of (self)->event_hold (runtime_of (self), self->arrived,
                                     adj_gpu_queue_get_stream (self->queue), error);
}

/* Copies from now on wait for the queued work. */
static gboolean
hold_for_queue (PlanGpu *self, GError **error)
{
  return type_of (self)->event_record (runtime_of (self), self->queued,
                                       adj_gpu_queue_get_stream (self->queue), error) &&
         type_of (self)->event_hold (runtime_of (self), self->queued,
                                     adj_gpu_staging_get_stream (self->staging), error);
}

gboolean
plan_gpu_copy_to_cpu (AdjPlanSpace *space, guint32 index, gpointer to)
{
  PlanGpu *self = space->gpu;
  guint64 n_bytes = plan_buffer (space->plan, index)->n_bytes;
  GError *error = NULL;

  if (n_bytes == 0)
    return TRUE;
  return (hold_for_queue (self, &error) &&
          adj_gpu_staging_fetch (self->staging, to, plan_gpu_place (self, index), n_bytes,
                                 &error)) ||
         fail_with (space, error);
}

gboolean
plan_gpu_copy_to_gpu (AdjPlanSpace *space, guint32 index, gconstpointer from)
{
  PlanGpu *self = space->gpu;
  guint64 n_bytes = plan_buffer (space->plan, index)->n_bytes;
  GError *error = NULL;

  if (n_bytes == 0)
    return TRUE;
  return (hold_for_queue (self, &error) &&
          adj_gpu_staging_send (self->staging, plan_gpu_place (self, index), from, n_bytes,
                                &error) &&
          hold_for_arrival (self, &error)) ||
         fail_with (space, error);
}

GBytes *
plan_gpu_fetch (AdjPlanSpace *space, guint32 index)
{
  guint64 n_bytes = plan_buffer (space->plan, index)->n_bytes;
  gpointer memory = g_aligned_alloc (MAX (n_bytes, 1), 1, ALIGNMENT);

  if (!plan_gpu_copy_to_cpu (space, index, memory))
    memset (memory, 0, n_bytes);
  space->gpu->run.bytes_out += n_bytes;
  return g_bytes_new_with_free_func (memory, n_bytes, g_aligned_free, memory);
}

/* -- regions -- */

static gboolean
mark (PlanGpu *self, guint index, GError **error)
{
  if (self->marks[index] == NULL)
    self->marks[index] = type_of (self)->event_new (runtime_of (self), error);
  return self->marks[index] != NULL &&
         type_of (self)->event_record (runtime_of (self), self->marks[index],
                                       adj_gpu_queue_get_stream (self->queue), error);
}

static gboolean
run_there (AdjPlanSpace *space, guint32 index)
{
  const PlanRegion *region = plan_region (space->plan, index);
  AdjGpuQueue *queue = space->gpu->queue;
  GError *error = NULL;
  gboolean done;

  adj_gpu_queue_next_region (queue);
  adj_context_set_queue (space->cx, adj_gpu_queue_get_kernels (queue));
  done = region->kind->run (space, region);
  adj_context_set_queue (space->cx, NULL);
  if (!adj_gpu_queue_check (queue, &error))
    return fail_with (space, error);
  return done;
}

gboolean
plan_gpu_run_region (AdjPlanSpace *space, guint32 index)
{
  return space->gpu->regions[index].on_cpu != NULL ? plan_gpu_run_on_cpu (space, index)
                                                   : run_there (space, index);
}

static gboolean
tell_region (AdjPlanSpace *space, guint32 index)
{
  const AdjPlanHooks *hooks = space->hooks;

  return adj_context_may_go_on (space->cx) &&
         (hooks == NULL || hooks->region == NULL ||
          hooks->region (index, space->plan->regions->len, hooks->data));
}

/* Reports data that kernels refused.  The message is less exact than the CPU's, which is asked
 * then. */
static gboolean
finish (AdjPlanSpace *space)
{
  PlanGpu *self = space->gpu;
  AdjKFaults faults = ADJ_K_NO_FAULTS;
  GError *error = NULL;

  if (!plan_gpu_fetch_random (space, &error) || !adj_gpu_queue_wait (self->queue, &faults, &error))
    return fail_with (space, error);
  if (faults.bad_index != ADJ_K_NO_FAULTS.bad_index)
    adj_context_fail (space->cx, ADJ_ERROR, ADJ_ERROR_STALE,
                      "an index is out of range: %" G_GINT64_FORMAT, faults.bad_index);
  else if (faults.zero_division != 0)
    adj_context_fail (space->cx, ADJ_ERROR, ADJ_ERROR_STALE, "an integer is divided by zero");
  return !adj_context_has_error (space->cx);
}

/* -- one graph -- */

/* Why the regions cannot be one graph: (transfer full) (nullable). */
static char *
find_obstacle (const AdjPlanSpace *space)
{
  const AdjPlan *plan = space->plan;

  for (guint32 i = 0; i < plan->regions->len; i++)
    if (space->gpu->regions[i].on_cpu != NULL)
      return g_strdup_printf (
          "the CPU runs '%s'",
          adj_graph_get_node (plan->graph, plan_region (plan, i)->nodes[0].index)->name);
  return plan->regions->len == 0 ? g_strdup ("nothing is computed") : NULL;
}

/* Captures the regions as a graph.  A failure is not an error: runs go on without a graph. */
static void
capture (AdjPlanSpace *space)
{
  PlanGpu *self = space->gpu;
  AdjGpuStream *stream = adj_gpu_queue_get_stream (self->queue);
  g_autoptr (GError) error = NULL;
  gboolean done = type_of (self)->capture_begin (runtime_of (self), stream, &error);

  if (!done)
    {
      self->uncaptured = g_strdup (error->message);
      return;
    }
  for (guint32 i = 0; i < space->plan->regions->len && done; i++)
    done = run_there (space, i);
  self->graph = type_of (self)->capture_end (runtime_of (self), stream, done ? &error : NULL);
  if (!done)
    adj_context_take_error (space->cx, &error);
  if (done && self->graph != NULL)
    return;
  if (self->graph != NULL)
    type_of (self)->graph_free (runtime_of (self), self->graph);
  self->graph = NULL;
  self->uncaptured = g_strdup (error != NULL ? error->message : "it cannot be captured");
}

static gboolean
replay (AdjPlanSpace *space)
{
  PlanGpu *self = space->gpu;
  guint n = space->plan->regions->len;
  GError *error = NULL;

  if (!mark (self, 0, &error) ||
      !type_of (self)->graph_launch (runtime_of (self), self->graph,
                                     adj_gpu_queue_get_stream (self->queue), &error) ||
      !mark (self, n, &error))
    return fail_with (space, error);
  self->run.replayed = TRUE;
  return finish (space) && tell_region (space, n - 1);
}

static gboolean
run_one_by_one (AdjPlanSpace *space)
{
  PlanGpu *self = space->gpu;
  guint n = space->plan->regions->len;
  GError *error = NULL;
  gboolean done = TRUE;

  for (guint32 i = 0; i < n && done; i++)
    {
      if (!mark (self, i, &error))
        return fail_with (space, error);
      done = adj_context_may_go_on (space->cx) && plan_gpu_run_region (space, i) &&
             tell_region (space, i);
    }
  if (done && !mark (self, n, &error))
    return fail_with (space, error);
  self->timed = done && finish (space);
  return self->timed;
}

static gboolean
is_timed (const AdjPlanSpace *space)
{
  return space->hooks != NULL && space->hooks->timed;
}

static gboolean
begin_regions (AdjPlanSpace *space)
{
  PlanGpu *self = space->gpu;
  GError *error = NULL;

  if (!hold_for_arrival (self, &error) || !adj_gpu_queue_clear_faults (self->queue, &error) ||
      !plan_gpu_send_random (space, &error))
    return fail_with (space, error);
  if (self->n_runs >= RUNS_BEFORE_CAPTURE && !is_timed (space) && self->graph == NULL &&
      self->uncaptured == NULL)
    {
      self->uncaptured = find_obstacle (space);
      if (self->uncaptured == NULL)
        capture (space);
      self->run.uncaptured = self->uncaptured;
    }
  return TRUE;
}

/* The first run starts to compile kernels for its regions; later runs wait for them. */
static gboolean
wait_for_kernels (AdjPlanSpace *space)
{
  if (space->gpu->n_runs > 0)
    while (adj_context_may_go_on (space->cx) && adj_gpu_wait_for_kernels (space->gpu->gpu))
      ;
  return !adj_context_has_error (space->cx);
}

gboolean
plan_gpu_run_regions (AdjPlanSpace *space)
{
  PlanGpu *self = space->gpu;
  gboolean done;

  if (!wait_for_kernels (space) || !begin_regions (space))
    return FALSE;
  done = self->graph != NULL && !is_timed (space) ? replay (space) : run_one_by_one (space);
  if (!done)
    return FALSE;
  self->n_runs++;
  type_of (self)->event_elapsed (runtime_of (self), self->marks[0],
                                 self->marks[space->plan->regions->len], &self->run.device_ns,
                                 NULL);
  return TRUE;
}

/* Begins a watched run: the caller runs the regions one by one and looks between them. */
gboolean
plan_gpu_begin_watched (AdjPlanSpace *space)
{
  space->gpu->run.uncaptured = "its values are watched";
  return begin_regions (space);
}

gboolean
plan_gpu_end_watched (AdjPlanSpace *space)
{
  return finish (space);
}

/* -- what a run did -- */

void
adj_plan_space_get_gpu_run (const AdjPlanSpace *space, AdjPlanGpuRun *out)
{
  g_return_if_fail (space != NULL && space->gpu != NULL && out != NULL);

  *out = space->gpu->run;
  out->device_bytes = space->gpu->n_bytes + adj_gpu_queue_get_bytes (space->gpu->queue);
}

gint64
adj_plan_space_get_region_ns (
    const AdjPlanSpace *space, guint index, gint64 *copy_ns, guint64 *copied, const char **reason)
{
  const PlanGpu *self = space->gpu;
  gint64 ns = 0;

  g_return_val_if_fail (index < space->plan->regions->len, 0);

  *reason = self->regions[index].on_cpu;
  *copy_ns = self->regions[index].copy_ns;
  *copied = self->regions[index].copied;
  if (*reason != NULL)
    return self->regions[index].ns;
  if (self->timed)
    type_of (self)->event_elapsed (runtime_of (self), self->marks[index], self->marks[index + 1],
                                   &ns, NULL);
  return ns;
}
