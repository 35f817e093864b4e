/* SPDX-License-Identifier: MIT */
/* A budget between the bytes of the inputs and those that the cut would save (partition/SPEC.md
 * §3.5): first rules are dropped until it is met; then a knapsack chooses which values expensive to
 * repeat stay saved, and the others may be recomputed. */

#include <string.h>

#include "ir/adj-graph.h"
#include "partition/knapsack.h"
#include "partition/partitioners-private.h"
#include "partition/runtime-private.h"

static const AdjKnapsackSolver solvers[ADJ_N_SOLVERS] = {
  [ADJ_SOLVER_DP] = adj_knapsack_dp,
  [ADJ_SOLVER_GREEDY] = adj_knapsack_greedy,
  [ADJ_SOLVER_EXACT] = adj_knapsack_exact,
};

typedef struct
{
  Plan *plan;
  const Joint *joint;
  double budget;
  double least, most; /* gigabytes: of the inputs, of the values that the cut saves */
} Budget;

static double
gigabytes (const Joint *joint, const guint8 *saved)
{
  guint64 sum = 0;

  for (guint i = 0; i < joint->n; i++)
    if (saved != NULL ? saved[i] : joint_is_input (joint, i))
      sum += joint->bytes[i];
  return (double) sum / 1e9;
}

static double
ratio (const Budget *self, const Cut *cut)
{
  return (gigabytes (self->joint, cut->saved) - self->least) / (self->most - self->least);
}

double
budget_wanted (const AdjGraph *joint, const AdjPartitionOptions *options)
{
  if (!isnan (options->budget))
    return options->budget;
  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    {
      const AdjValue *extra = adj_graph_get_node (joint, i)->meta.extra;

      for (guint k = 0; extra != NULL && k + 1 < extra->n; k += 2)
        if (extra->items[k].kind == ADJ_VALUE_STRING &&
            g_str_equal (extra->items[k].text, "memory_budget") &&
            extra->items[k + 1].kind == ADJ_VALUE_FLOAT)
          return extra->items[k + 1].number;
    }
  return isnan (options->usual_budget) ? 1 : options->usual_budget;
}

/* Saves only the inputs; also honours MUST_SAVE, which PyTorch ignores here. */
static void
save_inputs (Plan *plan)
{
  const Joint *joint = plan->joint;

  for (guint i = 0; i < joint->n; i++)
    {
      gboolean wanted = !plan->options->compat && !joint->gone[i] && !joint->in_backward[i] &&
                        joint->value[i] == VALUE_TENSOR &&
                        joint->recompute[i] == ADJ_RECOMPUTE_MUST_SAVE;

      if (!joint->gone[i] && (joint_is_input (joint, i) || wanted))
        plan_save (plan, i);
    }
}

/* -- the knapsack -- */

static gboolean
is_candidate (const Budget *self, const Cut *cut, guint i, const guint8 *is_input_storage)
{
  const Joint *joint = self->joint;

  if (cut->ban[i] == ADJ_RULE_NONE || joint->distance[i] >= FAR_FROM_BACKWARD ||
      is_input_storage[joint->owner[i]] || joint_is_input (joint, i))
    return FALSE;
  if (self->plan->options->compat)
    return TRUE;
  return cut->ban[i] != ADJ_RULE_EFFECT && joint->recompute[i] != ADJ_RECOMPUTE_MUST_SAVE;
}

static int
compare_candidates (gconstpointer a, gconstpointer b, gpointer data)
{
  const Joint *joint = data;
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  if (joint->bytes[x] != joint->bytes[y])
    return joint->bytes[x] > joint->bytes[y] ? -1 : 1;
  return strcmp (joint_name (joint, x), joint_name (joint, y));
}

static GArray *
list_candidates (const Budget *self, const Cut *cut)
{
  const Joint *joint = self->joint;
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint8 *is_input_storage = g_new0 (guint8, joint->n);

  for (guint i = 0; i < joint->n; i++)
    if (joint_is_input (joint, i))
      is_input_storage[joint->owner[i]] = TRUE;
  for (guint32 i = 0; i < joint->n; i++)
    if (is_candidate (self, cut, i, is_input_storage))
      g_array_append_val (candidates, i);
  g_array_sort_with_data (candidates, compare_candidates, (gpointer) joint);
  return candidates;
}

/* Frees the candidates for which the knapsack has no room. */
static void
fill_knapsack (Budget *self, GArray *candidates, guint8 *freed)
{
  const AdjPartitionOptions *options = self->plan->options;
  AdjBudgetSolver solver = MIN (options->solver, ADJ_N_SOLVERS - 1);
  g_autofree AdjKnapsackItem *items = g_new0 (AdjKnapsackItem, candidates->len + 1);
  g_autofree guint8 *keep = g_new0 (guint8, candidates->len + 1);

  for (guint i = 0; i < candidates->len; i++)
    {
      guint node = plan_item (candidates, i);

      items[i].memory = (double) self->joint->bytes[node] / 1e9 / (self->most - self->least);
      items[i].value = runtime_of (self->joint, node, options);
    }
  solvers[solver](items, candidates->len, self->budget, keep);
  for (guint i = 0; i < candidates->len; i++)
    {
      guint node = plan_item (candidates, i);

      freed[node] = !keep[i];
      self->plan->rule[node] = keep[i] ? ADJ_RULE_BUDGET : ADJ_RULE_OVER_BUDGET;
    }
}

/* Drops notes of the knapsack that the cut contradicts: BUDGET at a node that is not saved,
 * OVER_BUDGET at one that is. */
static void
drop_vain_rules (Plan *plan)
{
  for (guint i = 0; i < plan->joint->n; i++)
    if ((plan->rule[i] == ADJ_RULE_BUDGET && !plan->cut->saved[i]) ||
        (plan->rule[i] == ADJ_RULE_OVER_BUDGET && plan->cut->saved[i]))
      plan->rule[i] = ADJ_RULE_NONE;
}

static gboolean
choose_by_knapsack (Budget *self, const CutRules *rules, const Cut *cut, GError **error)
{
  g_autoptr (GArray) candidates = list_candidates (self, cut);
  g_autofree guint8 *freed = g_new0 (guint8, self->joint->n);
  Cut *chosen;

  if (candidates->len == 0)
    {
      save_inputs (self->plan);
      return TRUE;
    }
  fill_knapsack (self, candidates, freed);
  chosen = cut_solve (self->joint, rules, freed, error);
  if (chosen == NULL)
    return FALSE;
  plan_take_cut (self->plan, chosen);
  drop_vain_rules (self->plan);
  return TRUE;
}

/* Solves the cut under @rules and returns it; @fits: whether it is strictly below the budget. */
static Cut *
try_rules (Budget *self, const CutRules *rules, gboolean *fits, GError **error)
{
  Cut *cut = cut_solve (self->joint, rules, NULL, error);

  *fits = cut != NULL && ratio (self, cut) < self->budget;
  return cut;
}

static gboolean
choose_below (Budget *self, CutRules rules, GError **error)
{
  g_autoptr (Cut) cut = NULL;
  gboolean fits;

  rules.far_apart = rules.long_chains = rules.materialized = FALSE;
  cut = try_rules (self, &rules, &fits, error);
  if (cut != NULL && !fits)
    {
      cut_free (cut);
      rules.allowlist = FALSE;
      cut = try_rules (self, &rules, &fits, error);
    }
  if (cut == NULL)
    return FALSE;
  if (!fits)
    return choose_by_knapsack (self, &rules, cut, error);
  plan_take_cut (self->plan, g_steal_pointer (&cut));
  return TRUE;
}

gboolean
budget_choose (Plan *plan, GError **error)
{
  CutRules rules = cut_rules_from_options (plan->options);
  Budget self = { .plan = plan,
                  .joint = plan->joint,
                  .budget = budget_wanted (plan->joint->graph, plan->options) };
  g_autoptr (Cut) cut = NULL;

  if (!(self.budget >= 0 && self.budget <= 1))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "a budget is a fraction from 0 to 1; a node asks for %g", self.budget);
      return FALSE;
    }
  if (self.budget == 0)
    {
      save_inputs (plan);
      return TRUE;
    }
  cut = cut_solve (plan->joint, &rules, NULL, error);
  if (cut == NULL)
    return FALSE;
  self.least = gigabytes (plan->joint, NULL);
  self.most = gigabytes (plan->joint, cut->saved);
  if (self.budget < 1 && self.most > self.least)
    return choose_below (&self, rules, error);
  plan_take_cut (plan, g_steal_pointer (&cut));
  return TRUE;
}
