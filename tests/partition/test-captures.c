/* SPDX-License-Identifier: MIT */
/* The joint graphs of real training steps: what PyTorch 2.6 saved, we save when asked to decide as
 * it does; and whatever is decided, forward and backward compute what the joint graph computes. */

#include <glib.h>
#include <math.h>

#include "partition-test.h"

static const double budgets[] = { 0, 0.25, 0.5, 0.75, 1 };

/* What the recorded forward returns beside its outputs. */
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
  g_autoptr (AdjBundle) bundle = partition_load_capture (name);
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
  g_autoptr (AdjBundle) bundle = partition_load_capture (name);
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, joint, 0);
  AdjPartitionOptions options = partition_options (bundle);

  g_assert_nonnull (call);
  for (guint p = 0; p < adj_partitioners_get_n (); p++)
    for (guint b = 0; b < G_N_ELEMENTS (budgets); b++)
      {
        g_autoptr (AdjPartition) partition = NULL;

        options.budget = budgets[b];
        partition = partition_run (adj_partitioners_get (p)->name, joint->graph, &options);
        partition_assert_equals_joint (partition, call->inputs, call->n_inputs, call->rng);
      }
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
  add_each ("equals-joint", test_equals_joint);
  return g_test_run ();
}
