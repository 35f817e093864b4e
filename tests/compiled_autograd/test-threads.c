/* SPDX-License-Identifier: MIT */

/* Two threads train at once, each with its own context and compiled autograd, and get the
 * results of a single thread: shared data is not written.  ./dev sanitize runs this under
 * ThreadSanitizer. */

#include "compiled_autograd/random-program.h"

#define N_PROGRAMS 40
#define N_ROUNDS 3

/* (transfer full) */
static char *
train (guint32 seed)
{
  g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (NULL);
  RandomRun run;
  char *text;

  random_run_init (&run);
  random_run (&run, seed, 0, compiler);
  text = g_strconcat (run.result->str, run.log->str, NULL);
  random_run_clear (&run);
  return text;
}

static gpointer
train_all (gpointer data)
{
  char **expected = data;
  guint n_wrong = 0;

  for (guint round = 0; round < N_ROUNDS; round++)
    for (guint i = 0; i < N_PROGRAMS; i++)
      {
        g_autofree char *text = train (i);

        n_wrong += !g_str_equal (text, expected[i]);
      }
  return GUINT_TO_POINTER (n_wrong);
}

static void
two_at_once (void)
{
  char *expected[N_PROGRAMS];
  GThread *threads[2];

  for (guint i = 0; i < N_PROGRAMS; i++)
    expected[i] = train (i);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("train", train_all, expected);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (threads[i])), ==, 0);
  for (guint i = 0; i < N_PROGRAMS; i++)
    g_free (expected[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compiled-autograd/threads/two-at-once", two_at_once);
  return g_test_run ();
}
