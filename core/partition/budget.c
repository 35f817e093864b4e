/* SPDX-License-Identifier: MIT */
#include "partition/partitioners-private.h"

gboolean
budget_choose (Plan *plan, GError **error)
{
  CutRules rules = cut_rules_from_options (plan->options);
  Cut *cut = cut_solve (plan->joint, &rules, NULL, error);

  if (cut == NULL)
    return FALSE;
  plan_take_cut (plan, cut);
  return TRUE;
}
