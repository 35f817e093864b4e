/* SPDX-License-Identifier: MIT */

/* Dynamo graphs traced to joint graphs, against PyTorch's.
 *
 * Traces Dynamo's graph to the joint graph, or to the inference graph if no gradient is wanted,
 * and compares with PyTorch's as `adjoint trace X#dynamo` and `adjoint diff --modulo aot` do:
 * arguments, annotations and tags of every node.  The captures beside this file
 * (data/make-ambient.py) run under autocast or without grad, and their values are compared too;
 * those of make-dynamic.py have symbolic sizes. */

#include <math.h>
#include <string.h>

#include "adjoint.h"
#include "passes/adj-pass-internal.h"
#include "support/adj-test.h"

/* The policy of selective checkpointing is a Python function that the captured graph does not
 * contain, so its tags are in PyTorch's graph only. */
static const char *const of_the_policy[] = {
  "_softmax", "_softmax_1", "addmm_1", "addmm_2", "addmm_3", "addmm_4",
  "addmm_5",  "addmm_6",    "addmm_7", "addmm_8", "bmm",     "bmm_1",
  "bmm_2",    "bmm_3",      "gelu",    "gelu_1",  NULL,
};

static const struct
{
  const char *name;         /* name of a capture in data/graphs, or "data/…" */
  const char *table;        /* (nullable): table of decompositions PyTorch traced with */
  const char *const *known; /* (nullable): nodes whose tags differ, by name */
} captures[] = {
  { "mlp", NULL, NULL },
  { "gpt2", NULL, NULL },
  { "gpt2-inductor", "inductor", NULL },
  { "llama", NULL, NULL },
  { "lstm", NULL, NULL },
  { "sac", NULL, of_the_policy },
  { "dropout", NULL, NULL },
  { "resnet-block", NULL, NULL },
  { "unet", NULL, NULL },
  { "data/mlp-region", NULL, NULL },
  { "data/mlp-called", NULL, NULL },
  { "data/attention-region", NULL, NULL },
  { "data/attention-called", NULL, NULL },
  { "data/convolutions-region", NULL, NULL },
  { "data/convolutions-called", NULL, NULL },
  { "data/mixed-region", NULL, NULL },
  { "data/mixed-called", NULL, NULL },
  { "data/half", NULL, NULL },
  { "data/dynamic-bilinear", NULL, NULL },
  { "data/dynamic-convolution", NULL, NULL },
  { "data/dynamic-floats", NULL, NULL },
  { "data/dynamic-patches", NULL, NULL },
  { "data/dynamic-sizes", NULL, NULL },
  { "data/no-grad-called", NULL, NULL },
  { "data/inference-called", NULL, NULL },
  { "data/no-grad-autocast", NULL, NULL },
};

static AdjGraph *
run_pass (const AdjPass *pass, const char *argument, AdjGraph *graph)
{
  g_autoptr (GError) error = NULL;
  AdjPassResult result;
  AdjGraph *made;

  adj_pass_run (pass, argument, graph, &result, &error);
  g_assert_no_error (error);
  made = adj_graph_ref (result.graph);
  adj_pass_result_clear (&result);
  return made;
}

static AdjGraph *
normalise (AdjGraph *graph)
{
  g_autoptr (AdjGraph) normal = run_pass (&adj_pass_normalise, NULL, graph);

  return run_pass (&adj_pass_dce, NULL, normal);
}

static AdjGraph *
find_graph (AdjBundle *bundle, const char *role)
{
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *graph = adj_bundle_find_graph (bundle, role, &error);

  g_assert_no_error (error);
  return graph->graph;
}

static gboolean
is_known (const AdjGraph *graph, const AdjChange *change, const char *const *known)
{
  return known != NULL && change->kind == ADJ_CHANGE_CHANGED &&
         g_str_equal (change->reason, "recompute") &&
         g_strv_contains (known, adj_graph_get_node (graph, change->b.index)->name);
}

static AdjBundle *
load (const char *name)
{
  gboolean beside = g_str_has_prefix (name, "data/");
  g_autofree char *file = g_strconcat (beside ? "session/" : "graphs/", name, ".adjoint", NULL);
  g_autofree char *path =
      beside ? g_test_build_filename (G_TEST_DIST, file, NULL) : adj_test_data_path (file);
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

/* Compares recorded values of each graph, including Dynamo's. */
static void
test_values (gconstpointer data)
{
  g_autoptr (AdjBundle) bundle = load (data);

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      AdjSessionRun run = { .bundle = bundle, .graph = adj_bundle_get_graph (bundle, i) };
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjComparison) comparison =
          adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, &error);

      g_assert_no_error (error);
      g_test_message ("%s: %u outputs, %s", run.graph->id, comparison->n_outputs,
                      adj_verdict_name (comparison->verdict));
      g_assert_cmpuint (comparison->n_outputs, >, 0);
      g_assert_cmpint (comparison->verdict, !=, ADJ_VERDICT_DIFFERS);
    }
}

/* Forward reads only values that it has, for instance no size of a tangent. */
static void
check_partition (AdjGraph *joint)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjPartition) partition =
      adj_partition (adj_partitioner_find ("min-cut", NULL), joint, NULL, &error);

  g_assert_no_error (error);
}

static void
test_capture (gconstpointer data)
{
  guint index = GPOINTER_TO_UINT (data);
  g_autoptr (AdjBundle) bundle = load (captures[index].name);
  gboolean trains = adj_bundle_find_graph (bundle, "joint", NULL) != NULL;
  g_autoptr (AdjGraph) joint = NULL;
  g_autoptr (AdjGraph) ours = NULL;
  g_autoptr (AdjGraph) theirs = NULL;
  g_autoptr (AdjAlignment) alignment = NULL;
  guint n_known = 0;

  joint = run_pass (adj_pass_find ("joint", NULL), captures[index].table,
                    find_graph (bundle, "dynamo"));
  ours = normalise (joint);
  theirs = normalise (find_graph (bundle, trains ? "joint" : "inference"));
  alignment = adj_graph_align (ours, theirs);
  for (guint i = 0; i < alignment->n_changes; i++)
    n_known += is_known (theirs, &alignment->changes[i], captures[index].known);
  g_test_message ("%s: %u nodes the same, %u added, %u removed, %u changed, %u of them known",
                  captures[index].name, alignment->n_same, alignment->n_added, alignment->n_removed,
                  alignment->n_changed, n_known);
  g_assert_cmpuint (alignment->n_same, >, 40);
  g_assert_cmpuint (alignment->n_added + alignment->n_removed, ==, 0);
  g_assert_cmpuint (alignment->n_changed, ==, n_known);
  if (trains)
    check_partition (joint);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *path = g_strdup_printf ("/session/dynamo-joint/%s", captures[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_capture);
      if (g_str_has_prefix (captures[i].name, "data/"))
        {
          g_autofree char *values =
              g_strdup_printf ("/session/dynamo-joint/values/%s", captures[i].name);

          g_test_add_data_func (values, captures[i].name, test_values);
        }
    }
  return g_test_run ();
}
