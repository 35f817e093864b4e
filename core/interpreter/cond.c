/* SPDX-License-Identifier: MIT */
/* cond (predicate, true_graph, false_graph, operands) */

#include "call/adj-constant.h"
#include "interpreter/higher-private.h"

enum
{
  PREDICATE = 0,
  TRUE_GRAPH = 1,
  FALSE_GRAPH = 2,
  OPERANDS = 3,
};

static gboolean
cond_check (const AdjHigherCall *call)
{
  const AdjValue *predicate = &call->args[PREDICATE];
  gint64 n = 1;

  if (predicate->kind == ADJ_VALUE_TENSOR)
    {
      const AdjShape *shape = &adj_tensor_get_meta (predicate->tensor)->shape;

      for (guint i = 0; i < shape->rank; i++)
        n = adj_size_is (adj_context_get_symbols (call->cx), shape->size[i], 1) ? n : 0;
    }
  else if (predicate->kind != ADJ_VALUE_BOOL && predicate->kind != ADJ_VALUE_SIZE)
    n = 0;
  return n == 1 || adj_higher_fail (call, ADJ_ERROR_SHAPE,
                                    "the predicate must be a bool or a tensor of one element");
}

static gboolean
cond_is_decided (const AdjHigherCall *call)
{
  return call->args[PREDICATE].kind == ADJ_VALUE_BOOL;
}

/* %FALSE: the context is in error. */
static gboolean
decide (const AdjHigherCall *call, gboolean *truth)
{
  const AdjValue *predicate = &call->args[PREDICATE];
  AdjValue value = *predicate;

  if (predicate->kind == ADJ_VALUE_SIZE)
    *truth = adj_context_test_size (call->cx, ADJ_SIZE_NE, predicate->size, ADJ_SIZE (0));
  else if (predicate->kind == ADJ_VALUE_TENSOR &&
           !adj_constant_read (call->cx, predicate->tensor, "cond", &value))
    return FALSE;
  else
    *truth = value.kind == ADJ_VALUE_BOOL    ? value.boolean
             : value.kind == ADJ_VALUE_FLOAT ? value.number != 0
                                             : value.integer != 0;
  return !adj_context_has_error (call->cx);
}

static gboolean
cond_run (AdjHigherCall *call)
{
  const AdjValue *operands = &call->args[OPERANDS];
  gboolean truth;

  return decide (call, &truth) &&
         adj_higher_call_body (call, truth ? 0 : 1, operands->items, operands->n, &call->result);
}

typedef struct
{
  const AdjValue *leaves; /* of the other branch's result */
  guint next;
} Merge;

static gboolean
append_leaf (const AdjValue *leaf, gpointer data)
{
  g_array_append_val ((GArray *) data, *leaf);
  return TRUE;
}

static gboolean
merge_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Merge *merge = data;
  const AdjValue *other = &merge->leaves[merge->next++];

  *out = adj_value_copy (leaf->kind == ADJ_VALUE_NONE ? other : leaf);
  return TRUE;
}

static gboolean
cond_infer (AdjHigherCall *call, const AdjValue *outs)
{
  g_autoptr (GArray) leaves = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  if (!adj_higher_check_same (call, call->op->body_names[0], &outs[0], call->op->body_names[1],
                              &outs[1], ADJ_SAME_OR_NONE))
    return FALSE;
  adj_value_foreach (&outs[1], append_leaf, leaves);
  return adj_value_map (&outs[0], merge_leaf, &(Merge){ (gconstpointer) leaves->data, 0 },
                        &call->result);
}

const AdjHigherOp adj_higher_cond = {
  .target = "torch.ops.higher_order.cond",
  .help = "one of two functions, as a predicate says",
  .grad = "CondAutogradOp",
  .n_args = 4,
  .n_bodies = 2,
  .bodies = { TRUE_GRAPH, FALSE_GRAPH },
  .body_names = { "the true branch", "the false branch" },
  .graph_names = { "true_graph_", "false_graph_" },
  .n_groups = 1,
  .groups = { OPERANDS },
  .groups_kind = ADJ_VALUE_TUPLE,
  .tangents_first = TRUE,
  .tangents_last_in = "2.15",
  .check = cond_check,
  .is_decided = cond_is_decided,
  .run = cond_run,
  .infer = cond_infer,
};
