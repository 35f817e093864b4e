/* SPDX-License-Identifier: MIT */
/* Inputs and constants that are in a file: each is read before the first region that uses it, and
 * released after the last. */

#include "call/adj-context.h"
#include "plan/late-inputs-private.h"
#include "tensor/adj-late-bytes-internal.h"

typedef struct
{
  guint32 buffer;
  guint32 first, last; /* regions that use it; PLAN_NONE: none */
  AdjTensorData *data; /* (unowned) */
  GBytes *held;        /* (owned) (nullable): while it is in memory */
} LateInput;

struct _PlanLateInputs
{
  GArray *all;       /* LateInput, by @first once the run has begun */
  guint next;        /* the first of @all that was not read yet */
  GPtrArray *held;   /* those in memory, of @all */
  guint64 unread;    /* bytes of all */
  guint64 now, most; /* bytes in memory, and the most at once */
};

PlanLateInputs *
plan_late_inputs_new (void)
{
  PlanLateInputs *self = g_new0 (PlanLateInputs, 1);

  self->all = g_array_new (FALSE, FALSE, sizeof (LateInput));
  self->held = g_ptr_array_new ();
  return self;
}

void
plan_late_inputs_free (PlanLateInputs *self)
{
  plan_late_inputs_clear (self);
  g_array_unref (self->all);
  g_ptr_array_unref (self->held);
  g_free (self);
}

static void
release (PlanLateInputs *self, LateInput *input)
{
  self->now -= g_bytes_get_size (input->held);
  g_clear_pointer (&input->held, g_bytes_unref);
}

void
plan_late_inputs_clear (PlanLateInputs *self)
{
  for (guint i = 0; i < self->held->len; i++)
    release (self, self->held->pdata[i]);
  g_ptr_array_set_size (self->held, 0);
  g_array_set_size (self->all, 0);
  self->next = 0;
  self->unread = self->now = self->most = 0;
}

void
plan_late_inputs_add (PlanLateInputs *self, guint32 buffer, AdjTensorData *data)
{
  const LateInput input = { buffer, PLAN_NONE, PLAN_NONE, data, NULL };

  g_array_append_val (self->all, input);
  self->unread += adj_tensor_data_get_n_bytes (data);
}

/* -- the regions that use them -- */

static void
note_use (LateInput *all, const guint32 *of_buffer, const AdjPlan *plan, guint32 value, guint32 at)
{
  guint32 index = of_buffer[plan_value (plan, value)->buffer];

  if (index == 0)
    return;
  if (all[index - 1].first == PLAN_NONE)
    all[index - 1].first = at;
  all[index - 1].last = at;
}

/* A region of the interpreter reads nodes that are known only when it runs: then all are kept. */
static gboolean
find_uses (LateInput *all, const guint32 *of_buffer, const AdjPlan *plan)
{
  for (guint32 r = 0; r < plan->regions->len; r++)
    {
      const PlanRegion *region = plan_region (plan, r);

      if (region->kind == &plan_region_interpreter)
        return FALSE;
      for (guint i = 0; i < region->n_calls; i++)
        {
          const PlanCall *call = plan_call (plan, region->calls[i]);

          for (guint k = 0; k < call->n_reads; k++)
            note_use (all, of_buffer, plan, call->reads[k], r);
          for (guint k = 0; k < call->n_writes; k++)
            note_use (all, of_buffer, plan, call->writes[k], r);
        }
    }
  return TRUE;
}

static int
compare_first (gconstpointer a, gconstpointer b)
{
  const LateInput *x = a, *y = b;

  return x->first < y->first ? -1 : x->first > y->first;
}

void
plan_late_inputs_begin (PlanLateInputs *self, const AdjPlan *plan)
{
  LateInput *all = (LateInput *) (gpointer) self->all->data;
  g_autofree guint32 *of_buffer = NULL; /* one more than the index */

  if (self->all->len == 0)
    return;
  of_buffer = g_new0 (guint32, plan->buffers->len + 1);
  for (guint i = 0; i < self->all->len; i++)
    of_buffer[all[i].buffer] = i + 1;
  if (!find_uses (all, of_buffer, plan))
    for (guint i = 0; i < self->all->len; i++)
      {
        all[i].first = 0;
        all[i].last = plan->regions->len;
      }
  g_array_sort (self->all, compare_first);
}

gboolean
plan_late_inputs_fetch (PlanLateInputs *self, AdjPlanSpace *space, guint32 region)
{
  for (; self->next < self->all->len; self->next++)
    {
      LateInput *input = &g_array_index (self->all, LateInput, self->next);
      g_autoptr (GError) error = NULL;

      if (input->first == PLAN_NONE || input->first > region)
        break;
      input->held = adj_tensor_data_read_bytes (input->data, &error);
      g_ptr_array_add (self->held, input);
      self->now += g_bytes_get_size (input->held);
      self->most = MAX (self->most, self->now);
      if (error != NULL)
        {
          adj_context_fail (space->cx, error->domain, error->code, "%s", error->message);
          return FALSE;
        }
      plan_space_bind_buffer (space, input->buffer, g_bytes_get_data (input->held, NULL));
    }
  return TRUE;
}

void
plan_late_inputs_release (PlanLateInputs *self, guint32 region)
{
  for (guint i = self->held->len; i-- > 0;)
    if (((LateInput *) self->held->pdata[i])->last <= region)
      {
        release (self, self->held->pdata[i]);
        g_ptr_array_remove_index_fast (self->held, i);
      }
}

guint64
plan_late_inputs_get_spared (const PlanLateInputs *self)
{
  return self->unread - self->most;
}
