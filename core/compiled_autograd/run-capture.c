/* SPDX-License-Identifier: MIT */
/* Runs a capture: inputs are released after their last use (compiled_autograd/SPEC.md §6.1). */

#include "compiled_autograd/compiled-private.h"
#include "interpreter/adj-interpreter-internal.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"

static AdjValue
take_inputs (Collection *collection)
{
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = collection->inputs->len };

  list.items = g_new0 (AdjValue, list.n + 1);
  for (guint i = 0; i < list.n; i++)
    list.items[i] = ADJ_TENSOR (g_steal_pointer (&collection->inputs->pdata[i]));
  g_ptr_array_set_size (collection->inputs, 0);
  return list;
}

static AdjValue
take_sizes (const AdjCapture *capture, const Collection *collection)
{
  AdjValue list = { .kind = ADJ_VALUE_LIST };

  list.items = g_new0 (AdjValue, capture->rules->len + 1);
  for (guint i = 0; i < capture->rules->len; i++)
    if (g_array_index (capture->rules, SizeRule, i).passed)
      list.items[list.n++] = ADJ_INT (g_array_index (collection->sizes, gint64, i));
  return list;
}

/* Packed values, opaque to all but their hook. */
static AdjValue
take_packed (const Collection *collection)
{
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = collection->packed->len };

  list.items = g_new0 (AdjValue, list.n + 1);
  for (guint i = 0; i < list.n; i++)
    list.items[i] = ADJ_OPAQUE (adj_opaque_ref (g_ptr_array_index (
        collection->objects, g_array_index (collection->packed, CollectedPacked, i).object)));
  return list;
}

static AdjValue
take_objects (const Collection *collection)
{
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = collection->objects->len };

  list.items = g_new0 (AdjValue, list.n + 1);
  for (guint i = 0; i < list.n; i++)
    list.items[i] = ADJ_OPAQUE (adj_opaque_ref (g_ptr_array_index (collection->objects, i)));
  return list;
}

/* Releases the values saved by the nodes of @collection before the graph runs; nodes called as a
 * whole release theirs themselves. */
static void
release_nodes (const Collection *collection)
{
  for (guint i = 0; i < collection->calls->len; i++)
    {
      const CollectedCall *call = &g_array_index (collection->calls, CollectedCall, i);

      if (call->needed && call->node->klass->visit != NULL && call->node->klass->release != NULL)
        call->node->klass->release (call->node);
    }
}

static gboolean
give_captured (const GradRequest *request, AdjContext *cx, const AdjValue *result)
{
  if (!adj_value_is_container (result) || result->n != request->n_targets)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "compiled autograd: the compiled graph gives %u gradients, but %u are "
                        "wanted",
                        adj_value_is_container (result) ? result->n : 1, request->n_targets);
      return FALSE;
    }
  for (guint i = 0; i < result->n; i++)
    if (!request->targets[i].run && result->items[i].kind == ADJ_VALUE_TENSOR)
      request->captured[i] = adj_tensor_ref (result->items[i].tensor);
  return TRUE;
}

/* @tensor on the device of item @index of the inputs; borrowed from the scope. */
static AdjTensor *
capture_move (const AdjCapture *capture, AdjContext *cx, guint index, AdjTensor *tensor)
{
  const AdjGraph *graph = capture->graph;
  const AdjNode *inputs = adj_graph_get_node (graph, adj_graph_get_input (graph, 0).index);
  const AdjNode *item = adj_graph_get_node (graph, inputs->users[index].index);
  AdjValue kwargs[2] = {
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" },
    { .kind = ADJ_VALUE_DEVICE, .device = item->val.meta->device },
  };
  AdjValue result;

  return adj_call (cx, adj_op (ADJ_OP__to_copy),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &ADJ_TENSOR (tensor) },
                   &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = kwargs }, &result)
             ? result.tensor
             : NULL;
}

/* Moves the inputs to the devices that the graph expects. */
static gboolean
move_inputs (const AdjCapture *capture, AdjContext *cx, AdjValue *inputs)
{
  for (guint i = 0; i < capture->moved->len; i++)
    {
      guint index = g_array_index (capture->moved, guint, i);
      AdjValue *input = &inputs->items[index];
      AdjTensor *moved = capture_move (capture, cx, index, input->tensor);

      if (moved == NULL)
        return FALSE;
      adj_value_clear (input);
      *input = ADJ_TENSOR (adj_tensor_ref (moved));
    }
  return TRUE;
}

gboolean
capture_run (AdjCapture *capture, AdjContext *cx, Collection *collection)
{
  CaptureRun run = { cx, capture, collection->sizes };
  const AdjInterpreterHooks hooks = { .replace = capture_replace, .data = &run };
  const GradRequest *request = task_get_request (collection->task);
  const AdjPlace place = *adj_context_get_place (cx);
  g_auto (AdjValue) result = ADJ_NONE;
  AdjValue args[5] = { take_inputs (collection),
                       take_sizes (capture, collection),
                       { .kind = ADJ_VALUE_LIST },
                       take_objects (collection),
                       take_packed (collection) };
  gboolean done;

  if ((request->flags & ADJ_BACKWARD_RETAIN_GRAPH) == 0)
    release_nodes (collection);
  capture->n_runs++;
  if (!move_inputs (capture, cx, &args[0]))
    done = FALSE;
  else if (capture->compiled != NULL)
    done = adj_function_call (capture->compiled, cx, args, capture->n_lists, &result);
  else
    done = adj_interpret_taking (cx, capture->graph, args, capture->n_lists, &hooks, &result);
  for (guint i = 0; i < G_N_ELEMENTS (args); i++)
    adj_value_clear (&args[i]);
  adj_context_set_place (cx, &place);
  return done && give_captured (request, cx, &result);
}
