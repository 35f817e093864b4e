/* SPDX-License-Identifier: MIT */
/* Runs regions of a space on a GPU on the CPU: what they read is copied to it, what they write is
 * copied back, and both are counted. */

#include "base/adj-clock.h"
#include "call/adj-context-internal.h"
#include "call/adj-op-internal.h"
#include "plan/gpu-space-private.h"
#include "tensor/adj-late-bytes-internal.h"
#include "tensor/adj-storage-internal.h"

#define ALIGNMENT 64

/* -- which -- */

/* A queue that runs nothing and notes what the device lacks and errors. */
typedef struct
{
  AdjKQueue kernels; /* must be first: launchers get a pointer to it */
  AdjGpu *gpu;
  GError *error; /* (owned) (nullable) */
} Probe;

static bool
take_launch (
    AdjKQueue *queue, const char *symbol, const AdjKLaunch *launch, const void *args, size_t size)
{
  Probe *probe = (Probe *) queue;

  if (probe->error == NULL && adj_gpu_find_kernel (probe->gpu, symbol, &probe->error) == NULL &&
      g_error_matches (probe->error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND))
    {
      g_clear_error (&probe->error);
      adj_k_queue_lacks (queue, symbol);
    }
  return probe->error == NULL;
}

static void *
lend_scratch (AdjKQueue *queue, size_t bytes)
{
  return queue->faults;
}

static const void *
lend_constant (AdjKQueue *queue, const void *bytes, size_t size)
{
  return queue->faults;
}

/* @lack: (out) (transfer full) (nullable): why the device cannot run @region. */
static gboolean
find_lack (AdjPlanSpace *space, const PlanRegion *region, char **lack, GError **error)
{
  static const AdjKDevice nothing = { .launch = take_launch,
                                      .scratch = lend_scratch,
                                      .constant = lend_constant };
  Probe probe = { .kernels = *adj_gpu_queue_get_kernels (space->gpu->queue),
                  .gpu = space->gpu->gpu };
  const char *lacks;

  for (guint i = 0; i < region->n_calls; i++)
    {
      const PlanCall *call = plan_call (space->plan, region->calls[i]);

      if (call->op == NULL)
        *lack = g_strdup (call->reason != NULL ? call->reason : "the interpreter evaluates it");
      else if ((call->op->flags & ADJ_OP_ON_CPU) != 0 || call->op->kernel == NULL)
        *lack = g_strdup ("its operator has no code for a GPU");
      if (*lack != NULL)
        return TRUE;
    }
  probe.kernels.device = &nothing;
  probe.kernels.lacks = NULL;
  adj_context_set_queue (space->cx, &probe.kernels);
  region->kind->run (space, region);
  adj_context_set_queue (space->cx, NULL);
  adj_context_take_error (space->cx, NULL);
  lacks = probe.kernels.lacks;
  if (probe.error != NULL)
    g_propagate_error (error, probe.error);
  else if (lacks != NULL)
    *lack = g_strdup_printf ("the GPU has no kernel '%s'", lacks);
  return probe.error == NULL;
}

gboolean
plan_gpu_probe (AdjPlanSpace *space, GError **error)
{
  gboolean done = TRUE;

  for (guint32 i = 0; i < space->plan->regions->len && done; i++)
    done = find_lack (space, plan_region (space->plan, i), &space->gpu->regions[i].on_cpu, error);
  return done;
}

/* -- running -- */

/* How a region uses a buffer. */
typedef struct
{
  guint32 buffer;
  gboolean written;
  gboolean fresh; /* its old content is not read */
} Use;

static void
note_use (GArray *uses, guint32 buffer, gboolean written, gboolean fresh)
{
  Use use = { buffer, written, fresh };

  for (guint i = 0; i < uses->len; i++)
    if (g_array_index (uses, Use, i).buffer == buffer)
      {
        g_array_index (uses, Use, i).written |= written;
        return;
      }
  g_array_append_val (uses, use);
}

/* Whether @call writes all of the buffer of @value, which has no content before. */
static gboolean
is_made_whole (const AdjPlan *plan, const PlanCall *call, guint32 value, guint32 region)
{
  const PlanValue *made = plan_value (plan, value);
  const PlanBuffer *buffer = plan_buffer (plan, made->buffer);

  return !call->in_place && buffer->first == region && buffer->input == PLAN_NONE &&
         buffer->constant == NULL && adj_op_extent (&made->meta) == buffer->n_bytes &&
         made->meta.shape.offset.word == 0;
}

static GArray *
list_uses (const AdjPlan *plan, guint32 index)
{
  const PlanRegion *region = plan_region (plan, index);
  GArray *uses = g_array_new (FALSE, FALSE, sizeof (Use));

  for (guint i = 0; i < region->n_calls; i++)
    {
      const PlanCall *call = plan_call (plan, region->calls[i]);

      for (guint k = 0; k < call->n_reads; k++)
        note_use (uses, plan_value (plan, call->reads[k])->buffer, FALSE, FALSE);
      for (guint k = 0; k < call->n_writes; k++)
        note_use (uses, plan_value (plan, call->writes[k])->buffer, TRUE,
                  is_made_whole (plan, call, call->writes[k], index));
    }
  return uses;
}

/* A buffer whose values stay in registers has no memory. */
static gboolean
has_memory (const AdjPlan *plan, guint32 index)
{
  return plan_buffer (plan, index)->memory != PLAN_MEMORY_ARENA ||
         plan_buffer (plan, index)->first != PLAN_NONE;
}

static gboolean
bring (AdjPlanSpace *space, const Use *use, PlanGpuRegion *told)
{
  PlanGpu *self = space->gpu;
  const PlanBuffer *buffer = plan_buffer (space->plan, use->buffer);
  gpointer memory;

  if (self->there[use->buffer] != NULL && !use->written &&
      adj_tensor_data_get_late (self->there[use->buffer]) == NULL)
    memory =
        (gpointer) g_bytes_get_data (adj_tensor_data_get_bytes (self->there[use->buffer]), NULL);
  else
    {
      if (self->shadows[use->buffer] == NULL)
        self->shadows[use->buffer] = g_aligned_alloc (MAX (buffer->n_bytes, 1), 1, ALIGNMENT);
      memory = self->shadows[use->buffer];
      if (!use->fresh)
        {
          if (!plan_gpu_copy_to_cpu (space, use->buffer, memory))
            return FALSE;
          told->copied += buffer->n_bytes;
          self->run.to_cpu += buffer->n_bytes;
          self->run.n_copies++;
        }
    }
  space->bytes[use->buffer] = memory;
  adj_storage_lend (space->storages[use->buffer], memory);
  return TRUE;
}

static gboolean
take_back (AdjPlanSpace *space, const Use *use, gboolean done, PlanGpuRegion *told)
{
  PlanGpu *self = space->gpu;
  gpointer memory = space->bytes[use->buffer];

  space->bytes[use->buffer] = plan_gpu_place (self, use->buffer);
  adj_storage_lend (space->storages[use->buffer], space->bytes[use->buffer]);
  if (!done || !use->written)
    return done;
  told->copied += plan_buffer (space->plan, use->buffer)->n_bytes;
  self->run.to_gpu += plan_buffer (space->plan, use->buffer)->n_bytes;
  self->run.n_copies++;
  return plan_gpu_copy_to_gpu (space, use->buffer, memory);
}

/* Whether @region may draw random numbers or read the generator state. */
static gboolean
is_in_turn (const AdjPlan *plan, const PlanRegion *region)
{
  for (guint i = 0; i < region->n_calls; i++)
    if (plan_call (plan, region->calls[i])->op == NULL ||
        plan_call (plan, region->calls[i])->in_turn)
      return TRUE;
  return FALSE;
}

/* Runs @region on the CPU with the generator state that the regions before it left. */
static gboolean
run_in_turn (AdjPlanSpace *space, const PlanRegion *region)
{
  gboolean shared = space->gpu->draws_there && is_in_turn (space->plan, region);
  GError *error = NULL;

  if ((!shared || plan_gpu_fetch_random (space, &error)) && region->kind->run (space, region) &&
      (!shared || plan_gpu_send_random (space, &error)))
    return TRUE;
  if (error != NULL)
    adj_context_fail (space->cx, error->domain, error->code, "%s", error->message);
  g_clear_error (&error);
  return FALSE;
}

gboolean
plan_gpu_run_on_cpu (AdjPlanSpace *space, guint32 index)
{
  const PlanRegion *region = plan_region (space->plan, index);
  PlanGpuRegion *told = &space->gpu->regions[index];
  g_autoptr (GArray) uses = list_uses (space->plan, index);
  gint64 started = adj_clock_now (), ran, ended;
  guint brought = 0;
  gboolean done = TRUE;

  for (; brought < uses->len && done; brought++)
    if (has_memory (space->plan, g_array_index (uses, Use, brought).buffer))
      done = bring (space, &g_array_index (uses, Use, brought), told);
  ran = adj_clock_now ();
  done = done && run_in_turn (space, region);
  ended = adj_clock_now ();
  for (guint i = 0; i < brought; i++)
    if (has_memory (space->plan, g_array_index (uses, Use, i).buffer))
      done = take_back (space, &g_array_index (uses, Use, i), done, told);
  told->ns = ended - ran;
  told->copy_ns = ran - started + adj_clock_now () - ended;
  space->gpu->run.n_on_cpu++;
  return done;
}
