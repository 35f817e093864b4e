/* SPDX-License-Identifier: MIT */
/* scan (graph, init, xs, additional), in 2.6 scan (graph, init, xs, dim, reverse, additional): the
 * function computes a new carry and values from the old carry and one entry of xs, along the first
 * dimension or dim; the results are the last carry and the stacked values. */

#include "call/adj-context-internal.h"
#include "interpreter/higher-private.h"

enum
{
  GRAPH = 0,
  INIT = 1,
  XS = 2,
  ADDITIONAL = 3,
  DIM = 3,
  REVERSE = 4,
  ADDITIONAL_ALONG = 5,
};

static gint64
get_dim (const AdjHigherCall *call)
{
  return call->op == &adj_higher_scan_along ? call->args[DIM].integer : 0;
}

static gboolean
is_reverse (const AdjHigherCall *call)
{
  return call->op == &adj_higher_scan_along && call->args[REVERSE].boolean;
}

static gboolean
scan_check_along (const AdjHigherCall *call)
{
  return (call->args[DIM].kind == ADJ_VALUE_INT && call->args[REVERSE].kind == ADJ_VALUE_BOOL) ||
         adj_higher_fail (call, ADJ_ERROR_SHAPE, "takes a dimension and a bool");
}

static gboolean
get_length (const AdjHigherCall *call, gint64 *length)
{
  return higher_get_length (call, &call->args[XS], get_dim (call), length);
}

/* @carry: as many values as INIT has. */
static gboolean
list_entry (const AdjHigherCall *call, const AdjValue *carry, gint64 index, GArray *inputs)
{
  const AdjValue *xs = &call->args[XS];

  higher_append_all (carry, inputs);
  for (guint i = 0; i < xs->n; i++)
    if (!higher_append_slice (call, &xs->items[i], get_dim (call), index, inputs))
      return FALSE;
  higher_append_all (&call->args[call->op->groups[2]], inputs);
  return TRUE;
}

static gboolean
scan_list_inputs (const AdjHigherCall *call, GArray *inputs)
{
  gint64 length;

  return get_length (call, &length) && list_entry (call, &call->args[INIT], 0, inputs);
}

/* The carry at the start of the function's results, borrowed. */
static gboolean
split (const AdjHigherCall *call, const AdjValue *out, AdjValue *carry)
{
  guint n = call->args[INIT].n;

  if ((out->kind != ADJ_VALUE_TUPLE && out->kind != ADJ_VALUE_LIST) || out->n < n)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "the function must give a carry of %u values",
                            n);
  *carry = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = out->items };
  return adj_higher_check_same (call, "the first carry", &call->args[INIT],
                                "what the function gives", carry, ADJ_SAME_BUT_STRIDES);
}

/* The carry of @last, then the values after it in each of @parts, stacked. */
static gboolean
collect (AdjHigherCall *call, const AdjValue *parts, guint n, const AdjValue *last)
{
  guint n_carry = call->args[INIT].n;
  g_autoptr (GArray) all = adj_value_array_new ();

  for (guint i = 0; i < last->n; i++)
    {
      AdjValue value;

      if (i < n_carry)
        value = adj_value_copy (&last->items[i]);
      else if (!higher_stack (call, parts, n, i, &value))
        return FALSE;
      g_array_append_val (all, value);
    }
  call->result = adj_value_array_end (all, ADJ_VALUE_TUPLE);
  return TRUE;
}

static void
turn_round (GArray *values)
{
  AdjValue *items = (gpointer) values->data;

  for (guint i = 0; i < values->len / 2; i++)
    {
      AdjValue first = items[i];

      items[i] = items[values->len - 1 - i];
      items[values->len - 1 - i] = first;
    }
}

static gboolean
scan_run (AdjHigherCall *call)
{
  gboolean reverse = is_reverse (call);
  g_autoptr (GArray) parts = adj_value_array_new ();
  AdjValue carry = call->args[INIT];
  AdjValue part = ADJ_NONE;
  gint64 length;
  gboolean done = get_length (call, &length);

  if (!done)
    return FALSE;
  adj_scope_begin (call->cx);
  for (gint64 i = 0; i < length && done; i++)
    {
      g_autoptr (GArray) inputs = adj_value_array_new ();

      part = ADJ_NONE;
      done = adj_context_may_go_on (call->cx) &&
             list_entry (call, &carry, reverse ? length - 1 - i : i, inputs) &&
             adj_higher_call_body (call, 0, (gconstpointer) inputs->data, inputs->len, &part);
      g_array_append_val (parts, part);
      done = done && split (call, &part, &carry);
    }
  if (reverse)
    turn_round (parts);
  done = done && collect (call, (gconstpointer) parts->data, parts->len, &part);
  adj_scope_end (call->cx);
  return done;
}

static gboolean
scan_infer (AdjHigherCall *call, const AdjValue *outs)
{
  guint n = call->args[INIT].n;
  AdjValue rest, carry;
  gint64 length;

  if (!get_length (call, &length) || !split (call, &outs[0], &carry))
    return FALSE;
  rest = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = outs[0].n - n, .items = outs[0].items + n };
  if (!higher_repeat (call, &rest, length, &call->result))
    return FALSE;
  rest = call->result;
  call->result = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n + rest.n };
  call->result.items = g_new0 (AdjValue, n + rest.n + 1);
  for (guint i = 0; i < n; i++)
    call->result.items[i] = adj_value_copy (&carry.items[i]);
  for (guint i = 0; i < rest.n; i++)
    call->result.items[n + i] = adj_value_steal (&rest.items[i]);
  adj_value_clear (&rest);
  return TRUE;
}

#define SCAN                                                                                       \
  .target = "torch.ops.higher_order.scan",                                                         \
  .help = "a function of a carry and each entry along a dimension", .n_bodies = 1,                 \
  .bodies = { GRAPH }, .body_names = { "the function" }, .graph_names = { "scan_combine_graph_" }, \
  .n_groups = 3, .list_inputs = scan_list_inputs, .run = scan_run, .infer = scan_infer

const AdjHigherOp adj_higher_scan = {
  SCAN,
  .n_args = 4,
  .ends_in_tuple = TRUE,
  .groups = { INIT, XS, ADDITIONAL },
};

const AdjHigherOp adj_higher_scan_along = {
  SCAN,
  .n_args = 6,
  .groups = { INIT, XS, ADDITIONAL_ALONG },
  .check = scan_check_along,
};
