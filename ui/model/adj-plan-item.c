/* SPDX-License-Identifier: MIT */
/* A partition on the curve of budgets as an item of a list model. */

#include <glib/gi18n.h>

#include "model/plan-item-private.h"
#include "report/adj-properties.h"

G_DEFINE_FINAL_TYPE (AdjPlanItem, adj_plan_item, G_TYPE_OBJECT)

static void
adj_plan_item_finalize (GObject *object)
{
  g_free (ADJ_PLAN_ITEM (object)->plan.budgets);

  G_OBJECT_CLASS (adj_plan_item_parent_class)->finalize (object);
}

static void
adj_plan_item_class_init (AdjPlanItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_plan_item_finalize;
}

static void
adj_plan_item_init (AdjPlanItem *self)
{
}

const AdjTradeoffPlan *
adj_plan_item_get (AdjPlanItem *self)
{
  return &self->plan;
}

const char *
adj_plan_kind_title (AdjPlanKind kind)
{
  static const char *const titles[ADJ_N_PLAN_KINDS] = { N_ ("PyTorch"), N_ ("Adjoint"),
                                                        N_ ("This file") };

  return _ (titles[MIN (kind, ADJ_PLAN_SHOWN)]);
}

gboolean
adj_plan_item_counts_bytes (AdjPlanItem *self)
{
  return self->by_bytes;
}

char *
adj_plan_item_get_again (AdjPlanItem *self)
{
  return self->by_bytes ? adj_properties_bytes ((gint64) self->plan.again)
                        : adj_properties_flops (self->plan.again);
}

char *
adj_plan_item_describe (AdjPlanItem *self)
{
  const AdjTradeoffPlan *plan = &self->plan;
  g_autofree char *peak = adj_properties_bytes ((gint64) MIN (plan->peak, G_MAXINT64));
  g_autofree char *saved = adj_properties_bytes ((gint64) MIN (plan->saved_bytes, G_MAXINT64));
  g_autofree char *again = adj_plan_item_get_again (self);
  GString *text = g_string_new (adj_plan_kind_title (plan->kind));

  if (*plan->budgets != '\0')
    g_string_append_printf (text, _ (", budget %s"), plan->budgets);
  g_string_append_printf (text,
                          _ (": peak %s, %s saved, both beside the inputs, %s computed again"),
                          peak, saved, again);
  if (plan->wrong != NULL)
    g_string_append_printf (text, _ ("; another program: %s"), _ (plan->wrong));
  else if (plan->is_dominated)
    g_string_append (text, _ ("; another one is better"));
  if (plan->is_shown)
    g_string_append (text, _ ("; the one shown"));
  return g_string_free (text, FALSE);
}

gboolean
adj_plan_item_get_choice (AdjPlanItem *self, AdjPartitionChoice *choice)
{
  if (self->plan.kind == ADJ_PLAN_SHOWN)
    return FALSE;
  *choice = (AdjPartitionChoice){
    .partitioner = self->plan.kind == ADJ_PLAN_OURS ? "optimal" : "min-cut",
    .budget = self->plan.budget,
    .compat = self->plan.kind == ADJ_PLAN_PYTORCH,
  };
  return TRUE;
}
