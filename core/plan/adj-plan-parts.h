/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/adj-plan.h"

G_BEGIN_DECLS

/* What a plan consists of, to be shown.  Pointers are borrowed from the plan. */

typedef struct
{
  const char *kind; /* "fused", "operator", "interpreter" */
  guint n_nodes;
  const AdjNodeId *nodes; /* nodes whose calls it runs, in order, each once */
  const char *reason;     /* (nullable): why it is of this kind, or ends here */
  guint64 bytes;          /* bytes that it reads and writes in memory */
  double flops;
} AdjPlanRegion;

/* Regions run in order; @index < adj_plan_get_n_regions(). */
ADJ_PUBLIC void adj_plan_get_region (const AdjPlan *plan, guint index, AdjPlanRegion *out);

#define ADJ_PLAN_NOWHERE G_MAXUINT32

typedef struct
{
  AdjNodeId node;     /* the node that makes it */
  const char *memory; /* "arena", "input", "constant", "output", or "register": never in memory */
  guint64 bytes;
  guint64 offset;    /* offset in the arena, in bytes */
  guint first, last; /* first and last region that it is live in; ADJ_PLAN_NOWHERE: in a register */
  guint taken_over;  /* the buffer whose memory it takes over; ADJ_PLAN_NOWHERE: none */
} AdjPlanBuffer;

/* In the order in which the graph makes them; @index < adj_plan_get_n_buffers(). */
ADJ_PUBLIC guint adj_plan_get_n_buffers (const AdjPlan *plan);
/* The buffer @index; its pointers are valid as long as the plan. */
ADJ_PUBLIC void adj_plan_get_buffer (const AdjPlan *plan, guint index, AdjPlanBuffer *out);

G_END_DECLS
