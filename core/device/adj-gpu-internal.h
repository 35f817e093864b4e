/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"

G_BEGIN_DECLS

/* (transfer full): device @index of @runtime (transfer full). */
AdjGpu *adj_gpu_new (AdjGpuRuntime *runtime, guint index);
AdjGpuRuntime *adj_gpu_get_runtime (const AdjGpu *gpu);
/* Whether both are the same device, so that memory of one is valid on the other. */
gboolean adj_gpu_is_same (const AdjGpu *a, const AdjGpu *b);
/* Makes @gpu the current device of this thread. */
gboolean adj_gpu_use (AdjGpu *gpu, GError **error);
/* (transfer none) (nullable): loaded at first use; ADJ_ERROR_NOT_FOUND: there is no such kernel,
 * and ADJ_ERROR_DEVICE. */
AdjGpuKernel *adj_gpu_find_kernel (AdjGpu *gpu, const char *symbol, GError **error);
/* (transfer none) (nullable): the kernel "made" of @source, which is specialised for sizes and
 * types. The first call starts its compilation in the background; %NULL until it is compiled, and
 * where there is no compiler. */
AdjGpuKernel *adj_gpu_make_kernel (AdjGpu *gpu, const char *source);
/* Waits until nothing is being compiled, at most 50 ms; whether something still is. */
gboolean adj_gpu_wait_for_kernels (AdjGpu *gpu);
/* Whether kernels are compiled; %TRUE at first. */
void adj_gpu_set_compiles (AdjGpu *gpu, gboolean compiles);
/* A number that changes when the device was reset: objects made before are gone and must not be
 * freed. */
guint adj_gpu_get_generation (const AdjGpu *gpu);
/* To be called after a failed run: resets the device if it was lost, so that the next run can use
 * it.  The caller has released what it made there. */
void adj_gpu_recover (AdjGpu *gpu);

G_END_DECLS
