/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu.h"
#include "plan/adj-plan.h"

G_BEGIN_DECLS

/* Plans on a GPU: arena, inputs and results lie in its memory, and regions run there one after the
 * other.  Regions without a GPU kernel run on the CPU; what they read and write is copied to it and
 * back. */

/* (transfer full) (nullable): a space on @gpu for a plan without a refusal.  Everything of
 * adj_plan_space_new() holds for it.  %NULL with ADJ_ERROR_MEMORY where the device has less memory
 * free than a run needs, or with ADJ_ERROR_DEVICE. */
ADJ_PUBLIC AdjPlanSpace *adj_plan_space_new_on (AdjPlan *plan, AdjGpu *gpu, GError **error);

/* Statistics of a run on a GPU. */
typedef struct
{
  guint n_on_cpu;              /* regions that ran on the CPU */
  guint n_copies;              /* copies to and from the CPU, for those regions */
  guint64 to_cpu, to_gpu;      /* bytes of these copies */
  guint64 bytes_in, bytes_out; /* of inputs and constants that were sent, of outputs */
  guint64 device_bytes;        /* device memory that the space holds */
  gint64 device_ns;            /* from the first region to the last, by the device's clock */
  gboolean replayed;           /* the whole run was one captured graph */
  const char *uncaptured;      /* (nullable): why the plan can never be captured */
} AdjPlanGpuRun;

/* Of the last run; @space is on a GPU. */
ADJ_PUBLIC void adj_plan_space_get_gpu_run (const AdjPlanSpace *space, AdjPlanGpuRun *out);
/* Of the last run: nanoseconds of region @index, without copies, which are in @copy_ns; 0 when the
 * run was one captured graph.  @reason: (out) (nullable): why it ran on the CPU, owned by the
 * space. */
ADJ_PUBLIC gint64 adj_plan_space_get_region_ns (
    const AdjPlanSpace *space, guint index, gint64 *copy_ns, guint64 *copied, const char **reason);

G_END_DECLS
