/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"

G_BEGIN_DECLS

/* Kernels that are compiled while the program runs, by threads in the background; each text once.
 */
typedef struct _GpuMaker GpuMaker;

/* (transfer full); @runtime: (unowned), outlives it */
GpuMaker *gpu_maker_new (AdjGpuRuntime *runtime, guint index);
/* Waits for what is being compiled.  @is_there: the device still has what was loaded. */
void gpu_maker_free (GpuMaker *maker, gboolean is_there);

/* The kernel "made" of @source; %NULL as long as it is compiled, or where that fails.  The first
 * call for a text begins that; the one that finds it done loads it onto the device in use. */
AdjGpuKernel *gpu_maker_find (GpuMaker *maker, const char *source);
/* Lets go of what is loaded; what was compiled stays. */
void gpu_maker_unload (GpuMaker *maker, gboolean is_there);
/* Until nothing is being compiled, or for 50 ms: whether something still is. */
gboolean gpu_maker_wait (GpuMaker *maker);

G_END_DECLS
