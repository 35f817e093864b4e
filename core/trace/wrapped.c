/* SPDX-License-Identifier: MIT */
/* trace_wrapped in a trace: one node "trace_wrapped" whose function is an attribute of the graph;
 * PyTorch hides it in a closure. */

#include <string.h>

#include "call/adj-trace-wrapped.h"
#include "ir/adj-target-internal.h"
#include "ir/adj-value-internal.h"
#include "tensor/adj-tensor-internal.h"
#include "trace/tracer-private.h"

static gboolean
take_argument (AdjTracer *tracer, const AdjValue *arg, AdjValue *out)
{
  const gboolean list = arg->kind == ADJ_VALUE_LIST || arg->kind == ADJ_VALUE_TUPLE;

  if (arg->kind != ADJ_VALUE_TENSOR && arg->kind != ADJ_VALUE_NONE && !list)
    {
      adj_context_fail (tracer->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "trace_wrapped: unhandled type: %s", adj_value_kind_name (arg->kind));
      return FALSE;
    }
  if (!list)
    return adj_tracer_take (tracer, arg, out);
  *out = *arg;
  out->items = adj_arena_new0 (tracer->arena, AdjValue, MAX (arg->n, 1));
  for (guint i = 0; i < arg->n; i++)
    if (!take_argument (tracer, &arg->items[i], &out->items[i]))
      return FALSE;
  return TRUE;
}

/* fn=…, and further arguments of the function. */
static gboolean
take_keywords (AdjTracer *tracer, const AdjWrappedCall *call, AdjValue *out)
{
  guint n = call->kwargs->kind == ADJ_VALUE_DICT ? call->kwargs->n : 0;
  AdjValue *items = adj_arena_new0 (tracer->arena, AdjValue, n + 2);

  for (guint i = 0; i < n; i++)
    if (!adj_tracer_take (tracer, &call->kwargs->items[i], &items[i + 2]))
      return FALSE;
  items[0] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 2, .text = "fn" };
  items[1] = ADJ_NODE (adj_tracer_add_attribute (tracer, "_fn", call->function));
  *out = ADJ_ITEMS (DICT, items, n + 2);
  return TRUE;
}

static gboolean
make_like (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  AdjTensor *tensor = leaf->kind == ADJ_VALUE_TENSOR ? leaf->tensor : NULL;

  *out = adj_value_copy (leaf);
  if (tensor == NULL)
    return TRUE;
  adj_value_clear (out);
  *out = ADJ_TENSOR (adj_tensor_new_empty (adj_tensor_get_meta (tensor), data,
                                           adj_storage_is_fake (adj_tensor_get_storage (tensor))));
  return TRUE;
}

gboolean
adj_tracer_record_wrapped (AdjTracer *tracer, AdjWrappedCall *call)
{
  const AdjValue *grad = adj_wrapped_call_get_grad (call);
  AdjValue *items = adj_arena_new0 (tracer->arena, AdjValue, call->n_args + 1);
  AdjTracedNode node = { .opcode = ADJ_OPCODE_CALL_FUNCTION, .target = ADJ_TARGET_SELF_INVOKE };
  AdjNodeId id;

  if (grad == NULL)
    {
      adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "trace_wrapped takes an argument");
      return FALSE;
    }
  for (guint i = 0; i < call->n_args; i++)
    if (!take_argument (tracer, &call->args[i], &items[i]))
      return FALSE;
  if (!take_keywords (tracer, call, &node.kwargs))
    return FALSE;
  adj_value_map (grad, make_like, adj_context_get_symbols (call->cx), &call->result);
  node.args = ADJ_ITEMS (TUPLE, items, call->n_args);
  node.val = adj_tracer_snapshot (tracer, &call->result, FALSE);
  id = adj_tracer_add (tracer, &node, "trace_wrapped");
  if (adj_value_is_container (&call->result))
    adj_tracer_track_items (tracer, id, &call->result);
  else
    adj_tracer_track (tracer, &call->result, id);
  return TRUE;
}
