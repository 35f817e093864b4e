/* SPDX-License-Identifier: MIT */
/* Silent errors in pairs that PyTorch makes are found; Adjoint's pairs have none. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "golden.h"
#include "ir/adj-graph.h"
#include "partition-test.h"
#include "passes/adj-check-internal.h"

static const AdjCheck *const checks[] = {
  &adj_check_merged_random,   &adj_check_recomputed_random, &adj_check_repeated_write,
  &adj_check_saved_reference, &adj_check_saved_twice,       &adj_check_unsaved,
};

static AdjFindings *
check (const AdjPartition *partition)
{
  AdjFindings *findings = adj_findings_new ();
  AdjCheckedRegion region = { .joint = partition->joint,
                              .forward = partition->forward,
                              .backward = partition->backward,
                              .num_fwd_outputs = (gint) partition->num_fwd_outputs };

  for (guint i = 0; i < G_N_ELEMENTS (checks); i++)
    checks[i]->run (checks[i], &region, findings);
  return findings;
}

static guint
count (const AdjFindings *findings, const char *name)
{
  guint n = 0;

  for (guint i = 0; i < adj_findings_get_n (findings); i++)
    n += g_str_equal (adj_findings_get (findings, i)->check->name, name);
  return n;
}

typedef struct
{
  const char *capture;
  double budget;
  const char *check;
  guint n;
} Row;

/* Expected findings in PyTorch's decisions (test-pytorch checks that compat mode equals them). */
static const Row rows[] = {
  { "dropout", 0, "recomputed-random", 2 },
  { "dropout", 1, "recomputed-random", 0 },
  { "resnet-block", 1, "saved-reference", 0 },
  { "resnet-block", 0, "saved-reference", 0 },
  { "sac", 1, "unsaved", 0 },
  { "sac", 0, "unsaved", 8 },
};

static void
test_found (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (row->capture);
  AdjPartitionOptions options = partition_options (bundle);
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (AdjFindings) findings = NULL;

  options.compat = TRUE;
  options.budget = row->budget;
  partition =
      partition_run ("min-cut", adj_bundle_find_graph (bundle, "joint", NULL)->graph, &options);
  findings = check (partition);
  for (guint i = 0; i < adj_findings_get_n (findings); i++)
    g_test_message ("%s: %s", adj_findings_get (findings, i)->check->name,
                    adj_findings_get (findings, i)->message);
  g_assert_cmpuint (count (findings, row->check), ==, row->n);
}

static void
test_none_in_ours (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  AdjGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL)->graph;
  AdjPartitionOptions options = partition_options (bundle);

  for (guint p = 0; p < adj_partitioners_get_n (); p++)
    for (guint b = 0; b <= 4; b++)
      {
        g_autoptr (AdjPartition) partition = NULL;
        g_autoptr (AdjFindings) findings = NULL;

        options.budget = b / 4.0;
        options.effort = 200;
        partition = partition_run (adj_partitioners_get (p)->name, joint, &options);
        findings = check (partition);
        for (guint i = 0; i < adj_findings_get_n (findings); i++)
          g_test_message ("%s at %g: %s", adj_partitioners_get (p)->name, options.budget,
                          adj_findings_get (findings, i)->message);
        g_assert_cmpuint (adj_findings_get_n (findings), ==, 0);
      }
}

/* A batch norm partitioned by PyTorch 2.6 at a budget of 0.5. */
static void
test_repeated_write (void)
{
  g_autoptr (AdjGraph) forward =
      adj_test_parse_graph ("def forward(self, primals_1: \"f32[4][1]cpu\"):\n"
                            "    add = torch.ops.aten.add.Tensor(primals_1, 1)\n"
                            "    copy_ = torch.ops.aten.copy_.default(primals_1, add)\n"
                            "    return (add, primals_1)\n");
  g_autoptr (AdjGraph) backward = adj_test_parse_graph (
      "def forward(self, primals_1: \"f32[4][1]cpu\", tangents_1: \"f32[4][1]cpu\"):\n"
      "    add = torch.ops.aten.add.Tensor(primals_1, 1)\n"
      "    copy_ = torch.ops.aten.copy_.default(primals_1, add)\n"
      "    return (tangents_1,)\n");
  AdjCheckedRegion region = { .forward = forward, .backward = backward, .num_fwd_outputs = 1 };
  g_autoptr (AdjFindings) findings = adj_findings_new ();

  adj_check_repeated_write.run (&adj_check_repeated_write, &region, findings);
  adj_check_saved_reference.run (&adj_check_saved_reference, &region, findings);
  g_assert_cmpuint (adj_findings_get_n (findings), ==, 2);
  g_assert_true (adj_findings_get (findings, 0)->graph == backward);
  g_assert_cmpstr (adj_findings_get (findings, 0)->message, ==,
                   "'copy_' writes in forward and once more in backward");
  g_assert_true (adj_findings_get (findings, 1)->graph == forward);
}

/* A saved view of a recomputed value. */
static void
test_saved_twice (void)
{
  g_autoptr (AdjGraph) forward =
      adj_test_parse_graph ("def forward(self, primals_1: \"f32[4, 4][4, 1]cpu\"):\n"
                            "    sin = torch.ops.aten.sin.default(primals_1)\n"
                            "    t = torch.ops.aten.t.default(sin)\n"
                            "    return (sin, primals_1, t)\n");
  g_autoptr (AdjGraph) backward = adj_test_parse_graph (
      "def forward(self, primals_1: \"f32[4, 4][4, 1]cpu\", t: \"f32[4, 4][1, 4]cpu\", "
      "tangents_1: \"f32[4, 4][4, 1]cpu\"):\n"
      "    sin = torch.ops.aten.sin.default(primals_1)\n"
      "    mul = torch.ops.aten.mul.Tensor(tangents_1, sin)\n"
      "    mm = torch.ops.aten.mm.default(mul, t)\n"
      "    return (mm,)\n");
  AdjCheckedRegion region = { .forward = forward, .backward = backward, .num_fwd_outputs = 1 };
  g_autoptr (AdjFindings) findings = adj_findings_new ();

  adj_check_saved_twice.run (&adj_check_saved_twice, &region, findings);
  g_assert_cmpuint (adj_findings_get_n (findings), ==, 1);
  g_assert_cmpstr (adj_findings_get (findings, 0)->message, ==,
                   "'sin' is saved as 't' and computed again in backward");
}

/* x·randn_like(x) + randn_like(x): two independent samples. */
static void
test_merged_random (void)
{
  g_autoptr (AdjGraph) joint = golden_parse (
      "p1:4 t1:4", "randn_like = randn_like.default(p1); mul = mul.Tensor(p1, randn_like);"
                   "randn_like_1 = randn_like.default(p1); add = add.Tensor(mul, randn_like_1);"
                   "mul_1 = mul.Tensor(t1, randn_like); return [add, mul_1]");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  for (guint compat = 0; compat < 2; compat++)
    {
      g_autoptr (AdjPartition) partition = NULL;
      g_autoptr (AdjFindings) findings = NULL;

      options.compat = compat != 0;
      options.num_fwd_outputs = 1;
      partition = partition_run ("min-cut", joint, &options);
      findings = check (partition);
      g_assert_cmpuint (count (findings, "merged-random"), ==, compat);
      if (compat != 0)
        g_assert_nonnull (strstr (adj_findings_get (findings, 0)->message, "'randn_like_1'"));
    }
}

/* -- the two masks of a dropout that is computed again -- */

typedef struct
{
  const AdjGraph *graph;
  const char *forward, *backward; /* node names in the composed graph */
  AdjTensorData *masks[2];
} Masks;

static gboolean
keep_mask (AdjNodeId id, const AdjValue *value, gpointer data)
{
  Masks *masks = data;
  const char *name = adj_graph_get_node (masks->graph, id.index)->name;

  if (g_str_equal (name, masks->forward))
    masks->masks[0] = adj_tensor_data_ref (value->items[1].data);
  else if (g_str_equal (name, masks->backward))
    masks->masks[1] = adj_tensor_data_ref (value->items[1].data);
  return TRUE;
}

/* Number of elements in which the masks of forward and backward differ. */
static gint64
differing_mask (const AdjPartition *partition, const AdjRecordedCall *call)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) whole = adj_graph_compose (partition->forward, partition->backward,
                                                  partition->num_fwd_outputs, &error);
  Masks masks = { whole, "native_dropout", "native_dropout_2", { NULL, NULL } };
  AdjRunRequest request = { .graph = whole,
                            .inputs = call->inputs,
                            .n_inputs = call->n_inputs,
                            .rng = call->rng,
                            .tap = keep_mask,
                            .data = &masks };
  AdjRunResult result = { 0 };
  gint64 n = 0;

  g_assert_no_error (error);
  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (masks.masks[0]);
  g_assert_nonnull (masks.masks[1]);
  for (gint64 i = 0; i < adj_tensor_data_get_numel (masks.masks[0]); i++)
    n += adj_tensor_data_get_double (masks.masks[0], i) !=
         adj_tensor_data_get_double (masks.masks[1], i);
  adj_tensor_data_unref (masks.masks[0]);
  adj_tensor_data_unref (masks.masks[1]);
  adj_run_result_clear (&result);
  return n;
}

static void
test_masks (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture ("dropout");
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, joint, 0);
  AdjPartitionOptions options = partition_options (bundle);
  g_autoptr (AdjPartition) theirs = NULL;
  g_autoptr (AdjPartition) ours = NULL;
  gint64 their_n, our_n;

  options.budget = 0;
  ours = partition_run ("min-cut", joint->graph, &options);
  options.compat = TRUE;
  theirs = partition_run ("min-cut", joint->graph, &options);
  their_n = differing_mask (theirs, call);
  our_n = differing_mask (ours, call);
  g_test_message ("elements in which the masks of forward and backward differ: PyTorch at budget 0 "
                  "%" G_GINT64_FORMAT ", ours %" G_GINT64_FORMAT,
                  their_n, our_n);
  g_assert_cmpint (their_n, >, 0);
  g_assert_cmpint (our_n, ==, 0);
}

/* -- a dropout that PyTorch repeated because of a budget (data/make-budget-dropout.py) -- */

static AdjBundle *
load_budget_dropout (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "partition", "data", "budget-dropout.adjoint", NULL);
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

static void
test_found_in_pytorchs (void)
{
  g_autoptr (AdjBundle) bundle = load_budget_dropout ();
  g_autoptr (AdjFindings) findings = adj_bundle_check (bundle, NULL, NULL);

  g_assert_cmpuint (adj_findings_get_n (findings), ==, 1);
  g_assert_cmpstr (adj_findings_get (findings, 0)->check->name, ==, "recomputed-random");
  g_assert_true (adj_findings_get (findings, 0)->graph ==
                 adj_bundle_find_graph (bundle, "backward", NULL)->graph);
}

/* Runs the function eagerly: outputs, then gradients. */
static AdjValue *
run_eagerly (AdjBundle *bundle, guint *n)
{
  const AdjBundleGraph *dynamo = adj_bundle_find_graph (bundle, "dynamo", NULL);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, dynamo, 0);
  g_autoptr (AdjContext) cx = adj_context_new_with_autograd ();
  g_autofree AdjValue *args = g_new0 (AdjValue, call->n_inputs);
  GBytes *state = adj_tensor_data_get_bytes (call->rng->items[1].data);
  AdjValue *values = g_new0 (AdjValue, call->n_inputs + 1);
  g_auto (AdjValue) out = ADJ_NONE;
  g_autoptr (GError) error = NULL;
  AdjTensor *loss;

  adj_generator_set_state (adj_context_get_generator (cx), g_bytes_get_data (state, NULL),
                           g_bytes_get_size (state), &error);
  g_assert_no_error (error);
  for (guint i = 0; i < call->n_inputs; i++)
    {
      args[i] = ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (call->inputs[i].data)));
      adj_tensor_set_requires_grad (cx, args[i].tensor, TRUE);
    }
  adj_interpret (cx, dynamo->graph, args, call->n_inputs, NULL, &out);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  loss = out.items[0].tensor;
  adj_backward (cx, &(AdjGradRoots){ .tensors = &loss, .n = 1 }, NULL, 0, 0);
  adj_context_take_error (cx, &error);
  g_assert_no_error (error);
  values[0] = ADJ_DATA (adj_tensor_snapshot (loss));
  for (guint i = 0; i < call->n_inputs; i++)
    values[1 + i] = ADJ_DATA (adj_tensor_snapshot (adj_tensor_get_grad (args[i].tensor)));
  *n = call->n_inputs + 1;
  return values;
}

/* Our pair repeats the operator from the saved generator state, or saves its result: no finding,
 * and the results equal the eager ones, bit for bit. */
static void
test_ours_is_eager (void)
{
  g_autoptr (AdjBundle) bundle = load_budget_dropout ();
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, joint, 0);
  guint n, n_repeated = 0;
  AdjValue *eager = run_eagerly (bundle, &n);

  for (guint p = 0; p < adj_partitioners_get_n (); p++)
    for (guint b = 0; b <= 10; b++)
      {
        AdjPartitionOptions options = partition_options (bundle);
        g_autoptr (AdjPartition) partition = NULL;
        g_autoptr (AdjFindings) findings = NULL;
        g_autoptr (AdjGraph) whole = NULL;
        g_auto (AdjValue) got = ADJ_NONE;

        options.budget = b / 10.0;
        partition = partition_run (adj_partitioners_get (p)->name, joint->graph, &options);
        findings = check (partition);
        g_assert_cmpuint (adj_findings_get_n (findings), ==, 0);
        whole = adj_graph_compose (partition->forward, partition->backward,
                                   partition->num_fwd_outputs, NULL);
        got = partition_interpret (whole, call->inputs, call->n_inputs, call->rng);
        g_assert_cmpuint (got.n, ==, n);
        for (guint i = 0; i < n; i++)
          partition_assert_same_bits (&got.items[i], &eager[i], partition->partitioner);
        n_repeated +=
            partition->nodes[adj_graph_find_node (joint->graph, "native_dropout").index].kind ==
            ADJ_DECISION_RECOMPUTED;
      }
  g_test_message ("the dropout is repeated in %u of 33 plans, with the mask of forward",
                  n_repeated);
  g_assert_cmpuint (n_repeated, >, 0);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&eager[i]);
  g_free (eager);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strdup_printf ("/partition/findings/%s/%s-at-%g", rows[i].check,
                                               rows[i].capture, rows[i].budget);

      g_test_add_data_func (path, &rows[i], test_found);
    }
  for (guint i = 0; partition_captures[i] != NULL; i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/partition/findings/none-in-ours/%s", partition_captures[i]);

      g_test_add_data_func (path, partition_captures[i], test_none_in_ours);
    }
  g_test_add_func ("/partition/findings/repeated-write", test_repeated_write);
  g_test_add_func ("/partition/findings/saved-twice", test_saved_twice);
  g_test_add_func ("/partition/findings/merged-random", test_merged_random);
  g_test_add_func ("/partition/findings/masks-differ", test_masks);
  g_test_add_func ("/partition/findings/budget-dropout/in-pytorchs", test_found_in_pytorchs);
  g_test_add_func ("/partition/findings/budget-dropout/ours-is-eager", test_ours_is_eager);
  return g_test_run ();
}
