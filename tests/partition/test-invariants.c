/* SPDX-License-Identifier: MIT */
/* Joint graphs drawn at random: the invariants of partitioner §6 hold under every partitioner,
 * budget and tag; what is computed is what the joint graph computes, bit for bit; cuts are the
 * cheapest ones there are. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "invariants.h"
#include "partition/cut-private.h"
#include "support/random-joint.h"

#ifdef __SANITIZE_ADDRESS__
#define N_GRAPHS 5000
#else
#define N_GRAPHS 300
#endif

#define MAX_BRUTE 12 /* values that may be saved, where every choice is tried */

typedef struct
{
  const char *partitioner;
  double budget;
  gboolean compat;
} Way;

static const Way ways[] = {
  { "default", 1, FALSE },    { "min-cut", 1, FALSE }, { "min-cut", 0.5, FALSE },
  { "min-cut", 0, FALSE },    { "min-cut", 1, TRUE },  { "min-cut", 0.3, TRUE },
  { "optimal", 0.75, FALSE },
};

static gboolean
has_random (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_get_node (graph, i)->op != NULL &&
        (adj_graph_get_node (graph, i)->op->flags & ADJ_OP_RANDOM) != 0)
      return TRUE;
  return FALSE;
}

/* I27: the same again.  @a is what came out first. */
static void
assert_same_again (const AdjPartition *a, AdjGraph *joint, const AdjPartitionOptions *options)
{
  g_autoptr (AdjPartition) b = partition_run (a->partitioner, joint, options);
  g_autofree char *first = partition_print_saved (a);
  g_autofree char *second = partition_print_saved (b);

  g_assert_cmpstr (first, ==, second);
  g_assert_true (adj_graph_equal_structure (a->backward, b->backward));
}

static void
check_way (AdjGraph *joint, guint num_fwd_outputs, const Way *way, guint seed)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (GError) error = NULL;
  AdjValue *inputs;
  guint n;

  options.num_fwd_outputs = (gint) num_fwd_outputs;
  options.budget = way->budget;
  options.compat = way->compat;
  options.effort = 40;
  partition =
      adj_partition (adj_partitioner_find (way->partitioner, NULL), joint, &options, &error);
  /* What must be kept and what must be recomputed can exclude each other. */
  if (g_error_matches (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED))
    return;
  g_assert_no_error (error);
  invariants_check (partition, &options);
  if (seed % 10 == 0)
    assert_same_again (partition, joint, &options);
  /* I21, I28-I30; PyTorch's way of repeating random operators is another matter. */
  if (way->compat && has_random (joint))
    return;
  inputs = adj_session_random_inputs (joint, seed, &n, &error);
  g_assert_no_error (error);
  partition_assert_equals_joint (partition, inputs, n, NULL);
  for (guint i = 0; i < n; i++)
    adj_value_clear (&inputs[i]);
  g_free (inputs);
}

static void
test_hold (void)
{
  for (guint i = 0; i < N_GRAPHS; i++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (i);
      guint num_fwd_outputs;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &num_fwd_outputs);

      for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
        check_way (joint, num_fwd_outputs, &ways[w], i);
    }
  g_test_message ("%u joint graphs", N_GRAPHS);
}

/* -- I22, I23 -- */

static gboolean
has_passage (const Joint *joint, guint i)
{
  return (!joint->in_backward[i] || joint_is_input (joint, i)) && !joint_must_recompute (joint, i);
}

/* Whether something wanted in backward can only come from what is banned and not @saved. */
static gboolean
leaks (const Joint *joint, const Cut *cut, const guint8 *saved)
{
  g_autofree guint8 *reached = g_new0 (guint8, joint->n);

  for (guint i = 0; i < joint->n; i++)
    {
      if (joint->gone[i] || i == joint->output)
        continue;
      reached[i] |= cut->ban[i] != ADJ_RULE_NONE;
      if (!reached[i])
        continue;
      if (!has_passage (joint, i))
        return TRUE;
      if (saved[i])
        continue;
      if (joint->in_backward[i])
        return TRUE;
      for (guint32 k = joint->users.begin[i]; k < joint->users.begin[i + 1]; k++)
        reached[joint->users.items[k]] = TRUE;
    }
  return FALSE;
}

/* The least weight of all choices of saved values; -1: too many to try. */
static gint64
cheapest_of_all (const Joint *joint, const Cut *cut)
{
  g_autoptr (GArray) choices = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree guint8 *saved = g_new0 (guint8, joint->n);
  gint64 best = G_MAXINT64;

  for (guint i = 0; i < joint->n; i++)
    if (!joint->gone[i] && i != joint->output && has_passage (joint, i) &&
        cut->weight[i] != CUT_NEVER)
      g_array_append_val (choices, i);
  if (choices->len > MAX_BRUTE)
    return -1;
  for (guint set = 0; set < 1u << choices->len; set++)
    {
      gint64 weight = 0;

      for (guint k = 0; k < choices->len; k++)
        {
          guint node = g_array_index (choices, guint, k);

          saved[node] = set >> k & 1;
          weight += saved[node] ? cut->weight[node] : 0;
        }
      if (weight < best && !leaks (joint, cut, saved))
        best = weight;
    }
  return best;
}

static void
test_cheapest (void)
{
  guint n_tried = 0;

  for (guint i = 0; i < N_GRAPHS; i++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (i);
      guint num_fwd_outputs;
      g_autoptr (AdjGraph) graph = adj_test_random_joint (rand, &num_fwd_outputs);
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (GError) error = NULL;
      g_autoptr (Joint) joint = NULL;
      CutRules rules = cut_rules_from_options (&options);
      g_autoptr (Cut) cut = NULL;
      gint64 sum = 0, best;

      options.num_fwd_outputs = (gint) num_fwd_outputs;
      joint = joint_new (graph, &options, &error);
      g_assert_no_error (error);
      cut = cut_solve (joint, &rules, NULL, &error);
      if (cut == NULL)
        continue;
      for (guint k = 0; k < joint->n; k++)
        sum += cut->saved[k] ? cut->weight[k] : 0;
      g_assert_cmpint (sum, ==, cut->value);
      g_assert_false (leaks (joint, cut, cut->saved));
      best = cheapest_of_all (joint, cut);
      if (best < 0)
        continue;
      g_assert_cmpint (cut->value, ==, best);
      n_tried++;
    }
  g_test_message ("%u of %u cuts against all choices", n_tried, N_GRAPHS);
  g_assert_cmpuint (n_tried, >, N_GRAPHS / 20);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/invariants/I1-I21-I27-I31", test_hold);
  g_test_add_func ("/partition/invariants/I22-I23-cheapest", test_cheapest);
  return g_test_run ();
}
