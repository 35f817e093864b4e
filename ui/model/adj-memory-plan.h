/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-tradeoff.h"
#include "report/adj-timeline.h"

G_BEGIN_DECLS

/* Another plan, whose memory is drawn with that of the shown graph. */
typedef struct
{
  const char *title; /* "PyTorch, budget 0.5"; translate it */
  AdjPartitionChoice choice;
} AdjMemoryPlan;

guint adj_memory_plans_get_n (void);
const AdjMemoryPlan *adj_memory_plans_get (guint index);

/* The part of a plan that corresponds to the shown graph: a joint graph and a pair have both
 * halves. */
typedef enum
{
  ADJ_MEMORY_WHOLE,
  ADJ_MEMORY_FORWARD,
  ADJ_MEMORY_BACKWARD,
} AdjMemoryPart;

/* Which part of a plan corresponds to the graph that @document shows; %FALSE: its region has no
 * joint graph. */
gboolean
adj_memory_plan_find (AdjDocument *document, AdjTradeoffSubject *subject, AdjMemoryPart *part);

/* In another thread: partitions the joint graph of @subject by @plan.  The result is an AdjTimeline
 * of @part. */
AdjTask *adj_memory_plan_start (GObject *owner,
                                const AdjTradeoffSubject *subject,
                                AdjMemoryPart part,
                                const AdjMemoryPlan *plan,
                                GAsyncReadyCallback done);
/* In another thread: reads a memory snapshot and finds a run of @graph in it; the result is an
 * AdjTimeline. */
AdjTask *adj_memory_snapshot_start (GObject *owner,
                                    AdjGraph *graph,
                                    const char *path,
                                    GAsyncReadyCallback done);

G_END_DECLS
