/* SPDX-License-Identifier: MIT */
/* map_impl (graph, mapped, operands): calls the graph for each entry along the first dimension of
 * the mapped tensors and stacks the results. */

#include "call/adj-context-internal.h"
#include "interpreter/higher-private.h"

enum
{
  GRAPH = 0,
  MAPPED = 1,
  OPERANDS = 2,
};

static gboolean
list_entry (const AdjHigherCall *call, gint64 index, GArray *inputs)
{
  const AdjValue *mapped = &call->args[MAPPED];

  for (guint i = 0; i < mapped->n; i++)
    if (!higher_append_slice (call, &mapped->items[i], 0, index, inputs))
      return FALSE;
  higher_append_all (&call->args[OPERANDS], inputs);
  return TRUE;
}

static gboolean
map_list_inputs (const AdjHigherCall *call, GArray *inputs)
{
  gint64 length;

  return higher_get_length (call, &call->args[MAPPED], 0, &length) && list_entry (call, 0, inputs);
}

/* @parts: the results for each entry. */
static gboolean
stack_all (AdjHigherCall *call, const AdjValue *parts, guint n)
{
  g_autofree AdjValue *items = NULL;

  if (parts[0].kind != ADJ_VALUE_TUPLE && parts[0].kind != ADJ_VALUE_LIST)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "the function must give a tuple or a list");
  items = g_new0 (AdjValue, parts[0].n + 1);
  for (guint k = 0; k < parts[0].n; k++)
    if (!higher_stack (call, parts, n, k, &items[k]))
      {
        for (guint i = 0; i < k; i++)
          adj_value_clear (&items[i]);
        return FALSE;
      }
  call->result = adj_value_new_items (parts[0].kind, items, parts[0].n);
  return TRUE;
}

static gboolean
map_run (AdjHigherCall *call)
{
  g_autoptr (GArray) parts = adj_value_array_new ();
  gboolean done = TRUE;
  gint64 length;

  if (!higher_get_length (call, &call->args[MAPPED], 0, &length))
    return FALSE;
  adj_scope_begin (call->cx);
  for (gint64 i = 0; i < length && done; i++)
    {
      g_autoptr (GArray) inputs = adj_value_array_new ();
      AdjValue part = ADJ_NONE;

      done = adj_context_may_go_on (call->cx) && list_entry (call, i, inputs) &&
             adj_higher_call_body (call, 0, (gconstpointer) inputs->data, inputs->len, &part);
      g_array_append_val (parts, part);
    }
  done = done && stack_all (call, (gconstpointer) parts->data, parts->len);
  adj_scope_end (call->cx);
  return done;
}

static gboolean
map_infer (AdjHigherCall *call, const AdjValue *outs)
{
  gint64 length;

  if (!higher_get_length (call, &call->args[MAPPED], 0, &length))
    return FALSE;
  if (outs[0].kind != ADJ_VALUE_TUPLE && outs[0].kind != ADJ_VALUE_LIST)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "the function must give a tuple or a list");
  return higher_repeat (call, &outs[0], length, &call->result);
}

const AdjHigherOp adj_higher_map_impl = {
  .target = "torch.ops.higher_order.map_impl",
  .help = "a function of each entry along the first dimension",
  .grad = "MapAutogradOp",
  .n_args = 3,
  .n_bodies = 1,
  .bodies = { GRAPH },
  .body_names = { "the function" },
  .graph_names = { "body_graph_" },
  .n_groups = 2,
  .groups = { MAPPED, OPERANDS },
  .groups_kind = ADJ_VALUE_LIST,
  .list_inputs = map_list_inputs,
  .run = map_run,
  .infer = map_infer,
};
