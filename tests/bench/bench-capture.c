/* SPDX-License-Identifier: MIT */

/* Times the backward of GPT-2 by depth, one JSON line each: eager, captured, looked up in the
 * cache, and the captured graph alone; the median of several runs in milliseconds of wall time
 * and the minimum, which other load disturbs least. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/deep.h"
#include "ir/adj-graph.h"
#include "wrappers/adj-wrappers.h"

#define N_RUNS 15

static double
get_ms (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return 1e3 * (double) now.tv_sec + 1e-6 * (double) now.tv_nsec;
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? -1 : x > y;
}

static void
print_times (const char *name, double *times)
{
  qsort (times, N_RUNS, sizeof *times, ascending);
  printf (", \"%s_ms\": %.3f, \"best_%s_ms\": %.3f", name, times[N_RUNS / 2], name, times[0]);
}

/* Parameters require a gradient; tokens are 0, so that each is a valid index. */
static GArray *
make_inputs (AdjContext *cx, const AdjGraph *graph)
{
  GArray *inputs = g_array_new (FALSE, TRUE, sizeof (AdjValue));

  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);
      AdjValue value = ADJ_TENSOR (adj_tensor_new_empty (node->val.meta, NULL, FALSE));

      adj_scope_add (cx, value.tensor);
      if (adj_dtype_is_floating (node->val.meta->dtype))
        {
          adj_normal_ (cx, value.tensor, 0, 0.1);
          adj_tensor_set_requires_grad (cx, value.tensor, TRUE);
        }
      g_array_append_val (inputs, value);
    }
  return inputs;
}

static void
check (AdjContext *cx)
{
  g_autoptr (GError) error = NULL;

  if (adj_context_take_error (cx, &error))
    g_error ("%s", error->message);
}

/* Returns the milliseconds of one backward. */
static double
run_step (AdjContext *cx, const AdjGraph *graph, const GArray *inputs)
{
  g_auto (AdjValue) result = ADJ_NONE;
  const AdjValue *loss = &result;
  double begin;

  adj_scope_begin (cx);
  adj_interpret (cx, graph, (gconstpointer) inputs->data, inputs->len, NULL, &result);
  check (cx);
  while (adj_value_is_container (loss))
    loss = &loss->items[0];
  begin = get_ms ();
  adj_tensor_backward (cx, loss->tensor);
  begin = get_ms () - begin;
  check (cx);
  for (guint i = 0; i < inputs->len; i++)
    adj_tensor_set_grad (cx, g_array_index (inputs, AdjValue, i).tensor, NULL);
  adj_scope_end (cx);
  return begin;
}

/* Like run_step(), for a backward that is already captured; not inlined, so that a profiler can
 * select it by name (--toggle-collect). */
static double G_GNUC_NO_INLINE
run_found_step (AdjContext *cx, const AdjGraph *graph, const GArray *inputs)
{
  double ms = run_step (cx, graph, inputs);

  return ms;
}

static void
bench (guint n_layers)
{
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autoptr (AdjGraph) graph = deep_gpt2_new (n_layers);
  g_autoptr (GArray) inputs = NULL;
  double eager[N_RUNS], captures[N_RUNS], hits[N_RUNS], lookups[N_RUNS];
  guint n_calls = 0, n_nodes = 0;

  adj_scope_begin (cx);
  inputs = make_inputs (cx, graph);
  for (guint i = 0; i < N_RUNS; i++)
    {
      g_autoptr (AdjCompiledAutograd) compiler = adj_compiled_autograd_new (NULL);
      AdjCompiledCounters counters;

      eager[i] = run_step (cx, graph, inputs);
      adj_compiled_autograd_enable (compiler, cx);
      run_step (cx, graph, inputs);
      counters = adj_compiled_autograd_get_counters (compiler);
      captures[i] = (double) (counters.lookup_ns + counters.capture_ns) * 1e-6;
      hits[i] = run_found_step (cx, graph, inputs);
      adj_compiled_autograd_restore (cx);
      counters = adj_compiled_autograd_get_counters (compiler);
      if (counters.captures != 1 || counters.hits != 1)
        g_error ("%u layers: %s", n_layers, counters.fallback_reason);
      lookups[i] = (double) counters.lookup_ns * 1e-6;
      n_calls = adj_capture_get_n_calls (adj_compiled_autograd_get_capture (compiler, 0));
      n_nodes = adj_graph_get_n_calls (
          adj_capture_get_graph (adj_compiled_autograd_get_capture (compiler, 0)));
    }
  printf ("{\"bench\": \"capture\", \"layers\": %u, \"node_calls\": %u, \"nodes\": %u", n_layers,
          n_calls, n_nodes);
  print_times ("capture", captures);
  print_times ("lookup", lookups);
  print_times ("eager", eager);
  print_times ("captured", hits);
  printf ("}\n");
  fflush (stdout);
  adj_scope_end (cx);
}

/* bench-capture [LAYERS…]; also runs by hand, without the environment of the tests. */
int
main (int argc, char **argv)
{
  static const guint layers[] = { 2, 12, 48 };

  g_setenv ("ADJ_TEST_DATA", BENCH_DATA, FALSE);
  for (guint i = 0; argc < 2 && i < G_N_ELEMENTS (layers); i++)
    bench (layers[i]);
  for (int i = 1; i < argc; i++)
    bench ((guint) strtoul (argv[i], NULL, 10));
  return 0;
}
