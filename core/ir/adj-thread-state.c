/* SPDX-License-Identifier: MIT */
/* Thread settings while a graph runs (grad mode, autocast, deterministic algorithms), as
 * annotations of a graph. */

#include "ir/adj-thread-state.h"

#include <string.h>

static const char *const autocast_keys[ADJ_N_AUTOCAST] = {
  [ADJ_DEVICE_CPU] = "autocast_cpu",
  [ADJ_DEVICE_CUDA] = "autocast_cuda",
};

guint
adj_thread_state_list_settings (const AdjThreadState *thread_state, AdjThreadSetting *settings)
{
  guint n = 0;

  for (guint i = 0; i < ADJ_N_AUTOCAST; i++)
    if (thread_state->autocast[i].on)
      settings[n++] = (AdjThreadSetting){ autocast_keys[i],
                                          adj_dtype_info (thread_state->autocast[i].dtype)->code };
  if (thread_state->no_grad)
    settings[n++] = (AdjThreadSetting){ "grad", "off" };
  return n;
}

gboolean
adj_thread_state_set (AdjThreadState *thread_state, const char *key, const char *word)
{
  AdjDType dtype = adj_dtype_from_code (word, -1);

  if (strcmp (key, "grad") == 0 && strcmp (word, "off") == 0)
    {
      thread_state->no_grad = TRUE;
      return TRUE;
    }
  for (guint i = 0; i < ADJ_N_AUTOCAST; i++)
    if (strcmp (key, autocast_keys[i]) == 0 && adj_autocast_is_possible (dtype))
      {
        thread_state->autocast[i] = (AdjAutocast){ TRUE, dtype };
        return TRUE;
      }
  return FALSE;
}

gboolean
adj_autocast_is_possible (AdjDType dtype)
{
  return dtype == ADJ_DTYPE_BF16 || dtype == ADJ_DTYPE_F16;
}
