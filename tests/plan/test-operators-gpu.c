/* SPDX-License-Identifier: MIT */
/* Every operator, by the cases of the oracle, on the GPU named in ADJ_TEST_GPU, judged like
 * `adjoint compare`, or else on the emulated GPU: there the bits are the CPU's, and neither
 * kernels nor the host touch each other's memory.  A captured CUDA graph gives the same bits. */

#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "emulated-gpu.h"
#include "exec/adj-comparison.h"
#include "ir/adj-graph.h"
#include "operator-graph.h"
#include "plan-check.h"

#define COMPILED 100 /* one of so many cases runs with generated kernels */

typedef struct
{
  AdjGpu *gpu;
  gboolean is_real;
  guint n, n_bad, n_there; /* numbers of cases; @n_there: ran without the CPU */
  GHashTable *seen;        /* set of targets */
  GHashTable *by_cpu;      /* target → (transfer full): reason why the CPU ran a case */
} Sweep;

/* -- which case it was that ended the test -- */

static char current[256];

static void
tell_current (int number)
{
  if (write (STDERR_FILENO, current, strlen (current)) < 0)
    _exit (1);
  signal (number, SIG_DFL);
  raise (number);
}

/* -- one case -- */

static gboolean
run (AdjRunRequest *request, AdjGpu *gpu, AdjRunResult *result, GError **error)
{
  *result = (AdjRunResult){ 0 };
  request->gpu = gpu;
  return adj_executor_run (adj_executor_find (gpu != NULL ? "cuda" : "planned", NULL), request,
                           result, NULL, error);
}

static void
note_place (Sweep *sweep, const OracleCase *c, const AdjRunResult *result)
{
  const char *target = adj_op_get_schema (c->op)->target;
  const char *reason = strstr (result->note, "; of '");

  g_hash_table_add (sweep->seen, (gpointer) target);
  if (g_str_has_prefix (result->note, "on ") && reason == NULL)
    sweep->n_there++;
  else
    g_hash_table_replace (sweep->by_cpu, (gpointer) target,
                          g_strdup (reason != NULL ? reason : result->note));
}

static gboolean
same_errors (const GError *by_cpu, const GError *by_gpu, GString *why)
{
  if (by_cpu != NULL && by_gpu != NULL && g_error_matches (by_gpu, by_cpu->domain, by_cpu->code))
    return TRUE;
  g_string_append_printf (why, "%s; by a GPU: %s", by_cpu != NULL ? by_cpu->message : "runs",
                          by_gpu != NULL ? by_gpu->message : "runs");
  return FALSE;
}

/* Judges results that differ in bits like `adjoint compare planned cuda`. */
static void
judge (Sweep *sweep, const AdjRunRequest *request, const AdjValue *expected, GString *why)
{
  const AdjComparisonRequest comparison_request = { .graph = request->graph,
                                                    .inputs = request->inputs,
                                                    .n_inputs = request->n_inputs,
                                                    .rng = request->rng,
                                                    .executor = adj_executor_find ("cuda", NULL),
                                                    .gpu = sweep->gpu,
                                                    .expected = expected,
                                                    .rtol = NAN,
                                                    .atol = NAN };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = adj_comparison_run (&comparison_request, NULL, &error);

  if (comparison == NULL)
    g_string_append_printf (why, "; %s", error->message);
  else
    g_string_truncate (why, 0);
  for (guint i = 0; comparison != NULL && i < comparison->n_outputs && why->len == 0; i++)
    if (comparison->outputs[i].verdict == ADJ_VERDICT_DIFFERS)
      g_string_append_printf (why, "output %u: %s, rel-L2 %.3g", i,
                              adj_cause_describe (comparison->outputs[i].cause),
                              comparison->outputs[i].difference.rel_l2);
}

static void
check_first (Sweep *sweep,
             const OracleCase *c,
             AdjRunRequest *request,
             const AdjRunResult *here,
             const AdjRunResult *there,
             GString *why)
{
  note_place (sweep, c, there);
  if ((c->op->flags & ADJ_OP_NO_COMPARE) != 0)
    return;
  if (!plan_same_values (&here->output, &there->output, why) && sweep->is_real)
    judge (sweep, request, &here->output, why);
}

/* Errors must have the same domain and code; the third run replays a captured graph. */
static void
check_runs (Sweep *sweep, const OracleCase *c, AdjRunRequest *request, GString *why)
{
  AdjRunResult here, there, again = { 0 };
  g_autoptr (GError) by_cpu = NULL;
  g_autoptr (GError) by_gpu = NULL;
  gboolean both = run (request, NULL, &here, &by_cpu);

  both = run (request, sweep->gpu, &there, &by_gpu) && both;
  if (both)
    check_first (sweep, c, request, &here, &there, why);
  else
    same_errors (by_cpu, by_gpu, why);
  for (guint i = 0; i < 2 && both && why->len == 0; i++)
    {
      adj_run_result_clear (&again);
      if (!run (request, sweep->gpu, &again, &by_gpu))
        same_errors (NULL, by_gpu, why);
      else if ((c->op->flags & ADJ_OP_NO_COMPARE) == 0)
        plan_same_values (&there.output, &again.output, why);
    }
  adj_run_result_clear (&here);
  adj_run_result_clear (&there);
  adj_run_result_clear (&again);
}

static void
check_case (OracleCase *c, gpointer data)
{
  Sweep *sweep = data;
  g_autoptr (GArray) inputs = adj_value_array_new ();
  g_autoptr (AdjGraph) graph = operator_graph_new (c, FALSE, inputs);
  g_auto (AdjValue) rng = c->seed >= 0 ? operator_graph_seed (c) : ADJ_NONE;
  g_autoptr (GString) why = g_string_new (NULL);
  AdjRunRequest request = { .graph = graph,
                            .inputs = (const AdjValue *) (gpointer) inputs->data,
                            .n_inputs = inputs->len,
                            .rng = c->seed >= 0 ? &rng : NULL };

  adj_gpu_set_compiles (sweep->gpu, sweep->n++ % COMPILED == 0);
  g_snprintf (current, sizeof current, "\n%s:%u: %s\n", c->file, c->line, c->target);
  check_runs (sweep, c, &request, why);
  if (why->len == 0)
    return;
  sweep->n_bad++;
  g_test_message ("%s:%u: %s: %s", c->file, c->line, c->target, why->str);
  g_test_fail ();
}

static void
tell_places (const Sweep *sweep)
{
  g_autoptr (GList) names =
      g_list_sort (g_hash_table_get_keys (sweep->by_cpu), (GCompareFunc) strcmp);

  for (const GList *i = names; i != NULL; i = i->next)
    g_test_message ("by the CPU: %s%s", (const char *) i->data,
                    (const char *) g_hash_table_lookup (sweep->by_cpu, i->data));
  g_test_message ("%u of %u cases, %u of %u operators, need nothing of the CPU", sweep->n_there,
                  sweep->n, g_hash_table_size (sweep->seen) - g_hash_table_size (sweep->by_cpu),
                  g_hash_table_size (sweep->seen));
}

/* (transfer full) */
static AdjGpu *
open_gpu (void)
{
  const char *name = g_getenv ("ADJ_TEST_GPU");
  GError *error = NULL;
  AdjGpu *gpu = name != NULL ? adj_gpu_open (name, &error) : emulated_gpu_new (NULL);

  g_assert_no_error (error);
  return gpu;
}

static void
test_cases (void)
{
  Sweep sweep = { .gpu = open_gpu (),
                  .is_real = g_getenv ("ADJ_TEST_GPU") != NULL,
                  .seen = g_hash_table_new (g_str_hash, g_str_equal),
                  .by_cpu = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free) };

  signal (SIGSEGV, tell_current);
  signal (SIGABRT, tell_current);
  oracle_foreach (check_case, &sweep);
  tell_places (&sweep);
  g_test_message ("%u of %u cases differ", sweep.n_bad, sweep.n);
  g_assert_cmpuint (sweep.n, >, 10000);
  g_assert_cmpuint (sweep.n_there, >, 15000);
  g_hash_table_unref (sweep.seen);
  g_hash_table_unref (sweep.by_cpu);
  adj_gpu_unref (sweep.gpu);
}

/* -- leaks -- */

typedef struct
{
  AdjGpu *gpu;
  guint n_left; /* number of runs */
} Repeating;

/* Runs each case ten times with its own memory. */
static void
repeat_case (OracleCase *c, gpointer data)
{
  Repeating *repeating = data;
  g_autoptr (GArray) inputs = adj_value_array_new ();
  g_autoptr (AdjGraph) graph = NULL;
  AdjRunRequest request = { 0 };

  if (repeating->n_left == 0 || c->seed >= 0)
    return;
  graph = operator_graph_new (c, FALSE, inputs);
  request = (AdjRunRequest){ .graph = graph,
                             .inputs = (const AdjValue *) (gpointer) inputs->data,
                             .n_inputs = inputs->len };
  for (guint i = 0; i < 10 && repeating->n_left > 0; i++, repeating->n_left--)
    {
      g_autoptr (GError) error = NULL;
      AdjRunResult result;

      run (&request, repeating->gpu, &result, &error);
      adj_run_result_clear (&result);
    }
}

static guint64
free_after (AdjGpu *gpu, guint n_runs)
{
  Repeating repeating = { gpu, n_runs };
  AdjGpuInfo info;
  GError *error = NULL;

  oracle_foreach (repeat_case, &repeating);
  adj_gpu_describe (gpu, &info, &error);
  g_assert_no_error (error);
  return info.free_bytes;
}

/* Free memory is the same after the first 1,000 runs, which load the kernels, and after another
 * 1,000. */
static void
test_leaks (void)
{
  g_autoptr (AdjGpu) gpu = open_gpu ();
  guint64 before, after;

  adj_gpu_set_compiles (gpu, FALSE);
  before = free_after (gpu, 1000);
  after = free_after (gpu, 1000);

  g_test_message ("%" G_GUINT64_FORMAT " bytes free after 1,000 runs, %" G_GUINT64_FORMAT
                  " after 1,000 more",
                  before, after);
  g_assert_cmpuint (after, ==, before);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/plan/gpu/leaks", test_leaks);
  g_test_add_func ("/plan/gpu/operators", test_cases);

  return g_test_run ();
}
