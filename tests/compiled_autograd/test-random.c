/* SPDX-License-Identifier: MIT */
/* Random programs give the same results eagerly and captured. */

#include <string.h>

#include "compiled_autograd/random-program.h"

/* Random programs run once eagerly and once captured.  In the engine's order both give the same
 * gradients, bit for bit, and call the same hooks with the same arguments in the same order; in
 * PyTorch's orders they give the same gradients if sums do not depend on the order. */

#define N_PROGRAMS 300

typedef struct
{
  guint n_failed;
  guint64 captures, hits, fallbacks;
} Tally;

/* Errors of the engine in these backwards, raised only when it reaches the node. */
static const char *const refusals[] = {
  "has been modified by an inplace operation",
  "more than one element of the written-to tensor refers to a single memory location",
};

/* Parses "10000" or "10000-30000". */
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

static gboolean
is_refusal (const char *reason)
{
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    if (strstr (reason, refusals[i]) != NULL)
      return TRUE;
  return FALSE;
}

static void
count (Tally *tally, const AdjCompiledAutograd *compiler)
{
  const AdjCompiledCounters counters = adj_compiled_autograd_get_counters (compiler);

  tally->captures += counters.captures;
  tally->hits += counters.hits;
  tally->fallbacks += counters.fallbacks;
  if (counters.fallback_reason != NULL && !is_refusal (counters.fallback_reason))
    {
      g_test_message ("fallback: %s", counters.fallback_reason);
      tally->n_failed++;
    }
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
check (Tally *tally, guint seed, RandomFlags flags, AdjCaptureOrder order, AdjCaptureLevel level)
{
  const AdjCompiledOptions options = { .order = order, .level = level, .dynamic = seed % 5 == 4 };
  g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (&options);
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
check_all (RandomFlags flags, AdjCaptureOrder order, AdjCaptureLevel level, guint every)
{
  Tally tally = { 0 };
  guint first, end;

  read_seeds (&first, &end);
  for (guint seed = first; seed < end; seed += every)
    check (&tally, seed, flags, order, level);
  g_test_message ("%" G_GUINT64_FORMAT " captures, %" G_GUINT64_FORMAT " hits, %" G_GUINT64_FORMAT
                  " fallbacks",
                  tally.captures, tally.hits, tally.fallbacks);
  if (tally.n_failed > 0)
    g_test_fail_printf ("%u programs of seeds %u to %u", tally.n_failed, first, end - 1);
}

static void
as_eager (void)
{
  check_all (0, ADJ_CAPTURE_ORDER_EAGER, ADJ_CAPTURE_LEVEL_OPERATORS, 1);
}

static void
as_in_2024 (void)
{
  check_all (RANDOM_EXACT, ADJ_CAPTURE_ORDER_2024, ADJ_CAPTURE_LEVEL_OPERATORS, 4);
}

static void
as_in_2_6 (void)
{
  check_all (RANDOM_EXACT, ADJ_CAPTURE_ORDER_2_6, ADJ_CAPTURE_LEVEL_OPERATORS, 4);
}

static void
nodes_as_eager (void)
{
  check_all (0, ADJ_CAPTURE_ORDER_EAGER, ADJ_CAPTURE_LEVEL_NODES, 4);
}

static void
nodes_as_in_2_15 (void)
{
  check_all (RANDOM_EXACT, ADJ_CAPTURE_ORDER_2_15, ADJ_CAPTURE_LEVEL_NODES, 4);
}

/* ORDER PROPERTIES meson.build */
int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/compiled-autograd/random/eager", as_eager);
  g_test_add_func ("/compiled-autograd/random/2024", as_in_2024);
  g_test_add_func ("/compiled-autograd/random/2.6", as_in_2_6);
  g_test_add_func ("/compiled-autograd/random/nodes", nodes_as_eager);
  g_test_add_func ("/compiled-autograd/random/2.15", nodes_as_in_2_15);

  return g_test_run ();
}
