/* SPDX-License-Identifier: MIT */
/* A queue of tensors, as in PyTorch's tests: pop of an empty queue returns the initial tensor. */

#include "objects/object-state-private.h"

typedef struct
{
  AdjObject parent;
  AdjValue init;
  GArray *items; /* AdjValue, as stored; the front is first */
} TensorQueue;

static gboolean
push (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  AdjValue item = adj_object_store (args[0].tensor);

  g_array_append_val (((TensorQueue *) object)->items, item);
  *result = ADJ_NONE;
  return TRUE;
}

/* The front, or the initial tensor. */
static const AdjValue *
get_front (const TensorQueue *self)
{
  return self->items->len > 0 ? &g_array_index (self->items, AdjValue, 0) : &self->init;
}

static gboolean
top (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  return object_give_tensor (cx, get_front ((TensorQueue *) object), result);
}

static gboolean
pop (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  TensorQueue *self = (TensorQueue *) object;

  if (!object_give_tensor (cx, get_front (self), result))
    return FALSE;
  if (self->items->len > 0)
    g_array_remove_index (self->items, 0);
  return TRUE;
}

static gboolean
get_size (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  *result = ADJ_INT (((TensorQueue *) object)->items->len);
  return TRUE;
}

static gboolean
get_float_size (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  *result = ADJ_FLOAT ((double) ((TensorQueue *) object)->items->len);
  return TRUE;
}

static gboolean
is_empty (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  *result = ADJ_BOOL (((TensorQueue *) object)->items->len == 0);
  return TRUE;
}

static gboolean
clone_queue (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  const TensorQueue *self = (const TensorQueue *) object;

  return object_give_tensors (cx, (const AdjValue *) (gpointer) self->items->data, self->items->len,
                              result);
}

static gboolean
flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  const TensorQueue *self = (const TensorQueue *) object;

  *state = adj_object_state_new (
      "init_tensor", adj_value_copy (&self->init), "queue",
      object_copy_list ((const AdjValue *) (gpointer) self->items->data, self->items->len), NULL);
  return TRUE;
}

static gboolean
unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  TensorQueue *self = (TensorQueue *) object;
  const AdjValue *items = adj_object_state_get (state, "queue");

  self->items = adj_value_array_new ();
  if (!object_read_tensor (state, "init_tensor", &self->init, error))
    return FALSE;
  if (items == NULL)
    return TRUE;
  if (items->kind != ADJ_VALUE_LIST)
    return object_refuse_state (error, "queue", "a list of tensors");
  for (guint i = 0; i < items->n; i++)
    {
      AdjValue item = adj_value_copy (&items->items[i]);

      g_array_append_val (self->items, item);
      if (!object_is_tensor (&item))
        return object_refuse_state (error, "queue", "a list of tensors");
    }
  return TRUE;
}

static void
finalize (AdjObject *object)
{
  TensorQueue *self = (TensorQueue *) object;

  adj_value_clear (&self->init);
  g_clear_pointer (&self->items, g_array_unref);
}

static const AdjMethod methods[] = {
  { .schema = "push(Tensor x) -> ()", .help = "appends a value at the rear", .call = push },
  { .schema = "pop() -> Tensor",
    .help = "removes the front and gives it; the initial tensor when there is none",
    .call = pop },
  { .schema = "top() -> Tensor", .help = "the front, which stays", .call = top },
  { .schema = "size() -> int", .help = "how many there are", .call = get_size },
  { .schema = "float_size() -> float", .help = "the same as a float", .call = get_float_size },
  { .schema = "is_empty() -> bool", .help = "whether there is none", .call = is_empty },
  { .schema = "clone_queue() -> Tensor[]",
    .help = "all of them, front first",
    .call = clone_queue },
};

const AdjObjectClass adj_class_tensor_queue = {
  .name = "_TorchScriptTesting::_TensorQueue",
  .help = "A queue of tensors",
  .size = sizeof (TensorQueue),
  .methods = methods,
  .n_methods = G_N_ELEMENTS (methods),
  .flatten = flatten,
  .unflatten = unflatten,
  .finalize = finalize,
  .fake = &adj_class_tensor_queue,
};
