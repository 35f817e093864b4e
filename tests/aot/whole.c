/* SPDX-License-Identifier: MIT */
/* Calls a joint graph without partitioning it. */

#include "aot/compile.h"

#include "call/adj-object.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"

/* The forward runs the whole graph with tangents of zero and saves copies of its arguments,
 * which the graph may write; the backward runs the graph again from the same generator state and
 * returns the gradients. */
typedef struct
{
  AdjFunction parent_instance;
  AdjGraph *graph;
  guint n_forward;
  guint n_tokens; /* tokens are not saved: they have no value */
  guint8 *state;  /* (owned): saved generator state, shared by both directions */
  gboolean is_backward;
} Whole;

static AdjTensor *
make_zeros (AdjContext *cx, const AdjNode *node)
{
  return adj_scope_add (cx, adj_tensor_new_empty (node->val.meta, NULL, FALSE));
}

static gboolean
run_whole (Whole *whole, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *all)
{
  guint n = adj_graph_get_n_inputs (whole->graph);
  g_autofree AdjValue *values = g_new0 (AdjValue, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node =
          adj_graph_get_node (whole->graph, adj_graph_get_input (whole->graph, i).index);

      if (i >= n_args && !g_str_has_prefix (node->name, "tangents_token"))
        values[i] = ADJ_TENSOR (make_zeros (cx, node));
      else if (i < n_args)
        values[i] = args[i];
    }
  return adj_interpret (cx, whole->graph, values, n, NULL, all);
}

static AdjValue
take (const AdjValue *all, guint from, guint to)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, to - from + 1);

  for (guint i = from; i < to; i++)
    items[i - from] = adj_value_copy (&all->items[i]);
  return adj_value_new_items (ADJ_VALUE_TUPLE, items, to - from);
}

/* Copies an argument that a run may change. */
static AdjValue
copy_argument (AdjContext *cx, const AdjValue *arg)
{
  AdjObject *object =
      arg->kind == ADJ_VALUE_OPAQUE_OBJECT ? adj_object_from_opaque (arg->object) : NULL;
  g_auto (AdjValue) state = ADJ_NONE;

  if (arg->kind == ADJ_VALUE_TENSOR)
    return ADJ_TENSOR (ADJ_APPLY (cx, ADJ_OP_clone, *arg));
  if (object == NULL)
    return *arg;
  g_assert_true (adj_object_save (object, &state, NULL));
  return ADJ_OBJECT (adj_object_new_in (cx, adj_object_get_class (object), &state));
}

static gboolean
forward_whole (Whole *whole, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  g_auto (AdjValue) all = ADJ_NONE;
  g_autofree AdjValue *copies = g_new0 (AdjValue, n_args + 1);
  g_autofree AdjValue *items = NULL;
  guint n = 0;

  for (guint i = 0; i < n_args; i++)
    copies[i] = copy_argument (cx, &args[i]);
  adj_generator_get_state (adj_context_get_generator (cx), whole->state);
  if (!run_whole (whole, cx, args, n_args, &all))
    return FALSE;
  items = g_new0 (AdjValue, whole->n_forward + n_args + 1);
  for (guint i = 0; i < whole->n_forward; i++)
    items[n++] = adj_value_copy (&all.items[i]);
  for (guint i = whole->n_tokens; i < n_args; i++)
    items[n++] = adj_value_copy (&copies[i]);
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, items, n);
  return TRUE;
}

static gboolean
backward_whole (Whole *whole, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjGenerator *generator = adj_context_get_generator (cx);
  guint8 now[ADJ_GENERATOR_STATE_BYTES];
  guint n = whole->n_tokens + n_args;
  g_autofree AdjValue *copies = g_new0 (AdjValue, n + 1);
  g_auto (AdjValue) all = ADJ_NONE;
  gboolean done;

  for (guint i = 0; i < n_args; i++)
    copies[whole->n_tokens + i] = copy_argument (cx, &args[i]);
  adj_generator_get_state (generator, now);
  adj_generator_set_state (generator, whole->state, sizeof now, NULL);
  done = run_whole (whole, cx, copies, n, &all);
  adj_generator_set_state (generator, now, sizeof now, NULL);
  if (done)
    *result = take (&all, whole->n_forward, all.n);
  return done;
}

static gboolean
whole_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  Whole *whole = (Whole *) function;

  return whole->is_backward ? backward_whole (whole, cx, args, n_args, result)
                            : forward_whole (whole, cx, args, n_args, result);
}

static void
whole_finalize (AdjFunction *function)
{
  adj_graph_unref (((Whole *) function)->graph);
  g_rc_box_release (((Whole *) function)->state);
}

static const AdjFunctionClass whole_class = {
  .name = "the whole joint graph",
  .call = whole_call,
  .finalize = whole_finalize,
};

static AdjFunction *
whole_new (AdjAotGraph *aot, guint8 *state, gboolean is_backward)
{
  Whole *whole = (Whole *) adj_function_new (&whole_class, sizeof *whole);

  whole->graph = adj_graph_ref (adj_aot_graph_get_graph (aot));
  whole->n_forward = adj_aot_graph_get_n_forward (aot);
  whole->n_tokens = adj_aot_graph_get_metadata (aot)->n_tokens;
  whole->state = g_rc_box_acquire (state);
  whole->is_backward = is_backward;
  return &whole->parent_instance;
}

AdjFunction *
compile_whole (AdjAotGraph *aot)
{
  g_autoptr (AdjFunction) forward = NULL;
  g_autoptr (AdjFunction) backward = NULL;
  guint8 *state;

  if (!adj_aot_graph_is_joint (aot))
    return compile_by_default (aot);
  state = g_rc_box_alloc0 (ADJ_GENERATOR_STATE_BYTES);
  forward = whole_new (aot, state, FALSE);
  backward = whole_new (aot, state, TRUE);
  g_rc_box_release (state);
  return adj_aot_compile (aot, forward, backward, NULL, 0);
}
