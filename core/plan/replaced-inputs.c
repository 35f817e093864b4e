/* SPDX-License-Identifier: MIT */
/* Inputs that a graph overwrites as a whole at its end, as an optimiser step does: the new content
 * gets a buffer of its own, so the input is read in place and not copied first. */

#include "ir/adj-graph.h"
#include "plan/plan-private.h"
#include "tensor/adj-shape-internal.h"

/* The accesses to a buffer. */
typedef struct
{
  guint n_writers;
  guint32 last; /* the last call that uses it */
} Uses;

static void
note_uses (const AdjPlan *plan, Uses *uses)
{
  for (guint32 i = 0; i < plan->calls->len; i++)
    {
      const PlanCall *call = plan_call (plan, i);

      for (guint k = 0; k < call->n_reads; k++)
        uses[plan_value (plan, call->reads[k])->buffer].last = i;
      for (guint k = 0; k < call->n_writes; k++)
        {
          Uses *of = &uses[plan_value (plan, call->writes[k])->buffer];

          of->last = i;
          of->n_writers++;
        }
    }
}

static gboolean
is_whole (const AdjPlan *plan, guint32 value)
{
  const AdjTensorMeta *meta = &plan_value (plan, value)->meta;
  const AdjShape *shape = &meta->shape;
  guint64 n = (guint64) adj_shape_numel (shape, NULL).word;

  return shape->offset.word == 0 && (guint64) adj_shape_span (shape, NULL).word == n &&
         n * adj_dtype_info (meta->dtype)->n_bytes ==
             plan_buffer (plan, plan_value (plan, value)->buffer)->n_bytes &&
         !adj_shape_may_overlap (shape, NULL);
}

typedef struct
{
  const AdjPlan *plan;
  guint32 buffer, value;
} Seeing;

static gboolean
is_no_other_view (const AdjValue *leaf, gpointer data)
{
  const Seeing *seeing = data;

  return leaf->kind != ADJ_VALUE_NODE || leaf->node.index == seeing->value ||
         plan_value (seeing->plan, leaf->node.index)->buffer != seeing->buffer;
}

/* Whether call @index, the last that uses the input @buffer, overwrites all of it with another
 * buffer's content, and later nodes see it only as that result. */
static gboolean
can_replace (const AdjPlan *plan, guint32 buffer, guint32 index)
{
  const PlanCall *call = plan_call (plan, index);
  Seeing seeing = { plan, buffer, PLAN_NONE };

  if (call->copied == PLAN_NONE || !call->in_place ||
      plan_value (plan, call->copied)->buffer == buffer)
    return FALSE;
  seeing.value = call->results[0].value;
  if (plan_value (plan, seeing.value)->buffer != buffer || !is_whole (plan, seeing.value))
    return FALSE;
  for (guint i = call->node; i < plan->nodes->len; i++)
    if (!adj_value_foreach (&plan_node (plan, i)->value, is_no_other_view, &seeing))
      return FALSE;
  return TRUE;
}

static void
rename_leaves (AdjValue *value, guint32 from, guint32 to)
{
  if (value->kind == ADJ_VALUE_NODE && value->node.index == from)
    value->node.index = to;
  for (guint i = 0; adj_value_is_container (value) && i < value->n; i++)
    rename_leaves (&value->items[i], from, to);
}

static void
replace (AdjPlan *plan, guint32 buffer, guint32 index)
{
  PlanCall *call = plan_call (plan, index);
  guint32 before = call->results[0].value, after = plan->values->len;
  PlanValue value = *plan_value (plan, before);
  PlanBuffer made = *plan_buffer (plan, buffer);

  made.memory = PLAN_MEMORY_ARENA;
  made.input = PLAN_NONE;
  made.node = call->node;
  made.replaces = buffer;
  plan_buffer (plan, buffer)->written = FALSE;
  value.buffer = plan->buffers->len;
  value.meta.storage = (gint32) value.buffer;
  g_array_append_val (plan->buffers, made);
  g_array_append_val (plan->values, value);

  rename_leaves (&call->args, before, after);
  call->results[0].value = after;
  g_free (call->reads);
  g_free (call->writes);
  plan_call_find_uses (call);
  for (guint i = call->node; i < plan->nodes->len; i++)
    rename_leaves (&plan_node (plan, i)->value, before, after);
}

/* Whether no node is evaluated by the interpreter or observed, since these need the nodes
 * unchanged. */
static gboolean
all_is_known (const AdjPlan *plan)
{
  for (guint32 i = 0; i < plan->calls->len; i++)
    if (plan_call (plan, i)->op == NULL)
      return FALSE;
  return !plan->observed &&
         plan_node (plan, adj_graph_get_output (plan->graph).index)->kind == PLAN_NODE_KNOWN;
}

void
plan_replace_inputs (AdjPlan *plan)
{
  guint n = plan->buffers->len;
  g_autofree Uses *uses = g_new0 (Uses, n + 1);

  if (!all_is_known (plan))
    return;
  note_uses (plan, uses);
  for (guint32 i = 0; i < n; i++)
    if (plan_buffer (plan, i)->memory == PLAN_MEMORY_INPUT && plan_buffer (plan, i)->written &&
        uses[i].n_writers == 1 && can_replace (plan, i, uses[i].last))
      replace (plan, i, uses[i].last);
}
