/* SPDX-License-Identifier: MIT */
/* The tags that a partitioner goes by as a graph, with their reasons. */

#include "golden.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "partition-test.h"
#include "partition/adj-partition-tag.h"
#include "support/random-joint.h"

#define INPUTS "p1:4x4 p2:4x4 t1:4x4"
#define PR "@PREFER_RECOMPUTE/"

/* Two regions; "sin" is read by the second. */
#define NESTED                                                                                     \
  "sin" PR "1 = sin.default(p1); cos" PR "2 = cos.default(sin);"                                   \
  "mm" PR "1 = mm.default(cos, p2); exp" PR "1 = exp.default(mm);"                                 \
  "mul = mul.Tensor(t1, exp); t = t.default(cos); mm_1 = mm.default(t, mul);"                      \
  "t_1 = t.default(p2); mm_2 = mm.default(mul, t_1); return [exp, mm_2, mm_1]"

#define EQUAL                                                                                      \
  "sin" PR "1 = sin.default(p1); sin_1" PR "1 = sin.default(p1); mul = mul.Tensor(sin, sin_1);"    \
  "mul_1 = mul.Tensor(t1, sin); mul_2 = mul.Tensor(mul_1, sin_1); return [mul, mul_2, None]"

static void
tag (const char *program,
     const AdjPartitionDemand *demands,
     guint n_demands,
     AdjGraph **joint,
     AdjPassResult *made)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;

  options.num_fwd_outputs = 1;
  options.demands = demands;
  options.n_demands = n_demands;
  *joint = golden_parse (INPUTS, program);
  g_assert_true (adj_partition_tag (*joint, &options, made, &error));
  g_assert_no_error (error);
}

/* (nullable): the reason that is noted for node @name */
static const char *
find_reason (const AdjGraph *joint, const AdjPassResult *made, const char *name)
{
  AdjNodeId id = adj_graph_find_node (joint, name);

  for (guint i = 0; i < made->n_notes; i++)
    if (made->notes[i].before.index == id.index)
      {
        g_assert_cmpuint (made->notes[i].after.index, ==, id.index);
        return made->notes[i].reason;
      }
  return NULL;
}

static void
assert_tag (const AdjGraph *joint,
            const AdjPassResult *made,
            const char *name,
            AdjRecompute recompute,
            const char *reason)
{
  AdjNodeId id = adj_graph_find_node (made->graph, name);

  g_assert_cmpint (adj_graph_get_node (made->graph, id.index)->meta.recompute, ==, recompute);
  g_assert_cmpstr (find_reason (joint, made, name), ==, reason);
}

static void
test_regions (void)
{
  g_autoptr (AdjGraph) joint = NULL;
  AdjPassResult made;

  tag (NESTED, NULL, 0, &joint, &made);
  g_assert_cmpuint (made.n_notes, ==, 4);
  assert_tag (joint, &made, "sin", ADJ_RECOMPUTE_MUST_SAVE,
              "MUST_SAVE, not PREFER_RECOMPUTE: its region ends here: 'cos' recomputes in a later "
              "one");
  assert_tag (joint, &made, "cos", ADJ_RECOMPUTE_PREFER_RECOMPUTE,
              "PREFER_RECOMPUTE by the checkpoint of region 2");
  assert_tag (joint, &made, "exp", ADJ_RECOMPUTE_PREFER_RECOMPUTE,
              "PREFER_RECOMPUTE by the checkpoint of region 1");
  assert_tag (joint, &made, "mm_1", ADJ_RECOMPUTE_NONE, NULL);
  adj_pass_result_clear (&made);
}

static void
test_demands (void)
{
  const AdjPartitionDemand demands[] = { { "cos", ADJ_RECOMPUTE_MUST_SAVE },
                                         { "primals_2", ADJ_RECOMPUTE_MUST_SAVE } };
  g_autoptr (AdjGraph) joint = NULL;
  AdjPassResult made;

  tag (NESTED, demands, G_N_ELEMENTS (demands), &joint, &made);
  assert_tag (joint, &made, "cos", ADJ_RECOMPUTE_MUST_SAVE,
              "MUST_SAVE, not PREFER_RECOMPUTE: it was asked for by name");
  assert_tag (joint, &made, "primals_2", ADJ_RECOMPUTE_MUST_SAVE,
              "MUST_SAVE: it was asked for by name");
  /* nothing of the second region is recomputed, so the first does not end there */
  assert_tag (joint, &made, "sin", ADJ_RECOMPUTE_PREFER_RECOMPUTE,
              "PREFER_RECOMPUTE by the checkpoint of region 1");
  adj_pass_result_clear (&made);
}

static void
test_merged (void)
{
  g_autoptr (AdjGraph) joint = NULL;
  AdjPassResult made;

  tag (EQUAL, NULL, 0, &joint, &made);
  assert_tag (joint, &made, "sin_1", ADJ_RECOMPUTE_PREFER_RECOMPUTE,
              "PREFER_RECOMPUTE by the checkpoint of region 1; 'sin' computes the same, and its "
              "tag counts");
  adj_pass_result_clear (&made);
}

static void
test_untagged (void)
{
  g_autoptr (AdjGraph) joint = NULL;
  AdjPassResult made;

  tag ("mm = mm.default(p1, p2); mul = mul.Tensor(t1, 2); return [mm, mul, None]", NULL, 0, &joint,
       &made);
  g_assert_null (made.graph);
  g_assert_cmpuint (made.n_notes, ==, 0);
  adj_pass_result_clear (&made);
}

static void
assert_only_tags (const AdjGraph *joint, const AdjGraph *tagged)
{
  g_autoptr (AdjAlignment) alignment = tagged != NULL ? adj_graph_align_made (joint, tagged) : NULL;

  for (guint i = 0; alignment != NULL && i < alignment->n_changes; i++)
    if (alignment->changes[i].kind != ADJ_CHANGE_NONE)
      g_assert_cmpstr (alignment->changes[i].reason, ==, "recompute");
}

/* The tags are those of the decisions, and nothing else changes. */
static void
check_random (AdjGraph *joint,
              const AdjPartitionOptions *options,
              guint *n_tagged,
              guint *n_changed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjPartition) partition = partition_run ("min-cut", joint, options);
  AdjPassResult made;

  g_assert_true (adj_partition_tag (joint, options, &made, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    {
      const AdjNode *before = adj_graph_get_node (joint, i);
      const AdjNode *after = made.graph != NULL ? adj_graph_get_node (made.graph, i) : before;

      g_assert_cmpint (after->meta.recompute, ==, partition->nodes[i].recompute);
      g_assert_cmpstr (after->name, ==, before->name);
      g_assert_cmpint (after->meta.ac_graph_id, ==, before->meta.ac_graph_id);
      if (made.graph != NULL)
        g_assert_cmpuint (after->origin.index, ==, i);
      *n_changed += after->meta.recompute != before->meta.recompute;
    }
  assert_only_tags (joint, made.graph);
  *n_tagged += made.graph != NULL;
  adj_pass_result_clear (&made);
}

static void
test_random (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (18);
  guint n_tagged = 0, n_changed = 0;

  for (guint i = 0; i < 200; i++)
    {
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      guint num_fwd_outputs;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &num_fwd_outputs);

      options.num_fwd_outputs = (gint) num_fwd_outputs;
      options.compat = i % 2 == 1;
      check_random (joint, &options, &n_tagged, &n_changed);
    }
  g_assert_cmpuint (n_tagged, >, 50);
  g_assert_cmpuint (n_changed, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/tag/regions", test_regions);
  g_test_add_func ("/partition/tag/demands", test_demands);
  g_test_add_func ("/partition/tag/merged", test_merged);
  g_test_add_func ("/partition/tag/untagged", test_untagged);
  g_test_add_func ("/partition/tag/random", test_random);
  return g_test_run ();
}
