/* SPDX-License-Identifier: MIT */
/* Planted races and accesses to host memory are found and attributed to their kernel; correct
 * kernels give no finding. */

#include <glib.h>

#include "adj-emulator.h"
#include "planted-races.h"

#define RACES(X)                                                                                   \
  X (race_none, 1, NULL)                                                                           \
  X (race_atomic, 2, NULL)                                                                         \
  X (race_missing_barrier, 1, "shared")                                                            \
  X (race_between_blocks, 2, "block 0 and thread 0 of block 1")                                    \
  X (race_same_word, 1, "write")                                                                   \
  X (race_read, 1, "read")                                                                         \
  X (race_divergence, 1, "not all threads reach a barrier")                                        \
  X (race_host_read, 1, "thread 0 of block 0 reads 8 bytes")                                       \
  X (race_past_end, 1, "thread 63 of block 0 writes 8 bytes")

#define DECLARE(name, blocks, expected) void name##_emulated (const void *args);
#define ROW(name, blocks, expected)                                                                \
  { { #name, name##_emulated, sizeof (PlantedArgs) }, blocks, expected },

RACES (DECLARE)

static const struct
{
  AdjEmulatedKernel kernel;
  guint blocks;
  const char *expected;
} races[] = { RACES (ROW) };

/* Device memory is the array @device of 65 numbers only. */
static bool
holds (const void *device, const void *at, size_t size)
{
  const char *start = device, *here = at;

  return here >= start && here + size <= start + 65 * sizeof (gint64);
}

static void
test_race (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  gint64 out[65] = { 0 }, elsewhere = 0;
  PlantedArgs args = { out, &elsewhere };
  const char *problem;

  adj_emulator_confine (holds, out);
  adj_emulator_launch (&races[i].kernel, races[i].blocks, 64, &args);
  adj_emulator_confine (NULL, NULL);
  problem = adj_emulator_take_problem ();
  g_test_message ("%s", problem != NULL ? problem : "no problem");
  if (races[i].expected == NULL)
    {
      g_assert_null (problem);
      return;
    }
  g_assert_nonnull (problem);
  g_assert_nonnull (strstr (problem, races[i].kernel.symbol));
  g_assert_nonnull (strstr (problem, races[i].expected));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (races); i++)
    {
      g_autofree char *path = g_strdup_printf ("/races/%s", races[i].kernel.symbol);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_race);
    }
  return g_test_run ();
}
