/* SPDX-License-Identifier: MIT */
/* The CUDA runtime of a build without CUDA: it has no device and says why. */

#include "device/adj-gpu-runtime.h"

static gboolean
none_count (AdjGpuRuntime *self, guint *n, GError **error)
{
  *n = 0;
  return adj_gpu_check_start (ADJ_GPU_NOT_BUILT, 0, 0, NULL, error);
}

static void
none_free (AdjGpuRuntime *self)
{
}

/* Without a device no other function is called. */
static const AdjGpuRuntimeType none_type = { .name = "cuda",
                                             .free = none_free,
                                             .count = none_count };

AdjGpuRuntime *
adj_cuda_runtime_new (void)
{
  static AdjGpuRuntime runtime = { .type = &none_type };

  return &runtime;
}
