/* SPDX-License-Identifier: MIT */
/* Fuzzes logs of DebugMode. */

#include "formats/adj-debug-log.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (AdjDebugLog) log = adj_debug_log_read ((const char *) data, size, "fuzz", NULL);

  for (guint i = 0; log != NULL && i < adj_debug_log_get_n (log); i++)
    {
      const AdjDebugCall *call = adj_debug_log_get (log, i);

      for (guint k = 0; k < call->n; k++)
        g_assert_true (call->values[k].rank == 0 || call->values[k].sizes != NULL);
    }
  return 0;
}
