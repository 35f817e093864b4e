/* SPDX-License-Identifier: MIT */
/* associative_scan (graph, xs, additional): the function combines two entries of xs along the first
 * dimension; the results are the running combinations, stacked. */

#include "call/adj-context-internal.h"
#include "interpreter/higher-private.h"

enum
{
  GRAPH = 0,
  XS = 1,
  ADDITIONAL = 2,
};

static gboolean
associative_scan_check (const AdjHigherCall *call)
{
  return (adj_value_is_container (&call->args[XS]) && call->args[XS].n > 0 &&
          adj_value_is_container (&call->args[ADDITIONAL])) ||
         adj_higher_fail (call, ADJ_ERROR_UNSUPPORTED, "takes two lists, the first not empty");
}

static gboolean
get_length (const AdjHigherCall *call, gint64 *length)
{
  return higher_get_length (call, &call->args[XS], 0, length);
}

static gboolean
append_entry (const AdjHigherCall *call, gint64 index, GArray *inputs)
{
  const AdjValue *xs = &call->args[XS];

  for (guint i = 0; i < xs->n; i++)
    if (!higher_append_slice (call, &xs->items[i], 0, index, inputs))
      return FALSE;
  return TRUE;
}

static gboolean
associative_scan_list_inputs (const AdjHigherCall *call, GArray *inputs)
{
  gint64 length;

  if (!get_length (call, &length) || !append_entry (call, 0, inputs) ||
      !append_entry (call, 0, inputs))
    return FALSE;
  higher_append_all (&call->args[ADDITIONAL], inputs);
  return TRUE;
}

/* Whether @out has one value for each of xs. */
static gboolean
check_given (const AdjHigherCall *call, const AdjValue *out)
{
  return (adj_value_is_container (out) && out->n == call->args[XS].n) ||
         adj_higher_fail (call, ADJ_ERROR_SHAPE, "the function must give %u values",
                          call->args[XS].n);
}

/* Combines @before, the running result, with entry @index > 0. */
static gboolean
combine (AdjHigherCall *call, const AdjValue *before, gint64 index, AdjValue *out)
{
  g_autoptr (GArray) inputs = adj_value_array_new ();

  higher_append_all (before, inputs);
  if (!adj_context_may_go_on (call->cx) || !append_entry (call, index, inputs))
    return FALSE;
  higher_append_all (&call->args[ADDITIONAL], inputs);
  return adj_higher_call_body (call, 0, (gconstpointer) inputs->data, inputs->len, out) &&
         check_given (call, out);
}

static gboolean
stack_all (AdjHigherCall *call, const AdjValue *parts, guint n)
{
  g_autoptr (GArray) all = adj_value_array_new ();

  for (guint k = 0; k < call->args[XS].n; k++)
    {
      AdjValue value;

      if (!higher_stack (call, parts, n, k, &value))
        return FALSE;
      g_array_append_val (all, value);
    }
  call->result = adj_value_array_end (all, ADJ_VALUE_LIST);
  return TRUE;
}

static gboolean
associative_scan_run (AdjHigherCall *call)
{
  g_autoptr (GArray) parts = adj_value_array_new ();
  g_autoptr (GArray) first = adj_value_array_new ();
  gint64 length;
  gboolean done;

  if (!get_length (call, &length))
    return FALSE;
  adj_scope_begin (call->cx);
  done = append_entry (call, 0, first);
  if (done)
    {
      AdjValue part = adj_value_array_end (first, ADJ_VALUE_TUPLE);

      g_array_append_val (parts, part);
    }
  for (gint64 i = 1; i < length && done; i++)
    {
      AdjValue part = ADJ_NONE;

      done = combine (call, &g_array_index (parts, AdjValue, i - 1), i, &part);
      g_array_append_val (parts, part);
    }
  done = done && stack_all (call, (gconstpointer) parts->data, parts->len);
  adj_scope_end (call->cx);
  return done;
}

static gboolean
associative_scan_infer (AdjHigherCall *call, const AdjValue *outs)
{
  gint64 length;

  return get_length (call, &length) && check_given (call, &outs[0]) &&
         higher_repeat (call, &outs[0], length, &call->result);
}

const AdjHigherOp adj_higher_associative_scan = {
  .target = "torch.ops.higher_order.associative_scan",
  .help = "a function of two entries along the first dimension, over all so far",
  .n_args = 3,
  .n_bodies = 1,
  .bodies = { GRAPH },
  .body_names = { "the function" },
  .graph_names = { "associative_scan_combine_graph_" },
  .n_groups = 2,
  .groups = { XS, ADDITIONAL },
  .check = associative_scan_check,
  .list_inputs = associative_scan_list_inputs,
  .run = associative_scan_run,
  .infer = associative_scan_infer,
};
