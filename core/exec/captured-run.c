/* SPDX-License-Identifier: MIT */
/* Runs a backward that compiled autograd captured: its accumulations and hooks, whose results come
 * from the recording where they cannot be called. */

#include "exec/captured-run-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-target-internal.h"
#include "ir/adj-value-internal.h"

void
captured_run_init (CapturedRun *self, AdjContext *cx, const AdjRunRequest *request)
{
  self->cx = cx;
  self->request = request;
  self->gradients = g_array_new (FALSE, FALSE, sizeof (AdjRunGradient));
  self->recalled = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
}

void
captured_run_end (CapturedRun *self, AdjRunResult *result)
{
  result->n_gradients = self->gradients->len;
  result->gradients = (gpointer) g_array_free (self->gradients, FALSE);
  result->n_recalled = self->recalled->len;
  result->recalled = (gpointer) g_array_free (self->recalled, FALSE);
}

static gboolean
import_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  g_autoptr (AdjTensorData) wide = NULL;

  if (leaf->kind == ADJ_VALUE_DATA && data != NULL &&
      adj_dtype_is_differentiable (adj_tensor_data_get_meta (leaf->data)->dtype))
    {
      wide = adj_tensor_data_cast_storage (leaf->data, ADJ_DTYPE_F64);
      *out = ADJ_TENSOR (adj_tensor_new_from_data (wide));
    }
  else if (leaf->kind == ADJ_VALUE_DATA)
    *out = ADJ_TENSOR (adj_tensor_new_from_data (leaf->data));
  else
    *out = adj_value_copy (leaf);
  return TRUE;
}

static void
note_gradient (CapturedRun *self, AdjNodeId id, AdjTensor *grad)
{
  AdjRunGradient gradient = { id, adj_tensor_snapshot (grad) };

  g_array_append_val (self->gradients, gradient);
}

/* Collects the added gradient, which is also the value of the node. */
static gboolean
accumulate (CapturedRun *self, AdjNodeId id, const AdjValue *args, AdjValue *value)
{
  *value = ADJ_NONE;
  if (args->n != 2 || args->items[1].kind != ADJ_VALUE_TENSOR)
    return args->n == 2 && args->items[1].kind == ADJ_VALUE_NONE;
  note_gradient (self, id, args->items[1].tensor);
  *value = adj_value_copy (&args->items[1]);
  return TRUE;
}

/* "tensor_pre_hook" */
static const char *
find_hook_type (const AdjNode *node)
{
  const AdjValue *type = adj_value_find_member (&node->kwargs, "hook_type");

  if (type != NULL && type->kind == ADJ_VALUE_STRING)
    return type->text;
  return g_str_equal (node->target, ADJ_TARGET_CALL_BACKWARD) ? "backward" : "hook";
}

static gboolean
fail_absent (CapturedRun *self, const AdjNode *node)
{
  const AdjFrame *frame =
      node->meta.n_frames > 0 ? &node->meta.frames[node->meta.n_frames - 1] : NULL;

  adj_context_fail (self->cx, ADJ_ERROR, ADJ_ERROR_UNRECORDED,
                    "'%s' calls the %s%s%s, which only the process had that was captured, and "
                    "what it gave was not recorded",
                    node->name, find_hook_type (node), frame != NULL ? " at " : "",
                    frame != NULL ? frame->code : "");
  return FALSE;
}

/* Takes the result of a call from the recording.  It is no error if a result that nothing reads was
 * not recorded. */
static gboolean
recall (CapturedRun *self, AdjNodeId id, const AdjNode *node, AdjValue *value)
{
  const AdjRunRequest *request = self->request;
  g_auto (AdjValue) recorded = ADJ_NONE;

  if (node->n_users > 0 &&
      (request->recall == NULL || !request->recall (id, &recorded, request->data)))
    return fail_absent (self, node);
  adj_value_map (&recorded, import_leaf, request->float64 ? self : NULL, value);
  g_array_append_val (self->recalled, id);
  return TRUE;
}

gboolean
captured_replace (
    CapturedRun *self, const AdjGraph *graph, AdjNodeId id, const AdjValue *args, AdjValue *value)
{
  const AdjNode *node = adj_graph_get_node (graph, id.index);

  if (node->op != NULL || graph != self->request->graph)
    return FALSE;
  if (g_str_equal (node->target, ADJ_TARGET_ACCUMULATE))
    return accumulate (self, id, args, value);
  if (g_str_equal (node->target, ADJ_TARGET_CALL_ACCUMULATE) && args->n == 4 &&
      args->items[2].kind == ADJ_VALUE_TENSOR)
    note_gradient (self, id, args->items[2].tensor);
  if (!g_str_equal (node->target, ADJ_TARGET_CALL_HOOK) &&
      !g_str_equal (node->target, ADJ_TARGET_CALL_BACKWARD))
    return FALSE;
  return (args->n == 0 || args->items[0].kind != ADJ_VALUE_OPAQUE_OBJECT) &&
         recall (self, id, node, value);
}
