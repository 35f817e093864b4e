/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-internal.h"

G_BEGIN_DECLS

/* (transfer full): an emulated GPU with all kernels of kernels/cuda.  It fails the test if a
 * kernel touches host memory, races or diverges at a barrier.  @emulation: (nullable): further
 * behaviour. */
AdjGpu *emulated_gpu_new (const AdjEmulation *emulation);

G_END_DECLS
