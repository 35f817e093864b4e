/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-tradeoff.h"
#include "report/adj-timeline.h"

G_BEGIN_DECLS

/* Another plan, whose memory is drawn beside that of the shown graph. */
typedef struct
{
  const char *title; /* "PyTorch, budget 0.5"; translate it */
  AdjPartitionChoice choice;
} AdjMemoryPlan;

guint adj_memory_plans_get_n (void);
const AdjMemoryPlan *adj_memory_plans_get (guint index);

/* Which part of a plan is beside what is shown: a joint graph and a pair have both halves. */
typedef enum
{
  ADJ_MEMORY_WHOLE,
  ADJ_MEMORY_FORWARD,
  ADJ_MEMORY_BACKWARD,
} AdjMemoryPart;

/* What of a plan can be beside what @document shows; %FALSE: its region has no joint graph. */
gboolean
adj_memory_plan_find (AdjDocument *document, AdjTradeoffSubject *subject, AdjMemoryPart *part);

/* In another thread: the joint graph of @subject taken apart by @plan.  The result is an
 * AdjTimeline of that part. */
AdjTask *adj_memory_plan_start (GObject *owner,
                                const AdjTradeoffSubject *subject,
                                AdjMemoryPart part,
                                const AdjMemoryPlan *plan,
                                GAsyncReadyCallback done);
/* In another thread: a snapshot of memory read and laid over @graph; an AdjTimeline. */
AdjTask *adj_memory_snapshot_start (GObject *owner,
                                    AdjGraph *graph,
                                    const char *path,
                                    GAsyncReadyCallback done);

G_END_DECLS
