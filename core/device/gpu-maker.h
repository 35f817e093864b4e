/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-runtime.h"

G_BEGIN_DECLS

/* Kernels that are compiled at run time, by background threads; each source once. */
typedef struct _GpuMaker GpuMaker;

/* (transfer full); @runtime: (unowned), outlives it */
GpuMaker *gpu_maker_new (AdjGpuRuntime *runtime, guint index);
/* Waits for running compilations.  @is_there: the device was not reset since kernels were loaded.
 */
void gpu_maker_free (GpuMaker *maker, gboolean is_there);

/* The kernel "made" of @source; %NULL until it is compiled, or where that fails.  The first call
 * for a source starts the compilation; the call that finds it done loads it onto the current
 * device. */
AdjGpuKernel *gpu_maker_find (GpuMaker *maker, const char *source);
/* Unloads the kernels; compiled code is kept. */
void gpu_maker_unload (GpuMaker *maker, gboolean is_there);
/* Waits until nothing is being compiled, at most 50 ms; whether something still is. */
gboolean gpu_maker_wait (GpuMaker *maker);

G_END_DECLS
