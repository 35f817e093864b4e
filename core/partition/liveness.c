/* SPDX-License-Identifier: MIT */
/* Memory by liveness.  Within one graph every value belongs to a storage: its own, that of the
 * value it views, or that in which it was passed in. */

#include <string.h>

#include "call/adj-generator.h"
#include "partition/liveness-private.h"

typedef struct
{
  const Joint *joint;
  const guint32 *order; /* nodes in the order of execution */
  guint n_order;
  guint32 *storage; /* per node: the node that represents its storage here; NOBODY: none */
  guint32 *given;   /* per owner: the first node of its storage that was passed in */
  guint64 *bytes;   /* per storage */
  gint32 *born;     /* per storage: step; -1: before the first */
  gint32 *last;     /* per storage: step of the last reader; n_order: stays */
  guint64 *beside;  /* (nullable) per step: bytes alive only during it */
  guint64 start;
} Liveness;

static void
liveness_init (Liveness *self, const Joint *joint, const guint32 *order, guint n_order)
{
  guint n = joint->n;

  *self = (Liveness){ .joint = joint, .order = order, .n_order = n_order };
  self->storage = g_new (guint32, n);
  memset (self->storage, 0xff, sizeof (guint32) * n);
  self->given = g_memdup2 (self->storage, sizeof (guint32) * n);
  self->bytes = g_new0 (guint64, n);
  self->born = g_new0 (gint32, n);
  self->last = g_new0 (gint32, n);
}

static void
liveness_clear (Liveness *self)
{
  g_free (self->storage);
  g_free (self->given);
  g_free (self->bytes);
  g_free (self->born);
  g_free (self->last);
  g_free (self->beside);
}

/* Makes @node an input of the graph, alive before the first step, on one storage with other inputs
 * of the same owner; an owner that is recomputed gets another storage. */
static void
give (Liveness *self, guint node, guint64 bytes)
{
  guint32 *first = &self->given[self->joint->owner[node]];

  if (*first == NOBODY)
    *first = node;
  self->storage[node] = *first;
  self->born[*first] = self->last[*first] = -1;
  self->bytes[*first] = MAX (self->bytes[*first], bytes);
}

/* An input of @node with the same storage; NOBODY if @node makes its storage. */
static guint
shared_input (const Liveness *self, guint node)
{
  const Joint *joint = self->joint;

  if (joint->owner[node] == node || !joint->has_memory[node])
    return NOBODY;
  for (guint32 k = joint->inputs.begin[node]; k < joint->inputs.begin[node + 1]; k++)
    {
      guint input = joint->inputs.items[k];

      if (self->storage[input] != NOBODY && joint->owner[input] == joint->owner[node])
        return input;
    }
  return NOBODY;
}

/* The position of @node; for one of several results, that of the call. */
static gint32
birth (const Liveness *self, const gint32 *place, guint node)
{
  const Joint *joint = self->joint;
  guint producer;

  if ((joint->traits[node] & OP_GETITEM) == 0 ||
      joint->inputs.begin[node] == joint->inputs.begin[node + 1])
    return place[node];
  producer = joint->inputs.items[joint->inputs.begin[node]];
  return place[producer] >= 0 ? place[producer] : place[node];
}

static gboolean
is_part (const Joint *joint, guint node)
{
  return (joint->traits[node] & OP_GETITEM) != 0 &&
         joint->inputs.begin[node] < joint->inputs.begin[node + 1];
}

/* Bytes of the results of @node that no getitem reads in this graph. */
static guint64
unread_parts (const Joint *joint, const gint32 *place, guint node)
{
  guint64 bytes = joint->bytes[node];

  for (guint32 k = joint->users.begin[node]; k < joint->users.begin[node + 1]; k++)
    {
      guint user = joint->users.items[k];

      if (place[user] >= 0 && is_part (joint, user))
        bytes -= MIN (bytes, joint->bytes[user]);
    }
  return bytes;
}

static void
allocate_result (Liveness *self, const gint32 *place, guint step)
{
  const Joint *joint = self->joint;
  guint node = self->order[step], shared = shared_input (self, node);

  if (shared != NOBODY)
    self->storage[node] = self->storage[shared];
  else if (joint->value[node] >= VALUE_TENSOR && joint->value[node] <= VALUE_MANY &&
           (joint->traits[node] & OP_EFFECT) == 0)
    {
      self->storage[node] = node;
      self->bytes[node] =
          joint->value[node] == VALUE_MANY ? unread_parts (joint, place, node) : joint->bytes[node];
      self->born[node] = birth (self, place, node);
      self->last[node] = (gint32) step;
    }
}

static void
run_step (Liveness *self, const gint32 *place, guint step)
{
  const Joint *joint = self->joint;
  guint node = self->order[step];

  allocate_result (self, place, step);
  for (guint32 k = joint->inputs.begin[node]; k < joint->inputs.begin[node + 1]; k++)
    {
      guint32 storage = self->storage[joint->inputs.items[k]];

      if (storage != NOBODY)
        self->last[storage] = MAX (self->last[storage], (gint32) step);
    }
  if (self->storage[node] != NOBODY)
    self->last[self->storage[node]] = MAX (self->last[self->storage[node]], (gint32) step);
}

/* Several results stay alive together until the last of them is taken by getitem. */
static void
hold_parts (Liveness *self)
{
  const Joint *joint = self->joint;

  for (guint i = 0; i < self->n_order; i++)
    {
      guint node = self->order[i], producer;

      if (self->storage[node] != node || !is_part (joint, node))
        continue;
      producer = joint->inputs.items[joint->inputs.begin[node]];
      if (self->storage[producer] == producer)
        self->last[node] = MAX (self->last[node], self->last[producer]);
    }
}

static void
run_steps (Liveness *self)
{
  g_autofree gint32 *place = g_new (gint32, self->joint->n);

  memset (place, 0xff, sizeof (gint32) * self->joint->n);
  for (guint i = 0; i < self->n_order; i++)
    place[self->order[i]] = (gint32) i;
  for (guint i = 0; i < self->n_order; i++)
    run_step (self, place, i);
  hold_parts (self);
}

static void
keep (Liveness *self, guint node)
{
  if (node != NOBODY && self->storage[node] != NOBODY)
    self->last[self->storage[node]] = (gint32) self->n_order;
}

static void
add_up (Liveness *self, gboolean with_steps, AdjMemoryTimeline *timeline)
{
  const guint n = self->n_order;
  g_autofree guint64 *come = g_new0 (guint64, n + 1);
  g_autofree guint64 *gone = g_new0 (guint64, n + 1);
  guint64 alive = self->start;

  for (guint i = 0; i < self->joint->n; i++)
    {
      if (self->bytes[i] == 0)
        continue;
      if (self->born[i] < 0)
        alive += self->bytes[i];
      else
        come[self->born[i]] += self->bytes[i];
      /* A storage without readers is freed after the first step. */
      gone[MAX (self->last[i], 0)] += self->bytes[i];
    }
  *timeline = (AdjMemoryTimeline){ .start = alive, .peak = alive, .peak_at = n };
  timeline->n_steps = with_steps ? n : 0;
  timeline->steps = with_steps ? g_new0 (AdjMemoryStep, n + 1) : NULL;
  for (guint i = 0; i < n; i++)
    {
      guint64 now;

      alive += come[i];
      now = alive + (self->beside != NULL ? self->beside[i] : 0);
      if (with_steps)
        timeline->steps[i] = (AdjMemoryStep){ { self->order[i] }, now };
      if (now > timeline->peak)
        {
          timeline->peak = now;
          timeline->peak_at = i;
        }
      alive -= gone[i];
    }
}

/* -- the two graphs of a plan -- */

static void
measure_forward (const Plan *plan, gboolean with_steps, AdjMemoryTimeline *timeline)
{
  const Joint *joint = plan->joint;
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint32));
  Liveness self;

  for (guint32 i = 0; i < joint->n; i++)
    if (plan->in_forward[i])
      g_array_append_val (order, i);
  liveness_init (&self, joint, (const guint32 *) (gpointer) order->data, order->len);
  for (guint i = 0; i < joint->n; i++)
    if (joint_is_input (joint, i))
      give (&self, i, 0);
  run_steps (&self);
  for (guint i = 0; i < joint->n_forward_outputs; i++)
    keep (&self, joint_output (joint, i));
  for (guint i = 0; i < plan->tensors->len; i++)
    {
      guint node = plan_item (plan->tensors, i);

      keep (&self, node);
      self.start += plan->is_written[node] ? joint->bytes[node] : 0;
    }
  add_up (&self, with_steps, timeline);
  liveness_clear (&self);
}

static void
measure_backward (const Plan *plan, gboolean with_steps, AdjMemoryTimeline *timeline)
{
  const Joint *joint = plan->joint;
  Liveness self;

  liveness_init (&self, joint, (const guint32 *) (gpointer) plan->order->data, plan->order->len);
  for (guint i = 0; i < joint->n; i++)
    if (joint->kind[i] == NODE_TANGENT)
      give (&self, i, joint->bytes[i]);
  for (guint i = 0; i < plan->tensors->len; i++)
    give (&self, plan_item (plan->tensors, i),
          plan_held_bytes (plan, plan_item (plan->tensors, i)));
  self.start = plan->states->len * (guint64) ADJ_GENERATOR_STATE_BYTES;
  run_steps (&self);
  for (guint i = joint->n_forward_outputs; i < joint->n_outputs; i++)
    keep (&self, joint_output (joint, i));
  add_up (&self, with_steps, timeline);
  liveness_clear (&self);
}

void
liveness_measure (const Plan *plan, gboolean timeline, AdjPartitionCost *cost)
{
  measure_forward (plan, timeline, &cost->forward);
  measure_backward (plan, timeline, &cost->backward);
  cost->peak = MAX (cost->forward.peak, cost->backward.peak);
}

/* -- the bound -- */

/* Adds to the member `beside` the bytes of the tensors that the call at @step reads from outside
 * this graph: they are live while it runs. */
static void
add_read (Liveness *self, guint step)
{
  const Joint *joint = self->joint;
  guint node = self->order[step];
  guint32 begin = joint->inputs.begin[node], end = joint->inputs.begin[node + 1];

  for (guint32 k = begin; k < end; k++)
    {
      guint input = joint->inputs.items[k];
      gboolean is_new = self->storage[input] == NOBODY && joint->value[input] == VALUE_TENSOR;

      for (guint32 other = begin; is_new && other < k; other++)
        is_new = joint->owner[joint->inputs.items[other]] != joint->owner[input];
      if (is_new)
        self->beside[step] += joint_held_bytes (joint, input);
    }
}

static guint64
bound_of (const Joint *joint, gboolean backward)
{
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (guint32));
  AdjMemoryTimeline timeline;
  Liveness self;

  for (guint32 i = 0; i < joint->n; i++)
    if (!joint->gone[i] && joint->kind[i] == NODE_CALL &&
        (backward ? joint->in_backward[i] && joint->because[i] != NOBODY
                  : joint->in_forward[i] && joint->because[i] == NOBODY))
      g_array_append_val (order, i);
  liveness_init (&self, joint, (const guint32 *) (gpointer) order->data, order->len);
  for (guint i = 0; i < joint->n; i++)
    if (backward ? joint->kind[i] == NODE_TANGENT : joint_is_input (joint, i))
      give (&self, i, backward ? joint->bytes[i] : 0);
  run_steps (&self);
  self.beside = backward ? g_new0 (guint64, order->len + 1) : NULL;
  for (guint i = 0; backward && i < order->len; i++)
    add_read (&self, i);
  for (guint i = backward ? joint->n_forward_outputs : 0;
       i < (backward ? joint->n_outputs : joint->n_forward_outputs); i++)
    keep (&self, joint_output (joint, i));
  add_up (&self, FALSE, &timeline);
  liveness_clear (&self);
  return timeline.peak;
}

guint64
liveness_bound (const Joint *joint)
{
  guint64 forward = bound_of (joint, FALSE), backward = bound_of (joint, TRUE);

  return MAX (forward, backward);
}
