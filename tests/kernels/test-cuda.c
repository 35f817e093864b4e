/* SPDX-License-Identifier: MIT */
/* CUDA's entries on the emulator against the CPU's: each gives the same bits on random views of
 * several dtypes, strides and sizes, without a race. */

#include "adj-emulator.h"
#include "cuda-check.h"

#define CHECK(RESULT, name, parameters, arguments) { #name, check_##name },

static const struct
{
  const char *name;
  void (*check) (AdjKType type);
} checks[] = { ADJ_K_ENTRIES (CHECK) };

static void
test_entry (gconstpointer data)
{
  guint entry = GPOINTER_TO_UINT (data);

  for (AdjKType type = 0; type < ADJ_K_N; type++)
    {
      checks[entry].check (type);
      emulated_queue_clear (&cuda);
    }
}

static void
test_long (void)
{
  check_long_reduce ();
  check_columns ();
  emulated_queue_clear (&cuda);
}

/* The smallest bad index is reported; the other elements are computed. */
static void
test_faults (void)
{
  AdjKView x = RANDOM (ADJ_K_F32, 4), idx = SOME (ADJ_K_I64, 0, 3, 5);
  AdjKView out = RANDOM (ADJ_K_F32, 5);
  gint64 bad;

  kernel_array_set (&idx, 1, 7);
  kernel_array_set (&idx, 4, -2);
  g_assert_true (adj_q_index_select (&cuda.queue, &out, &x, 0, &idx, &bad));
  g_assert_cmpint (cuda.faults.bad_index, ==, -2);
  emulated_queue_clear (&cuda);
}

/* Runs last: every kernel has been launched. */
static void
test_coverage (void)
{
  guint n = 0, covered = 0;

  for (; adj_emulated_kernels[n].symbol != NULL; n++)
    if (adj_emulator_get_counts ()[n] > 0)
      covered++;
    else
      g_test_message ("not covered: %s", adj_emulated_kernels[n].symbol);
  g_test_message ("kernels %u / covered %u", n, covered);
  g_assert_cmpuint (covered, ==, n);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cpu = ADJ_K_CPU_QUEUE;
  emulated_queue_init (&cuda);
  for (guint i = 0; i < G_N_ELEMENTS (checks); i++)
    {
      g_autofree char *path = g_strdup_printf ("/cuda/%s", checks[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_entry);
    }
  g_test_add_func ("/cuda/long", test_long);
  g_test_add_func ("/cuda/faults", test_faults);
  g_test_add_func ("/cuda/zz-coverage", test_coverage);
  return g_test_run ();
}
