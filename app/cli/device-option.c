/* SPDX-License-Identifier: MIT */
/* --device: the device that a graph runs on, whatever it was captured on. */

#include "device-option.h"

/* Whether @executor is for GPUs. */
static gboolean
is_of_gpus (const AdjExecutor *executor)
{
  return g_str_equal (executor->name, "cuda");
}

gboolean
adj_device_option_open (const char *device, AdjGpu **gpu, GError **error)
{
  *gpu = NULL;
  if (device == NULL || g_str_equal (device, "cpu"))
    return TRUE;
  *gpu = adj_gpu_open (device, error);
  return *gpu != NULL;
}

gboolean
adj_device_option_take (const char *device, AdjSessionRun *run, AdjGpu **gpu, GError **error)
{
  gboolean is_cpu = g_strcmp0 (device, "cpu") == 0;

  *gpu = NULL;
  if (device == NULL)
    return TRUE;
  if (run->executor != NULL && is_of_gpus (run->executor) == is_cpu)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "the executor '%s' does not run on '%s'",
                   run->executor->name, device);
      return FALSE;
    }
  if (!adj_device_option_open (device, gpu, error))
    return FALSE;
  if (*gpu != NULL && run->executor == NULL)
    run->executor = adj_executor_find ("cuda", error);
  run->gpu = *gpu;
  return TRUE;
}
