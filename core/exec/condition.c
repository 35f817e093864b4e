/* SPDX-License-Identifier: MIT */
/* Estimates the condition of one operator: how far its result moves when its arguments move by a
 * rounding. */

#include <math.h>

#include "call/adj-op.h"
#include "exec/replay-inputs-private.h"
#include "ir/adj-graph.h"
#include "ops/adj-ops.h"

/* Number of random samples, between these bounds by the number of elements; enough that no element
 * seems not to move by chance. */
#define LEAST_SAMPLES 8
#define MOST_SAMPLES 32
#define ALL_SAMPLES (1 << 20)

/* Number of perturbations that the norm of moves is estimated from. */
#define N_MOVES 32

/* Number of samples of a discontinuous operator around its coordinates, and their distance. */
#define N_AROUND 16
#define AROUND (32 * REPLAY_STEP)

/* Step for a discontinuous operator that stays on one side of its jumps. */
#define NO_JUMP 0x1p-40

/* Factor by which rounding may exceed a sample of it where the result is rounding alone. */
#define LOST 16

/* The result whose condition is estimated. */
typedef struct
{
  const Operation *operation;
  guint item;
  const double *exact;
  gint64 n;
  gboolean pairs; /* elements are the parts of complex numbers */
} Condition;

static double *
compute (const Condition *condition, Replay replay)
{
  replay.operation = condition->operation;
  return replay_compute_item (&replay, condition->item, condition->n);
}

/* L2 norm of @numbers, an element each, without those that have overflown. */
static double
norm_of (const Condition *condition, const double *numbers)
{
  double squares = 0;

  for (gint64 i = 0; i < condition->n; i++)
    if (isfinite (numbers[i]) && isfinite (condition->exact[i]))
      squares += numbers[i] * numbers[i];
  return sqrt (squares);
}

static double
norm_of_exact (const Condition *condition)
{
  return norm_of (condition, condition->exact);
}

/* A result moves this often the step, by its own size, before it is asked whether it jumps. */
#define STEEP 0x1p12

static void
add_around (Terms *terms, double *found)
{
  terms->around = g_renew (double *, terms->around, terms->n_around + 1);
  terms->around[terms->n_around++] = found;
}

static gboolean
is_steep (const Condition *condition, const double *moved)
{
  for (gint64 i = 0; i < condition->n; i++)
    if (isfinite (condition->exact[i]) &&
        fabs (moved[i] - condition->exact[i]) > STEEP * REPLAY_STEP * fabs (condition->exact[i]))
      return TRUE;
  return FALSE;
}

/* Elements of @moved that jump: a much smaller step moves them as far.  Both sides are right there,
 * so they go to what is around, and @moved forgets them. */
static void
take_jumps (const Condition *condition, Replay replay, double *moved, Terms *terms)
{
  g_autofree double *less = NULL;
  g_autofree double *other = g_memdup2 (condition->exact, (condition->n + 1) * sizeof (double));
  gboolean jumps = FALSE;

  replay.step = NO_JUMP;
  less = compute (condition, replay);
  for (gint64 i = 0; less != NULL && i < condition->n; i++)
    {
      double move = fabs (moved[i] - condition->exact[i]);

      if (!(move > STEEP * REPLAY_STEP * fabs (condition->exact[i])) ||
          !(fabs (less[i] - condition->exact[i]) > move / 2))
        continue;
      other[i] = moved[i];
      moved[i] = condition->exact[i];
      jumps = TRUE;
    }
  if (jumps)
    add_around (terms, g_steal_pointer (&other));
}

/* Raises the sizes to the moves that each tensor causes, per relative step. */
static void
add_nudges (const Condition *condition, Terms *terms)
{
  Replay replay = { .operation = condition->operation, .kind = REPLAY_NUDGED, .step = REPLAY_STEP };

  for (;; replay.nudged++)
    {
      g_autofree double *moved = replay_compute_item (&replay, condition->item, condition->n);

      if (moved == NULL || replay.nudged >= replay.n_replayed)
        return;
      if (is_steep (condition, moved))
        take_jumps (condition, replay, moved, terms);
      for (gint64 i = 0; i < condition->n; i++)
        if (isfinite (moved[i]) && isfinite (condition->exact[i]))
          terms->sizes[i] =
              MAX (terms->sizes[i], fabs (moved[i] - condition->exact[i]) / REPLAY_STEP);
    }
}

/* (transfer full) (nullable): how far each element moves, relative to the step, when inputs are
 * moved by @replay; averaged over @n_samples. */
static double *
measure_moves (const Condition *condition, Replay replay, guint n_samples)
{
  g_autofree double *squares = g_new0 (double, condition->n + 1);

  for (guint k = 0; k < n_samples; k++)
    {
      g_autofree double *moved = NULL;

      replay.seed = (guint64) (k + 1) << 52;
      moved = compute (condition, replay);
      if (moved == NULL)
        return NULL;
      for (gint64 i = 0; i < condition->n; i++)
        {
          double move = (moved[i] - condition->exact[i]) / replay.step;

          squares[i] += isfinite (move) ? 3 * move * move / n_samples : 0;
        }
    }
  for (gint64 i = 0; i < condition->n; i++)
    squares[i] = sqrt (squares[i]);
  return g_steal_pointer (&squares);
}

/* Norm of the move of the result when every element of the arguments moves by up to @step at
 * random. */
static double
norm_of_moves (const Condition *condition, double step)
{
  guint n_samples = (guint) CLAMP (N_MOVES / MAX (condition->n, 1), 1, N_MOVES);
  Replay replay = { .kind = REPLAY_ROUNDED, .step = step };
  g_autofree double *moves = measure_moves (condition, replay, n_samples);

  return moves != NULL ? norm_of (condition, moves) : 0;
}

static guint
count_samples (const Condition *condition)
{
  return (guint) CLAMP (ALL_SAMPLES / MAX (condition->n, 1), LEAST_SAMPLES, MOST_SAMPLES);
}

/* Sets the moves of elements when everything that rounds is perturbed; returns their norm.  @op:
 * (nullable). */
static double
add_intermediates (const Condition *condition, const AdjOp *op, double step, Terms *terms)
{
  gboolean only = op != NULL && (op->flags & ADJ_OP_IN_STEPS) != 0;
  Replay replay = { .kind = only ? REPLAY_PERTURBED_INSIDE : REPLAY_PERTURBED, .step = step };
  guint n_samples = count_samples (condition);

  terms->moves = measure_moves (condition, replay, n_samples);
  if (terms->moves == NULL)
    {
      replay.kind = REPLAY_ROUNDED;
      terms->moves = measure_moves (condition, replay, n_samples);
    }
  return terms->moves != NULL ? norm_of (condition, terms->moves) : 0;
}

/* Raises @sizes to what moves with the arguments: weights that the operator has itself may cancel
 * where the absolute values of what they weigh do not. */
static void
add_weighed (const Condition *condition, double *sizes)
{
  Replay inputs = { .kind = REPLAY_ROUNDED, .step = REPLAY_STEP };
  g_autofree double *moves = measure_moves (condition, inputs, count_samples (condition));

  for (gint64 i = 0; moves != NULL && i < condition->n; i++)
    sizes[i] = MAX (sizes[i], moves[i]);
}

/* What moves when the weights do that it computes, each by itself. */
static void
add_places (const Condition *condition, Terms *terms)
{
  guint n_samples = count_samples (condition);
  Replay places = { .kind = REPLAY_AROUND, .step = REPLAY_STEP };

  add_weighed (condition, terms->sizes);
  terms->moves = measure_moves (condition, places, n_samples);
  terms->fine = TRUE;
  terms->places = terms->moves != NULL ? norm_of (condition, terms->moves) : 0;
}

/* Raises @sizes to the operator's result on absolute values. */
static void
add_absolute (const Condition *condition, double *sizes)
{
  Replay replay = { .kind = REPLAY_ABSOLUTE };
  g_autofree double *terms = compute (condition, replay);

  for (gint64 i = 0; terms != NULL && i < condition->n; i++)
    {
      double term = terms[condition->pairs ? i & ~(gint64) 1 : i];

      sizes[i] = MAX (sizes[i], isfinite (term) ? fabs (term) : 0);
    }
}

/* Whether one rounding of the arguments changes much of the result, as for the variance of equal
 * numbers. */
static gboolean
is_lost (const Condition *condition, double norm)
{
  return norm * REPLAY_STEP > norm_of_exact (condition) / 8;
}

static void
raise_to (const Condition *condition, double *sizes, double least)
{
  for (gint64 i = 0; i < condition->n; i++)
    sizes[i] = MAX (sizes[i], least);
}

/* Raises each of @sizes to the largest result and to the mean of all terms. */
static void
level (const Condition *condition, double *sizes, double norm)
{
  double least = norm / sqrt ((double) condition->n);

  for (gint64 i = 0; i < condition->n; i++)
    if (isfinite (condition->exact[i]))
      least = MAX (least, fabs (condition->exact[i]));
  raise_to (condition, sizes, least);
}

/* Raises moves to their mean: a few samples do not show those of each element, and an operator like
 * relu may hide the perturbation of the one before it, if that is nearer to its edge than roundings
 * reach. */
static void
even_out (const Condition *condition, Terms *terms)
{
  if (terms->moves != NULL)
    raise_to (condition, terms->moves,
              norm_of (condition, terms->moves) / sqrt ((double) condition->n));
}

/* For operators that look up places: adds results for coordinates that rounding cannot distinguish,
 * all of which are right.  Weights at one place may cancel although no argument moves them. */
static void
look_around (const Condition *condition, Terms *terms)
{
  even_out (condition, terms);
  for (guint k = 0; k < N_AROUND; k++)
    {
      Replay replay = { .kind = REPLAY_AROUND, .step = AROUND, .seed = (guint64) (k + 1) << 52 };
      double *found = compute (condition, replay);

      if (found != NULL)
        add_around (terms, found);
    }
}

/* The result is a sum of @n_added steps, one after the other, of which only L2 norms are known. */
static void
add_up (const Condition *condition, double steps, double n_added, Terms *terms)
{
  terms->sums = steps * sqrt (n_added);
  for (gint64 i = 0; terms->moves != NULL && i < condition->n; i++)
    terms->moves[i] *= sqrt (n_added);
}

/* Adds the result of the decomposition, which at an edge may be another than that of the kernel:
 * both are PyTorch's, and some of its own kernels give now one, now the other (hardswish_backward
 * of 2.6 at 3, in vectors and after the last whole one). */
static void
add_decomposed (const Condition *condition, Terms *terms)
{
  double *found = compute (condition, (Replay){ .kind = REPLAY_DECOMPOSED });

  if (found != NULL)
    add_around (terms, found);
}

/* Estimates an operator that is computed element by element. */
static void
estimate_body (const Condition *condition, const AdjOp *op, Terms *terms)
{
  add_decomposed (condition, terms);
  add_nudges (condition, terms);
  terms->norm = norm_of (condition, terms->sizes);
  if (op->flags & ADJ_OP_IN_STEPS)
    add_intermediates (condition, op, REPLAY_STEP, terms);
  if (op->flags & ADJ_OP_CANCELS)
    level (condition, terms->sizes, terms->norm);
}

/* The relative step of a perturbation: of several operators, one rounding of the coarsest type. */
static double
find_step (const AdjOp *op, const NodeRounding *rounding)
{
  if (op == NULL)
    return MAX (rounding_get_unit (rounding, ADJ_DTYPE_F32), REPLAY_STEP);
  return op->flags & ADJ_OP_JUMPS ? NO_JUMP : REPLAY_STEP;
}

/* Estimates all other operators. */
static void
estimate_whole (const Condition *condition, const NodeRounding *rounding, Terms *terms)
{
  const AdjOp *op = rounding_get_op (rounding);
  gboolean cancels = op != NULL && (op->flags & ADJ_OP_CANCELS) != 0;
  gboolean places = op != NULL && op->band == ADJ_BAND_PLACES;
  gboolean sums =
      op != NULL && !cancels && (op->band == ADJ_BAND_SUM || op->band == ADJ_BAND_PRODUCT);
  double step = find_step (op, rounding), steps = 0;

  terms->coarse = op != NULL && (cancels || op->band == ADJ_BAND_SMOOTH);
  terms->fine = op != NULL && (op->flags & ADJ_OP_IN_STEPS) != 0;
  terms->norm = norm_of_moves (condition, step);
  if (sums || places)
    {
      add_absolute (condition, terms->sizes);
      if (op->band == ADJ_BAND_PRODUCT && condition->operation->node->n_inputs == 1)
        add_weighed (condition, terms->sizes);
      terms->sums = norm_of (condition, terms->sizes);
    }
  else
    steps = add_intermediates (condition, op, step, terms);
  if (op == NULL)
    even_out (condition, terms);
  if (!sums && op != NULL && rounding->band > op->band)
    add_up (condition, steps, rounding->reduction, terms);
  if (places)
    add_places (condition, terms);
  if (step == NO_JUMP)
    {
      /* Coordinates are rounded like numbers near 1, whatever their values. */
      terms->norm = MAX (terms->norm, steps);
      look_around (condition, terms);
    }
  if (is_lost (condition, MAX (terms->norm, steps)))
    {
      terms->norm = LOST * MAX (terms->norm, steps);
      level (condition, terms->sizes, terms->norm);
    }
}

/* Counts the terms of each element where PyTorch adds them one after the other. */
static void
count_terms (const Condition *condition, const NodeRounding *rounding, Terms *terms)
{
  const AdjOp *op = rounding_get_op (rounding);

  if (op == NULL || !rounding->in_turn)
    return;
  terms->inside = (op->flags & ADJ_OP_ADDS_PIXELS_IN_TURN) != 0;
  if (terms->inside)
    even_out (condition, terms);
  terms->counts = op->band >= ADJ_BAND_SUM ? compute (condition, (Replay){ .kind = REPLAY_ONES })
                                           : g_new0 (double, condition->n + 1);
  for (gint64 i = 0; terms->counts != NULL && i < condition->n; i++)
    {
      double counted = terms->counts[condition->pairs ? i & ~(gint64) 1 : i];

      counted = op->band < ADJ_BAND_SUM ? rounding->reduction : pow (counted, rounding->root);
      terms->counts[i] = isfinite (counted) ? CLAMP (counted, 1, rounding->reduction) : 1;
    }
}

void
operation_estimate_condition (const Operation *operation,
                              const NodeRounding *rounding,
                              const AdjTensorData *exact,
                              AdjDType type,
                              guint item,
                              Terms *terms)
{
  const AdjOp *op = rounding_get_op (rounding);
  const double most = adj_dtype_largest (adj_dtype_get_real (type));
  gint64 n;
  g_autofree double *numbers = deviation_read (exact, &n);
  AdjDType dtype = adj_tensor_data_get_meta (exact)->dtype;
  Condition condition = { operation, item, numbers, n, adj_dtype_get_real (dtype) != dtype };

  for (gint64 i = 0; i < n; i++)
    if (fabs (numbers[i]) > most)
      numbers[i] = INFINITY;
  terms->sizes = g_new0 (double, n + 1);
  if (op != NULL && adj_op_get_body (op) != NULL)
    estimate_body (&condition, op, terms);
  else
    estimate_whole (&condition, rounding, terms);
  if (operation->recorded)
    count_terms (&condition, rounding, terms);
}
