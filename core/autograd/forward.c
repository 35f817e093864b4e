/* SPDX-License-Identifier: MIT */
/* Forward mode, torch.func.jvp: a tensor of the level wraps a primal and has a tangent; a call
 * computes the results of the primals and their tangents. */

#include "autograd/forward-private.h"

#include "call/adj-context-internal.h"
#include "call/adj-schema-internal.h"
#include "rules/adj-forward.h"
#include "trace/adj-composite-internal.h"

static gboolean call_with_zeros (AdjCompositeCall *call, AdjValue *result);

static const char *const zeros_names[] = { "zeros" };

static const AdjCompositeClass zeros_class = {
  .name = "ZeroTensor",
  .n_inner = 1,
  .inner_names = zeros_names,
  .call = call_with_zeros,
};

typedef struct
{
  const Level *level;
  gboolean any; /* one of the arguments was a tensor of the level */
} Parting;

static gboolean
find_tangent (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Parting *parting = data;
  AdjTensor *tangent =
      leaf->kind == ADJ_VALUE_TENSOR ? level_tangent (parting->level, leaf->tensor) : NULL;

  *out = tangent != NULL ? ADJ_TENSOR (adj_tensor_ref (tangent)) : ADJ_NONE;
  parting->any |= tangent != NULL;
  return TRUE;
}

static gboolean
find_primal (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Parting *parting = data;
  AdjTensor *primal =
      leaf->kind == ADJ_VALUE_TENSOR ? level_unwrap (parting->level, leaf->tensor, NULL) : NULL;

  *out = primal != NULL ? ADJ_TENSOR (adj_tensor_ref (primal)) : adj_value_copy (leaf);
  return TRUE;
}

/* Makes result @index a tensor of the level: a view of an argument, or a new one. */
static gboolean
put_tangent (const Level *level, AdjOpCall *call, guint index, AdjTensor *tangent)
{
  AdjOpResult *result = &call->results[index];
  AdjTensor *base =
      result->alias_of >= 0 ? adj_op_call_tensor_or_null (call, (guint) result->alias_of) : NULL;
  AdjTensor *dual = level_wrap_dual (call->cx, level, result->tensor, tangent);

  if (dual != NULL && base != NULL)
    dual = adj_composite_alias (call->cx, dual, base);
  if (dual == NULL)
    return FALSE;
  adj_tensor_unref (result->tensor);
  result->tensor = adj_tensor_ref (dual);
  result->meta = *adj_tensor_get_meta (dual);
  return TRUE;
}

/* -- tangents that are zeros, in traces -- */

/* Autograd saves `_efficientzerotensor`, and views of it are nodes; other operators get zeros. */
static gboolean
make_zeros_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const AdjTensorMeta *meta;
  AdjTensor *zeros;

  if (leaf->kind != ADJ_VALUE_TENSOR || adj_composite_get_class (leaf->tensor) != &zeros_class)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  meta = adj_tensor_get_meta (leaf->tensor);
  zeros = adj_forward_make_zeros (data, meta);
  *out = ADJ_TENSOR (adj_keep (zeros));
  return zeros != NULL;
}

static gboolean
call_with_zeros (AdjCompositeCall *call, AdjValue *result)
{
  AdjContext *cx = adj_composite_call_get_context (call);
  const AdjOp *op = adj_composite_call_get_op (call);
  const guint n = adj_composite_call_get_n_args (call);
  AdjValue args[ADJ_MAX_ARGUMENTS];
  gboolean done = TRUE;
  guint i = 0;

  if (adj_schema_is_view (adj_op_get_schema (op)))
    return adj_composite_call_part (call, 0, result);
  for (; done && i < n; i++)
    {
      args[i] = ADJ_NONE;
      done = adj_value_map (&adj_composite_call_get_args (call)[i], make_zeros_leaf, cx, &args[i]);
    }
  done = done && adj_call_bound (cx, op, args, result);
  while (i-- > 0)
    adj_value_clear (&args[i]);
  return done;
}

static AdjTensor *
new_zeros (AdjContext *cx, const AdjTensorMeta *meta)
{
  AdjTensor *inner = adj_forward_make_efficient_zeros (cx, meta);
  AdjTensorMeta outer;

  if (inner == NULL)
    return NULL;
  outer = *adj_tensor_get_meta (inner);
  return adj_composite_new (cx, &zeros_class, &inner, NULL, &outer);
}

static gboolean
call_dual (AdjMode *mode, AdjOpCall *call, const AdjValue *primals, const AdjValue *tangents)
{
  const AdjValue *args = call->args;
  AdjTensor **found;
  gboolean done;

  call->args = primals;
  done = adj_mode_call_below (mode, call);
  found = done ? adj_scope_alloc (call->cx, (call->n_results + 1) * sizeof *found) : NULL;
  done = done &&
         adj_forward_call (call, tangents,
                           adj_mode_is_traced (mode) && adj_composite_is_handled (mode) ? new_zeros
                                                                                        : NULL,
                           found);
  call->args = args;
  for (guint i = 0; done && i < call->n_results; i++)
    if (found[i] != NULL)
      done = put_tangent ((Level *) mode, call, i, found[i]);
  return done;
}

gboolean
forward_call (AdjMode *mode, AdjOpCall *call)
{
  Parting parting = { .level = (Level *) mode };
  AdjValue primals[ADJ_MAX_ARGUMENTS], tangents[ADJ_MAX_ARGUMENTS];
  const guint n = call->schema->n_arguments;
  AdjMode *entry = adj_context_set_entry (call->cx, mode->below);
  gboolean done;

  for (guint i = 0; i < n; i++)
    {
      primals[i] = tangents[i] = ADJ_NONE;
      adj_value_map (&call->args[i], find_primal, &parting, &primals[i]);
      adj_value_map (&call->args[i], find_tangent, &parting, &tangents[i]);
    }
  if (!parting.any)
    done = adj_mode_call_below (mode, call);
  else if (adj_schema_mutates (call->schema))
    done = adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "is not known to write what has a tangent");
  else
    done = call_dual (mode, call, primals, tangents);
  for (guint i = 0; i < n; i++)
    {
      adj_value_clear (&primals[i]);
      adj_value_clear (&tangents[i]);
    }
  adj_context_set_entry (call->cx, entry);
  return done;
}
