/* SPDX-License-Identifier: MIT */

/* Composite operators: taken apart as soon as they are called, so that no mode hears of them.
 * Their rules call the builtins below; ops/composite-builtins.inc says what each one is. */

#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/composite-private.h"

/* -- arguments -- */

AdjSymbols *
rule_symbols (const AdjRuleCall *call)
{
  return adj_context_get_symbols (call->cx);
}

const AdjShape *
rule_shape_given (AdjRuleCall *call, const AdjValue *value)
{
  static const AdjShape neutral = { 0 };

  if (value->kind == ADJ_VALUE_TENSOR)
    return &adj_tensor_get_meta (value->tensor)->shape;
  rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a tensor, not %s",
                  adj_value_kind_name (value->kind));
  return &neutral;
}

guint
rule_sizes_given (AdjRuleCall *call, const AdjValue *value, AdjSize *out)
{
  guint n = adj_value_is_container (value) ? value->n : 0;

  if (adj_value_get_size (value, &out[0]))
    return 1;
  if (n > ADJ_MAX_RANK)
    rule_call_fail (call, ADJ_ERROR_LIMIT, "has a list of %u sizes", n);
  n = MIN (n, ADJ_MAX_RANK);
  for (guint i = 0; i < n; i++)
    if (!adj_value_get_size (&value->items[i], &out[i]))
      {
        rule_call_fail (call, ADJ_ERROR_SHAPE, "needs sizes, not %s",
                        adj_value_kind_name (value->items[i].kind));
        out[i] = ADJ_SIZE (0);
      }
  return n;
}

gint64
rule_int_of (AdjRuleCall *call, const AdjValue *value)
{
  if (value->kind == ADJ_VALUE_INT)
    return value->integer;
  rule_call_fail (call, ADJ_ERROR_SHAPE, "needs an integer, not %s",
                  adj_value_kind_name (value->kind));
  return 0;
}

gboolean
rule_give_sizes (AdjRuleCall *call, const AdjSize *sizes, guint n, AdjValue *out)
{
  *out = adj_rule_list_sizes (call->arena, sizes, n);
  return TRUE;
}

gint64
rule_wrapped_dim (AdjRuleCall *call, gint64 dim, gint64 rank)
{
  gint64 bound = MAX (rank, 1);

  if (dim >= -bound && dim < bound)
    return dim < 0 ? dim + bound : dim;
  rule_call_fail (call, ADJ_ERROR_SHAPE,
                  "has %" G_GINT64_FORMAT
                  " dimensions, but is asked for dimension %" G_GINT64_FORMAT,
                  rank, dim);
  return 0;
}

/* -- tensors -- */

gboolean
rule_after (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = args[0];
  return TRUE;
}

gboolean
rule_raised (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gboolean recorded = adj_context_get_grad_enabled (call->cx);
  AdjValue pair[] = { args[0], args[1] };
  gboolean done;

  adj_context_set_grad_enabled (call->cx, FALSE);
  done = adj_call (call->cx,
                   adj_op_find (args[1].kind == ADJ_VALUE_TENSOR
                                    ? "torch.ops.aten.clamp_min_.Tensor"
                                    : "torch.ops.aten.clamp_min_.default"),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = pair }, NULL, out);
  adj_context_set_grad_enabled (call->cx, recorded);
  return done;
}

gboolean
rule_spread (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = rule_shape_given (call, &args[0]);
  AdjShape wanted;

  wanted.rank = rule_sizes_given (call, &args[1], wanted.size);
  *out = args[0];
  if (adj_shape_same_sizes (shape, &wanted, rule_symbols (call)))
    return TRUE;
  *out = ADJ_TENSOR (ADJ_APPLY (call->cx, ADJ_OP_expand, args[0], args[1]));
  return out->tensor != NULL;
}

/* -- the table -- */

static const RuleBuiltin rows[] = {
#define BUILTIN(word, help) { #word, rule_##word },
#include "ops/composite-builtins.inc"
#undef BUILTIN
};

const RuleBuiltinTable rule_composite_builtins = { rows, G_N_ELEMENTS (rows) };

guint32
rule_composite_builtin_describes (const RuleBuiltin *builtin)
{
  return builtin->func == rule_rank ? 1 << 0 : 0;
}

/* -- the call -- */

/* Numbers may stand for tensors on the right of arithmetic alone. */
static gboolean
check_tensors (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjArgument *argument = &call->schema->arguments[i];

      if (argument->type.kind == ADJ_TYPE_KIND_TENSOR && !argument->type.is_list &&
          call->args[i].kind != ADJ_VALUE_TENSOR && call->args[i].kind != ADJ_VALUE_NONE &&
          strcmp (argument->name, "other") != 0)
        return adj_op_call_fail (call, "argument '%s' must be a tensor, not %s", argument->name,
                                 adj_value_kind_name (call->args[i].kind));
    }
  return TRUE;
}

gboolean
rule_decompose (AdjOpCall *call, AdjValue *result)
{
  AdjRuleCall rule = {
    .cx = call->cx,
    .rule = adj_rule_find (call->op, ADJ_RULE_DECOMPOSE, adj_context_get_release (call->cx)),
    .args = call->args,
  };
  AdjValue value;
  gboolean done;

  if (rule.rule == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no decomposition");
  if (!check_tensors (call))
    return FALSE;

  adj_rule_call_init (&rule);
  done = adj_rule_call_eval (&rule, 0, &value) && !adj_context_has_error (call->cx);
  *result = done ? adj_value_copy (&value) : ADJ_NONE;
  adj_rule_call_clear (&rule);
  return done;
}
