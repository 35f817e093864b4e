/* SPDX-License-Identifier: MIT */

/* Autocast: casts the floating arguments of an operator before it runs, by `.autocast` of its
 * record.  It precedes every mode and the decomposition of composites; calls inside the operator
 * are not cast again. */

#include "call/autocast-private.h"
#include "call/context-private.h"

typedef struct
{
  AdjOpCall *call;
  AdjDeviceType device;
  AdjDType to;
  gboolean failed;
} Cast;

static gboolean
is_on (const AdjValue *value, AdjDeviceType device)
{
  if (value->kind == ADJ_VALUE_TENSOR)
    return adj_tensor_get_meta (value->tensor)->device.type == device;
  for (guint i = 0; adj_value_is_container (value) && i < value->n; i++)
    if (is_on (&value->items[i], device))
      return TRUE;
  return FALSE;
}

gboolean
autocast_applies (const AdjOpCall *call, AdjDeviceType *device)
{
  for (guint type = 0; type < ADJ_N_AUTOCAST; type++)
    if (call->op->autocast[type] != ADJ_CAST_NONE && adj_context_get_autocast (call->cx, type).on)
      for (guint i = 0; i < adj_op_get_schema (call->op)->n_arguments; i++)
        if (is_on (&call->args[i], type))
          {
            *device = type;
            return TRUE;
          }
  return FALSE;
}

/* float64 arguments are never cast. */
static gboolean
is_eligible (const Cast *cast, const AdjValue *value)
{
  const AdjTensorMeta *meta;

  if (value->kind != ADJ_VALUE_TENSOR)
    return FALSE;
  meta = adj_tensor_get_meta (value->tensor);
  return meta->device.type == cast->device && adj_dtype_is_floating (meta->dtype) &&
         meta->dtype != ADJ_DTYPE_F64;
}

static gboolean
cast_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Cast *cast = data;
  AdjValue args[] = { *leaf };
  AdjValue word[] = { { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" }, ADJ_DTYPE (cast->to) };
  const AdjValue positional = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = args };
  const AdjValue keywords = { .kind = ADJ_VALUE_DICT, .n = 2, .items = word };
  AdjContext *cx = cast->call->cx;
  AdjValue result = *leaf;

  if (!cast->failed && is_eligible (cast, leaf) &&
      adj_tensor_get_meta (leaf->tensor)->dtype != cast->to)
    cast->failed = !adj_call (cx, cx->operators->find ("torch.ops.aten._to_copy.default"),
                              &positional, &keywords, &result);
  *out = adj_value_copy (cast->failed ? leaf : &result);
  return TRUE;
}

/* -- the policies -- */

/* Casts from the last argument to the first, as PyTorch does. */
static gboolean
cast_all (Cast *cast, AdjValue *args)
{
  for (guint i = cast->call->schema->n_arguments; i-- > 0;)
    {
      AdjValue narrow;

      adj_value_map (&args[i], cast_leaf, cast, &narrow);
      adj_value_clear (&args[i]);
      args[i] = narrow;
    }
  return !cast->failed;
}

static gboolean
cast_to_f32 (Cast *cast, AdjValue *args)
{
  cast->to = ADJ_DTYPE_F32;
  return cast_all (cast, args);
}

static gboolean
ask_for_f32 (Cast *cast, AdjValue *args)
{
  guint dtype = adj_op_call_find (cast->call, "dtype");

  if (is_eligible (cast, &args[0]) && args[dtype].kind == ADJ_VALUE_NONE)
    args[dtype] = ADJ_DTYPE (ADJ_DTYPE_F32);
  return TRUE;
}

static gboolean
widen_leaf (const AdjValue *leaf, gpointer data)
{
  Cast *cast = data;
  AdjDType dtype;

  if (!is_eligible (cast, leaf) || cast->failed)
    return TRUE;
  dtype = adj_tensor_get_meta (leaf->tensor)->dtype;
  if (dtype == ADJ_DTYPE_F32)
    cast->to = ADJ_DTYPE_F32;
  else if (dtype != cast->to && cast->to != ADJ_DTYPE_F32)
    cast->failed = !adj_op_call_fail (cast->call, "autocast is to %s, and an argument is %s",
                                      adj_dtype_info (cast->to)->torch_name,
                                      adj_dtype_info (dtype)->torch_name);
  return TRUE;
}

static gboolean
cast_to_widest (Cast *cast, AdjValue *args)
{
  for (guint i = 0; i < cast->call->schema->n_arguments; i++)
    adj_value_foreach (&args[i], widen_leaf, cast);
  return !cast->failed && cast_all (cast, args);
}

static gboolean
refuse (Cast *cast, AdjValue *args)
{
  return adj_op_call_fail_as (cast->call, ADJ_ERROR_UNSUPPORTED,
                              "it may overflow in 16 bits, and autocast refuses it on CUDA");
}

static gboolean (*const policies[]) (Cast *cast, AdjValue *args) = {
  [ADJ_CAST_LOWER] = cast_all,        [ADJ_CAST_F32] = cast_to_f32, [ADJ_CAST_RESULT] = ask_for_f32,
  [ADJ_CAST_WIDEST] = cast_to_widest, [ADJ_CAST_REFUSED] = refuse,
};

gboolean
autocast_arguments (AdjOpCall *call, AdjDeviceType device, AdjValue *args)
{
  Cast cast = { .call = call,
                .device = device,
                .to = adj_context_get_autocast (call->cx, device).dtype };

  for (guint i = 0; i < call->schema->n_arguments; i++)
    args[i] = adj_value_copy (&call->args[i]);
  return policies[call->op->autocast[device]](&cast, args);
}
