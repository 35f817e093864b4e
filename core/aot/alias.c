/* SPDX-License-Identifier: MIT */
#include "aot/alias-private.h"

#include "autograd/adj-autograd.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "rules/adj-rule.h"

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

static AdjTensor *
make_view (AdjContext *cx, const AdjAotOutput *output, AdjTensor *base, AdjTensor *target)
{
  g_autoptr (AdjViewChain) recipe = adj_view_chain_after (output->recipe, output->turned);
  AdjTensor *view = recipe != NULL ? adj_view_chain_replay (recipe, cx, base) : NULL;

  if (view != NULL &&
      adj_shape_same_sizes (&adj_tensor_get_meta (view)->shape,
                            &adj_tensor_get_meta (target)->shape, adj_context_get_symbols (cx)))
    return view;
  return adj_context_has_error (cx) ? NULL : as_strided (cx, base, target);
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
