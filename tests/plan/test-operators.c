/* SPDX-License-Identifier: MIT */
/* Every operator, by the cases of the oracle, as a graph of one call and between pointwise
 * calls: a plan agrees with the interpreter. */

#include "ir/adj-graph.h"
#include "operator-graph.h"
#include "plan-check.h"

typedef struct
{
  guint n;
  gboolean fed;
} Tally;

static void
check_case (OracleCase *c, gpointer data)
{
  Tally *tally = data;
  g_autoptr (GArray) inputs = adj_value_array_new ();
  g_autoptr (AdjGraph) graph = operator_graph_new (c, tally->fed, inputs);
  g_auto (AdjValue) rng = ADJ_NONE;
  g_autoptr (GString) why = g_string_new (NULL);
  AdjRunRequest request = { .graph = graph,
                            .inputs = (const AdjValue *) (gpointer) inputs->data,
                            .n_inputs = inputs->len };

  if (c->seed >= 0)
    rng = operator_graph_seed (c);
  request.rng = c->seed >= 0 ? &rng : NULL;
  tally->n++;
  if (!plan_agrees (&request, why))
    {
      g_test_message ("%s:%u: %s: %s", c->file, c->line, c->target, why->str);
      g_test_fail ();
    }
}

static void
test_cases (gconstpointer fed)
{
  Tally tally = { .fed = GPOINTER_TO_INT (fed) };

  oracle_foreach (check_case, &tally);
  g_test_message ("%u cases", tally.n);
  g_assert_cmpuint (tally.n, >, 10000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/plan/operators/alone", GINT_TO_POINTER (FALSE), test_cases);
  g_test_add_data_func ("/plan/operators/fed-by-pointwise", GINT_TO_POINTER (TRUE), test_cases);

  return g_test_run ();
}
