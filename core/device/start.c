/* SPDX-License-Identifier: MIT */
/* Why a GPU cannot be used, in one sentence each, for any runtime. */

#include "device/adj-gpu-runtime.h"

static char *
explain_old_driver (guint driver, guint runtime)
{
  return g_strdup_printf (
      "the NVIDIA driver is too old: it knows CUDA %u.%u, this program needs %u.%u", driver / 1000,
      driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

gboolean
adj_gpu_check_start (AdjGpuStart start,
                     guint driver_version,
                     guint runtime_version,
                     const char *what,
                     GError **error)
{
  static const char *const reasons[] = {
    [ADJ_GPU_NOT_BUILT] = "this program was built without CUDA",
    [ADJ_GPU_NO_KERNELS] =
        "this program was built without CUDA's compiler, nvcc, and so has no kernels for a GPU",
    [ADJ_GPU_NO_DRIVER] = "no NVIDIA driver is installed",
    [ADJ_GPU_NO_DEVICE] = "the NVIDIA driver finds no GPU",
    [ADJ_GPU_DRIVER_MISMATCH] =
        "the NVIDIA driver was updated and not restarted: its library and its kernel module are "
        "of different releases",
    [ADJ_GPU_IN_USE] = "the GPU is reserved by another process",
    [ADJ_GPU_FAILS] = NULL,
  };
  g_autofree char *old = NULL;

  if (start == ADJ_GPU_STARTS)
    return TRUE;
  if (start == ADJ_GPU_OLD_DRIVER)
    old = explain_old_driver (driver_version, runtime_version);
  else if (start == ADJ_GPU_FAILS)
    old = g_strdup_printf ("CUDA does not start: %s", what != NULL ? what : "it does not say why");
  g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_DEVICE, old != NULL ? old : reasons[start]);
  return FALSE;
}
