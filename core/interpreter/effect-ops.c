/* SPDX-License-Identifier: MIT */
/* The table of operators with side effects. */

#include "interpreter/effect-ops-private.h"

static const AdjEffectOp *const table[] = { &adj_effect_print, &adj_effect_leaf_function,
                                            &adj_effect_linear_dynamic };

const AdjEffectOp *
adj_effect_op_find (const char *target)
{
  g_return_val_if_fail (target != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (g_str_equal (table[i]->target, target))
      return table[i];
  return NULL;
}
