/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-queue.h"
#include "device/adj-gpu-staging.h"
#include "plan/adj-plan-gpu.h"
#include "plan/space-private.h"

G_BEGIN_DECLS

/* State of one region of a space on a GPU. */
typedef struct
{
  char *on_cpu;   /* (owned) (nullable): why the CPU runs it */
  gint64 ns;      /* nanoseconds on the CPU */
  gint64 copy_ns; /* nanoseconds of copies to the CPU and back */
  guint64 copied; /* bytes, both ways */
} PlanGpuRegion;

/* The generator state that regions draw from. */
typedef struct
{
  AdjKTwister twister;
  AdjKPhilox philox;
} PlanGpuRandom;

/* The device part of a space. */
typedef struct _PlanGpu
{
  AdjGpu *gpu; /* (owned) */
  guint generation;
  AdjGpuQueue *queue;
  AdjGpuStaging *staging;
  AdjGpuEvent *arrived; /* recorded after uploads */
  AdjGpuEvent *queued;  /* recorded before downloads */
  char *memory;         /* device memory of all buffers */
  guint64 n_bytes;
  guint64 *offsets;       /* (owned): per buffer: its offset in @memory */
  AdjTensorData **there;  /* (owned) (nullable): per buffer: what it was filled with, if still
                             unchanged */
  gpointer *shadows;      /* (owned) (nullable): per buffer: host memory for regions on the CPU */
  PlanGpuRegion *regions; /* (owned) */
  AdjGpuEvent **marks;    /* (owned) (nullable): events before each region and after the last */
  gboolean timed;         /* @marks belong to the last run */
  PlanGpuRandom *random;  /* (owned) (nullable): on the device, if the plan draws */
  PlanGpuRandom *pinned;  /* (owned) (nullable): pinned host memory to copy it */
  gboolean draws_there;   /* the state in @random is newer than that of the context */
  AdjGpuGraph *graph;     /* (owned) (nullable) */
  guint n_runs;           /* successful runs */
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
/* Uploads @from, the initial content of buffer @index. */
gboolean plan_gpu_fill (AdjPlanSpace *space, guint32 index, AdjTensorData *from);
/* Runs all regions, and waits until they are done. */
gboolean plan_gpu_run_regions (AdjPlanSpace *space);
/* The same for a caller that looks at values between regions: begin, run each region (on the device
 * or on the CPU), end. */
gboolean plan_gpu_begin_watched (AdjPlanSpace *space);
gboolean plan_gpu_run_region (AdjPlanSpace *space, guint32 index);
gboolean plan_gpu_end_watched (AdjPlanSpace *space);
/* Copies buffer @index between device and host, after the queued work. */
gboolean plan_gpu_copy_to_cpu (AdjPlanSpace *space, guint32 index, gpointer to);
gboolean plan_gpu_copy_to_gpu (AdjPlanSpace *space, guint32 index, gconstpointer from);
/* (transfer full) (nullable): the bytes of buffer @index as they are now. */
GBytes *plan_gpu_fetch (AdjPlanSpace *space, guint32 index);

/* -- gpu-random.c -- */

/* Allocates memory for the generator state of a plan that draws; needs the queue. */
gboolean plan_gpu_make_random (PlanGpu *self, const AdjPlan *plan, GError **error);
void plan_gpu_free_random (PlanGpu *self);
/* From now on regions on the device draw what the context's generator would give next, until the
 * state is fetched; then the generator continues after them. */
gboolean plan_gpu_send_random (AdjPlanSpace *space, GError **error);
gboolean plan_gpu_fetch_random (AdjPlanSpace *space, GError **error);

/* -- on-cpu.c -- */

/* Finds the regions that the device has no kernels for, without running any. */
gboolean plan_gpu_probe (AdjPlanSpace *space, GError **error);
/* Runs region @index of a space on a GPU on the CPU. */
gboolean plan_gpu_run_on_cpu (AdjPlanSpace *space, guint32 index);

G_END_DECLS
