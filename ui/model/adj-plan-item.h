/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"
#include "model/adj-opening.h"

G_BEGIN_DECLS

typedef enum
{
  ADJ_PLAN_PYTORCH, /* PyTorch's plan for a budget */
  ADJ_PLAN_OURS,    /* ours: the lowest peak without more recomputation */
  ADJ_PLAN_SHOWN,   /* the pair of the file, where it equals none of these */
  ADJ_N_PLAN_KINDS,
} AdjPlanKind;

/* One plan for partitioning a joint graph; budgets with the same result are one. */
typedef struct
{
  AdjPlanKind kind;
  double budget; /* the highest budget that gives it; NaN for SHOWN */
  char *budgets; /* (owned): "0.3–0.5, 1"; "" for SHOWN */
  guint64 peak, saved_bytes;
  double again;          /* the cost of recomputation, in the unit of the curve */
  const char *wrong;     /* (static) (nullable): why the result would be another program, so that no
                            budget may choose it */
  gboolean is_dominated; /* another plan is better in one cost and no worse in the other */
  gboolean is_shown;     /* it equals the pair of the file */
} AdjTradeoffPlan;

#define ADJ_TYPE_PLAN_ITEM (adj_plan_item_get_type ())
G_DECLARE_FINAL_TYPE (AdjPlanItem, adj_plan_item, ADJ, PLAN_ITEM, GObject)

const AdjTradeoffPlan *adj_plan_item_get (AdjPlanItem *self);
/* "Adjoint, budget 0.3–0.5: peak 35.5 KiB, 139 kFLOP again".  (transfer full) */
char *adj_plan_item_describe (AdjPlanItem *self);
/* "139 kFLOP", or bytes.  (transfer full) */
char *adj_plan_item_get_again (AdjPlanItem *self);
/* Whether the cost of recomputation is in bytes read and written, not in FLOP. */
gboolean adj_plan_item_counts_bytes (AdjPlanItem *self);
/* "PyTorch", "Adjoint"; static. */
const char *adj_plan_kind_title (AdjPlanKind kind);
/* The choice that makes this plan; %FALSE for the plan of the file. */
gboolean adj_plan_item_get_choice (AdjPlanItem *self, AdjPartitionChoice *choice);

G_END_DECLS
