/* SPDX-License-Identifier: MIT */
/* One graph of a whole step through each pass: what is forward, backward and update stays so, and
 * so does what activation checkpointing said of it. */

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-recompute.h"
#include "passes/adj-pass.h"
#include "session/adj-pipeline.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static const char *const passes[] = {
  "functionalize", "decompose", "decompose=inductor", "constant-fold", "cse", "dce", "normalise",
};

/* How the log says what autograd made. */
static char *
read_step (gboolean has_marks)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "ir", "data", "step-2.15.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (GString) step = g_string_new (text);

  if (!has_marks)
    g_assert_cmpuint (g_string_replace (step, "# Backward of forward node: File", "# File", 0), >,
                      1);
  return g_string_free (g_steal_pointer (&step), FALSE);
}

static AdjGraph *
run (AdjGraph *graph, const char *step)
{
  g_auto (GStrv) parts = g_strsplit (step, "=", 2);
  g_autoptr (GError) error = NULL;
  AdjPassResult result = { 0 };
  AdjGraph *after;

  adj_pass_run (adj_pass_find (parts[0], NULL), parts[1], graph, &result, &error);
  g_assert_no_error (error);
  after = adj_graph_ref (result.graph);
  adj_pass_result_clear (&result);
  return after;
}

typedef struct
{
  guint n_forward, n_backward, n_update;
} Phases;

static Phases
count_phases (const AdjGraph *graph)
{
  Phases n = { 0 };
  guint last = 0;

  for (guint i = 0; i + 1 < adj_graph_get_n_nodes (graph); i++)
    {
      guint phase = adj_graph_is_update (graph, i) ? 2 : adj_graph_is_backward (graph, i) ? 1 : 0;

      if (adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_PLACEHOLDER)
        continue;
      g_assert_cmpuint (phase, >=, last);
      last = phase;
      n.n_forward += phase == 0;
      n.n_backward += phase == 1;
      n.n_update += phase == 2;
    }
  return n;
}

/* The phases follow each other, and none is lost or taken from another: the update, which is told
 * by marks alone here, keeps its six calls, and forward ends with the gradient of ones. */
static void
test_phases (gconstpointer data)
{
  g_autofree char *text = read_step (GPOINTER_TO_INT (data));
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);

  Phases wanted = count_phases (graph);

  g_assert_cmpuint (wanted.n_update, ==, GPOINTER_TO_INT (data) ? 6 : 0);
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      g_autoptr (AdjGraph) after = run (graph, passes[i]);
      Phases n = count_phases (after);

      g_test_message ("%s: %u, %u, %u", passes[i], n.n_forward, n.n_backward, n.n_update);
      g_assert_cmpuint (n.n_forward, <=, wanted.n_forward);
      g_assert_cmpuint (n.n_forward + 1, >=, wanted.n_forward);
      g_assert_cmpuint (n.n_backward + 1, >=, wanted.n_backward);
      g_assert_cmpuint (n.n_update, ==, wanted.n_update);
    }
}

static guint
count_policy (const AdjGraph *graph, AdjRecompute policy)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n += adj_graph_get_node (graph, i)->meta.recompute == policy;
  return n;
}

/* What is offloaded, saved and recomputed is still so behind each pass. */
static void
test_policies (void)
{
  g_autofree char *text = read_step (TRUE);
  static const char tanh[] = "torch.ops.aten.tanh.default(add);  add = None";

  for (AdjRecompute policy = ADJ_RECOMPUTE_NONE + 1; policy < ADJ_N_RECOMPUTE; policy++)
    {
      g_autoptr (GString) said = g_string_new (text);
      g_autofree char *with =
          g_strdup_printf ("%s  # adj: {ac: 1, recompute: %s}", tanh, adj_recompute_name (policy));
      g_autoptr (AdjGraph) graph = NULL;

      g_assert_cmpuint (g_string_replace (said, tanh, with, 0), ==, 1);
      graph = adj_test_parse_graph (said->str);
      g_assert_cmpuint (count_policy (graph, policy), ==, 1);
      for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
        {
          g_autoptr (AdjGraph) after = run (graph, passes[i]);

          g_test_message ("%s: %s", adj_recompute_name (policy), passes[i]);
          g_assert_cmpuint (count_policy (after, policy), ==, 1);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/passes/whole-step/marked", GINT_TO_POINTER (TRUE), test_phases);
  g_test_add_data_func ("/passes/whole-step/bare", GINT_TO_POINTER (FALSE), test_phases);
  g_test_add_func ("/passes/whole-step/policies", test_policies);
  return g_test_run ();
}
