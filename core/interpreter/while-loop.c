/* SPDX-License-Identifier: MIT */
/* while_loop (condition, body, carried, additional): the body computes new carried values while the
 * condition holds for them. */

#include <string.h>

#include "call/adj-constant.h"
#include "call/adj-context-internal.h"
#include "interpreter/higher-private.h"

enum
{
  CONDITION = 0,
  BODY = 1,
  CARRIED = 2,
  ADDITIONAL = 3,
};

static gboolean
check_truth (const AdjHigherCall *call, const AdjValue *truth)
{
  const AdjTensorMeta *meta =
      truth->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_meta (truth->tensor) : NULL;

  if (truth->kind == ADJ_VALUE_BOOL || truth->kind == ADJ_VALUE_SIZE ||
      (meta != NULL && meta->dtype == ADJ_DTYPE_BOOL && meta->shape.rank == 0))
    return TRUE;
  return adj_higher_fail (call, ADJ_ERROR_SHAPE,
                          "the condition must give a bool or a bool tensor without dimensions");
}

static gboolean
check_carried (const AdjHigherCall *call, const AdjValue *carried)
{
  if (carried->kind != ADJ_VALUE_TUPLE && carried->kind != ADJ_VALUE_LIST)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "the body must give a tuple");
  return adj_higher_check_same (call, "what is carried", &call->args[CARRIED],
                                "what the body gives", carried, ADJ_SAME_IN_ALL);
}

/* %FALSE: the context is in error. */
static gboolean
decide (const AdjHigherCall *call, const AdjValue *truth, gboolean *holds)
{
  AdjValue value = *truth;

  if (truth->kind == ADJ_VALUE_SIZE)
    *holds = adj_context_test_size (call->cx, ADJ_SIZE_NE, truth->size, ADJ_SIZE (0));
  else if (truth->kind == ADJ_VALUE_TENSOR &&
           !adj_constant_read (call->cx, truth->tensor, "while_loop", &value))
    return FALSE;
  else
    *holds = value.boolean;
  return !adj_context_has_error (call->cx);
}

/* One iteration; @inputs: carried values, which are replaced, then additional ones. */
static gboolean
turn (AdjHigherCall *call, AdjValue *inputs, guint n, gboolean *holds)
{
  guint n_carried = call->args[CARRIED].n;
  g_auto (AdjValue) truth = ADJ_NONE;
  g_auto (AdjValue) carried = ADJ_NONE;

  if (!adj_context_may_go_on (call->cx) || !adj_higher_call_body (call, 0, inputs, n, &truth) ||
      !check_truth (call, &truth) || !decide (call, &truth, holds))
    return FALSE;
  if (!*holds)
    return TRUE;
  if (!adj_higher_call_body (call, 1, inputs, n, &carried) || !check_carried (call, &carried))
    return FALSE;
  for (guint i = 0; i < n_carried; i++)
    {
      adj_value_clear (&inputs[i]);
      inputs[i] = adj_value_steal (&carried.items[i]);
    }
  return TRUE;
}

static gboolean
while_loop_run (AdjHigherCall *call)
{
  g_autoptr (GArray) inputs = adj_higher_list_inputs (call);
  gboolean done = inputs != NULL, holds = TRUE;

  while (done && holds)
    {
      adj_scope_begin (call->cx);
      done = turn (call, (gpointer) inputs->data, inputs->len, &holds);
      adj_scope_end (call->cx);
    }
  if (done)
    {
      AdjValue carried = { .kind = ADJ_VALUE_TUPLE,
                           .n = call->args[CARRIED].n,
                           .items = (gpointer) inputs->data };

      call->result = adj_value_copy (&carried);
    }
  return done;
}

static gboolean
while_loop_infer (AdjHigherCall *call, const AdjValue *outs)
{
  if (!check_truth (call, &outs[0]) || !check_carried (call, &outs[1]))
    return FALSE;
  call->result = adj_value_copy (&outs[1]);
  return TRUE;
}

const AdjHigherOp adj_higher_while_loop = {
  .target = "torch.ops.higher_order.while_loop",
  .help = "a function of carried values, again and again while a condition holds",
  .n_args = 4,
  .n_bodies = 2,
  .bodies = { CONDITION, BODY },
  .body_names = { "the condition", "the body" },
  .graph_names = { "while_loop_cond_graph_", "while_loop_body_graph_" },
  .n_groups = 2,
  .groups = { CARRIED, ADDITIONAL },
  .run = while_loop_run,
  .infer = while_loop_infer,
};
