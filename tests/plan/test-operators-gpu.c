/* SPDX-License-Identifier: MIT */
/* Every operator, by the cases of the oracle, on the emulated GPU: the bits of the CPU from a first
 * run and from a captured graph, and nothing of the host touched by a kernel or the other way
 * round. */

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "emulated-gpu.h"
#include "operator-graph.h"
#include "plan-check.h"

typedef struct
{
  AdjGpu *gpu;
  guint n, n_there;   /* cases; those that the CPU had nothing to do with */
  GHashTable *seen;   /* of targets */
  GHashTable *by_cpu; /* of targets: (transfer full): why the CPU ran a case */
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
  if (g_str_has_prefix (result->note, "on emulated:0") && reason == NULL)
    sweep->n_there++;
  else
    g_hash_table_replace (sweep->by_cpu, (gpointer) target,
                          g_strdup (reason != NULL ? reason : result->note));
}

/* Errors are the same, without the place. */
static void
check_run (Sweep *sweep, const OracleCase *c, AdjRunRequest *request, gboolean first, GString *why)
{
  AdjRunResult here, there;
  g_autoptr (GError) by_cpu = NULL;
  g_autoptr (GError) by_gpu = NULL;
  gboolean ran = run (request, NULL, &here, &by_cpu);

  if (run (request, sweep->gpu, &there, &by_gpu) != ran)
    g_string_append_printf (why, "%s; by a GPU: %s", ran ? "runs" : by_cpu->message,
                            ran ? by_gpu->message : "runs");
  else if (!ran && !g_error_matches (by_gpu, by_cpu->domain, by_cpu->code))
    g_string_append_printf (why, "%s; by a GPU: %s", by_cpu->message, by_gpu->message);
  else if (ran && (c->op->flags & ADJ_OP_NO_COMPARE) == 0)
    plan_same_values (&here.output, &there.output, why);
  if (ran && by_gpu == NULL && first)
    note_place (sweep, c, &there);
  adj_run_result_clear (&here);
  adj_run_result_clear (&there);
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

  sweep->n++;
  g_snprintf (current, sizeof current, "\n%s:%u: %s\n", c->file, c->line, c->target);
  /* The third run captures a graph and plays it. */
  for (guint i = 0; i < 3 && why->len == 0; i++)
    check_run (sweep, c, &request, i == 0, why);
  if (why->len == 0)
    return;
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

static void
test_cases (void)
{
  Sweep sweep = { .gpu = emulated_gpu_new (NULL),
                  .seen = g_hash_table_new (g_str_hash, g_str_equal),
                  .by_cpu = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free) };

  signal (SIGSEGV, tell_current);
  signal (SIGABRT, tell_current);
  oracle_foreach (check_case, &sweep);
  tell_places (&sweep);
  g_assert_cmpuint (sweep.n, >, 10000);
  g_assert_cmpuint (sweep.n_there, >, 15000);
  g_hash_table_unref (sweep.seen);
  g_hash_table_unref (sweep.by_cpu);
  adj_gpu_unref (sweep.gpu);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/plan/operators/on-gpu", test_cases);

  return g_test_run ();
}
