/* SPDX-License-Identifier: MIT */
/* Values that may not be recomputed, and by which rule (partition/SPEC.md §3.2). */

#include <string.h>

#include "ir/adj-graph.h"
#include "partition/cut-private.h"

#define N_LONG 100 /* calls of a chain of fusible operators that may be repeated */

CutRules
cut_rules_from_options (const AdjPartitionOptions *options)
{
  gboolean all = !options->aggressive;

  return (CutRules){
    .far_apart = all && !options->no_far,
    .long_chains = all && !options->no_long,
    .materialized = all && !options->no_materialized,
    .allowlist = all && !options->no_allowlist,
    .reductions = !options->no_reduction,
    .recompute_views = options->recompute_views,
    .free_parameters = options->free_parameters,
    .forgets_tokens = options->forgets_tokens,
    .compat = options->compat,
    .max_distance = options->max_distance > 0 ? options->max_distance : 1000,
    .cancellable = options->cancellable,
  };
}

Cut *
cut_new (guint n)
{
  Cut *cut = g_new0 (Cut, 1);

  cut->n = n;
  cut->ban = g_new0 (guint8, n);
  cut->because = g_new (guint32, n);
  memset (cut->because, 0xff, sizeof (guint32) * n);
  cut->weight = g_new0 (gint64, n);
  cut->saved = g_new0 (guint8, n);
  return cut;
}

void
cut_free (Cut *cut)
{
  if (cut == NULL)
    return;
  g_free (cut->ban);
  g_free (cut->because);
  g_free (cut->weight);
  g_free (cut->saved);
  g_free (cut);
}

gboolean
cut_is_materialized_backward (const Joint *joint, guint node, guint *reader)
{
  g_autoptr (GArray) pending = NULL;
  g_autoptr (GHashTable) seen = NULL;
  guint cur = node;

  if ((joint->traits[node] & OP_VIEW) != 0)
    return FALSE;
  while (TRUE)
    {
      for (guint32 k = joint->users.begin[cur]; k < joint->users.begin[cur + 1]; k++)
        {
          guint user = joint->users.items[k];

          if (!joint->in_forward[user] && !joint_fusible (joint, cur, user))
            {
              *reader = user;
              return TRUE;
            }
          /* A view materializes what it views. */
          if ((joint->traits[user] & OP_VIEW) == 0)
            continue;
          if (pending == NULL)
            {
              pending = g_array_new (FALSE, FALSE, sizeof (guint));
              seen = g_hash_table_new (NULL, NULL);
            }
          if (g_hash_table_add (seen, GUINT_TO_POINTER (user)))
            g_array_append_val (pending, user);
        }
      if (pending == NULL || pending->len == 0)
        return FALSE;
      cur = g_array_index (pending, guint, pending->len - 1);
      g_array_set_size (pending, pending->len - 1);
    }
}

static gboolean
is_reduction (const Joint *joint, guint i)
{
  const AdjNode *node = adj_graph_get_node (joint->graph, i);
  guint64 read = 0;

  for (guint k = 0; k < node->args.n; k++)
    if (node->args.items[k].kind == ADJ_VALUE_NODE)
      read += joint->bytes[node->args.items[k].node.index];
  return joint->bytes[i] < G_MAXUINT64 / 4 && 4 * joint->bytes[i] < read;
}

/* The first rule that bans recomputing @i. */
static AdjPartitionRule
rule_against (const Joint *joint, guint i, const CutRules *rules, guint *because)
{
  const guint parts = OP_VIEW | OP_GETITEM;
  guint traits = joint->traits[i];

  if (joint->kind[i] != NODE_CALL)
    return ADJ_RULE_NONE;
  if ((traits & OP_EFFECT) != 0)
    return ADJ_RULE_EFFECT;
  /* PyTorch ignores the tag on views and on single results. */
  if (joint->recompute[i] == ADJ_RECOMPUTE_MUST_SAVE && !(rules->compat && (traits & parts) != 0) &&
      !(rules->recompute_views && (traits & OP_VIEW) != 0))
    return ADJ_RULE_MUST_SAVE;
  if ((traits & OP_GETITEM) != 0)
    return ADJ_RULE_NONE;
  if ((rules->recompute_views && (traits & OP_VIEW) != 0) || (traits & OP_LIFT) != 0)
    return ADJ_RULE_NONE;
  if (rules->allowlist && (traits & OP_RECOMPUTE) == 0)
    return ADJ_RULE_NOT_CHEAP;
  if (!rules->allowlist && (traits & OP_RANDOM) != 0)
    return ADJ_RULE_DRAWS;
  if (!rules->allowlist && (traits & OP_COMPUTE) != 0)
    return ADJ_RULE_EXPENSIVE;
  if (rules->materialized && cut_is_materialized_backward (joint, i, because))
    return ADJ_RULE_MATERIALIZED;
  if (joint->distance[i] < 1000 && joint->distance[i] > rules->max_distance)
    return ADJ_RULE_DISTANCE;
  return rules->reductions && is_reduction (joint, i) ? ADJ_RULE_REDUCTION : ADJ_RULE_NONE;
}

static void
ban (Cut *cut,
     const Joint *joint,
     guint i,
     AdjPartitionRule rule,
     guint because,
     const guint8 *freed)
{
  if (cut->ban[i] != ADJ_RULE_NONE ||
      ((joint->traits[i] & OP_VIEW) != 0 && rule != ADJ_RULE_MUST_SAVE) ||
      (freed != NULL && freed[i]) || joint_must_recompute (joint, i) ||
      joint->value[i] == VALUE_FLOAT)
    return;
  /* A node computed in backward is not saved by any rule. */
  if (joint->in_backward[i] && !joint_is_input (joint, i))
    return;
  cut->ban[i] = rule;
  cut->because[i] = because;
}

/* -- used far apart -- */

/* A step of the walk: a node, and whether it fuses with the previous one. */
typedef struct
{
  gint32 order;
  guint32 node;
  gboolean fusible;
} Step;

typedef struct
{
  GArray *steps; /* a binary heap of Step */
  guint32 *seen; /* per node and flag: the round that pushed it last */
  guint32 round;
} Walk;

static gboolean
step_before (const Step *a, const Step *b)
{
  return a->order != b->order ? a->order < b->order : a->fusible < b->fusible;
}

static void
heap_push (GArray *heap, Step step)
{
  guint at = heap->len;

  g_array_append_val (heap, step);
  while (at > 0)
    {
      guint parent = (at - 1) / 2;
      Step *a = &g_array_index (heap, Step, parent), *b = &g_array_index (heap, Step, at);

      if (!step_before (b, a))
        break;
      step = *a;
      *a = *b;
      *b = step;
      at = parent;
    }
}

static Step
heap_pop (GArray *heap)
{
  Step top = g_array_index (heap, Step, 0);
  guint at = 0;

  g_array_index (heap, Step, 0) = g_array_index (heap, Step, heap->len - 1);
  g_array_set_size (heap, heap->len - 1);
  while (2 * at + 1 < heap->len)
    {
      guint child = 2 * at + 1;
      Step *items = (Step *) (gpointer) heap->data, moved;

      if (child + 1 < heap->len && step_before (&items[child + 1], &items[child]))
        child++;
      if (!step_before (&items[child], &items[at]))
        break;
      moved = items[at];
      items[at] = items[child];
      items[child] = moved;
      at = child;
    }
  return top;
}

static void
walk_push (Walk *walk, const Joint *joint, guint node, gboolean fusible)
{
  guint32 *seen = &walk->seen[2 * node + fusible];

  if (*seen == walk->round)
    return;
  *seen = walk->round;
  heap_push (walk->steps, (Step){ joint->order[node], node, fusible });
}

/* The order up to which users of @node, and their users, can be fused with it; @last if all can. */
static gint32
first_unfusible (Walk *walk, const Joint *joint, guint node, gint32 last)
{
  walk->round++;
  g_array_set_size (walk->steps, 0);
  for (guint32 k = joint->users.begin[node]; k < joint->users.begin[node + 1]; k++)
    if (joint->in_forward[joint->users.items[k]])
      walk_push (walk, joint, joint->users.items[k], TRUE);
  while (walk->steps->len > 0)
    {
      Step step = heap_pop (walk->steps);

      if (!step.fusible)
        return step.order;
      for (guint32 k = joint->users.begin[step.node]; k < joint->users.begin[step.node + 1]; k++)
        {
          guint user = joint->users.items[k];

          if (joint->in_forward[user] && joint->order[user] <= last)
            walk_push (walk, joint, user, joint_fusible (joint, step.node, user));
        }
    }
  return last;
}

static void
ban_far_apart (Cut *cut, const Joint *joint, const guint8 *freed)
{
  Walk walk = { g_array_new (FALSE, FALSE, sizeof (Step)), g_new0 (guint32, 2 * joint->n), 0 };

  for (guint i = 0; i < joint->n; i++)
    {
      guint32 begin = joint->users.begin[i], end = joint->users.begin[i + 1];
      gint32 last = -1, first;

      if (joint->order[i] < 0)
        continue;
      for (guint32 k = begin; k < end; k++)
        last = MAX (last, joint->order[joint->users.items[k]]);
      if (last < 0)
        continue;
      first = first_unfusible (&walk, joint, i, last);
      for (guint32 k = begin; k < end; k++)
        {
          guint user = joint->users.items[k];

          if (joint->order[user] > first && joint_fusible (joint, i, user))
            ban (cut, joint, user, ADJ_RULE_FAR, i, freed);
        }
    }
  g_array_unref (walk.steps);
  g_free (walk.seen);
}

/* -- long chains -- */

static void
ban_long_chain (
    Cut *cut, const Joint *joint, guint start, GArray *heap, guint8 *visited, const guint8 *freed)
{
  g_array_set_size (heap, 0);
  heap_push (heap, (Step){ joint->order[start], start, TRUE });
  while (heap->len > 0)
    {
      Step step = heap_pop (heap);
      guint cur = step.node;

      if (visited[cur])
        continue;
      visited[cur] = TRUE;
      if (step.order > joint->order[start] + N_LONG && heap->len == 0)
        {
          ban (cut, joint, cur, ADJ_RULE_LONG, start, freed);
          return;
        }
      for (guint32 k = joint->users.begin[cur]; k < joint->users.begin[cur + 1]; k++)
        {
          guint user = joint->users.items[k];

          if (joint->in_forward[user] && joint_fusible (joint, cur, user) &&
              cut->ban[user] == ADJ_RULE_NONE)
            heap_push (heap, (Step){ joint->order[user], user, TRUE });
        }
    }
}

static void
ban_long_chains (Cut *cut, const Joint *joint, const guint8 *freed)
{
  g_autoptr (GArray) heap = g_array_new (FALSE, FALSE, sizeof (Step));
  g_autofree guint8 *visited = g_new0 (guint8, joint->n);

  for (guint i = 0; i < joint->n; i++)
    if (joint->order[i] >= 0)
      ban_long_chain (cut, joint, i, heap, visited, freed);
}

void
cut_ban (Cut *cut, const Joint *joint, const CutRules *rules, const guint8 *freed)
{
  for (guint i = 0; i < joint->n; i++)
    {
      AdjPartitionRule rule;
      guint because = NOBODY;

      if (joint->gone[i] || !joint->in_forward[i] || joint->in_backward[i])
        {
          if (!joint->gone[i] && joint_is_input (joint, i))
            ban (cut, joint, i, ADJ_RULE_PRIMAL, NOBODY, NULL);
          continue;
        }
      if (joint_is_input (joint, i))
        {
          ban (cut, joint, i, ADJ_RULE_PRIMAL, NOBODY, NULL);
          continue;
        }
      rule = rule_against (joint, i, rules, &because);
      if (rule != ADJ_RULE_NONE)
        ban (cut, joint, i, rule, because, freed);
    }
  if (rules->far_apart)
    ban_far_apart (cut, joint, freed);
  if (rules->long_chains)
    ban_long_chains (cut, joint, freed);
}
