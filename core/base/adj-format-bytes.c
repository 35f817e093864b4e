/* SPDX-License-Identifier: MIT */
/* Amounts of memory as text, spelled alike in pictures, on the command line and in the window. */

#include "base/adj-format-bytes.h"

#include <math.h>

char *
adj_format_bytes (guint64 bytes)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  double amount = (double) bytes;
  guint unit = 0;

  for (; amount >= 1024; unit++)
    amount /= 1024;
  return g_strdup_printf ("%.*f %s", amount >= 100 || amount == floor (amount) ? 0 : 1, amount,
                          units[unit]);
}
