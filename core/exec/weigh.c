/* SPDX-License-Identifier: MIT */
/* The condition estimate of one operator: how far its result moves when arguments move by a
 * rounding. */

#include <math.h>

#include "call/adj-op.h"
#include "exec/feed-private.h"
#include "ops/adj-ops.h"

/* How often what an operator computes is moved, so that by chance no element seems not to move:
 * between these, by how many elements there are. */
#define LEAST_STEPS 8
#define MOST_STEPS 32
#define ALL_STEPS (1 << 20)

/* How many moves of an element the norm of the moves of all is made of. */
#define N_MOVES 32

/* How often an operator that jumps is computed around its places, and how far. */
#define N_AROUND 16
#define AROUND (32 * FEED_STEP)

/* By how much an operator that jumps is moved to see how it moves where it does not. */
#define NO_JUMP 0x1p-40

/* By how much more than a sample of it rounding may take what is nothing but rounding. */
#define LOST 16

/* What is known of the result that is weighed. */
typedef struct
{
  const Operation *operation;
  guint item;
  const double *exact;
  gint64 n;
} Weighing;

static double *
compute (const Weighing *weighing, Feed feed)
{
  feed.operation = weighing->operation;
  return feed_compute_item (&feed, weighing->item, weighing->n);
}

static double
norm_of (const double *numbers, gint64 n)
{
  double squares = 0;

  for (gint64 i = 0; i < n; i++)
    squares += isfinite (numbers[i]) ? numbers[i] * numbers[i] : 0;
  return sqrt (squares);
}

static double
norm_of_exact (const Weighing *weighing)
{
  return norm_of (weighing->exact, weighing->n);
}

/* Raises @sizes to what each tensor moves, per relative step. */
static void
add_nudges (const Weighing *weighing, double *sizes)
{
  Feed feed = { .operation = weighing->operation, .kind = FEED_NUDGED };

  for (;; feed.nudged++)
    {
      g_autofree double *moved = feed_compute_item (&feed, weighing->item, weighing->n);

      if (moved == NULL || feed.nudged >= feed.n_fed)
        return;
      for (gint64 i = 0; i < weighing->n; i++)
        if (isfinite (moved[i]) && isfinite (weighing->exact[i]))
          sizes[i] = MAX (sizes[i], fabs (moved[i] - weighing->exact[i]) / FEED_STEP);
    }
}

/* (transfer full) (nullable): by how much each element moves per step when what @feed says moves,
 * on average over @n_samples. */
static double *
measure_moves (const Weighing *weighing, Feed feed, guint n_samples)
{
  g_autofree double *squares = g_new0 (double, weighing->n + 1);

  for (guint k = 0; k < n_samples; k++)
    {
      g_autofree double *moved = NULL;

      feed.seed = (guint64) (k + 1) << 52;
      moved = compute (weighing, feed);
      if (moved == NULL)
        return NULL;
      for (gint64 i = 0; i < weighing->n; i++)
        {
          double move = (moved[i] - weighing->exact[i]) / feed.step;

          squares[i] += isfinite (move) ? 3 * move * move / n_samples : 0;
        }
    }
  for (gint64 i = 0; i < weighing->n; i++)
    squares[i] = sqrt (squares[i]);
  return g_steal_pointer (&squares);
}

/* By how far a rounding of the arguments moves the result: as the terms of a sum are moved. */
static double
norm_of_moves (const Weighing *weighing, double step)
{
  guint n_samples = (guint) CLAMP (N_MOVES / MAX (weighing->n, 1), 1, N_MOVES);
  Feed feed = { .kind = FEED_ROUNDED, .step = step };
  g_autofree double *moves = measure_moves (weighing, feed, n_samples);

  return moves != NULL ? norm_of (moves, weighing->n) : 0;
}

/* Raises @sizes to what moves when everything that rounds does; their norm.  @op: (nullable). */
static double
add_steps (const Weighing *weighing, const AdjOp *op, double step, double *sizes)
{
  gboolean only = op != NULL && (op->flags & ADJ_OP_IN_STEPS) != 0;
  Feed feed = { .kind = only ? FEED_STEPS_ONLY : FEED_IN_STEPS, .step = step };
  guint n_samples = (guint) CLAMP (ALL_STEPS / MAX (weighing->n, 1), LEAST_STEPS, MOST_STEPS);
  g_autofree double *moves = measure_moves (weighing, feed, n_samples);

  if (moves == NULL)
    {
      feed.kind = FEED_ROUNDED;
      moves = measure_moves (weighing, feed, n_samples);
    }
  for (gint64 i = 0; moves != NULL && i < weighing->n; i++)
    sizes[i] = MAX (sizes[i], moves[i]);
  return moves != NULL ? norm_of (moves, weighing->n) : 0;
}

/* Raises @sizes to what the operator gives on absolute values. */
static void
add_absolute (const Weighing *weighing, double *sizes)
{
  Feed feed = { .kind = FEED_ABSOLUTE };
  g_autofree double *terms = compute (weighing, feed);

  for (gint64 i = 0; terms != NULL && i < weighing->n; i++)
    sizes[i] = MAX (sizes[i], isfinite (terms[i]) ? fabs (terms[i]) : 0);
}

/* Whether a rounding of the arguments is much of the result: the variance of equal numbers. */
static gboolean
is_lost (const Weighing *weighing, double norm)
{
  return norm * FEED_STEP > norm_of_exact (weighing) / 8;
}

static void
raise_to (const Weighing *weighing, double *sizes, double least)
{
  for (gint64 i = 0; i < weighing->n; i++)
    sizes[i] = MAX (sizes[i], least);
}

/* None of @sizes is less than the largest number, and than what all terms are on average. */
static void
level (const Weighing *weighing, double *sizes, double norm)
{
  double least = norm / sqrt ((double) weighing->n);

  for (gint64 i = 0; i < weighing->n; i++)
    if (isfinite (weighing->exact[i]))
      least = MAX (least, fabs (weighing->exact[i]));
  raise_to (weighing, sizes, least);
}

/* Of what looks at places: several that rounding does not tell apart may be right.  The weights of
 * one may cancel although no argument moves them. */
static void
look_around (const Weighing *weighing, Terms *terms)
{
  raise_to (weighing, terms->sizes,
            norm_of (terms->sizes, weighing->n) / sqrt ((double) weighing->n));
  terms->around = g_new0 (double *, N_AROUND);
  for (guint k = 0; k < N_AROUND; k++)
    {
      Feed feed = { .kind = FEED_AROUND, .step = AROUND, .seed = (guint64) (k + 1) << 52 };
      double *found = compute (weighing, feed);

      if (found != NULL)
        terms->around[terms->n_around++] = found;
    }
}

/* The result is a sum of so many steps, one after the other, of which only L2 norms are known. */
static void
add_up (const Weighing *weighing, double steps, double n_added, Terms *terms)
{
  terms->sums = steps * sqrt (n_added);
  for (gint64 i = 0; i < weighing->n; i++)
    terms->sizes[i] *= sqrt (n_added);
}

/* Of what is computed element by element. */
static void
weigh_body (const Weighing *weighing, const AdjOp *op, Terms *terms)
{
  add_nudges (weighing, terms->sizes);
  terms->norm = norm_of (terms->sizes, weighing->n);
  if (op->flags & ADJ_OP_IN_STEPS)
    add_steps (weighing, op, FEED_STEP, terms->sizes);
  if (op->flags & ADJ_OP_CANCELS)
    level (weighing, terms->sizes, terms->norm);
}

/* Of all else. */
static void
weigh_whole (const Weighing *weighing, const NodeRounding *rounding, Terms *terms)
{
  const AdjOp *op = rounding_get_op (rounding);
  gboolean cancels = op != NULL && (op->flags & ADJ_OP_CANCELS) != 0;
  gboolean sums =
      op != NULL && !cancels && (op->band == ADJ_BAND_SUM || op->band == ADJ_BAND_PRODUCT);
  double step = op != NULL && (op->flags & ADJ_OP_JUMPS) ? NO_JUMP : FEED_STEP, steps = 0;

  terms->coarse = op != NULL && (cancels || op->band == ADJ_BAND_SMOOTH);
  terms->fine = op != NULL && (op->flags & ADJ_OP_IN_STEPS) != 0;
  terms->norm = norm_of_moves (weighing, step);
  if (sums)
    {
      add_absolute (weighing, terms->sizes);
      terms->sums = norm_of (terms->sizes, weighing->n);
    }
  else
    steps = add_steps (weighing, op, step, terms->sizes);
  if (!sums && op != NULL && rounding->band > op->band)
    add_up (weighing, steps, rounding->reduction, terms);
  if (step == NO_JUMP)
    look_around (weighing, terms);
  if (is_lost (weighing, MAX (terms->norm, steps)))
    {
      terms->norm = LOST * MAX (terms->norm, steps);
      level (weighing, terms->sizes, terms->norm);
    }
}

void
operation_weigh (const Operation *operation,
                 const NodeRounding *rounding,
                 const AdjTensorData *exact,
                 guint item,
                 Terms *terms)
{
  const AdjOp *op = rounding_get_op (rounding);
  gint64 n;
  g_autofree double *numbers = deviation_read (exact, &n);
  Weighing weighing = { operation, item, numbers, n };

  terms->sizes = g_new0 (double, n + 1);
  if (op != NULL && adj_op_get_body (op) != NULL)
    weigh_body (&weighing, op, terms);
  else
    weigh_whole (&weighing, rounding, terms);
}
