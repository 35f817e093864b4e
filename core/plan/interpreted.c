/* SPDX-License-Identifier: MIT */
/* Regions that the interpreter evaluates: one node, on the tensors of the arena; its result is
 * copied into the arena where the plan knows its sizes. */

#include "adj-kernels.h"
#include "call/adj-context-internal.h"
#include "interpreter/adj-interpreter-internal.h"
#include "ir/adj-graph.h"
#include "plan/space-private.h"

static gboolean
resolve_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_NODE ? plan_space_get_node (data, leaf->node.index)
                                      : adj_value_copy (leaf);
  return TRUE;
}

static gboolean
evaluate (AdjPlanSpace *space, const AdjNode *node, AdjNodeId id, AdjValue *out)
{
  const AdjPlanHooks *hooks = space->hooks;
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;

  *out = ADJ_NONE;
  adj_value_map (&node->args, resolve_leaf, space, &args);
  adj_value_map (&node->kwargs, resolve_leaf, space, &kwargs);
  if (hooks != NULL && hooks->replace != NULL &&
      hooks->replace (space->plan->graph, id, &args, out, hooks->data))
    return !adj_context_has_error (space->cx);
  return !adj_context_has_error (space->cx) &&
         adj_interpret_call (space->cx, node, &args, &kwargs, out);
}

static void
fill_view (AdjTensor *tensor, gpointer bytes, AdjKView *view)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (tensor);

  *view = (AdjKView){ .type = (AdjKType) meta->dtype, .rank = (gint) meta->shape.rank };
  view->data = (char *) bytes +
               meta->shape.offset.word * (gint64) adj_k_type_get_size ((AdjKType) meta->dtype);
  for (guint i = 0; i < meta->shape.rank; i++)
    {
      view->size[i] = meta->shape.size[i].word;
      view->stride[i] = meta->shape.stride[i].word;
    }
}

typedef struct
{
  AdjPlanSpace *space;
  GPtrArray *tensors; /* tensors that the interpreter returned */
  guint next;
} Taking;

static gboolean
list_tensor (const AdjValue *leaf, gpointer data)
{
  g_ptr_array_add (data, leaf->kind == ADJ_VALUE_TENSOR ? leaf->tensor : NULL);
  return TRUE;
}

static gboolean
fail_other (AdjPlanSpace *space, const AdjTensorMeta *got, const AdjTensorMeta *wanted)
{
  g_autoptr (GString) has = g_string_new (NULL);
  g_autoptr (GString) wants = g_string_new (NULL);

  adj_tensor_meta_print (got, NULL, has);
  adj_tensor_meta_print (wanted, NULL, wants);
  adj_context_fail (space->cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "it gives %s, the graph says %s",
                    has->str, wants->str);
  return FALSE;
}

static gboolean
take_leaf (const AdjValue *leaf, gpointer data)
{
  Taking *taking = data;
  AdjPlanSpace *space = taking->space;
  AdjTensor *from =
      taking->next < taking->tensors->len ? taking->tensors->pdata[taking->next] : NULL;
  AdjTensor *to;
  AdjKView source, target;

  taking->next++;
  if (leaf->kind != ADJ_VALUE_NODE || from == NULL)
    return leaf->kind != ADJ_VALUE_NODE;
  to = space->tensors[leaf->node.index];
  if (adj_tensor_get_meta (from)->dtype != adj_tensor_get_meta (to)->dtype ||
      !adj_shape_same_sizes (&adj_tensor_get_meta (from)->shape, &adj_tensor_get_meta (to)->shape,
                             NULL))
    return fail_other (space, adj_tensor_get_meta (from), adj_tensor_get_meta (to));
  fill_view (from, (gpointer) adj_storage_read (adj_tensor_get_storage (from)), &source);
  fill_view (to, adj_storage_write (adj_tensor_get_storage (to)), &target);
  adj_k_copy (&target, &source);
  return TRUE;
}

/* Copies results of the interpreter into the plan's tensors. */
static gboolean
take_known (AdjPlanSpace *space, const PlanNode *node, const AdjValue *given)
{
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  Taking taking = { space, tensors, 0 };

  adj_value_foreach (given, list_tensor, tensors);
  adj_value_foreach (&node->value, take_leaf, &taking);
  if (!adj_context_has_error (space->cx) && taking.next != tensors->len)
    adj_context_fail (space->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                      "it gives %u values, the graph says %u", tensors->len, taking.next);
  return !adj_context_has_error (space->cx);
}

/* Copies a tensor of the arena, whose memory may be reused later. */
static gboolean
own_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  g_autoptr (AdjTensorData) copy = NULL;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  copy = adj_tensor_snapshot (leaf->tensor);
  *out = ADJ_TENSOR (adj_tensor_new_from_data (copy));
  return TRUE;
}

static gboolean
run_interpreted (AdjPlanSpace *space, const PlanRegion *region)
{
  guint32 index = plan_call (space->plan, region->calls[0])->node;
  const PlanNode *node = plan_node (space->plan, index);
  g_auto (AdjValue) given = ADJ_NONE;
  gboolean done;

  plan_space_enter (space, index);
  adj_context_set_thread_state (space->cx, &space->plan->states[index]);
  adj_scope_begin (space->cx);
  done = evaluate (space, adj_graph_get_node (space->plan->graph, index), (AdjNodeId){ index },
                   &given);
  if (done && node->kind == PLAN_NODE_KNOWN)
    done = take_known (space, node, &given);
  else if (done)
    adj_value_map (&given, own_leaf, NULL, &space->dynamic[index]);
  adj_scope_end (space->cx);
  return done;
}

const PlanRegionKind plan_region_interpreter = { "interpreter", run_interpreted };
