/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/adj-plan.h"

G_BEGIN_DECLS

/* What a plan consists of, to be shown.  Pointers are borrowed from the plan. */

typedef struct
{
  const char *kind; /* "fused", "operator", "interpreter" */
  guint n_nodes;
  const AdjNodeId *nodes; /* whose calls it makes, in order, each once */
  const char *reason;     /* (nullable): why it is of this kind, or does not go on */
  guint64 bytes;          /* that it reads and writes in memory */
  double flops;
} AdjPlanRegion;

/* Regions run in order; @index < adj_plan_get_n_regions(). */
ADJ_PUBLIC void adj_plan_get_region (const AdjPlan *plan, guint index, AdjPlanRegion *out);

#define ADJ_PLAN_NOWHERE G_MAXUINT32

typedef struct
{
  AdjNodeId node;     /* that makes it */
  const char *memory; /* "arena", "input", "constant", "output", or "register": never in memory */
  guint64 bytes;
  guint64 offset;    /* in the arena, in bytes */
  guint first, last; /* regions between which it is held; ADJ_PLAN_NOWHERE: in a register */
  guint taken_over;  /* the buffer whose place it takes; ADJ_PLAN_NOWHERE: none */
} AdjPlanBuffer;

/* In the order in which the graph makes them; @index < adj_plan_get_n_buffers(). */
ADJ_PUBLIC guint adj_plan_get_n_buffers (const AdjPlan *plan);
/* The buffer @index; not for longer than the plan. */
ADJ_PUBLIC void adj_plan_get_buffer (const AdjPlan *plan, guint index, AdjPlanBuffer *out);

G_END_DECLS
