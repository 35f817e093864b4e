/* SPDX-License-Identifier: MIT */
#pragma once

#include "device/adj-gpu-internal.h"

G_BEGIN_DECLS

/* (transfer full): an emulated GPU with all kernels of kernels/cuda, which fail the test where they
 * touch memory of the host, race, or part at a barrier.  @emulation: (nullable): what else it does.
 */
AdjGpu *emulated_gpu_new (const AdjEmulation *emulation);

G_END_DECLS
