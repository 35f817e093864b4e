/* SPDX-License-Identifier: MIT */

/* Measures the power of the comparison: for each dtype and class of operator the smallest factor
 * at one node, and the smallest error of one element in u, that is reported as "differs", on
 * either side of the comparison.  One JSON line each, for the operators named, else all. */

#include <math.h>
#include <stdio.h>

#include "../exec/power.h"

static const AdjDType dtypes[] = { ADJ_DTYPE_F64, ADJ_DTYPE_F32, ADJ_DTYPE_F16, ADJ_DTYPE_BF16 };

static void
print_number (const char *name, double number)
{
  if (isinf (number))
    printf (", \"%s\": null", name);
  else
    printf (", \"%s\": %.2f", name, number);
}

static gboolean
is_wanted (const char *name, char **names)
{
  return *names == NULL || g_strv_contains ((const char *const *) names, name);
}

static void
measure (const PowerCase *row, AdjDType dtype)
{
  g_auto (Power) power = { 0 };

  power_init (&power, row, dtype, 1);
  printf ("{\"type\": \"%s\", \"operator\": \"%s\", \"u\": %.3g", adj_dtype_info (dtype)->code,
          row->name, adj_dtype_unit_roundoff (dtype));
  print_number ("factor", power_find_factor (&power, POWER_CANDIDATE));
  print_number ("peer_factor", power_find_factor (&power, POWER_PEER));
  print_number ("element", power_find_element (&power, POWER_CANDIDATE));
  print_number ("peer_element", power_find_element (&power, POWER_PEER));
  printf ("}\n");
  fflush (stdout);
}

int
main (int argc, char **argv)
{
  for (guint d = 0; d < G_N_ELEMENTS (dtypes); d++)
    for (guint i = 0; i < power_get_n_cases (); i++)
      {
        const PowerCase *row = power_get_case (i);

        if (is_wanted (row->name, argv + 1) && power_has (row, dtypes[d]))
          measure (row, dtypes[d]);
      }
  return 0;
}
