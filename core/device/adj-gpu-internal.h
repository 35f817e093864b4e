/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"

G_BEGIN_DECLS

/* (transfer full): device @index of @runtime, which is taken (transfer full). */
AdjGpu *adj_gpu_new (AdjGpuRuntime *runtime, guint index);
AdjGpuRuntime *adj_gpu_get_runtime (const AdjGpu *gpu);
/* Whether memory of one is memory of the other. */
gboolean adj_gpu_is_same (const AdjGpu *a, const AdjGpu *b);
/* What this thread calls from now on is for @gpu. */
gboolean adj_gpu_use (AdjGpu *gpu, GError **error);
/* (transfer none) (nullable): loaded when it is asked for first; ADJ_ERROR_NOT_FOUND: there is
 * none, and ADJ_ERROR_DEVICE. */
AdjGpuKernel *adj_gpu_find_kernel (AdjGpu *gpu, const char *symbol, GError **error);
/* (transfer none) (nullable): the kernel "made" of @source, for sizes and types that are known only
 * now; %NULL as long as it is being compiled in the background, which the first call begins, and
 * where there is no compiler. */
AdjGpuKernel *adj_gpu_make_kernel (AdjGpu *gpu, const char *source);
/* Until nothing is being compiled, or for 50 ms: whether something still is. */
gboolean adj_gpu_wait_for_kernels (AdjGpu *gpu);
/* Whether kernels are made; at first they are. */
void adj_gpu_set_compiles (AdjGpu *gpu, gboolean compiles);
/* A number that changes when the device was reset: what was made before is gone and must not be let
 * go of any more. */
guint adj_gpu_get_generation (const AdjGpu *gpu);
/* After a run failed: resets the device if it was lost, so that the next run finds it working.  The
 * caller has let go of what it made there. */
void adj_gpu_recover (AdjGpu *gpu);

G_END_DECLS
