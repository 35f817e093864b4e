/* SPDX-License-Identifier: MIT */
/* The lowest peak of memory for a given amount of recomputation, or the least recomputation below a
 * peak.
 *
 * A plan is a set of storages that are saved; everything else that backward needs is computed
 * again. Its peak comes from the liveness of both graphs, which a cut does not model: values
 * recomputed together are alive together, so that saved values of equal layers should be spread
 * evenly.
 *
 * With few storages to choose from all plans are tried.  Otherwise the search begins with what
 * min-cut saves under every budget and with evenly spread selections, walks downhill from the best
 * of them by flipping one storage, and spends the rest of its effort on a random walk that cools
 * down.  It draws from a fixed seed, and counts plans instead of time: the same graph always gives
 * the same plan. */

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "partition/liveness-private.h"
#include "partition/partitioners-private.h"
#include "partition/runtime-private.h"

#define EFFORT 8000
#define MAX_WORK 40000000 /* nodes looked at: the effort shrinks on large graphs */
#define MAX_EXACT 12      /* storages: 4096 plans */
#define N_BUDGETS 20

/* The score of a plan; compared lexicographically, less is better. */
typedef struct
{
  double over; /* excess over the limit */
  double first, second, third;
} Score;

typedef struct
{
  const Joint *joint;
  const AdjPartitionOptions *options;
  double limit;       /* recomputation; INFINITY: none */
  guint64 memory;     /* peak; 0: none */
  GArray *candidates; /* guint32: one node for each storage that may be saved or not */
  guint8 *fixed;      /* per node: always saved */
  guint8 *saved, *best;
  Score best_score;
  guint64 best_peak;
  double scale; /* of peaks and costs in the random walk */
  guint n_plans, effort;
  gboolean is_stopped;
} Search;

static gboolean
goes_on (const Search *self)
{
  return self->n_plans < self->effort && !self->is_stopped;
}

static gboolean
is_better (const Score *a, const Score *b)
{
  if (a->over != b->over)
    return a->over < b->over;
  if (a->first != b->first)
    return a->first < b->first;
  if (a->second != b->second)
    return a->second < b->second;
  return a->third < b->third;
}

static Plan *
plan_of (const Search *self, const guint8 *saved)
{
  g_autoptr (Plan) plan = plan_new (self->joint, self->options, "optimal");

  for (guint i = 0; i < self->joint->n; i++)
    if (saved[i] || self->fixed[i])
      plan_save (plan, i);
  return plan_complete (plan, NULL) ? g_steal_pointer (&plan) : NULL;
}

/* The cost of repeating node @i by options->runtime: floating-point operations, or an estimated or
 * measured time. */
static double
cost_of_node (const Search *self, guint i)
{
  if (self->options->runtime == ADJ_RUNTIME_FLOPS)
    return runtime_flops (self->joint, i, FALSE);
  return runtime_of (self->joint, i, self->options);
}

/* @traffic: bytes written by recomputed calls, the cost of pointwise ones. */
static double
recompute_cost (const Search *self, const Plan *plan, double *traffic)
{
  const Joint *joint = self->joint;
  double cost = 0;

  *traffic = 0;
  for (guint i = 0; i < joint->n; i++)
    if (plan->in_forward[i] && plan->in_backward[i])
      {
        cost += cost_of_node (self, i);
        *traffic += joint->owner[i] == i ? (double) joint->bytes[i] : 0;
      }
  return cost;
}

/* %FALSE if @saved gives no valid plan. */
static gboolean
evaluate (Search *self, const guint8 *saved, Score *score, guint64 *peak)
{
  g_autoptr (Plan) plan = plan_of (self, saved);
  AdjPartitionCost cost = { 0 };
  double work, traffic;

  self->n_plans++;
  if (g_cancellable_is_cancelled (self->options->cancellable))
    self->is_stopped = TRUE;
  if (plan == NULL || self->is_stopped)
    return FALSE;
  liveness_measure (plan, FALSE, &cost);
  work = recompute_cost (self, plan, &traffic);
  *peak = cost.peak;
  if (self->memory > 0)
    *score = (Score){ fdim ((double) cost.peak, (double) self->memory), work, traffic,
                      (double) cost.peak };
  else
    *score = (Score){ fdim (work, self->limit), (double) cost.peak, work, traffic };
  return TRUE;
}

static gboolean
consider (Search *self, const guint8 *saved, Score *score)
{
  guint64 peak;

  if (!evaluate (self, saved, score, &peak))
    return FALSE;
  if (!is_better (score, &self->best_score))
    return TRUE;
  self->best_score = *score;
  self->best_peak = peak;
  memcpy (self->best, saved, self->joint->n);
  return TRUE;
}

/* -- what there is to choose -- */

/* Saves storage @index of the candidates, or stops saving it. */
static void
flip (const Search *self, guint8 *saved, guint index)
{
  const Joint *joint = self->joint;
  guint node = plan_item (self->candidates, index);
  guint32 owner = joint->owner[node];
  gboolean was = saved[node];

  /* A view of it may be saved instead; clears those. */
  for (guint i = node + 1; i < joint->n; i++)
    if (joint->owner[i] == owner && saved[i])
      {
        was = TRUE;
        saved[i] = FALSE;
      }
  saved[node] = !was;
}

/* -- beginnings -- */

/* Starts from the values that @theirs saves, mapped to our joint graph. */
static void
start_from_pytorch (Search *self, const AdjPartition *theirs)
{
  const Joint *joint = self->joint;
  g_autofree guint8 *saved = g_new0 (guint8, joint->n);
  Score score;

  for (guint i = 0; i < theirs->n_saved; i++)
    if (theirs->saved[i].kind == ADJ_SAVED_TENSOR)
      saved[joint->rep[theirs->saved[i].node.index]] = TRUE;
  consider (self, saved, &score);
}

static gboolean
start_from_cut (Search *self, double budget, gboolean compat, Score *score)
{
  AdjPartitionOptions options = *self->options;
  g_autoptr (Plan) plan = NULL;
  g_autofree guint8 *saved = g_new0 (guint8, self->joint->n);

  options.budget = budget;
  options.compat = compat;
  plan = min_cut_plan (self->joint, &options, NULL);
  if (plan == NULL)
    return FALSE;
  for (guint i = 0; i < plan->tensors->len; i++)
    saved[plan_item (plan->tensors, i)] = TRUE;
  return consider (self, saved, score);
}

/* Starts from every @stride-th storage, or from all but these. */
static void
start_from_comb (Search *self, guint stride, gboolean inverse)
{
  g_autofree guint8 *saved = g_new0 (guint8, self->joint->n);
  Score score;

  for (guint i = 0; i < self->candidates->len; i++)
    if ((i % stride == 0) != inverse)
      saved[plan_item (self->candidates, i)] = TRUE;
  consider (self, saved, &score);
}

static void
begin (Search *self, const AdjPartition *theirs)
{
  Score score;

  if (theirs != NULL)
    start_from_pytorch (self, theirs);
  for (guint i = 0; i <= N_BUDGETS && goes_on (self); i++)
    {
      start_from_cut (self, (double) i / N_BUDGETS, TRUE, &score);
      start_from_cut (self, (double) i / N_BUDGETS, FALSE, &score);
    }
  for (guint stride = 1; stride < MIN (self->candidates->len, 16); stride++)
    {
      start_from_comb (self, stride, FALSE);
      start_from_comb (self, stride, TRUE);
    }
}

/* -- searching -- */

static void
try_all (Search *self)
{
  Score score;

  memset (self->saved, 0, self->joint->n);
  consider (self, self->saved, &score);
  /* Gray code: each plan differs from the one before in one storage. */
  for (guint i = 1; i < 1u << self->candidates->len && !self->is_stopped; i++)
    {
      flip (self, self->saved, (guint) __builtin_ctz (i));
      consider (self, self->saved, &score);
    }
}

/* Flips single storages while that improves the score. */
static void
walk_downhill (Search *self)
{
  gboolean moved = TRUE;

  while (moved && goes_on (self))
    {
      moved = FALSE;
      for (guint i = 0; i < self->candidates->len && goes_on (self); i++)
        {
          Score before = self->best_score, score;

          memcpy (self->saved, self->best, self->joint->n);
          flip (self, self->saved, i);
          if (consider (self, self->saved, &score))
            moved |= is_better (&self->best_score, &before);
        }
    }
}

static double
energy (const Search *self, const Score *score)
{
  double peak = self->memory > 0 ? score->third : score->first;
  double cost = self->memory > 0 ? score->first : score->second;
  double unit = isfinite (self->limit) && self->limit > 0 ? self->limit : 1;
  double over = self->memory > 0 ? score->over / (double) self->memory : score->over / unit;

  return peak / self->scale + 4 * MIN (over, 10) +
         (self->memory > 0 ? cost / (unit + cost) : 0.01 * cost / (unit + cost));
}

/* A random change: flips one storage, or swaps two. */
static void
change (const Search *self, GRand *rand, guint8 *saved)
{
  gint n = (gint) self->candidates->len;

  flip (self, saved, (guint) g_rand_int_range (rand, 0, n));
  if (g_rand_int_range (rand, 0, 3) == 0)
    flip (self, saved, (guint) g_rand_int_range (rand, 0, n));
}

static void
walk_cooling (Search *self)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autofree guint8 *next = g_malloc (self->joint->n);
  guint first = self->n_plans;
  Score now, score;

  memcpy (self->saved, self->best, self->joint->n);
  now = self->best_score;
  while (goes_on (self))
    {
      double left = 1 - (double) (self->n_plans - first) / (double) (self->effort - first);
      double heat = 0.05 * left * left + 1e-6;

      memcpy (next, self->saved, self->joint->n);
      change (self, rand, next);
      if (!consider (self, next, &score))
        continue;
      if (exp ((energy (self, &now) - energy (self, &score)) / heat) < g_rand_double (rand))
        continue;
      now = score;
      memcpy (self->saved, next, self->joint->n);
    }
}

static gboolean
is_small (const Search *self)
{
  return self->candidates->len <= MAX_EXACT;
}

static void
search (Search *self, const AdjPartition *theirs)
{
  begin (self, theirs);
  self->scale = MAX ((double) self->best_peak, 1);
  if (is_small (self))
    try_all (self);
  else
    {
      guint whole = self->effort;

      walk_downhill (self);
      /* The last tenth goes downhill from the best. */
      self->effort = self->n_plans + (whole - MIN (whole, self->n_plans)) / 10 * 9;
      walk_cooling (self);
      self->effort = whole;
      walk_downhill (self);
    }
}

/* -- limits -- */

/* PyTorch's plan under the same options.  (transfer full) (nullable): %NULL if it has none or a
 * wrong one. */
static AdjPartition *
plan_as_pytorch (const Search *self)
{
  AdjPartitionOptions options = *self->options;
  g_autoptr (AdjPartition) theirs = NULL;

  options.compat = TRUE;
  theirs =
      adj_partition (adj_partitioner_find ("min-cut", NULL), self->joint->graph, &options, NULL);
  if (theirs == NULL || partition_find_wrong (theirs) != NULL)
    return NULL;
  return g_steal_pointer (&theirs);
}

/* Sets the limit of recomputation: the requested share of forward, else that of PyTorch's plan
 * under the same budget, else min-cut's. */
static gboolean
set_limit (Search *self, const AdjPartition *theirs, GError **error)
{
  const Joint *joint = self->joint;
  g_autoptr (Plan) plan = NULL;
  double traffic;

  self->memory = self->options->memory_limit;
  self->limit = INFINITY;
  if (self->memory > 0)
    return TRUE;
  if (!isnan (self->options->recompute_limit))
    {
      double forward = 0;

      for (guint i = 0; i < joint->n; i++)
        if (joint->in_forward[i] && joint->kind[i] == NODE_CALL)
          forward += cost_of_node (self, i);
      self->limit = forward * MAX (self->options->recompute_limit, 0);
      return TRUE;
    }
  if (theirs != NULL)
    {
      self->limit = 0;
      for (guint i = 0; i < joint->n; i++)
        if (theirs->nodes[i].kind == ADJ_DECISION_RECOMPUTED)
          self->limit += cost_of_node (self, i);
      return TRUE;
    }
  plan = min_cut_plan (joint, self->options, error);
  if (plan == NULL || !plan_complete (plan, error))
    return FALSE;
  self->limit = recompute_cost (self, plan, &traffic);
  return TRUE;
}

static gboolean
is_possible (const Search *self, GError **error)
{
  if (self->best_score.over == INFINITY)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "no choice of saved values lets backward be computed");
      return FALSE;
    }
  if (self->best_score.over == 0)
    return TRUE;
  if (self->memory > 0)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY,
                 "no plan was found below a peak of %" G_GUINT64_FORMAT
                 " bytes: the lowest is %" G_GUINT64_FORMAT
                 ", and none is below %" G_GUINT64_FORMAT,
                 self->memory, self->best_peak, liveness_bound (self->joint));
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                 "no plan was found that recomputes so little: it would be %g more than %g",
                 self->best_score.over, self->limit);
  return FALSE;
}

static void
note_reasons (Plan *plan, const Search *self)
{
  for (guint i = 0; i < self->candidates->len; i++)
    plan->rule[plan_item (self->candidates, i)] = ADJ_RULE_PEAK;
  for (guint i = 0; i < plan->joint->n; i++)
    if (!plan->in_forward[i])
      plan->rule[i] = ADJ_RULE_NONE;
  plan->n_plans = self->n_plans;
  plan->is_optimal = is_small (self);
}

Plan *
optimal_plan (const Joint *joint, const AdjPartitionOptions *options, GError **error)
{
  g_autoptr (Plan) plan = NULL;
  g_autoptr (AdjPartition) theirs = NULL;
  Search self = { .joint = joint, .options = options };

  if (!joint->has_backward)
    return default_plan (joint, options, error);
  self.fixed = g_new0 (guint8, joint->n);
  self.candidates = candidates_new (joint, self.fixed);
  self.saved = g_new0 (guint8, joint->n);
  self.best = g_new0 (guint8, joint->n);
  self.best_score = (Score){ INFINITY, INFINITY, INFINITY, INFINITY };
  self.effort = options->effort > 0 ? options->effort : EFFORT;
  self.effort = MIN (self.effort, MAX_WORK / MAX (joint->n, 1));
  theirs = plan_as_pytorch (&self);
  if (set_limit (&self, theirs, error))
    {
      search (&self, theirs);
      if (!g_cancellable_set_error_if_cancelled (options->cancellable, error) &&
          is_possible (&self, error))
        plan = plan_of (&self, self.best);
      if (plan != NULL)
        note_reasons (plan, &self);
    }
  g_array_unref (self.candidates);
  g_free (self.fixed);
  g_free (self.saved);
  g_free (self.best);
  return g_steal_pointer (&plan);
}
