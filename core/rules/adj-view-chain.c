/* SPDX-License-Identifier: MIT */
/* A chain of views as data: how a tensor is made from its base; replayed on a base, inverted for
 * writes. */

#include "rules/adj-view-chain.h"

#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "rules/adj-rule.h"
#include "rules/view-parts-private.h"

struct _AdjViewChain
{
  gatomicrefcount ref_count;
  AdjViewChain *parent; /* (owned) (nullable) */
  guint n_steps;
  gboolean is_multi_output;
  gboolean has_late_as_strided;
  const AdjOp *op;
  guint base; /* index of the argument that is left out */
  guint part;
  AdjValue args[]; /* (owned) */
};

/* Index of the argument that is viewed. */
static guint
base_of (const AdjSchema *schema)
{
  guint arg = 0;

  while (arg < schema->n_arguments && schema->arguments[arg].type.kind != ADJ_TYPE_KIND_TENSOR)
    arg++;
  return arg;
}

gboolean
adj_op_is_view (const AdjOp *op)
{
  return op->inverse != NULL;
}

AdjViewChain *
adj_view_chain_append (AdjViewChain *chain, const AdjOp *op, const AdjValue *args, guint part)
{
  const AdjSchema *schema = adj_op_get_schema (op);
  AdjViewChain *self;

  g_return_val_if_fail (adj_op_is_view (op), NULL);

  self = g_malloc0 (sizeof *self + schema->n_arguments * sizeof *self->args);
  g_atomic_ref_count_init (&self->ref_count);
  self->parent = adj_view_chain_ref (chain);
  self->n_steps = adj_view_chain_get_n_steps (chain) + 1;
  self->is_multi_output = adj_view_chain_is_multi_output (chain) || schema->returns[0].type.is_list;
  self->has_late_as_strided = adj_view_chain_has_late_as_strided (chain) ||
                              (chain != NULL && op == adj_op (ADJ_OP_as_strided));
  self->op = op;
  self->base = base_of (schema);
  self->part = part;
  for (guint i = 0; i < schema->n_arguments; i++)
    if (i != self->base)
      self->args[i] = adj_value_copy (&args[i]);
  return self;
}

AdjViewChain *
adj_view_chain_ref (AdjViewChain *chain)
{
  if (chain != NULL)
    g_atomic_ref_count_inc (&chain->ref_count);
  return chain;
}

void
adj_view_chain_unref (AdjViewChain *chain)
{
  while (chain != NULL && g_atomic_ref_count_dec (&chain->ref_count))
    {
      AdjViewChain *parent = chain->parent;

      for (guint i = 0; i < adj_op_get_schema (chain->op)->n_arguments; i++)
        adj_value_clear (&chain->args[i]);
      g_free (chain);
      chain = parent;
    }
}

guint
adj_view_chain_get_n_steps (const AdjViewChain *chain)
{
  return chain != NULL ? chain->n_steps : 0;
}

const AdjOp *
adj_view_chain_get_op (const AdjViewChain *chain)
{
  g_return_val_if_fail (chain != NULL, NULL);

  return chain->op;
}

const AdjValue *
adj_view_chain_get_arg (const AdjViewChain *chain, guint arg)
{
  g_return_val_if_fail (chain != NULL && arg < adj_op_get_schema (chain->op)->n_arguments, NULL);

  return &chain->args[arg];
}

guint
adj_view_chain_get_part (const AdjViewChain *chain)
{
  g_return_val_if_fail (chain != NULL, 0);

  return chain->part;
}

AdjViewChain *
adj_view_chain_get_parent (const AdjViewChain *chain)
{
  g_return_val_if_fail (chain != NULL, NULL);

  return chain->parent;
}

gboolean
adj_view_chain_is_multi_output (const AdjViewChain *chain)
{
  return chain != NULL && chain->is_multi_output;
}

gboolean
adj_view_chain_has_late_as_strided (const AdjViewChain *chain)
{
  return chain != NULL && chain->has_late_as_strided;
}

/* -- replaying -- */

/* The arguments of the last step of @chain, applied to @base. */
static void
fill_args (const AdjViewChain *chain, AdjTensor *base, AdjValue *args)
{
  for (guint i = 0; i < adj_op_get_schema (chain->op)->n_arguments; i++)
    args[i] = i == chain->base ? ADJ_TENSOR (base) : chain->args[i];
}

/* Applies one step to the result of the previous one. */
static AdjTensor *
replay_step (const AdjViewChain *chain, AdjContext *cx, AdjTensor *base)
{
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjValue result;
  ViewPart part;

  if (base == NULL)
    return NULL;
  fill_args (chain, base, args);
  part = view_part_find (chain->op);
  if (part != NULL && adj_rule_has_formula (cx, "parts_alone"))
    return part (cx, args, chain->part);
  if (!adj_call_bound (cx, chain->op, args, &result))
    return NULL;
  if (result.kind == ADJ_VALUE_TENSOR)
    return result.tensor;
  if (adj_value_is_container (&result) && chain->part < result.n)
    return result.items[chain->part].tensor;
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s has no result %u on another base",
                    adj_op_get_schema (chain->op)->target, chain->part);
  return NULL;
}

/* The steps in order. (transfer container) */
static const AdjViewChain **
list_steps (const AdjViewChain *chain)
{
  const AdjViewChain **steps = g_new (const AdjViewChain *, adj_view_chain_get_n_steps (chain) + 1);

  for (; chain != NULL; chain = chain->parent)
    steps[chain->n_steps - 1] = chain;
  return steps;
}

AdjTensor *
adj_view_chain_replay (const AdjViewChain *chain, AdjContext *cx, AdjTensor *base)
{
  g_autofree const AdjViewChain **steps = list_steps (chain);

  for (guint i = 0; i < adj_view_chain_get_n_steps (chain); i++)
    base = replay_step (steps[i], cx, base);
  return base;
}

AdjViewChain *
adj_view_chain_after (const AdjViewChain *chain, const AdjViewChain *done)
{
  g_autofree const AdjViewChain **steps = list_steps (chain);
  guint n = adj_view_chain_get_n_steps (chain), n_done = adj_view_chain_get_n_steps (done);
  AdjViewChain *rest = NULL;

  if (n_done > n || (n_done > 0 && steps[n_done - 1] != done))
    return NULL;
  for (guint i = n_done; i < n; i++)
    {
      AdjViewChain *longer =
          adj_view_chain_append (rest, steps[i]->op, steps[i]->args, steps[i]->part);

      adj_view_chain_unref (rest);
      rest = longer;
    }
  return rest;
}

/* -- turning around -- */

static AdjTensor *
invert_step (const AdjViewChain *chain, AdjContext *cx, AdjTensor *base, AdjTensor *mutated)
{
  const AdjValue bindings[] = { ADJ_TENSOR (base), ADJ_TENSOR (mutated), ADJ_INT (chain->part) };
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjRuleCall call = {
    .cx = cx,
    .rule = adj_rule_find (chain->op, ADJ_RULE_INVERSE, NULL),
    .args = args,
    .bindings = bindings,
  };
  AdjValue result = ADJ_NONE;

  if (mutated == NULL)
    return NULL;
  fill_args (chain, base, args);
  adj_rule_call_init (&call);
  if (!adj_rule_call_eval (&call, 0, &result))
    result = ADJ_NONE;
  adj_rule_call_clear (&call);
  return result.kind == ADJ_VALUE_TENSOR ? result.tensor : NULL;
}

AdjTensor *
adj_view_chain_invert (const AdjViewChain *chain,
                       AdjContext *cx,
                       AdjTensor *base,
                       AdjTensor *mutated)
{
  g_autofree const AdjViewChain **steps = list_steps (chain);
  guint n = adj_view_chain_get_n_steps (chain);
  g_autofree AdjTensor **bases = g_new (AdjTensor *, n + 1);

  if (adj_view_chain_has_late_as_strided (chain))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "cannot write through an as_strided view of a view: it does not compose");
      return NULL;
    }
  bases[0] = base;
  for (guint i = 0; i + 1 < n; i++)
    if ((bases[i + 1] = replay_step (steps[i], cx, bases[i])) == NULL)
      return NULL;
  for (guint i = n; i-- > 0;)
    mutated = invert_step (steps[i], cx, bases[i], mutated);
  return mutated;
}
