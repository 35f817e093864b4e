/* SPDX-License-Identifier: MIT */
/* Joint graphs of real training steps: in compat mode the saved values are those of PyTorch 2.6;
 * with any decisions, forward and backward compute what the joint graph computes. */

#include <glib.h>
#include <math.h>

#include "ir/adj-graph.h"
#include "partition-test.h"
#include "partition/adj-pareto.h"

static const double budgets[] = { 0, 0.25, 0.5, 0.75, 1 };

/* Returns the results of the recorded forward after its outputs. */
static char *
recorded_saved (AdjBundle *bundle, guint num_fwd_outputs, guint *n)
{
  const AdjGraph *forward = adj_bundle_find_graph (bundle, "forward", NULL)->graph;
  const AdjValue *outputs =
      &adj_graph_get_node (forward, adj_graph_get_output (forward).index)->args.items[0];
  GString *text = g_string_new (NULL);

  *n = outputs->n - num_fwd_outputs;
  for (guint i = num_fwd_outputs; i < outputs->n; i++)
    g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "",
                            adj_graph_get_node (forward, outputs->items[i].node.index)->name);
  return g_string_free (text, FALSE);
}

static guint64
recorded_bytes (const AdjPartition *partition, const char *saved)
{
  g_auto (GStrv) names = g_strsplit (saved, " ", -1);
  guint64 bytes = 0;

  for (guint i = 0; names[i] != NULL; i++)
    if (*names[i] != '\0')
      bytes += partition->nodes[adj_graph_find_node (partition->joint, names[i]).index].bytes;
  return bytes;
}

static void
test_saves_as_recorded (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  AdjPartitionOptions options = partition_options (bundle);
  g_autoptr (AdjPartition) compat = NULL;
  g_autoptr (AdjPartition) ours = NULL;
  g_autofree char *expected = NULL;
  g_autofree char *got = NULL;
  guint n;

  expected = recorded_saved (bundle, (guint) options.num_fwd_outputs, &n);
  options.compat = TRUE;
  compat = partition_run ("min-cut", joint->graph, &options);
  options.compat = FALSE;
  ours = partition_run ("min-cut", joint->graph, &options);
  g_test_message ("%s: PyTorch saves %u values, %" G_GUINT64_FORMAT
                  " bytes; compat %u, %" G_GUINT64_FORMAT " bytes; ours %u, %" G_GUINT64_FORMAT
                  " bytes, %" G_GUINT64_FORMAT " of them new; cut %" G_GINT64_FORMAT,
                  (const char *) name, n, recorded_bytes (compat, expected), compat->n_saved,
                  compat->counted_bytes, ours->n_saved, ours->counted_bytes, ours->saved_bytes,
                  ours->cut_value);
  got = partition_print_saved (compat);
  g_assert_cmpstr (got, ==, expected);
  g_assert_cmpint (compat->cut_value, ==, ours->cut_value);
  g_assert_cmpuint (ours->saved_bytes, <=, compat->saved_bytes);
}

static void
test_equals_joint (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, joint, 0);
  AdjPartitionOptions options = partition_options (bundle);

  g_assert_nonnull (call);
  for (guint p = 0; p < adj_partitioners_get_n (); p++)
    for (guint b = 0; b < G_N_ELEMENTS (budgets); b++)
      {
        g_autoptr (AdjPartition) partition = NULL;

        options.budget = budgets[b];
        options.effort = 300;
        partition = partition_run (adj_partitioners_get (p)->name, joint->graph, &options);
        partition_assert_equals_joint (partition, call->inputs, call->n_inputs, call->rng);
      }
}

/* Below a budget of 1 PyTorch ignores MUST_SAVE, so the plan it is compared with ignores it too. */
static GArray *
lift_saves (const AdjPartition *theirs)
{
  GArray *demands = g_array_new (FALSE, FALSE, sizeof (AdjPartitionDemand));

  for (guint i = 0; i < adj_graph_get_n_nodes (theirs->joint); i++)
    if (theirs->nodes[i].recompute == ADJ_RECOMPUTE_MUST_SAVE)
      {
        AdjPartitionDemand demand = { adj_graph_get_node (theirs->joint, i)->name,
                                      ADJ_RECOMPUTE_NONE };

        g_array_append_val (demands, demand);
      }
  return demands;
}

/* Whether memory can be saved: in the other captures the peak consists of forward's outputs and
 * gradients. */
static gboolean
is_improved (const char *name)
{
  static const char *const names[] = {
    "gpt2", "gpt2-inductor", "resnet-block", "llama", "lstm", "unet", NULL,
  };

  return g_strv_contains (names, name);
}

/* Forward's outputs stay alive during backward when both run in one measurement. */
static guint64
output_bytes (const AdjPartition *partition)
{
  const AdjNode *output =
      adj_graph_get_node (partition->joint, adj_graph_get_output (partition->joint).index);
  guint64 bytes = 0;

  for (guint i = 0; i < partition->num_fwd_outputs; i++)
    if (output->args.items[0].items[i].kind == ADJ_VALUE_NODE)
      bytes += partition->nodes[output->args.items[0].items[i].node.index].bytes;
  return bytes;
}

/* At each budget of PyTorch: at most as much recomputation, and no higher peak. */
static void
test_beats_budgets (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, joint, 0);
  AdjPartitionOptions options = partition_options (bundle);

  for (guint b = 0; b < G_N_ELEMENTS (budgets); b++)
    {
      g_autoptr (AdjPartition) theirs = NULL;
      g_autoptr (AdjPartition) ours = NULL;
      g_autoptr (GArray) demands = NULL;
      guint64 their_peak, our_peak;

      options.budget = budgets[b];
      options.compat = TRUE;
      theirs = partition_run ("min-cut", joint->graph, &options);
      demands = lift_saves (theirs);
      options.compat = FALSE;
      options.effort = 1200;
      options.demands = (const AdjPartitionDemand *) (gpointer) demands->data;
      options.n_demands = budgets[b] < 1 ? demands->len : 0;
      ours = partition_run ("optimal", joint->graph, &options);
      their_peak = partition_measure_peak (theirs, call->inputs, call->n_inputs, call->rng);
      our_peak = partition_measure_peak (ours, call->inputs, call->n_inputs, call->rng);
      g_test_message ("%s at %g: PyTorch %" G_GUINT64_FORMAT " bytes (measured %" G_GUINT64_FORMAT
                      "), %g flops again; optimal %" G_GUINT64_FORMAT " (%" G_GUINT64_FORMAT
                      "), %g; bound %" G_GUINT64_FORMAT "%s, %u plans",
                      (const char *) name, budgets[b], theirs->cost.peak, their_peak,
                      theirs->cost.recompute_flops, ours->cost.peak, our_peak,
                      ours->cost.recompute_flops, ours->cost.peak_bound,
                      ours->cost.is_optimal ? ", all tried" : "", ours->cost.n_plans);
      g_assert_cmpuint (ours->cost.peak, <=, theirs->cost.peak);
      if (budgets[b] == 1 && is_improved (name))
        g_assert_cmpuint (our_peak, <, their_peak);
      g_assert_cmpfloat (ours->cost.recompute_flops, <=, theirs->cost.recompute_flops);
      g_assert_cmpuint (our_peak, <=, their_peak);
      g_assert_cmpuint (our_peak, <=, ours->cost.peak + output_bytes (ours));
      g_assert_cmpuint (their_peak, <=, theirs->cost.peak + output_bytes (theirs));
      /* The prediction includes tangents, which exist before the measurement starts. */
      g_assert_cmpuint (ours->cost.peak, <=, our_peak + output_bytes (ours));
      options.n_demands = 0;
    }
}

/* The recorded partition, evaluated as a plan, equals PyTorch's plan at budget 1. */
static void
test_measures_recorded (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  const AdjBundleGraph *backward = adj_bundle_find_graph (bundle, "backward", NULL);
  AdjPartitionOptions options = partition_options (bundle);
  g_autoptr (AdjPartition) theirs = NULL;
  g_autoptr (GError) error = NULL;
  AdjParetoPoint point;

  options.compat = TRUE;
  theirs = partition_run ("min-cut", joint->graph, &options);
  adj_partition_measure (joint->graph, backward->graph, &options, &point, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (point.peak, ==, theirs->cost.peak);
  g_assert_cmpuint (point.saved_bytes, ==, theirs->saved_bytes);
  g_assert_cmpfloat (point.recompute_flops, ==, theirs->cost.recompute_flops);
}

static void
add_each (const char *title, GTestDataFunc test)
{
  for (guint i = 0; partition_captures[i] != NULL; i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/partition/captures/%s/%s", partition_captures[i], title);

      g_test_add_data_func (path, partition_captures[i], test);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_each ("saves-what-pytorch-saved", test_saves_as_recorded);
  add_each ("measures-what-pytorch-made", test_measures_recorded);
  add_each ("equals-joint", test_equals_joint);
  add_each ("optimal-beats-budgets", test_beats_budgets);
  return g_test_run ();
}
