/* SPDX-License-Identifier: MIT */
/* Recreates an output that aliases an input or a base after the call, as one operation that
 * autograd records. */

#include "aot/alias-private.h"

#include "autograd/adj-autograd.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"
#include "trace/adj-composite-internal.h"
#include "trace/adj-composite.h"

static AdjTensor *
as_strided (AdjContext *cx, AdjTensor *base, AdjTensor *target)
{
  const AdjShape *shape = &adj_tensor_get_meta (target)->shape;
  g_autoptr (AdjArena) arena = adj_arena_new ();

  return ADJ_APPLY (cx, ADJ_OP_as_strided, ADJ_TENSOR (base),
                    adj_rule_list_sizes (arena, shape->size, shape->rank),
                    adj_rule_list_sizes (arena, shape->stride, shape->rank),
                    adj_value_from_size (shape->offset));
}

/* Replays all but the last @n_recorded steps with grad mode off, as in the trace. */
static AdjTensor *
replay (AdjContext *cx, AdjViewChain *recipe, guint n_recorded, AdjTensor *base)
{
  g_autoptr (AdjViewChain) rest = NULL;
  AdjViewChain *quiet = recipe;
  AdjTensor *view;
  gboolean enabled;

  if (n_recorded >= adj_view_chain_get_n_steps (recipe))
    return adj_view_chain_replay (recipe, cx, base);
  for (guint i = 0; i < n_recorded; i++)
    quiet = adj_view_chain_get_parent (quiet);
  rest = adj_view_chain_after (recipe, quiet);
  enabled = adj_context_set_grad_enabled (cx, FALSE);
  view = adj_view_chain_replay (quiet, cx, base);
  adj_context_set_grad_enabled (cx, enabled);
  return view != NULL && rest != NULL ? adj_view_chain_replay (rest, cx, view) : view;
}

static AdjTensor *
make_view (AdjContext *cx, const AdjAotOutput *output, AdjTensor *base, AdjTensor *target)
{
  g_autoptr (AdjViewChain) recipe = adj_view_chain_after (output->recipe, output->turned);
  gboolean enabled;
  AdjTensor *view = recipe != NULL ? replay (cx, recipe, output->n_recorded, base) : NULL;

  if (view != NULL &&
      adj_shape_same_sizes (&adj_tensor_get_meta (view)->shape,
                            &adj_tensor_get_meta (target)->shape, adj_context_get_symbols (cx)))
    return view;
  if (adj_context_has_error (cx))
    return NULL;
  enabled = adj_context_get_grad_enabled (cx);
  adj_context_set_grad_enabled (cx, enabled && output->n_recorded == G_MAXUINT);
  view = as_strided (cx, base, target);
  adj_context_set_grad_enabled (cx, enabled);
  return view;
}

AdjTensor *
aot_alias_new (AdjContext *cx, const AdjAotOutput *output, AdjTensor *base, AdjTensor *target)
{
  AdjTensor *view;

  if (!output->requires_grad && adj_tensor_get_requires_grad (base))
    base = ADJ_APPLY (cx, ADJ_OP_detach, ADJ_TENSOR (base));
  view = base != NULL ? make_view (cx, output, base, target) : NULL;
  if (view != NULL && output->requires_grad && !adj_tensor_get_requires_grad (view) &&
      !adj_tensor_set_requires_grad (cx, view, TRUE))
    return NULL;
  return view;
}

AdjTensor *
aot_alias_with_history (AdjContext *cx,
                        const AdjAotOutput *output,
                        AdjTensor *base,
                        AdjTensor *target)
{
  gboolean enabled = adj_context_set_grad_enabled (cx, FALSE);
  AdjTensor *view = make_view (cx, output, base, target);
  AdjTensor *alias = NULL;

  adj_context_set_grad_enabled (cx, TRUE);
  if (view != NULL)
    alias = adj_composite_alias (cx, view, view);
  if (alias != NULL && adj_tensor_get_requires_grad (target) &&
      !aot_connect_same (cx, "AliasBackward", target, alias))
    alias = NULL;
  adj_context_set_grad_enabled (cx, enabled);
  return alias;
}
