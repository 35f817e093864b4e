/* SPDX-License-Identifier: MIT */
/* Hooks in a replay: each is a call on what it will be given, and what it gives looks as that. */

#include <string.h>

#include "compiled_autograd/replay-private.h"

AdjValue
replay_value_of (AdjTensor *tensor)
{
  return tensor != NULL ? ADJ_TENSOR (tensor) : ADJ_NONE;
}

void
replay_put (AdjTensor **slot, AdjTensor *tensor)
{
  adj_tensor_ref (tensor);
  if (*slot != NULL)
    adj_tensor_unref (*slot);
  *slot = tensor;
}

AdjValue
replay_list_of (AdjTensor *const *tensors, guint n, AdjValue *items)
{
  for (guint i = 0; i < n; i++)
    items[i] = replay_value_of (tensors[i]);
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = items };
}

AdjNodeId
replay_add_call_of_hook (Replay *self,
                         AdjNodeId hook,
                         guint object,
                         ObjectKind kind,
                         const AdjValue *args,
                         guint n_args,
                         AdjValue *out)
{
  const char *name = object_kind_get_name (kind);
  AdjValue keywords[2] = { { .kind = ADJ_VALUE_STRING, .n = 9, .text = "hook_type" },
                           { .kind = ADJ_VALUE_STRING, .n = strlen (name), .text = name } };
  const AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = 2, .items = keywords };
  AdjValue all[3] = { ADJ_NODE (hook) };
  const AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = n_args + 1, .items = all };
  const AdjPlace before = *adj_context_get_place (self->cx);
  const char *called = kind != OBJECT_RETAINER
                           ? object_get_name (g_ptr_array_index (self->collection->objects, object))
                           : NULL;
  g_autofree char *origin = replay_make_origin (self, called);
  const AdjPlace place = { .stack_trace = origin };
  AdjValue taken, taken_kwargs;
  AdjNodeId made;

  for (guint i = 0; i < n_args; i++)
    all[i + 1] = args[i];
  if (!adj_tracer_take (self->tracer, &tuple, &taken) ||
      !adj_tracer_take (self->tracer, &kwargs, &taken_kwargs))
    return ADJ_NO_NODE;
  adj_context_set_place (self->cx, &place);
  made = adj_tracer_add_call (self->tracer, ADJ_TARGET_CALL_HOOK, &taken, &taken_kwargs, out);
  adj_context_set_place (self->cx, &before);
  return made;
}

AdjNodeId
replay_add_hook_call (
    Replay *self, guint object, ObjectKind kind, const AdjValue *args, guint n_args, AdjValue *out)
{
  const AdjNodeId hook = replay_add_item (self, self->lists[3], object, &ADJ_NONE);

  return replay_add_call_of_hook (self, hook, object, kind, args, n_args, out);
}

gboolean
replay_tensor_hooks (Replay *self, const CollectedCall *call, AdjTensor **grads, guint *object)
{
  const AdjGradNode *node = call->node;
  guint n = call->hooks->tensor != NULL ? call->hooks->tensor->len : 0;

  for (guint i = 0; i < n; i++)
    {
      guint input = ((const AdjHook *) g_ptr_array_index (call->hooks->tensor, i))->input;
      AdjTensor *grad = grads[input];
      AdjTensor *new = grad != NULL ? replay_new_like (self, adj_tensor_get_meta (grad)) : NULL;
      const AdjValue given = replay_value_of (grad);
      AdjValue out = replay_value_of (new);

      replay_add_hook_call (self, (*object)++, OBJECT_TENSOR_PRE_HOOK, &given, 1, &out);
      if (new != NULL)
        replay_put (&grads[input], new);
    }
  for (guint i = 0; node->retainers != NULL && i < node->n_inputs; i++)
    if (node->retainers[i] != NULL)
      {
        const AdjValue given = replay_value_of (grads[i]);
        AdjValue out = grads[i] != NULL
                           ? ADJ_TENSOR (replay_new_like (self, adj_tensor_get_meta (grads[i])))
                           : ADJ_NONE;

        replay_add_hook_call (self, (*object)++, OBJECT_RETAINER, &given, 1, &out);
      }
  return !adj_context_has_error (self->cx);
}

gboolean
replay_node_hooks (Replay *self,
                   const GPtrArray *hooks,
                   ObjectKind kind,
                   guint *object,
                   AdjTensor **grads,
                   guint n_grads,
                   AdjTensor *const *results,
                   guint n_results)
{
  g_autofree AdjValue *items = g_new0 (AdjValue, n_grads + 1);
  g_autofree AdjValue *others = g_new0 (AdjValue, n_results + 1);

  for (guint i = 0; hooks != NULL && i < hooks->len; i++)
    {
      const AdjValue args[2] = { replay_list_of (grads, n_grads, items),
                                 replay_list_of (results, n_results, others) };
      AdjValue outs = { .kind = ADJ_VALUE_TUPLE, .n = n_grads };
      g_autofree AdjValue *new = g_new0 (AdjValue, n_grads + 1);

      for (guint k = 0; k < n_grads; k++)
        if (grads[k] != NULL)
          new[k] = ADJ_TENSOR (replay_new_like (self, adj_tensor_get_meta (grads[k])));
      outs.items = new;
      replay_add_hook_call (self, (*object)++, kind, args, kind == OBJECT_POST_HOOK ? 2 : 1, &outs);
      for (guint k = 0; k < n_grads; k++)
        if (new[k].kind == ADJ_VALUE_TENSOR)
          replay_put (&grads[k], new[k].tensor);
    }
  return !adj_context_has_error (self->cx);
}

void
replay_unpacking (Replay *self, const CollectedCall *call)
{
  for (guint i = 0; i < call->n_packed; i++)
    {
      guint index = call->first_packed + i;
      AdjValue out = ADJ_TENSOR (self->stand_ins.fakes[self->collection->inputs->len + index]);

      if (self->level == ADJ_CAPTURE_LEVEL_NODES)
        replay_node_unpack (self,
                            g_array_index (self->collection->packed, CollectedPacked, index).object,
                            index, &out);
      else
        replay_add_hook_call (
            self, g_array_index (self->collection->packed, CollectedPacked, index).object,
            OBJECT_UNPACK, NULL, 0, &out);
    }
}
