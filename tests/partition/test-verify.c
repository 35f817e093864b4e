/* SPDX-License-Identifier: MIT */
/* A partition that violates an invariant is refused with a message that names the invariant and
 * the node: one mistake for each invariant that debug builds check. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "golden.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "partition-test.h"
#include "partition/invariants-private.h"
#include "partition/partitioners-private.h"

/* -- partitions to break -- */

static AdjGraph *
chain (void)
{
  return golden_parse (
      "p1:4x4 p2:4x4 t1:4x4",
      "sin = sin.default(p1); mm = mm.default(sin, p2); cos = cos.default(mm);"
      "sin_1 = sin.default(mm); neg = neg.default(sin_1); mul = mul.Tensor(t1, neg);"
      "t = t.default(sin); mm_1 = mm.default(t, mul); t_1 = t.default(p2);"
      "mm_2 = mm.default(mul, t_1); cos_1 = cos.default(p1); mul_1 = mul.Tensor(mm_2, cos_1);"
      "return [cos, mul_1, mm_1]");
}

static AdjGraph *
dropout (void)
{
  return golden_parse (
      "p1:4x4 t1:4x4",
      "native_dropout@PREFER_RECOMPUTE/1 = native_dropout.default(p1, 0.5, True);"
      "getitem@PREFER_RECOMPUTE/1 = native_dropout[0];"
      "getitem_1@PREFER_RECOMPUTE/1 = native_dropout[1]; sin = sin.default(getitem);"
      "cos = cos.default(getitem); mul = mul.Tensor(t1, cos);"
      "native_dropout_backward = native_dropout_backward.default(mul, getitem_1, 2.0);"
      "return [sin, native_dropout_backward]");
}

static AdjGraph *
symbols (void)
{
  AdjGraph *joint = adj_test_parse_graph (
      "def forward(self, primals_1: \"Sym(s0)\", primals_2: \"f32[s0][1]cpu\", tangents_1: "
      "\"f32[s0][1]cpu\"):\n"
      "    sin: \"f32[s0][1]cpu\" = torch.ops.aten.sin.default(primals_2)\n"
      "    cos: \"f32[s0][1]cpu\" = torch.ops.aten.cos.default(primals_2)\n"
      "    mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(tangents_1, cos)\n"
      "    return [sin, None, mul]\n");

  return joint;
}

/* -- mistakes -- */

typedef struct
{
  const char *id;
  AdjGraph *(*joint) (void);
  /* Mistake in a graph: one replacement in its text. */
  char graph; /* 'f', 'b'; 0: none */
  const char *from, *to;
  /* Mistake in the decisions. */
  void (*spoil) (AdjPartition *partition, AdjPartitionOptions *options);
} Mistake;

static AdjNodeDecision *
decision (AdjPartition *partition, const char *name)
{
  return &partition->nodes[adj_graph_find_node (partition->joint, name).index];
}

static void
save_twice (AdjPartition *partition, AdjPartitionOptions *options)
{
  partition->saved[1].node = partition->saved[0].node;
}

static void
save_tuple (AdjPartition *partition, AdjPartitionOptions *options)
{
  partition->saved[0].node = adj_graph_find_node (partition->joint, "native_dropout");
}

static void
claim_for_backward (AdjPartition *partition, AdjPartitionOptions *options)
{
  decision (partition, "mm")->node_class = ADJ_NODE_CLASS_BACKWARD;
}

static void
claim_to_recompute (AdjPartition *partition, AdjPartitionOptions *options)
{
  decision (partition, "cos")->kind = ADJ_DECISION_RECOMPUTED;
}

static void
save_what_is_computed (AdjPartition *partition, AdjPartitionOptions *options)
{
  partition->saved[1].node = adj_graph_find_node (partition->joint, "neg");
}

static void
recompute_banned (AdjPartition *partition, AdjPartitionOptions *options)
{
  g_assert_cmpint (decision (partition, "mm")->ban, ==, ADJ_RULE_NOT_CHEAP);
  decision (partition, "mm")->kind = ADJ_DECISION_RECOMPUTED;
}

static void
save_to_recompute (AdjPartition *partition, AdjPartitionOptions *options)
{
  decision (partition, "mm")->recompute = ADJ_RECOMPUTE_MUST_RECOMPUTE;
}

static void
recompute_to_save (AdjPartition *partition, AdjPartitionOptions *options)
{
  AdjNodeDecision *mm = decision (partition, "mm");

  mm->recompute = ADJ_RECOMPUTE_MUST_SAVE;
  mm->ban = ADJ_RULE_MUST_SAVE;
  mm->kind = ADJ_DECISION_RECOMPUTED;
}

static void
recompute_in_backward_alone (AdjPartition *partition, AdjPartitionOptions *options)
{
  decision (partition, "neg")->recompute = ADJ_RECOMPUTE_PREFER_RECOMPUTE;
  decision (partition, "neg")->node_class = ADJ_NODE_CLASS_FORWARD;
}

static void
forget_state (AdjPartition *partition, AdjPartitionOptions *options)
{
  partition->saved[partition->n_saved - 1].kind = ADJ_SAVED_TENSOR;
}

static void
ask_for_nothing (AdjPartition *partition, AdjPartitionOptions *options)
{
  options->budget = 0;
}

static const Mistake mistakes[] = {
  { "I1", chain, 'f', "primals_1: ", "extra: \"f32[4][1]cpu\", primals_1: ", NULL },
  { "I2", chain, 'f', "return (cos, ", "return (sin, ", NULL },
  { "I3", chain, 'b', "primals_1: ", "extra: \"f32[4][1]cpu\", primals_1: ", NULL },
  { "I4", chain, 'f', ", t, t_1)", ", t_1, t)", NULL },
  { "I5", chain, 'b', "return (mul_1, mm_1)", "return (mm_1, mul_1)", NULL },
  { "I6", chain, 0, NULL, NULL, save_twice },
  { "I7", chain, 'b', "aten.cos.default(primals_1)", "aten.cos.default(mm)", NULL },
  { "I8", dropout, 0, NULL, NULL, save_tuple },
  { "I9", symbols, 'b', "primals_1: \"Sym(s0)\", ", "", NULL },
  { "I10", chain, 'f', " cos:", " mul:", NULL },
  { "I11", chain, 'b', "primals_1: ", "cos: \"f32[4][1]cpu\", primals_1: ", NULL },
  { "I12", chain, 'b', "return", "dead = torch.ops.aten.neg.default(tangents_1)\n        return",
    NULL },
  { "I13", chain, 0, NULL, NULL, claim_for_backward },
  { "I14", chain, 0, NULL, NULL, claim_to_recompute },
  { "I15", chain, 0, NULL, NULL, save_what_is_computed },
  { "I16", chain, 0, NULL, NULL, recompute_banned },
  { "I17", chain, 0, NULL, NULL, save_to_recompute },
  { "I18", chain, 0, NULL, NULL, recompute_to_save },
  { "I19", chain, 0, NULL, NULL, recompute_in_backward_alone },
  { "I20", dropout, 0, NULL, NULL, forget_state },
  { "I31", chain, 0, NULL, NULL, ask_for_nothing },
};

static void
replace_text (AdjGraph **graph, const char *from, const char *to)
{
  g_autofree char *text = adj_graph_print (*graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (GString) changed = g_string_new (text);
  g_autoptr (GError) error = NULL;

  if (g_str_equal (from, " cos:"))
    g_string_replace (changed, "(cos, ", "(mul, ", 0); /* the name is used everywhere */
  if (g_string_replace (changed, from, to, 1) == 0)
    g_error ("no '%s' in %s", from, text);
  adj_graph_unref (*graph);
  *graph = adj_graph_parse (changed->str, -1, adj_op_find, NULL, &error);
  g_assert_no_error (error);
}

static void
make_mistake (const Mistake *mistake, AdjPartition *partition, AdjPartitionOptions *options)
{
  if (mistake->graph != 0)
    replace_text (mistake->graph == 'f' ? &partition->forward : &partition->backward, mistake->from,
                  mistake->to);
  if (mistake->spoil != NULL)
    mistake->spoil (partition, options);
}

static AdjPartition *
partition_of (const Mistake *mistake, AdjPartitionOptions *options)
{
  g_autoptr (AdjGraph) joint = mistake->joint ();
  const AdjPartitionOptions defaults = ADJ_PARTITION_OPTIONS_INIT;

  *options = defaults;
  options->num_fwd_outputs = 1;
  options->budget = 1;
  return partition_run ("min-cut", joint, options);
}

static const Invariant *
find (const char *id)
{
  for (guint i = 0; i < invariants_get_n (); i++)
    if (g_str_equal (invariants_get (i)->id, id))
      return invariants_get (i);
  g_assert_not_reached ();
}

static void
test_mistake (gconstpointer data)
{
  const Mistake *mistake = data;
  AdjPartitionOptions options;
  g_autoptr (AdjPartition) partition = partition_of (mistake, &options);
  g_autoptr (Examined) whole = examined_new (partition, &options);
  g_autoptr (Examined) broken = NULL;
  g_autoptr (GError) error = NULL;
  guint n_cases = 0;
  const char *where;

  g_assert_cmpstr (find (mistake->id)->examine (whole, &n_cases), ==, NULL);
  g_assert_true (partition_verify (partition, &options, &error));
  make_mistake (mistake, partition, &options);
  broken = examined_new (partition, &options);
  where = find (mistake->id)->examine (broken, &n_cases);
  g_assert_nonnull (where);
  g_assert_false (partition_verify (partition, &options, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY);
  g_test_message ("%s at '%s'; first of all: %s", mistake->id, where, error->message);
}

/* Every row of the table has a mistake here. */
static void
test_all_have_mistakes (void)
{
  for (guint i = 0; i < invariants_get_n (); i++)
    {
      gboolean found = FALSE;

      for (guint k = 0; k < G_N_ELEMENTS (mistakes); k++)
        found |= g_str_equal (mistakes[k].id, invariants_get (i)->id);
      g_assert_true (found);
    }
}

/* A partitioner that makes a mistake, called by adj_partition(). */
static AdjPartition *
run_broken (AdjGraph *joint, const AdjPartitionOptions *options, GError **error)
{
  AdjPartition *partition = adj_partitioner_find ("min-cut", NULL)->run (joint, options, error);

  replace_text (&partition->backward, "return (mul_1, mm_1)", "return (mm_1, mul_1)");
  return partition;
}

/* Builds without assertions do not verify. */
static void
test_after_every_partition (void)
{
  const AdjPartitioner broken = { .name = "broken", .run = run_broken };
  g_autoptr (AdjGraph) joint = chain ();
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjPartition) partition = NULL;

  options.num_fwd_outputs = 1;
  partition = adj_partition (&broken, joint, &options, &error);
#ifdef NDEBUG
  g_assert_nonnull (partition);
#else
  g_assert_null (partition);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY);
  g_assert_cmpstr (error->message, ==,
                   "min-cut made a partition that breaks I5 (backward returns the gradients of the "
                   "joint graph) at 'mm_1'");
#endif
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++)
    {
      g_autofree char *path = g_strdup_printf ("/partition/verify/notices-%s", mistakes[i].id);

      g_test_add_data_func (path, &mistakes[i], test_mistake);
    }
  g_test_add_func ("/partition/verify/all-are-broken-here", test_all_have_mistakes);
  g_test_add_func ("/partition/verify/after-every-partition", test_after_every_partition);
  return g_test_run ();
}
