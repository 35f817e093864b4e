/* SPDX-License-Identifier: MIT */
/* Forward-mode tangents of the results of a call: by its row, its gradient rule, or the operator
 * itself. */

#include "rules/adj-forward.h"

#include <string.h>

#include "call/adj-context-internal.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "rules/rule-private.h"

typedef struct
{
  const AdjOpCall *call;
  const AdjValue *tangents;
  AdjForwardZeros zeros;
  AdjArena *arena;
} Forward;

/* -- arguments -- */

static gboolean
is_differentiable (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TENSOR &&
         adj_dtype_is_differentiable (adj_tensor_get_meta (value->tensor)->dtype);
}

/* A view (alias) of the argument, which PyTorch's formulas take. */
static gboolean
take_primal (const Forward *f, guint arg, AdjValue *out)
{
  *out = f->call->args[arg];
  if (!is_differentiable (out))
    return TRUE;
  out->tensor = ADJ_APPLY (f->call->cx, ADJ_OP_alias, *out);
  return out->tensor != NULL;
}

static gboolean
take_primals (const Forward *f, guint64 read, AdjValue *out)
{
  for (guint i = 0; i < f->call->schema->n_arguments; i++)
    {
      out[i] = f->call->args[i];
      if (((read >> i) & 1) != 0 && !take_primal (f, i, &out[i]))
        return FALSE;
    }
  return TRUE;
}

static AdjValue
zeros_like (const Forward *f, const AdjValue *value)
{
  AdjTensorMeta *meta = adj_arena_new0 (f->arena, AdjTensorMeta, 1);

  if (value->kind == ADJ_VALUE_TENSOR)
    *meta = *adj_tensor_get_meta (value->tensor);
  else
    {
      meta->dtype = f->call->results[0].meta.dtype;
      meta->device = f->call->results[0].meta.device;
    }
  return (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
}

/* Missing tangents become zeros. */
static void
take_tangents (const Forward *f, AdjValue *out)
{
  for (guint i = 0; i < f->call->schema->n_arguments; i++)
    {
      out[i] = f->tangents[i];
      if (out[i].kind == ADJ_VALUE_NONE && f->call->args[i].kind != ADJ_VALUE_NONE)
        out[i] = zeros_like (f, &f->call->args[i]);
    }
}

static void
take_results (const Forward *f, AdjValue *out)
{
  for (guint i = 0; i < f->call->n_results; i++)
    out[i] = f->call->results[i].tensor != NULL ? ADJ_TENSOR (f->call->results[i].tensor)
                                                : f->call->results[i].plain;
}

/* -- what tells the tangent -- */

static gboolean
eval_row (Forward *f, const AdjRule *rule, AdjValue *out)
{
  AdjValue args[ADJ_MAX_ARGUMENTS], tangents[ADJ_MAX_ARGUMENTS];
  AdjValue *results = adj_arena_new0 (f->arena, AdjValue, f->call->n_results + 1);
  const AdjRuleGrads grads = { .results = results };
  AdjRuleCall eval = {
    .cx = f->call->cx,
    .rule = rule,
    .args = args,
    .grads = &grads,
    .bindings = tangents,
    .zeros = f->zeros,
  };
  gboolean done;

  if (!take_primals (f, rule->entries[0].use.args, args))
    return FALSE;
  take_tangents (f, tangents);
  take_results (f, results);
  adj_rule_call_init (&eval);
  done = adj_rule_call_eval (&eval, 0, out);
  if (done && out->kind == ADJ_VALUE_META)
    *out = ADJ_NONE;
  adj_rule_call_clear (&eval);
  return done;
}

static AdjTensor *
conjugate (AdjContext *cx, AdjTensor *tensor)
{
  const AdjDType dtype = adj_tensor_get_meta (tensor)->dtype;

  return adj_dtype_get_real (dtype) == dtype ? tensor
                                             : ADJ_APPLY (cx, ADJ_OP__conj, ADJ_TENSOR (tensor));
}

/* The conjugate of @tensor, or its real part where @dtype is real. */
static AdjTensor *
conjugate_like (AdjContext *cx, AdjTensor *tensor, AdjDType dtype)
{
  const AdjDType own = adj_tensor_get_meta (tensor)->dtype;

  return adj_dtype_get_real (own) != own && adj_dtype_get_real (dtype) == dtype
             ? ADJ_APPLY (cx, ADJ_OP_real, ADJ_TENSOR (tensor))
             : conjugate (cx, tensor);
}

/* Applies the gradient rule of an elementwise function to the conjugate tangent, and conjugates the
 * result. */
static gboolean
eval_gradient (Forward *f, const AdjRule *rule, AdjValue *out)
{
  AdjContext *cx = f->call->cx;
  AdjTensor *tangent = f->tangents[rule->entries[0].arg].tensor;
  AdjTensor *grad = conjugate (cx, tangent);
  AdjValue args[ADJ_MAX_ARGUMENTS], result;
  const gboolean needed = TRUE;
  const AdjRuleGrads grads = { &result, &f->call->results[0].meta, &grad, 1, &needed };
  AdjRuleCall eval = { .cx = cx, .rule = rule, .args = args, .grads = &grads };
  gboolean done;

  if (grad == NULL || !take_primals (f, rule->entries[0].use.args, args))
    return FALSE;
  take_results (f, &result);
  adj_rule_call_init (&eval);
  done = adj_rule_call_eval (&eval, 0, out);
  adj_rule_call_clear (&eval);
  if (done && out->kind == ADJ_VALUE_TENSOR)
    out->tensor = conjugate_like (cx, out->tensor, f->call->results[0].meta.dtype);
  return done && (out->kind != ADJ_VALUE_TENSOR || out->tensor != NULL);
}

static gboolean
eval_operator (Forward *f, const AdjRule *rule, AdjValue *out)
{
  AdjRuleCall zeros = { .cx = f->call->cx, .rule = rule, .zeros = f->zeros, .arena = f->arena };
  AdjValue args[ADJ_MAX_ARGUMENTS], unused;

  memcpy (args, f->call->args, f->call->schema->n_arguments * sizeof *args);
  for (guint i = 0; i < rule->n_entries; i++)
    {
      const guint arg = rule->entries[i].arg;
      AdjValue *value = &args[arg];
      AdjValue *items = adj_arena_new0 (f->arena, AdjValue, value->n + 1);

      if (adj_value_is_container (value))
        {
          for (guint k = 0; k < value->n; k++)
            items[k] = f->tangents[arg].kind != ADJ_VALUE_NONE &&
                               f->tangents[arg].items[k].kind != ADJ_VALUE_NONE
                           ? f->tangents[arg].items[k]
                           : zeros_like (f, &value->items[k]);
          rule_apply_to_zeros (&zeros, f->call->op, items, value->n, &unused);
          value->items = items;
        }
      else if (value->kind != ADJ_VALUE_NONE)
        *value = f->tangents[arg].kind != ADJ_VALUE_NONE ? f->tangents[arg] : zeros_like (f, value);
    }
  rule_apply_to_zeros (&zeros, f->call->op, args, f->call->schema->n_arguments, &unused);
  return !adj_context_has_error (f->call->cx) &&
         adj_call_bound (f->call->cx, f->call->op, args, out);
}

/* -- which of them -- */

static gboolean
is_elementwise (const AdjRule *rule, const AdjOpCall *call)
{
  return (adj_op_get_body (call->op) != NULL || (call->op->flags & ADJ_OP_RANDOM) != 0) &&
         rule->n_entries == 1 && call->n_results == 1;
}

/* Whether no gradient reads a differentiable argument or a result. */
static gboolean
is_linear (const AdjRule *rule)
{
  guint64 differentiable = 0;

  for (guint i = 0; i < rule->n_entries; i++)
    differentiable |= (guint64) 1 << rule->entries[i].arg;
  for (guint i = 0; i < rule->n_entries; i++)
    if ((rule->entries[i].use.args & differentiable) != 0 || rule->entries[i].use.results != 0)
      return FALSE;
  return !rule_refuses (rule);
}

static gboolean
has_tangent (const AdjValue *tangent)
{
  gboolean any = tangent->kind == ADJ_VALUE_TENSOR;

  for (guint i = 0; adj_value_is_container (tangent) && i < tangent->n; i++)
    any |= tangent->items[i].kind == ADJ_VALUE_TENSOR;
  return any;
}

/* Whether @rule has a gradient for each argument that has a tangent. */
static gboolean
covers (const AdjRule *rule, const Forward *f)
{
  guint64 differentiable = 0;

  for (guint i = 0; i < rule->n_entries; i++)
    differentiable |= (guint64) 1 << rule->entries[i].arg;
  for (guint i = 0; i < f->call->schema->n_arguments; i++)
    if (((differentiable >> i) & 1) == 0 && has_tangent (&f->tangents[i]))
      return FALSE;
  return TRUE;
}

static gboolean
eval (Forward *f, AdjValue *out)
{
  const AdjOpCall *call = f->call;
  const char *release = adj_context_get_release (call->cx);
  const AdjRule *row = adj_rule_find (call->op, ADJ_RULE_FORWARD, release);
  const AdjRule *rule = adj_rule_find (call->op, ADJ_RULE_GRAD, release);
  const gint8 *from = NULL;

  if (row != NULL)
    return eval_row (f, row, out);
  if (rule != NULL && is_elementwise (rule, call) && covers (rule, f))
    return eval_gradient (f, rule, out);
  if (rule != NULL && is_linear (rule) && covers (rule, f) &&
      adj_op_get_element (call->op, &from) == NULL)
    return eval_operator (f, rule, out);
  return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no derivative in forward mode");
}

static gboolean
can_have_tangent (const AdjOpCall *call)
{
  if ((call->op->flags & ADJ_OP_NO_GRADIENT) != 0)
    return FALSE;
  for (guint i = 0; i < call->n_results; i++)
    if (call->results[i].tensor != NULL &&
        adj_dtype_is_differentiable (call->results[i].meta.dtype))
      return TRUE;
  return FALSE;
}

gboolean
adj_forward_call (const AdjOpCall *call,
                  const AdjValue *tangents,
                  AdjForwardZeros zeros,
                  AdjTensor **out)
{
  Forward f = { call, tangents, zeros, adj_arena_new () };
  AdjValue value = ADJ_NONE;
  gboolean done = !can_have_tangent (call) || eval (&f, &value);

  for (guint i = 0; i < call->n_results; i++)
    {
      const AdjValue *item =
          adj_value_is_container (&value) && i < value.n ? &value.items[i] : &value;

      out[i] = done && item->kind == ADJ_VALUE_TENSOR && (item != &value || i == 0) &&
                       call->results[i].tensor != NULL &&
                       adj_dtype_is_differentiable (call->results[i].meta.dtype)
                   ? item->tensor
                   : NULL;
    }
  adj_arena_free (f.arena);
  return done;
}
