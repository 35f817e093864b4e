/* SPDX-License-Identifier: MIT */
/* Accidental decisions of PyTorch 2.6, which --compat reproduces, on joint graphs and from
 * Dynamo's graph on. */

#include <glib.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "partition-test.h"
#include "support/adj-test.h"
#include "support/random-joint.h"

/* -- what counts as the same call -- */

static char *
print_left (const char *calls, gboolean compat)
{
  g_autofree char *text = g_strconcat ("def forward(self, primals_1: \"f32[8][1]cpu\", tangents_1: "
                                       "\"f32[8][1]cpu\"):\n",
                                       calls, NULL);
  g_autoptr (AdjGraph) joint = adj_test_parse_graph (text);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  GString *left = g_string_new (NULL);

  options.compat = compat;
  partition = partition_run ("min-cut", joint, &options);
  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    if (partition->nodes[i].kind != ADJ_DECISION_GONE &&
        adj_graph_get_node (joint, i)->opcode == ADJ_OPCODE_CALL_FUNCTION)
      g_string_append_printf (left, "%s%s", left->len > 0 ? " " : "",
                              adj_graph_get_node (joint, i)->name);
  return g_string_free (left, FALSE);
}

/* What fx_graph_cse() of PyTorch 2.6 keeps of four calls and their sum. */
static void
test_hashes (void)
{
  static const struct
  {
    const char *arguments[4];
    const char *theirs, *ours;
  } rows[] = {
    /* hash(-1) == hash(-2), also for floats; hash(2**63 - 1) == 3; lists are flattened */
    { { "0, -1", "0, -2", "0, -2", "0, -1" }, "a b c", "a b" },
    { { "0, 9223372036854775807", "0, 3", "0, 3", "0, 9223372036854775807" }, "a b c", "a b" },
    { { "-1.0", "-2.0", "-2.0", "-1" }, "a b c d", "a b d" },
    { { "[1], True", "[1, True]", "[1, True]", "[1], True" }, "a b c", "a b" },
    { { "0, -3", "0, -2", "0, -2", "0, -3" }, "a b", "a b" },
    { { "dim = -1", "end = -2", "end = -2", "dim = -1" }, "a b c", "a b" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint compat = 0; compat < 2; compat++)
      {
        g_autoptr (GString) text = g_string_new (NULL);
        g_autofree char *left = NULL;

        for (guint k = 0; k < 4; k++)
          g_string_append_printf (
              text, "    %c: \"f32[8][1]cpu\" = torch.ops.mine.f.default(primals_1, %s)\n", 'a' + k,
              rows[i].arguments[k]);
        g_string_append (text, "    h: \"f32[8][1]cpu\" = torch.ops.mine.g.default(a, b, c, d)\n"
                               "    m: \"f32[8][1]cpu\" = torch.ops.mine.m.default(tangents_1, h)\n"
                               "    return [primals_1, m]\n");
        left = print_left (text->str, compat);
        g_assert_true (g_str_has_suffix (left, " h m"));
        left[strlen (left) - strlen (" h m")] = '\0';
        g_assert_cmpstr (left, ==, compat ? rows[i].theirs : rows[i].ours);
      }
}

/* -- symbols -- */

/* Two inputs are the same symbolic size; backward reads the second. */
static void
test_equal_symbols (void)
{
  g_autoptr (AdjGraph) joint = adj_test_parse_graph (
      "def forward(self, primals_1: \"Sym(s0)\", primals_2: \"Sym(s0)\", "
      "primals_3: \"f32[s0][1]cpu\", tangents_1: \"f32[s0][1]cpu\"):\n"
      "    sin: \"f32[s0][1]cpu\" = torch.ops.aten.sin.default(primals_3)\n"
      "    view: \"f32[s0][1]cpu\" = torch.ops.aten.view.default(tangents_1, [primals_2])\n"
      "    return [sin, None, None, view]\n");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  for (guint compat = 0; compat < 2; compat++)
    {
      g_autoptr (AdjPartition) partition = NULL;
      g_autofree char *saved = NULL;

      options.compat = compat;
      partition = partition_run ("min-cut", joint, &options);
      saved = partition_print_saved (partition);
      g_assert_cmpstr (saved, ==, "primals_2");
    }
}

/* -- detaches -- */

static const AdjNode *
undetached (const AdjGraph *joint, const AdjNode *node)
{
  while (g_str_equal (node->target, "torch.ops.aten.detach.default"))
    node = adj_graph_get_node (joint, node->inputs[0].index);
  return node;
}

/* Outside of compat mode the input of a detach is saved instead of its result, unless it is to
 * be recomputed. */
static void
test_no_detach_is_saved (void)
{
  guint n_detaches = 0;

  for (guint seed = 0; seed < 300; seed++)
    for (guint p = 0; p < adj_partitioners_get_n (); p++)
      {
        g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
        AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
        g_autoptr (AdjPartition) partition = NULL;
        guint n_outputs;
        g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &n_outputs);

        options.num_fwd_outputs = (gint) n_outputs;
        options.effort = 20;
        partition = adj_partition (adj_partitioners_get (p), joint, &options, NULL);
        for (guint i = 0; partition != NULL && i < partition->n_saved; i++)
          {
            const AdjNode *saved = adj_graph_get_node (joint, partition->saved[i].node.index);
            const AdjNode *root = undetached (joint, saved);
            AdjRecompute tag =
                partition->nodes[adj_graph_find_node (joint, root->name).index].recompute;

            if (saved != root)
              g_assert_cmpint (tag, >=, ADJ_RECOMPUTE_MUST_RECOMPUTE);
          }
        for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
          n_detaches += strstr (adj_graph_get_node (joint, i)->target, "detach") != NULL;
      }
  g_assert_cmpuint (n_detaches, >, 300);
}

/* -- from Dynamo's graph -- */

static void
assert_same_nodes (const AdjGraph *a, const AdjGraph *b)
{
  g_assert_cmpuint (adj_graph_get_n_nodes (a), ==, adj_graph_get_n_nodes (b));
  for (guint i = 0; i < adj_graph_get_n_nodes (a); i++)
    {
      const AdjNode *x = adj_graph_get_node (a, i), *y = adj_graph_get_node (b, i);

      g_assert_cmpstr (x->name, ==, y->name);
      g_assert_cmpuint (x->n_inputs, ==, y->n_inputs);
      for (guint k = 0; k < x->n_inputs; k++)
        g_assert_cmpuint (x->inputs[k].index, ==, y->inputs[k].index);
    }
}

/* Both graphs equal PyTorch's: names, order, and which detach of a chain is saved. */
static void
test_from_dynamo (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  AdjPartitionOptions options = partition_options (bundle);
  AdjPipelineOptions pipeline = { .partition = &options };
  g_auto (AdjPipelineResult) result = { 0 };
  g_autoptr (GError) error = NULL;

  options.compat = TRUE;
  adj_pipeline_run (adj_bundle_find_graph (bundle, "dynamo", NULL)->graph, "dynamo", &pipeline,
                    &result, NULL, &error);
  g_assert_no_error (error);
  g_assert_nonnull (result.partition);
  assert_same_nodes (result.partition->forward,
                     adj_bundle_find_graph (bundle, "forward", NULL)->graph);
  assert_same_nodes (result.partition->backward,
                     adj_bundle_find_graph (bundle, "backward", NULL)->graph);
}

/* What PyTorch saves of relu, which passes through four detaches, and of relu_, whose four
 * detaches are regenerated from the written value as two. */
static void
test_written_in_place (void)
{
  static const struct
  {
    const char *call, *saved;
  } rows[] = {
    { "relu", "detach_3" },
    { "relu_", "detach_5" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = g_strdup_printf ("def forward(self, x: \"f32[3, 4][4, 1]cpu\"):\n"
                                               "    # adj: x {requires_grad: True}\n"
                                               "    mul = x * 2\n"
                                               "    y = mul.%s()\n"
                                               "    return (y,)\n",
                                               rows[i].call);
      g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      AdjPipelineOptions pipeline = { .partition = &options };
      g_auto (AdjPipelineResult) result = { 0 };
      g_autofree char *saved = NULL;
      g_autoptr (GError) error = NULL;

      options.compat = TRUE;
      adj_pipeline_run (graph, "dynamo", &pipeline, &result, NULL, &error);
      g_assert_no_error (error);
      g_assert_nonnull (result.partition);
      saved = partition_print_saved (result.partition);
      g_assert_cmpstr (saved, ==, rows[i].saved);
    }
}

int
main (int argc, char **argv)
{
  static const char *const names[] = { "mlp", "gpt2", "resnet-block", "lstm", "dropout" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/compat/hashes", test_hashes);
  g_test_add_func ("/partition/compat/equal-symbols", test_equal_symbols);
  g_test_add_func ("/partition/compat/no-detach-is-saved", test_no_detach_is_saved);
  g_test_add_func ("/partition/compat/written-in-place", test_written_in_place);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *path = g_strdup_printf ("/partition/compat/from-dynamo/%s", names[i]);

      g_test_add_data_func (path, names[i], test_from_dynamo);
    }
  return g_test_run ();
}
