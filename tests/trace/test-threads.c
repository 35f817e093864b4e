/* SPDX-License-Identifier: MIT */

/* Two contexts trace at once in two threads and give the results of a single thread: shared data
 * is not written.  ./dev sanitize runs this under ThreadSanitizer. */

#include <glib.h>

#include "adjoint.h"
#include "support/programs.h"

#define N_PROGRAMS 40
#define N_ROUNDS 3

/* Inputs are annotations, so that the threads share only code. */
typedef struct
{
  AdjFunction *function; /* (owned) */
  AdjTensorMeta metas[4];
  guint n_inputs;
  char *expected; /* (owned) (nullable): %NULL: the trace fails, in threads too */
} Traced;

static char *
trace (const Traced *traced)
{
  const AdjTraceOptions options = { .functionalize = TRUE };
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjGraph) again = NULL;
  AdjValue examples[G_N_ELEMENTS (traced->metas)];

  for (guint i = 0; i < traced->n_inputs; i++)
    examples[i] = (AdjValue){ .kind = ADJ_VALUE_META, .meta = &traced->metas[i] };
  graph = adj_trace (traced->function, examples, traced->n_inputs, &options, NULL);
  again = graph != NULL ? adj_retrace (graph, NULL, NULL) : NULL;
  return again != NULL ? adj_graph_print (again, ADJ_PRINT_NO_METADATA, NULL) : NULL;
}

static void
make_traced (Traced *traced, guint32 seed)
{
  g_autoptr (Program) program = program_new (seed, 0);
  g_autoptr (AdjContext) cx = adj_context_new ();
  AdjTensor *inputs[G_N_ELEMENTS (traced->metas)];

  traced->function = program_function_new (program);
  traced->n_inputs = program_get_n_inputs (program);
  program_make_inputs (program, cx, inputs, NULL);
  for (guint i = 0; i < traced->n_inputs; i++)
    {
      traced->metas[i] = *adj_tensor_get_meta (inputs[i]);
      traced->metas[i].storage = -1;
      adj_tensor_unref (inputs[i]);
    }
  traced->expected = trace (traced);
}

static gpointer
trace_all (gpointer data)
{
  const Traced *traced = data;
  guint n_wrong = 0;

  for (guint round = 0; round < N_ROUNDS; round++)
    for (guint i = 0; i < N_PROGRAMS; i++)
      {
        g_autofree char *text = trace (&traced[i]);

        n_wrong += g_strcmp0 (text, traced[i].expected) != 0;
      }
  return GUINT_TO_POINTER (n_wrong);
}

static void
two_contexts_at_once (void)
{
  Traced traced[N_PROGRAMS] = { { .n_inputs = 0 } };
  guint n_traced = 0;
  GThread *threads[2];

  for (guint i = 0; i < N_PROGRAMS; i++)
    {
      make_traced (&traced[i], i);
      n_traced += traced[i].expected != NULL;
    }
  g_assert_cmpuint (n_traced, >, N_PROGRAMS / 2);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("trace", trace_all, traced);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_assert_cmpuint (GPOINTER_TO_UINT (g_thread_join (threads[i])), ==, 0);
  for (guint i = 0; i < N_PROGRAMS; i++)
    {
      adj_function_unref (traced[i].function);
      g_free (traced[i].expected);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/trace/threads/two-contexts", two_contexts_at_once);
  return g_test_run ();
}
