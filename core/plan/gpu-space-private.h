/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-queue.h"
#include "device/adj-gpu-staging.h"
#include "plan/adj-plan-gpu.h"
#include "plan/space-private.h"

G_BEGIN_DECLS

/* Of one region, in a space on a GPU. */
typedef struct
{
  char *on_cpu;   /* (owned) (nullable): why the CPU runs it */
  gint64 ns;      /* on the CPU */
  gint64 copy_ns; /* to the CPU and back */
  guint64 copied; /* bytes, both ways */
} PlanGpuRegion;

/* What the context draws from. */
typedef struct
{
  AdjKTwister twister;
  AdjKPhilox philox;
} PlanGpuRandom;

/* What a space has on its GPU. */
typedef struct _PlanGpu
{
  AdjGpu *gpu; /* (owned) */
  guint generation;
  AdjGpuQueue *queue;
  AdjGpuStaging *staging;
  AdjGpuEvent *arrived; /* after what was sent */
  AdjGpuEvent *queued;  /* before what is fetched */
  char *memory;         /* of all buffers */
  guint64 n_bytes;
  guint64 *offsets;       /* (owned): of each buffer, in @memory */
  GBytes **there;         /* (owned) (nullable): of each buffer: what it was filled with, if that
                             has not changed */
  gpointer *shadows;      /* (owned) (nullable): of each buffer: host memory, for the CPU */
  PlanGpuRegion *regions; /* (owned) */
  AdjGpuEvent **marks;    /* (owned) (nullable): before each region and after the last */
  gboolean timed;         /* @marks are of the last run */
  PlanGpuRandom *random;  /* (owned) (nullable): on the device, if the plan draws */
  PlanGpuRandom *pinned;  /* (owned) (nullable): to send it and bring it back */
  gboolean draws_there;   /* @random is ahead of the context */
  AdjGpuGraph *graph;     /* (owned) (nullable) */
  guint n_runs;           /* that went well */
  char *uncaptured;       /* (owned) (nullable): why there is no @graph */
  AdjPlanGpuRun run;      /* of the last run */
} PlanGpu;

/* (transfer full) (nullable) */
PlanGpu *plan_gpu_new (const AdjPlan *plan, AdjGpu *gpu, GError **error);
void plan_gpu_free (PlanGpu *self, const AdjPlan *plan); /* @self: (nullable) */

/* Where buffer @index lies on the device. */
gpointer plan_gpu_place (const PlanGpu *self, guint32 index);
/* Before the first buffer of a run is bound: %FALSE with the context in error. */
gboolean plan_gpu_begin (AdjPlanSpace *space);
/* Sends @from, which buffer @index begins as. */
gboolean plan_gpu_fill (AdjPlanSpace *space, guint32 index, GBytes *from);
/* Runs all regions, and waits until they are done. */
gboolean plan_gpu_run_regions (AdjPlanSpace *space);
/* The same, if the caller looks at values between regions: begins, runs one, on the device or on
 * the CPU, ends. */
gboolean plan_gpu_begin_watched (AdjPlanSpace *space);
gboolean plan_gpu_run_region (AdjPlanSpace *space, guint32 index);
gboolean plan_gpu_end_watched (AdjPlanSpace *space);
/* Between the device's memory of buffer @index and the host's; after what was queued. */
gboolean plan_gpu_copy_to_cpu (AdjPlanSpace *space, guint32 index, gpointer to);
gboolean plan_gpu_copy_to_gpu (AdjPlanSpace *space, guint32 index, gconstpointer from);
/* (transfer full) (nullable): the bytes of buffer @index as they are now. */
GBytes *plan_gpu_fetch (AdjPlanSpace *space, guint32 index);

/* -- gpu-random.c -- */

/* Memory for the words of a plan that draws; with a queue. */
gboolean plan_gpu_make_random (PlanGpu *self, const AdjPlan *plan, GError **error);
void plan_gpu_free_random (PlanGpu *self);
/* From now on regions on the device draw what the context's generator would give next, until it is
 * fetched: then the generator goes on after them. */
gboolean plan_gpu_send_random (AdjPlanSpace *space, GError **error);
gboolean plan_gpu_fetch_random (AdjPlanSpace *space, GError **error);

/* -- on-cpu.c -- */

/* Finds the regions for which the device has no kernels, without running anything there. */
gboolean plan_gpu_probe (AdjPlanSpace *space, GError **error);
/* Runs region @index of a space on a GPU on the CPU. */
gboolean plan_gpu_run_on_cpu (AdjPlanSpace *space, guint32 index);

G_END_DECLS
