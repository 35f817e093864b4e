/* SPDX-License-Identifier: MIT */
/* The memory of each buffer, and its live range in regions. */

#include "ir/adj-graph.h"
#include "plan/plan-private.h"

typedef void (*UseFunc) (gpointer data, guint32 region, guint32 value, gboolean is_write);

static void
each_use (const AdjPlan *plan, UseFunc use, gpointer data)
{
  for (guint32 r = 0; r < plan->regions->len; r++)
    {
      const PlanRegion *region = plan_region (plan, r);

      for (guint i = 0; i < region->n_calls; i++)
        {
          const PlanCall *call = plan_call (plan, region->calls[i]);

          for (guint k = 0; k < call->n_reads; k++)
            use (data, r, call->reads[k], FALSE);
          for (guint k = 0; k < call->n_writes; k++)
            use (data, r, call->writes[k], TRUE);
        }
    }
}

static const PlanNode *
output_of (const AdjPlan *plan)
{
  return plan_node (plan, adj_graph_get_output (plan->graph).index);
}

/* -- kept -- */

typedef struct
{
  const AdjPlan *plan;
  guint32 *maker; /* of each buffer: the region that writes it, or PLAN_NONE */
  gboolean *kept;
} Keeping;

static void
note_maker (gpointer data, guint32 region, guint32 value, gboolean is_write)
{
  Keeping *keeping = data;
  guint32 buffer = plan_value (keeping->plan, value)->buffer;

  if (!is_write)
    return;
  if (keeping->maker[buffer] != PLAN_NONE && keeping->maker[buffer] != region)
    keeping->kept[buffer] = TRUE;
  keeping->maker[buffer] = region;
}

static void
note_reader (gpointer data, guint32 region, guint32 value, gboolean is_write)
{
  Keeping *keeping = data;
  guint32 buffer = plan_value (keeping->plan, value)->buffer;

  if (!is_write && keeping->maker[buffer] != region)
    keeping->kept[buffer] = TRUE;
}

static gboolean
keep_leaf (const AdjValue *leaf, gpointer data)
{
  Keeping *keeping = data;

  if (leaf->kind == ADJ_VALUE_NODE)
    keeping->kept[plan_value (keeping->plan, leaf->node.index)->buffer] = TRUE;
  return TRUE;
}

gboolean *
plan_find_kept (const AdjPlan *plan)
{
  guint n = plan->buffers->len;
  g_autofree guint32 *maker = g_new (guint32, n + 1);
  Keeping keeping = { plan, maker, g_new0 (gboolean, n + 1) };

  for (guint i = 0; i < n; i++)
    {
      maker[i] = PLAN_NONE;
      keeping.kept[i] = plan->observed || plan_buffer (plan, i)->input != PLAN_NONE ||
                        plan_buffer (plan, i)->replaces != PLAN_NONE ||
                        plan_buffer (plan, i)->constant != NULL;
    }
  each_use (plan, note_maker, &keeping);
  each_use (plan, note_reader, &keeping);
  for (guint i = 0; i < plan->nodes->len; i++)
    if (plan_node (plan, i)->kind == PLAN_NODE_KNOWN &&
        (plan_node (plan, i) == output_of (plan) || output_of (plan)->kind != PLAN_NODE_KNOWN))
      adj_value_foreach (&plan_node (plan, i)->value, keep_leaf, &keeping);
  return keeping.kept;
}

/* -- lives -- */

typedef struct
{
  AdjPlan *plan;
  const gboolean *kept;
} Living;

static void
hold_until (AdjPlan *plan, guint32 buffer, guint32 region)
{
  PlanBuffer *b = plan_buffer (plan, buffer);

  b->first = b->first == PLAN_NONE ? region : MIN (b->first, region);
  b->last = b->last == PLAN_NONE ? region : MAX (b->last, region);
}

static void
note_use (gpointer data, guint32 region, guint32 value, gboolean is_write)
{
  const Living *living = data;
  guint32 buffer = plan_value (living->plan, value)->buffer;

  if (living->kept[buffer] || plan_region (living->plan, region)->kind != &plan_region_fused)
    hold_until (living->plan, buffer, region);
}

typedef struct
{
  AdjPlan *plan;
  guint32 after;
} Showing;

static gboolean
hold_leaf (const AdjValue *leaf, gpointer data)
{
  Showing *showing = data;

  if (leaf->kind == ADJ_VALUE_NODE)
    hold_until (showing->plan, plan_value (showing->plan, leaf->node.index)->buffer,
                showing->after);
  return TRUE;
}

static gboolean
return_leaf (const AdjValue *leaf, gpointer data)
{
  AdjPlan *plan = data;
  PlanBuffer *buffer;

  if (leaf->kind != ADJ_VALUE_NODE)
    return TRUE;
  g_array_append_val (plan->outputs, leaf->node.index);
  buffer = plan_buffer (plan, plan_value (plan, leaf->node.index)->buffer);
  if (buffer->memory == PLAN_MEMORY_ARENA)
    buffer->memory = PLAN_MEMORY_OUTPUT;
  return TRUE;
}

/* A written buffer that begins as an input or constant gets memory of its own. */
static void
own_what_is_written (AdjPlan *plan)
{
  for (guint i = 0; i < plan->buffers->len; i++)
    {
      PlanBuffer *buffer = plan_buffer (plan, i);

      if (!buffer->written ||
          (buffer->memory != PLAN_MEMORY_INPUT && buffer->memory != PLAN_MEMORY_CONSTANT))
        continue;
      buffer->memory = PLAN_MEMORY_ARENA;
      buffer->first = 0;
      buffer->last = 0;
    }
}

/* -- when a node has its value -- */

typedef struct
{
  const AdjPlan *plan;
  const guint32 *written; /* per buffer: when it was written last before this node */
  guint32 after;
} Reaching;

static gboolean
reach_leaf (const AdjValue *leaf, gpointer data)
{
  Reaching *reaching = data;

  if (leaf->kind == ADJ_VALUE_NODE)
    reaching->after = MAX (
        reaching->after, reaching->written[plan_value (reaching->plan, leaf->node.index)->buffer]);
  return TRUE;
}

static guint32 *
find_region_of_calls (const AdjPlan *plan)
{
  guint32 *of_call = g_new0 (guint32, plan->calls->len + 1);

  for (guint32 r = 0; r < plan->regions->len; r++)
    for (guint i = 0; i < plan_region (plan, r)->n_calls; i++)
      of_call[plan_region (plan, r)->calls[i]] = r;
  return of_call;
}

static void
find_after (AdjPlan *plan)
{
  guint n = plan->nodes->len, next = 0;
  g_autofree guint32 *of_call = find_region_of_calls (plan);
  g_autofree guint32 *written = g_new0 (guint32, plan->buffers->len + 1);

  plan->after = g_new0 (guint32, n + 1);
  for (guint i = 0; i < n; i++)
    {
      Reaching reaching = { plan, written, 0 };

      for (; next < plan->calls->len && plan_call (plan, next)->node == i; next++)
        {
          const PlanCall *call = plan_call (plan, next);

          reaching.after = MAX (reaching.after, of_call[next] + 1);
          for (guint k = 0; k < call->n_writes; k++)
            written[plan_value (plan, call->writes[k])->buffer] = of_call[next] + 1;
        }
      if (plan_node (plan, i)->kind == PLAN_NODE_KNOWN)
        adj_value_foreach (&plan_node (plan, i)->value, reach_leaf, &reaching);
      else if (plan_node (plan, i) == output_of (plan))
        reaching.after = plan->regions->len;
      plan->after[i] = reaching.after;
    }
}

void
plan_find_lives (AdjPlan *plan, const gboolean *kept)
{
  Living living = { plan, kept };
  guint32 end = MAX (plan->regions->len, 1) - 1;
  Showing output = { plan, end };

  own_what_is_written (plan);
  each_use (plan, note_use, &living);
  find_after (plan);
  for (guint i = 0; plan->observed && i < plan->nodes->len; i++)
    {
      Showing showing = { plan, MAX (plan->after[i], 1) - 1 };

      if (plan_node (plan, i)->kind == PLAN_NODE_KNOWN)
        adj_value_foreach (&plan_node (plan, i)->value, hold_leaf, &showing);
    }
  adj_value_foreach (&output_of (plan)->value, hold_leaf, &output);
  adj_value_foreach (&output_of (plan)->value, return_leaf, plan);
  for (guint i = 0; output_of (plan)->kind != PLAN_NODE_KNOWN && i < plan->nodes->len; i++)
    adj_value_foreach (&plan_node (plan, i)->value, hold_leaf, &output);
}
