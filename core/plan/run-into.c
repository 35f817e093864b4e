/* SPDX-License-Identifier: MIT */
/* A run over the caller's memory: inputs are read and written in place, and outputs are made where
 * the caller wants them. */

#include <string.h>

#include "ir/adj-graph.h"
#include "plan/space-private.h"
#include "tensor/adj-storage-internal.h"

/* The index of the input leaf that is tensor @index. */
static guint32
find_leaf (const AdjPlan *plan, guint index)
{
  guint32 leaf = 0;

  for (; leaf < plan->inputs->len; leaf++)
    if (plan_input (plan, leaf)->value != PLAN_NONE && index-- == 0)
      break;
  return leaf;
}

guint
adj_plan_get_n_inputs (const AdjPlan *plan)
{
  guint n = 0;

  g_return_val_if_fail (plan != NULL, 0);

  for (guint32 i = 0; i < plan->inputs->len; i++)
    n += plan_input (plan, i)->value != PLAN_NONE;
  return n;
}

const AdjTensorMeta *
adj_plan_get_input (const AdjPlan *plan, guint index)
{
  guint32 leaf;

  g_return_val_if_fail (plan != NULL, NULL);

  leaf = find_leaf (plan, index);
  g_return_val_if_fail (leaf < plan->inputs->len, NULL);

  return &plan_value (plan, plan_input (plan, leaf)->value)->meta;
}

guint
adj_plan_get_n_outputs (const AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);

  return plan->outputs->len;
}

const AdjTensorMeta *
adj_plan_get_output (const AdjPlan *plan, guint index)
{
  g_return_val_if_fail (plan != NULL && index < plan->outputs->len, NULL);

  return &plan_value (plan, g_array_index (plan->outputs, guint32, index))->meta;
}

/* Whether @buffer can lie in the caller's memory for output @value. */
static gboolean
is_all_of (const AdjPlan *plan, guint32 value, guint32 buffer)
{
  const AdjTensorMeta *meta = &plan_value (plan, value)->meta;
  const PlanBuffer *of = plan_buffer (plan, buffer);
  gint64 span = adj_shape_span (&meta->shape, NULL).word;

  return plan_value (plan, value)->buffer == buffer && of->memory == PLAN_MEMORY_OUTPUT &&
         of->constant == NULL && meta->shape.offset.word == 0 &&
         (guint64) span * adj_dtype_info (meta->dtype)->n_bytes == of->n_bytes;
}

/* (transfer full): of each buffer: the caller's memory for it; %NULL: none. */
static gpointer *
list_memory (const AdjPlan *plan, gpointer const *inputs, gpointer const *outputs)
{
  gpointer *memory = g_new0 (gpointer, plan->buffers->len + 1);
  guint n = 0;

  for (guint32 i = 0; i < plan->inputs->len; i++)
    if (plan_input (plan, i)->value != PLAN_NONE)
      memory[plan_value (plan, plan_input (plan, i)->value)->buffer] = inputs[n++];
  for (guint32 i = 0; i < plan->buffers->len; i++)
    if (plan_buffer (plan, i)->replaces != PLAN_NONE)
      memory[i] = memory[plan_buffer (plan, i)->replaces];
  for (guint i = 0; i < plan->outputs->len; i++)
    {
      guint32 value = g_array_index (plan->outputs, guint32, i);
      guint32 buffer = plan_value (plan, value)->buffer;

      if (memory[buffer] == NULL && is_all_of (plan, value, buffer))
        memory[buffer] = outputs[i];
    }
  return memory;
}

static void
bind_buffer (AdjPlanSpace *space, guint32 index, gpointer memory)
{
  const PlanBuffer *buffer = plan_buffer (space->plan, index);
  gconstpointer constant = NULL;

  if (buffer->constant != NULL)
    constant = g_bytes_get_data (adj_tensor_data_get_bytes (buffer->constant), NULL);
  if (memory == NULL && buffer->memory == PLAN_MEMORY_OUTPUT)
    memory = space->made[index] = plan_spares_take (space->spares, index, buffer->n_bytes);
  else if (memory == NULL && buffer->memory == PLAN_MEMORY_ARENA)
    memory = (char *) space->arena + buffer->offset;
  else if (memory == NULL)
    memory = (gpointer) constant;
  if (constant != NULL && memory != constant)
    memcpy (memory, constant, buffer->n_bytes);
  space->bytes[index] = memory;
  adj_storage_lend (space->storages[index], memory);
}

static void
bind (AdjPlanSpace *space, gpointer const *inputs, gpointer const *outputs)
{
  g_autofree gpointer *memory = list_memory (space->plan, inputs, outputs);

  for (guint k = 0; k < space->n_bound; k++)
    bind_buffer (space, space->bound[k], memory[space->bound[k]]);
}

/* Copies outputs that could not be made in place: views, returned inputs, a result that is returned
 * twice. */
static void
copy_outputs (AdjPlanSpace *space, gpointer const *outputs)
{
  const AdjPlan *plan = space->plan;

  for (guint i = 0; i < plan->outputs->len; i++)
    {
      guint32 value = g_array_index (plan->outputs, guint32, i);
      const AdjTensorMeta *meta = &plan_value (plan, value)->meta;
      gsize size = adj_dtype_info (meta->dtype)->n_bytes;
      const char *from = (const char *) space->bytes[plan_value (plan, value)->buffer] +
                         (gsize) meta->shape.offset.word * size;

      if (from != outputs[i])
        memmove (outputs[i], from, (gsize) adj_shape_span (&meta->shape, NULL).word * size);
    }
}

gboolean
adj_plan_space_run_into (AdjPlanSpace *space, gpointer const *inputs, gpointer const *outputs)
{
  gboolean done;

  g_return_val_if_fail (space != NULL, FALSE);

  if (plan_node (space->plan, adj_graph_get_output (space->plan->graph).index)->kind !=
      PLAN_NODE_KNOWN)
    {
      adj_context_fail (space->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "what the graph returns is known only when it has run");
      return FALSE;
    }
  if (space->gpu != NULL)
    adj_context_fail (space->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                      "a plan on a GPU does not run over memory of the host");
  if (adj_context_has_error (space->cx))
    return FALSE;
  bind (space, inputs, outputs);
  done = plan_space_run_regions (space);
  if (done)
    copy_outputs (space, outputs);
  plan_space_unbind (space);
  return done;
}
