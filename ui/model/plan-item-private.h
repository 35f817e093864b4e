/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-plan-item.h"

G_BEGIN_DECLS

struct _AdjPlanItem
{
  GObject parent_instance;

  AdjTradeoffPlan plan;
  gboolean by_bytes; /* recomputation is counted in bytes */
};

G_END_DECLS
