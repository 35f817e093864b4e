/* SPDX-License-Identifier: MIT */
#include "compiled_autograd/random-program.h"
#include <string.h>

/* Random programs run once eagerly and once captured.  In the engine's order both must give the
 * same gradients, bit for bit, and call the same hooks with the same arguments in the same order;
 * in the orders of PyTorch the same gradients, where sums do not depend on the order. */

#define N_PROGRAMS 300

typedef struct
{
  guint n_failed;
  guint n_backwards; /* that were captured or found */
  guint64 captures, hits, fallbacks;
  GHashTable *reasons; /* of fallbacks */
} Tally;

/* "10000", or "10000-30000" */
static void
read_seeds (guint *first, guint *end)
{
  const char *wanted = g_getenv ("ADJ_TEST_PROGRAMS");
  char *rest = NULL;

  *first = 0;
  *end = N_PROGRAMS;
  if (wanted == NULL)
    return;
  *end = (guint) g_ascii_strtoull (wanted, &rest, 10);
  if (*rest != '-')
    return;
  *first = *end;
  *end = (guint) g_ascii_strtoull (rest + 1, NULL, 10);
}

static void
count (Tally *tally, const AdjCompiledAutograd *compiler)
{
  const AdjCompiledCounters counters = adj_compiled_autograd_get_counters (compiler);

  tally->captures += counters.captures;
  tally->hits += counters.hits;
  tally->fallbacks += counters.fallbacks;
  if (counters.fallback_reason != NULL)
    g_hash_table_add (tally->reasons, g_strdup (counters.fallback_reason));
}

static void
tell_difference (const char *what, const char *eager, const char *captured)
{
  g_auto (GStrv) a = g_strsplit (eager, "\n", -1);
  g_auto (GStrv) b = g_strsplit (captured, "\n", -1);
  guint i = 0;

  while (a[i] != NULL && b[i] != NULL && g_str_equal (a[i], b[i]))
    i++;
  g_test_message ("%s, line %u: eagerly\n  %s\ncaptured\n  %s", what, i,
                  a[i] != NULL ? a[i] : "(the end)", b[i] != NULL ? b[i] : "(the end)");
}

static void
check (Tally *tally, guint seed, RandomFlags flags, AdjCaptureOrder order)
{
  g_autoptr (AdjCompiledAutograd) compiler =
      adj_compiled_autograd_new (&(AdjCompiledOptions){ .order = order });
  const gboolean same_order = order == ADJ_CAPTURE_ORDER_EAGER;
  RandomRun eager, captured;

  random_run_init (&eager);
  random_run_init (&captured);
  random_run (&eager, seed, flags, NULL);
  random_run (&captured, seed, flags, compiler);
  if (!g_str_equal (eager.result->str, captured.result->str) ||
      (same_order && !g_str_equal (eager.log->str, captured.log->str)))
    {
      g_test_message ("seed %u\n%s", seed, captured.text->str);
      if (same_order)
        tell_difference ("hooks", eager.log->str, captured.log->str);
      tell_difference ("results", eager.result->str, captured.result->str);
      tally->n_failed++;
    }
  count (tally, compiler);
  random_run_clear (&eager);
  random_run_clear (&captured);
}

static void
check_all (RandomFlags flags, AdjCaptureOrder order, guint every)
{
  Tally tally = { .reasons = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
  GHashTableIter iter;
  gpointer reason;
  guint first, end;

  read_seeds (&first, &end);
  for (guint seed = first; seed < end; seed += every)
    check (&tally, seed, flags, order);
  g_test_message ("%" G_GUINT64_FORMAT " captures, %" G_GUINT64_FORMAT " hits, %" G_GUINT64_FORMAT
                  " fallbacks",
                  tally.captures, tally.hits, tally.fallbacks);
  g_hash_table_iter_init (&iter, tally.reasons);
  while (g_hash_table_iter_next (&iter, &reason, NULL))
    g_test_message ("fallback: %s", (const char *) reason);
  if (tally.n_failed > 0)
    g_test_fail_printf ("%u programs of seeds %u to %u", tally.n_failed, first, end - 1);
  g_hash_table_unref (tally.reasons);
}

static void
as_eager (void)
{
  check_all (0, ADJ_CAPTURE_ORDER_EAGER, 1);
}

static void
as_in_2024 (void)
{
  check_all (RANDOM_EXACT, ADJ_CAPTURE_ORDER_2024, 4);
}

static void
as_in_2_6 (void)
{
  check_all (RANDOM_EXACT, ADJ_CAPTURE_ORDER_2_6, 4);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/compiled-autograd/random/eager", as_eager);
  g_test_add_func ("/compiled-autograd/random/2024", as_in_2024);
  g_test_add_func ("/compiled-autograd/random/2.6", as_in_2_6);

  return g_test_run ();
}
