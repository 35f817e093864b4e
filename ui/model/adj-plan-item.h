/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"
#include "model/adj-opening.h"

G_BEGIN_DECLS

typedef enum
{
  ADJ_PLAN_PYTORCH, /* PyTorch's at a budget */
  ADJ_PLAN_OURS,    /* the lowest peak that recomputes no more */
  ADJ_PLAN_SHOWN,   /* the pair that the file holds, where it is none of these */
  ADJ_N_PLAN_KINDS,
} AdjPlanKind;

/* One way to take a joint graph apart, or several budgets that come to the same. */
typedef struct
{
  AdjPlanKind kind;
  double budget; /* the highest that gives it; not a number for SHOWN */
  char *budgets; /* (owned): "0.3–0.5, 1"; "" for SHOWN */
  guint64 peak, saved_bytes;
  double again; /* the cost of recomputation, in the unit of the curve */
  const char
      *wrong; /* (static) (nullable): why it is another program, which no budget may choose */
  gboolean is_dominated; /* another one has less of one and no more of the other */
  gboolean is_shown;     /* the pair of the file is this one */
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
/* The choice that makes this plan; %FALSE for the plan that exists already. */
gboolean adj_plan_item_get_choice (AdjPlanItem *self, AdjPartitionChoice *choice);

G_END_DECLS
