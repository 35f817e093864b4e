/* SPDX-License-Identifier: MIT */
/* A counter.  The result of `value` is a number, which is fixed when traced; the result of `next`
 * is a tensor and stays dynamic. */

#include "objects/object-state-private.h"

typedef struct
{
  AdjObject parent;
  gint64 count;
} Counter;

static gboolean
add (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  ((Counter *) object)->count += args[0].integer;
  *result = ADJ_NONE;
  return TRUE;
}

static gboolean
next (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  const gint64 value = ++((Counter *) object)->count;
  AdjTensor *tensor;

  if (adj_object_is_fake (object))
    {
      AdjTensorMeta meta = { .dtype = ADJ_DTYPE_I64, .device = ADJ_CPU, .has_strides = TRUE };

      *result = ADJ_TENSOR (adj_tensor_new_empty (&meta, NULL, TRUE));
      return TRUE;
    }
  tensor = adj_from_array (cx, ADJ_DTYPE_I64, NULL, 0, &value);
  *result = tensor != NULL ? ADJ_TENSOR (adj_keep (tensor)) : ADJ_NONE;
  return tensor != NULL;
}

static gboolean
get_value (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  *result = ADJ_INT (((Counter *) object)->count);
  return TRUE;
}

static gboolean
flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_object_state_new ("count", ADJ_INT (((const Counter *) object)->count), NULL);
  return TRUE;
}

static gboolean
unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  return object_read_int (state, "count", &((Counter *) object)->count, error);
}

static const AdjMethod methods[] = {
  { .schema = "add(int n=1) -> ()", .help = "counts n more", .call = add },
  { .schema = "next() -> Tensor", .help = "counts one more and gives the count", .call = next },
  { .schema = "value() -> int",
    .help = "the count, which a trace takes for a constant",
    .call = get_value },
};

const AdjObjectClass adj_class_counter = {
  .name = "Adjoint::Counter",
  .help = "A counter",
  .size = sizeof (Counter),
  .methods = methods,
  .n_methods = G_N_ELEMENTS (methods),
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &adj_class_counter,
};
