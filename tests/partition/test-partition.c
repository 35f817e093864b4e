/* SPDX-License-Identifier: MIT */
/* Demands and their errors, sentences, and what the goldens do not reach: symbolic sizes, writes,
 * checkpointed dropout, measured times. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "golden.h"
#include "ir/adj-graph.h"
#include "partition-test.h"

#define CHAIN                                                                                      \
  "sin = sin.default(p1); mm = mm.default(sin, p2); cos = cos.default(mm);"                        \
  "sin_1 = sin.default(mm); neg = neg.default(sin_1); mul = mul.Tensor(t1, neg);"                  \
  "t = t.default(sin); mm_1 = mm.default(t, mul); t_1 = t.default(p2);"                            \
  "mm_2 = mm.default(mul, t_1); cos_1 = cos.default(p1); mul_1 = mul.Tensor(mm_2, cos_1);"         \
  "return [cos, mul_1, mm_1]"

static AdjGraph *
make_chain (void)
{
  return golden_parse ("p1:4x4 p2:4x4 t1:4x4", CHAIN);
}

static AdjPartition *
demand (AdjGraph *joint, const AdjPartitionDemand *demands, guint n, GError **error)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.num_fwd_outputs = 1;
  options.demands = demands;
  options.n_demands = n;
  return adj_partition (adj_partitioner_find ("min-cut", NULL), joint, &options, error);
}

static void
assert_refused (const AdjPartitionDemand *demands, guint n, AdjError code, const char *message)
{
  g_autoptr (AdjGraph) joint = make_chain ();
  g_autoptr (GError) error = NULL;

  g_assert_null (demand (joint, demands, n, &error));
  g_assert_error (error, ADJ_ERROR, (gint) code);
  g_assert_cmpstr (error->message, ==, message);
}

static void
test_refuses_demands (void)
{
  const AdjPartitionDemand unknown[] = { { "sinus", ADJ_RECOMPUTE_MUST_SAVE } };
  const AdjPartitionDemand both[] = { { "mm", ADJ_RECOMPUTE_MUST_SAVE },
                                      { "mm", ADJ_RECOMPUTE_MUST_RECOMPUTE } };
  const AdjPartitionDemand input[] = { { "primals_1", ADJ_RECOMPUTE_MUST_RECOMPUTE } };

  assert_refused (unknown, 1, ADJ_ERROR_NOT_FOUND,
                  "MUST_SAVE is asked for a node 'sinus', which the graph does not have");
  assert_refused (both, 2, ADJ_ERROR_UNSUPPORTED,
                  "MUST_SAVE and MUST_RECOMPUTE are both asked for 'mm'");
  assert_refused (input, 1, ADJ_ERROR_UNSUPPORTED,
                  "MUST_RECOMPUTE is asked for 'primals_1', which no operator computes");
}

static void
test_refuses_budgets (void)
{
  static const double budgets[] = { -0.1, 1.5, INFINITY };
  g_autoptr (AdjGraph) joint = make_chain ();

  for (guint i = 0; i < G_N_ELEMENTS (budgets); i++)
    {
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (GError) error = NULL;

      options.budget = budgets[i];
      g_assert_null (
          adj_partition (adj_partitioner_find ("min-cut", NULL), joint, &options, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT);
      g_assert_nonnull (strstr (error->message, "a budget is a fraction from 0 to 1"));
    }
}

static void
test_refuses_graphs (void)
{
  g_autoptr (AdjGraph) joint = make_chain ();
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;

  options.num_fwd_outputs = 4;
  g_assert_null (adj_partition (adj_partitioner_find ("default", NULL), joint, &options, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "returns 3 values"));
  g_clear_error (&error);
  g_assert_null (adj_partitioner_find ("max-cut", &error));
  g_assert_cmpstr (error->message, ==,
                   "no partitioner 'max-cut'; there are default, min-cut, optimal");
}

/* A value of several results that backward reads whole, and that may not be repeated. */
static void
test_refuses_whole_tuples (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) joint = adj_test_parse_graph (
      "def forward(self, primals_1: \"f32[4][1]cpu\", tangents_1: \"f32[4][1]cpu\"):\n"
      "    pair = torch.ops.mine.pair.default(primals_1)  # adj: {ac: 7, val: "
      "(meta('f32[4][1]cpu'), meta('f32[4][1]cpu'))}\n"
      "    getitem: \"f32[4][1]cpu\" = pair[0]\n"
      "    back: \"f32[4][1]cpu\" = torch.ops.mine.back.default(tangents_1, pair)\n"
      "    return [getitem, back]\n");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.num_fwd_outputs = 1;
  g_assert_null (adj_partition (adj_partitioner_find ("min-cut", NULL), joint, &options, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "'pair'"));
  g_assert_nonnull (strstr (error->message, "region 7"));
  g_assert_nonnull (strstr (error->message, "can neither be saved"));
}

static void
test_demands_hold (void)
{
  const AdjPartitionDemand demands[] = { { "sin", ADJ_RECOMPUTE_MUST_SAVE },
                                         { "mm", ADJ_RECOMPUTE_MUST_RECOMPUTE } };
  g_autoptr (AdjGraph) joint = make_chain ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjPartition) partition = demand (joint, demands, 2, &error);
  g_autofree char *saved = NULL;
  g_autofree char *recomputed = NULL;

  g_assert_no_error (error);
  saved = partition_print_saved (partition);
  recomputed = partition_print_decided (partition, ADJ_DECISION_RECOMPUTED);
  g_assert_cmpstr (saved, ==, "primals_1 primals_2 sin");
  g_assert_cmpstr (recomputed, ==, "mm");
}

static void
assert_sentence (const AdjPartition *partition, const char *name, const char *sentence)
{
  g_autofree char *got =
      adj_partition_explain (partition, adj_graph_find_node (partition->joint, name));

  g_assert_cmpstr (got, ==, sentence);
}

static void
test_explains (void)
{
  g_autoptr (AdjGraph) joint = make_chain ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjPartition) partition = demand (joint, NULL, 0, &error);

  g_assert_no_error (error);
  assert_sentence (partition, "mm",
                   "'mm' is saved for backward: saving it here is part of the cheapest cut; 64 "
                   "bytes, 70 of the 280 that the cut costs; it may not be computed again: its "
                   "operator is not among those that are cheap to repeat");
  assert_sentence (partition, "cos", "'cos' stays in forward: nothing in backward reads it");
  assert_sentence (partition, "mul",
                   "'mul' is computed in backward: it depends on 'tangents_1', which only backward "
                   "knows");
  assert_sentence (partition, "neg",
                   "'neg' is computed in backward: only backward needs it, and what it reads is "
                   "there");
}

/* Every node of every capture has a sentence that names it. */
static void
test_explains_everything (void)
{
  for (guint c = 0; partition_captures[c] != NULL; c++)
    {
      g_autoptr (AdjBundle) bundle = adj_test_load_capture (partition_captures[c]);
      AdjPartitionOptions options = partition_options (bundle);
      g_autoptr (AdjPartition) partition =
          partition_run ("min-cut", adj_bundle_find_graph (bundle, "joint", NULL)->graph, &options);

      for (guint i = 0; i < adj_graph_get_n_nodes (partition->joint); i++)
        {
          g_autofree char *sentence = adj_partition_explain (partition, (AdjNodeId){ i });
          g_autofree char *name =
              g_strdup_printf ("'%s' ", adj_graph_get_node (partition->joint, i)->name);

          g_assert_true (g_str_has_prefix (sentence, name));
          g_assert_null (strstr (sentence, "another node"));
        }
    }
}

/* Two cuts of one price: the sine of half of a product, 200 bytes that would be fused away and so
 * count twice, or what is put together of two of it, 400 bytes that exist anyway.  PyTorch takes
 * the later one. */
static void
test_equal_cuts (void)
{
  g_autoptr (AdjGraph) joint = golden_parse (
      "p1:10x10 p2:10x10 t1:10x10",
      "mm = mm.default(p1, p2); slice_1 = slice.Tensor(mm, 0, 0, 5); sin = sin.default(slice_1);"
      "cat = cat.default([sin, sin]); mm_1 = mm.default(t1, cat); return [mm, mm_1, None]");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) theirs = NULL;
  g_autoptr (AdjPartition) ours = NULL;
  g_autofree char *saved = NULL;

  options.num_fwd_outputs = 1;
  ours = partition_run ("min-cut", joint, &options);
  options.compat = TRUE;
  theirs = partition_run ("min-cut", joint, &options);
  saved = partition_print_saved (theirs);
  g_assert_cmpstr (saved, ==, "cat");
  g_clear_pointer (&saved, g_free);
  saved = partition_print_saved (ours);
  g_assert_cmpstr (saved, ==, "sin");
  g_assert_cmpint (ours->cut_value, ==, theirs->cut_value);
  g_assert_cmpint (ours->cut_value, ==, 440);
  g_assert_cmpuint (theirs->saved_bytes, ==, 400);
  g_assert_cmpuint (ours->saved_bytes, ==, 200);
}

/* A constant is read where it is needed, as in PyTorch's graphs of torch.tensor ([0, 1, 2]). */
static void
test_constants (void)
{
  g_autoptr (AdjGraph) joint = adj_test_parse_graph (
      "def forward(self, primals_1: \"f32[4][1]cpu\", tangents_1: \"f32[4][1]cpu\"):\n"
      "    constant: \"f32[4][1]cpu\" = self.constant\n"
      "    mul: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(primals_1, constant)\n"
      "    mul_1: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, constant)\n"
      "    return [mul, mul_1]\n");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.num_fwd_outputs = 1;
  for (guint compat = 0; compat < 2; compat++)
    {
      g_autoptr (AdjPartition) partition = NULL;

      options.compat = compat != 0;
      partition = partition_run ("min-cut", joint, &options);
      g_assert_cmpuint (partition->n_saved, ==, 0);
      g_assert_true (adj_node_id_is_valid (adj_graph_find_node (partition->backward, "constant")));
    }
}

/* -- symbolic sizes -- */

/* G5: of x backward needs the sizes alone. */
static void
test_sizes (void)
{
  g_autoptr (AdjGraph) joint = adj_test_parse_graph (
      "def forward(self, primals_1: \"Sym(s0)\", primals_2: \"Sym(s1)\", primals_3: \"f32[s0, "
      "s1][s1, 1]cpu\", tangents_1: \"f32[s0][1]cpu\"):\n"
      "    # adj: symbol s0 {hint: 6}\n"
      "    # adj: symbol s1 {hint: 4}\n"
      "    sum_1: \"f32[s0][1]cpu\" = torch.ops.aten.sum.dim_IntList(primals_3, [1])\n"
      "    unsqueeze: \"f32[s0, 1][1, 1]cpu\" = torch.ops.aten.unsqueeze.default(tangents_1, 1)\n"
      "    expand: \"f32[s0, s1][1, 0]cpu\" = torch.ops.aten.expand.default(unsqueeze, [primals_1, "
      "primals_2])\n"
      "    return [sum_1, None, None, expand]\n");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  static const char *const partitioners[] = { "min-cut", "default" };

  options.num_fwd_outputs = 1;
  for (guint i = 0; i < G_N_ELEMENTS (partitioners); i++)
    {
      g_autoptr (AdjPartition) partition = partition_run (partitioners[i], joint, &options);
      g_autofree char *saved = partition_print_saved (partition);

      g_assert_cmpstr (saved, ==, "primals_1 primals_2");
      g_assert_cmpint (partition->saved[0].kind, ==, ADJ_SAVED_SIZE);
      if (i == 0)
        g_assert_cmpint (partition->cut_value, ==, 2);
    }
}

/* I9: a saved tensor of unknown length brings the symbol along, before what is computed of it. */
static void
test_binds_symbols (void)
{
  g_autoptr (AdjGraph) joint = adj_test_parse_graph (
      "def forward(self, primals_1: \"Sym(s0)\", primals_2: \"f32[s0][1]cpu\", tangents_1: "
      "\"f32[s0][1]cpu\"):\n"
      "    sin: \"f32[s0][1]cpu\" = torch.ops.aten.sin.default(primals_2)\n"
      "    cos: \"f32[s0][1]cpu\" = torch.ops.aten.cos.default(primals_2)\n"
      "    mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, cos)\n"
      "    return [sin, None, mul]\n");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autofree char *saved = NULL;

  options.num_fwd_outputs = 1;
  partition = partition_run ("min-cut", joint, &options);
  saved = partition_print_saved (partition);
  g_assert_cmpstr (saved, ==, "primals_2 primals_1");
  g_assert_cmpint (partition->nodes[0].rule, ==, ADJ_RULE_SYMBOL);
}

/* -- writes -- */

/* Forward saves p1 and then writes to it: backward must see the old value. */
static void
test_saves_before_writes (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) joint = adj_test_parse_graph (
      "def forward(self, primals_1: \"f32[4][1]cpu\", tangents_1: \"f32[4][1]cpu\"):\n"
      "    sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(primals_1)\n"
      "    add: \"f32[4][1]cpu\" = torch.ops.aten.add.Tensor(primals_1, 1)\n"
      "    cos: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(primals_1)\n"
      "    mul: \"f32[4][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, cos)\n"
      "    copy_: \"f32[4][1]cpu\" = torch.ops.aten.copy_.default(primals_1, add)\n"
      "    return [sin, mul]\n");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  AdjValue *inputs;
  guint n;

  options.num_fwd_outputs = 1;
  partition = partition_run ("min-cut", joint, &options);
  g_assert_true (
      adj_node_id_is_valid (adj_graph_find_node (partition->forward, "primals_1_saved")));
  g_assert_false (adj_node_id_is_valid (adj_graph_find_node (partition->backward, "copy_")));
  inputs = adj_session_random_inputs (joint, 3, &n, &error);
  partition_assert_equals_joint (partition, inputs, n, NULL);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&inputs[i]);
  g_free (inputs);
}

/* A batch norm in training takes the running statistics and does not look at them, so forward saves
 * no copy of them; in evaluation it does. */
static void
test_copies_what_is_read (void)
{
  for (guint training = 0; training <= 1; training++)
    {
      g_autofree char *text = g_strdup_printf (
          "def forward(self, primals_1: \"f32[4, 3][3, 1]cpu\", primals_2: \"f32[3][1]cpu\", "
          "primals_3: \"f32[3][1]cpu\", tangents_1: \"f32[4, 3][3, 1]cpu\"):\n"
          "    bn = torch.ops.aten._native_batch_norm_legit_functional.default(primals_1, None, "
          "None, primals_2, primals_3, %s, 0.1, 1e-05)\n"
          "    getitem: \"f32[4, 3][3, 1]cpu\" = bn[0]\n"
          "    getitem_1: \"f32[%d][1]cpu\" = bn[1]\n"
          "    getitem_2: \"f32[%d][1]cpu\" = bn[2]\n"
          "    add: \"f32[3][1]cpu\" = torch.ops.aten.add.Tensor(primals_2, 1)\n"
          "    back = torch.ops.aten.native_batch_norm_backward.default(tangents_1, primals_1, "
          "None, primals_2, primals_3, getitem_1, getitem_2, %s, 1e-05, [True, False, False])\n"
          "    getitem_5: \"f32[4, 3][3, 1]cpu\" = back[0]\n"
          "    copy_: \"f32[3][1]cpu\" = torch.ops.aten.copy_.default(primals_2, add)\n"
          "    return [getitem, getitem_5, None, None]\n",
          training ? "True" : "False", training ? 3 : 0, training ? 3 : 0,
          training ? "True" : "False");
      g_autoptr (AdjGraph) joint = adj_test_parse_graph (text);
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (AdjPartition) partition = NULL;

      options.num_fwd_outputs = 1;
      partition = partition_run ("min-cut", joint, &options);
      g_assert_true (
          adj_node_id_is_valid (adj_graph_find_node (partition->backward, "primals_2")) ||
          adj_node_id_is_valid (adj_graph_find_node (partition->backward, "primals_2_saved")));
      g_assert_cmpint (
          adj_node_id_is_valid (adj_graph_find_node (partition->forward, "primals_2_saved")), ==,
          !training);
    }
}

/* -- G23: checkpointed dropout -- */

#define DROPOUT(tag)                                                                               \
  "sigmoid" tag " = sigmoid.default(p1);"                                                          \
  "native_dropout@PREFER_RECOMPUTE/1 = native_dropout.default(sigmoid, 0.5, True);"                \
  "getitem@PREFER_RECOMPUTE/1 = native_dropout[0];"                                                \
  "getitem_1@PREFER_RECOMPUTE/1 = native_dropout[1];"                                              \
  "sigmoid_1" tag " = sigmoid.default(getitem);"                                                   \
  "sigmoid_backward = sigmoid_backward.default(t1, sigmoid_1);"                                    \
  "native_dropout_backward = native_dropout_backward.default(sigmoid_backward, getitem_1, 2.0);"   \
  "sigmoid_backward_1 = sigmoid_backward.default(native_dropout_backward, sigmoid);"               \
  "return [sigmoid_1, sigmoid_backward_1]"

static char *
backward_order (const AdjPartition *partition)
{
  GString *order = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (partition->backward); i++)
    if (adj_graph_get_node (partition->backward, i)->opcode == ADJ_OPCODE_CALL_FUNCTION)
      g_string_append_printf (order, "%s%s", order->len > 0 ? " " : "",
                              adj_graph_get_node (partition->backward, i)->name);
  return g_string_free (order, FALSE);
}

/* What a partitioner adds was never tagged. */
static void
assert_no_tag (const AdjGraph *graph, const char *name)
{
  const AdjNode *node = adj_graph_get_node (graph, adj_graph_find_node (graph, name).index);

  g_assert_cmpint (node->meta.recompute, ==, ADJ_RECOMPUTE_NONE);
  g_assert_cmpint (node->meta.ac_graph_id, ==, -1);
}

static void
check_dropout (const char *program, const char *saved, const char *order)
{
  g_autoptr (AdjGraph) joint = golden_parse ("p1:4x4 t1:4x4", program);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autofree char *got_saved = NULL;
  g_autofree char *got_order = NULL;
  g_autoptr (GError) error = NULL;
  AdjValue *inputs;
  guint n;

  options.num_fwd_outputs = 1;
  options.compat = TRUE;
  partition = partition_run ("min-cut", joint, &options);
  got_saved = partition_print_saved (partition);
  got_order = backward_order (partition);
  g_assert_cmpstr (got_saved, ==, saved);
  g_assert_cmpstr (got_order, ==, order);
  g_assert_cmpstr (
      adj_graph_get_node (partition->backward,
                          adj_graph_find_node (partition->backward, "native_dropout").index)
          ->target,
      ==, "torch.ops.higher_order.run_with_rng_state");
  assert_no_tag (partition->forward, "native_dropout");
  assert_no_tag (partition->backward, "native_dropout");
  assert_no_tag (partition->backward, "rng_state_output_0");
  inputs = adj_session_random_inputs (joint, 3, &n, &error);
  partition_assert_equals_joint (partition, inputs, n, NULL);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&inputs[i]);
  g_free (inputs);
}

static void
test_dropout (void)
{
  check_dropout (DROPOUT ("@MUST_SAVE/1"), "sigmoid sigmoid_1",
                 "sigmoid_backward native_dropout getitem_1 native_dropout_backward "
                 "sigmoid_backward_1");
  check_dropout (DROPOUT ("@PREFER_RECOMPUTE/1"), "primals_1",
                 "sigmoid native_dropout getitem sigmoid_1 sigmoid_backward getitem_1 "
                 "native_dropout_backward sigmoid_backward_1");
}

/* G15: 250 sines in a row are repeated in pieces of a hundred. */
static void
test_long_chain (void)
{
  g_autoptr (GString) program = g_string_new ("sin = sin.default(p1);");
  g_autoptr (AdjGraph) joint = NULL;
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  char grad[32] = "t1", name[32] = "sin";

  for (guint i = 1; i < 250; i++)
    {
      g_string_append_printf (program, "sin_%u = sin.default(%s);", i, name);
      g_snprintf (name, sizeof name, "sin_%u", i);
    }
  for (guint i = 0; i < 250; i++)
    {
      guint from = 249 - i;
      g_autofree char *suffix = i == 0 ? g_strdup ("") : g_strdup_printf ("_%u", i);

      if (from == 0)
        g_strlcpy (name, "p1", sizeof name);
      else if (from == 1)
        g_strlcpy (name, "sin", sizeof name);
      else
        g_snprintf (name, sizeof name, "sin_%u", from - 1);
      g_string_append_printf (program, "cos%s = cos.default(%s); mul%s = mul.Tensor(%s, cos%s);",
                              suffix, name, suffix, grad, suffix);
      g_snprintf (grad, sizeof grad, "mul%s", suffix);
    }
  g_string_append_printf (program, "return [sin_249, %s]", grad);
  joint = golden_parse ("p1:16 t1:16", program->str);
  options.num_fwd_outputs = 1;
  options.compat = TRUE;
  for (guint off = 0; off < 2; off++)
    {
      g_autoptr (AdjPartition) partition = NULL;
      g_autofree char *saved = NULL;

      options.no_long = off != 0;
      partition = partition_run ("min-cut", joint, &options);
      saved = partition_print_saved (partition);
      g_assert_cmpstr (saved, ==, off ? "primals_1" : "primals_1 sin_101 sin_203");
      g_assert_cmpuint (partition->cost.n_recomputed, ==, off ? 249 : 247);
    }
}

/* G27: a value of one unit is kept, and two of two units are made again from it: .1, .3 and .5 of
 * what there is, then .3 and .1; in 50 and 51 units of time. */
static void
test_backward_memory (void)
{
  static const struct
  {
    const char *node;
    AdjRecompute recompute;
    gint64 ms;
  } values[] = {
    { "relu", ADJ_RECOMPUTE_MUST_SAVE, 100 },     { "cat", ADJ_RECOMPUTE_MUST_RECOMPUTE, 50 },
    { "alias", ADJ_RECOMPUTE_MUST_RECOMPUTE, 0 }, { "alias_1", ADJ_RECOMPUTE_MUST_RECOMPUTE, 0 },
    { "cos", ADJ_RECOMPUTE_MUST_RECOMPUTE, 51 },
  };
  g_autoptr (AdjGraph) joint = golden_parse (
      "p1:1000 t1:", "relu = relu.default(p1); cat = cat.default([relu, relu]);"
                     "alias = alias.default(cat); alias_1 = alias.default(alias);"
                     "cos = cos.default(alias_1); dot = dot.default(cos, cos);"
                     "mul = mul.Tensor(t1, dot); dot_1 = dot.default(cat, cat);"
                     "mul_1 = mul.Tensor(mul, dot_1); dot_2 = dot.default(relu, relu);"
                     "mul_2 = mul.Tensor(mul_1, dot_2); sum_1 = sum.default(cos);"
                     "return [sum_1, mul_2]");
  AdjPartitionDemand demands[G_N_ELEMENTS (values)];
  g_autofree gint64 *ns = g_new0 (gint64, adj_graph_get_n_nodes (joint));
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (GString) trace = g_string_new (NULL);
  const AdjMemoryTimeline *backward;

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      demands[i] = (AdjPartitionDemand){ values[i].node, values[i].recompute };
      ns[adj_graph_find_node (joint, values[i].node).index] = values[i].ms * 1000000;
    }
  options.num_fwd_outputs = 1;
  options.demands = demands;
  options.n_demands = G_N_ELEMENTS (demands);
  options.runtime = ADJ_RUNTIME_MEASURED;
  options.node_ns = ns;
  partition = partition_run ("min-cut", joint, &options);
  backward = &partition->cost.backward;
  g_assert_cmpuint (backward->start / 4000, ==, 1);
  g_assert_cmpuint (backward->peak / 4000, ==, 5);
  g_assert_cmpfloat (partition->cost.recompute_time, ==, 101);
  for (guint i = 0; i < backward->n_steps; i++)
    g_string_append_printf (trace, "%s %" G_GUINT64_FORMAT "; ",
                            adj_graph_get_node (joint, backward->steps[i].node.index)->name,
                            backward->steps[i].bytes / 4000);
  g_assert_cmpstr (trace->str, ==,
                   "cat 3; alias 3; alias_1 3; cos 5; dot 5; mul 3; dot_1 3; mul_1 1; dot_2 1; "
                   "mul_2 0; ");
}

/* What was measured decides instead of what is estimated. */
static void
test_measured (void)
{
  g_autoptr (AdjGraph) joint =
      golden_parse ("p1:64x1 p2:1x64 p3:1x64 t1:64x64 t2:64x64",
                    "mm = mm.default(p1, p2); cos = cos.default(mm); mm_1 = mm.default(p1, p3);"
                    "cos_1 = cos.default(mm_1); sin = sin.default(mm); mul = mul.Tensor(t1, sin);"
                    "sin_1 = sin.default(mm_1); mul_1 = mul.Tensor(t2, sin_1);"
                    "return [cos, cos_1, mul, mul_1, None]");
  g_autofree gint64 *ns = g_new0 (gint64, adj_graph_get_n_nodes (joint));
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.num_fwd_outputs = 2;
  options.budget = 0.6;
  options.runtime = ADJ_RUNTIME_MEASURED;
  options.node_ns = ns;
  for (guint slow = 0; slow < 2; slow++)
    {
      g_autoptr (AdjPartition) partition = NULL;
      AdjNodeId a = adj_graph_find_node (joint, "mm"), b = adj_graph_find_node (joint, "mm_1");

      ns[a.index] = slow == 0 ? 9000000 : 1000000;
      ns[b.index] = slow == 0 ? 1000000 : 9000000;
      partition = partition_run ("min-cut", joint, &options);
      g_assert_cmpint (partition->nodes[slow == 0 ? a.index : b.index].kind, !=,
                       ADJ_DECISION_RECOMPUTED);
      g_assert_cmpint (partition->nodes[slow == 0 ? b.index : a.index].kind, ==,
                       ADJ_DECISION_RECOMPUTED);
    }
}

static void
assert_tagged (const AdjGraph *graph)
{
  AdjNodeId id = adj_graph_find_node (graph, "getitem_1");

  g_assert_true (adj_node_id_is_valid (id));
  g_assert_cmpint (adj_graph_get_node (graph, id.index)->meta.recompute, ==,
                   ADJ_RECOMPUTE_MUST_SAVE);
}

/* A checkpoint tags what an effect gives in it; PyTorch finds no cut then.  The tag of what is
 * saved instead is in both halves. */
static void
test_effects_are_saved (void)
{
  static const char text[] =
      "def forward(self, primals_1: \"f32[0]\", primals_2: \"f32[3]\", tangents_1: \"f32[3]\"):\n"
      "    with_effects = torch.ops.higher_order.with_effects(primals_1, "
      "torch.ops.aten._print.default, 'x')  # adj: {recompute: PREFER_RECOMPUTE, ac: 1, val: "
      "(meta('f32[0]'), meta('f32[3]'))}\n"
      "    getitem: \"f32[0]\" = with_effects[0]  # adj: {recompute: PREFER_RECOMPUTE, ac: 1}\n"
      "    getitem_1: \"f32[3]\" = with_effects[1]  # adj: {recompute: PREFER_RECOMPUTE, ac: 1}\n"
      "    mul: \"f32[3]\" = torch.ops.aten.mul.Tensor(primals_2, getitem_1)"
      "  # adj: {recompute: PREFER_RECOMPUTE, ac: 1}\n"
      "    sin: \"f32[3]\" = torch.ops.aten.sin.default(mul)"
      "  # adj: {recompute: PREFER_RECOMPUTE, ac: 1}\n"
      "    cos: \"f32[3]\" = torch.ops.aten.cos.default(mul)\n"
      "    mul_1: \"f32[3]\" = torch.ops.aten.mul.Tensor(tangents_1, cos)\n"
      "    mul_2: \"f32[3]\" = torch.ops.aten.mul.Tensor(mul_1, getitem_1)\n"
      "    return [getitem, sin, mul_2]\n";
  g_autoptr (AdjGraph) joint = adj_test_parse_graph (text);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autofree char *saved = NULL;

  options.num_fwd_outputs = 2;
  partition = partition_run ("min-cut", joint, &options);
  saved = partition_print_saved (partition);
  g_assert_cmpstr (saved, ==, "primals_2 getitem_1");
  assert_tagged (partition->forward);
  assert_tagged (partition->backward);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/demands/refused", test_refuses_demands);
  g_test_add_func ("/partition/demands/hold", test_demands_hold);
  g_test_add_func ("/partition/refuses/budgets", test_refuses_budgets);
  g_test_add_func ("/partition/refuses/graphs", test_refuses_graphs);
  g_test_add_func ("/partition/refuses/whole-tuples", test_refuses_whole_tuples);
  g_test_add_func ("/partition/explains/by-rule", test_explains);
  g_test_add_func ("/partition/explains/every-node", test_explains_everything);
  g_test_add_func ("/partition/cut/equal-cuts-fewest-bytes", test_equal_cuts);
  g_test_add_func ("/partition/cut/constants", test_constants);
  g_test_add_func ("/partition/effects/are-saved", test_effects_are_saved);
  g_test_add_func ("/partition/sizes/G5", test_sizes);
  g_test_add_func ("/partition/sizes/I9-binds-symbols", test_binds_symbols);
  g_test_add_func ("/partition/writes/saves-before", test_saves_before_writes);
  g_test_add_func ("/partition/writes/copies-what-is-read", test_copies_what_is_read);
  g_test_add_func ("/partition/golden/G15-long-chain", test_long_chain);
  g_test_add_func ("/partition/golden/G23-I30-dropout", test_dropout);
  g_test_add_func ("/partition/golden/G27-backward-memory", test_backward_memory);
  g_test_add_func ("/partition/budget/measured-times", test_measured);
  return g_test_run ();
}
