/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "exec/judge-private.h"
#include "exec/noise-private.h"
#include "exec/operation-private.h"
#include "interpreter/adj-interpreter.h"
#include "ops/adj-ops.h"

/* By how much arguments are moved to see what moves with them. */
#define STEP 0x1p-24

typedef enum
{
  FEED_AS_IT_CAME, /* in the types that the graph has */
  FEED_AS_IT_IS,
  FEED_ABSOLUTE,
  FEED_ROUNDED, /* every element moved by chance */
  FEED_NUDGED,  /* one tensor, all of its elements alike */
} FeedKind;

typedef struct
{
  const Operation *operation;
  FeedKind kind;
  guint nudged; /* which tensor */
  guint n_fed;  /* tensors so far */
} Feed;

static AdjTensorData *
change_wide (const Feed *feed, AdjTensorData *wide)
{
  gsize size;
  const void *bytes = g_bytes_get_data (adj_tensor_data_get_bytes (wide), &size);
  g_autoptr (GBytes) store = NULL;
  double *changed;

  if (feed->kind == FEED_ROUNDED)
    return noise_move_tensor (wide, ADJ_DTYPE_F32, (guint64) feed->n_fed << 40);
  if (feed->kind == FEED_AS_IT_IS || (feed->kind == FEED_NUDGED && feed->n_fed != feed->nudged))
    return adj_tensor_data_ref (wide);
  changed = g_memdup2 (bytes, size);
  for (gsize i = 0; i < size / sizeof (double); i++)
    changed[i] = feed->kind == FEED_ABSOLUTE ? fabs (changed[i]) : changed[i] * (1 + STEP);
  store = g_bytes_new_take (changed, size);
  return adj_tensor_data_new (adj_tensor_data_get_meta (wide), store, NULL);
}

static gboolean
feed_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Feed *feed = data;
  g_autoptr (AdjTensorData) wide = NULL;
  g_autoptr (AdjTensorData) changed = NULL;
  AdjDType dtype;

  if (leaf->kind == ADJ_VALUE_NODE)
    {
      guint holder = written_get_holder (feed->operation->written, leaf->node.index);

      return holder != WRITTEN_UNKNOWN && feed->operation->values[holder].kind != ADJ_VALUE_NONE &&
             adj_value_map (&feed->operation->values[holder], feed_leaf, feed, out);
    }
  if (leaf->kind != ADJ_VALUE_DATA)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  dtype = adj_tensor_data_get_meta (leaf->data)->dtype;
  if (feed->kind == FEED_AS_IT_CAME || !adj_dtype_is_floating (dtype))
    {
      *out = ADJ_TENSOR (adj_tensor_new_from_data (leaf->data));
      return TRUE;
    }
  wide = adj_tensor_data_cast_storage (leaf->data, ADJ_DTYPE_F64);
  changed = change_wide (feed, wide);
  feed->n_fed++;
  *out = ADJ_TENSOR (adj_tensor_new_from_data (changed));
  return TRUE;
}

static gboolean
export_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_TENSOR ? ADJ_DATA (adj_tensor_snapshot (leaf->tensor))
                                        : adj_value_copy (leaf);
  return TRUE;
}

static AdjValue
compute (Feed *feed, NodeRounding *rounding)
{
  const AdjNode *node = feed->operation->node;
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  g_auto (AdjValue) result = ADJ_NONE;
  AdjValue exported = ADJ_NONE;
  guint8 before[ADJ_GENERATOR_STATE_BYTES], after[ADJ_GENERATOR_STATE_BYTES];

  *rounding = (NodeRounding){ 0 };
  feed->n_fed = 0;
  adj_generator_get_state (adj_context_get_generator (cx), before);
  if (feed->kind != FEED_AS_IT_CAME)
    adj_context_push_mode (cx, adj_float64_mode_new ());
  adj_context_push_mode (cx, rounding_mode_new (rounding));
  adj_scope_begin (cx);
  if (adj_value_map (&node->args, feed_leaf, feed, &args) &&
      adj_value_map (&node->kwargs, feed_leaf, feed, &kwargs) &&
      adj_interpret_call (cx, node, &args, &kwargs, &result))
    {
      adj_generator_get_state (adj_context_get_generator (cx), after);
      if (memcmp (before, after, sizeof before) == 0)
        adj_value_map (&result, export_leaf, NULL, &exported);
    }
  adj_scope_end (cx);
  adj_context_take_error (cx, NULL);
  return exported;
}

AdjValue
operation_compute (const Operation *operation, NodeRounding *rounding)
{
  Feed feed = { operation, FEED_AS_IT_IS, 0, 0 };

  return compute (&feed, rounding);
}

AdjValue
operation_repeat (const Operation *operation)
{
  Feed feed = { operation, FEED_AS_IT_CAME, 0, 0 };
  NodeRounding rounding;

  return compute (&feed, &rounding);
}

/* (transfer full) (nullable): the numbers of result @item, @n of them; %NULL when there are not. */
static double *
compute_item (Feed *feed, guint item, gint64 n)
{
  NodeRounding rounding;
  g_auto (AdjValue) result = compute (feed, &rounding);
  g_autoptr (GPtrArray) tensors = judge_tensors (&result);
  const AdjTensorData *found = judge_nth (tensors, item);
  gint64 n_found;
  double *numbers;

  if (found == NULL)
    return NULL;
  numbers = deviation_read (found, &n_found);
  if (n_found == n)
    return numbers;
  g_free (numbers);
  return NULL;
}

/* Raises @sizes to what tensor @k moves, per relative step; %FALSE when there is no such tensor. */
static gboolean
add_nudge (Feed *feed, guint k, guint item, const double *exact, gint64 n, double *sizes)
{
  g_autofree double *moved = NULL;

  feed->nudged = k;
  moved = compute_item (feed, item, n);
  if (moved == NULL || k >= feed->n_fed)
    return FALSE;
  for (gint64 i = 0; i < n; i++)
    if (isfinite (moved[i]) && isfinite (exact[i]))
      sizes[i] = MAX (sizes[i], fabs (moved[i] - exact[i]) / STEP);
  return TRUE;
}

static double
norm_of (const double *numbers, gint64 n)
{
  double squares = 0;

  for (gint64 i = 0; i < n; i++)
    squares += isfinite (numbers[i]) ? numbers[i] * numbers[i] : 0;
  return sqrt (squares);
}

/* By how far a rounding of the arguments moves the result: as the terms of a sum are moved. */
static double
norm_of_moves (Feed *feed, guint item, const double *exact, gint64 n)
{
  g_autofree double *moved = NULL;

  feed->kind = FEED_ROUNDED;
  moved = compute_item (feed, item, n);
  for (gint64 i = 0; moved != NULL && i < n; i++)
    moved[i] -= exact[i];
  return moved != NULL ? norm_of (moved, n) * sqrt (3) / STEP : 0;
}

static double *
absolute_terms (Feed *feed, guint item, gint64 n)
{
  double *sizes;

  feed->kind = FEED_ABSOLUTE;
  sizes = compute_item (feed, item, n);
  for (gint64 i = 0; sizes != NULL && i < n; i++)
    sizes[i] = isfinite (sizes[i]) ? fabs (sizes[i]) : 0;
  return sizes;
}

/* Whether a rounding of the arguments is much of the result: the variance of equal numbers. */
static gboolean
is_lost (const Terms *terms, const double *exact, gint64 n)
{
  return terms->norm * STEP > norm_of (exact, n) / 8;
}

/* By how much more than a sample of it rounding may take what is nothing but rounding. */
#define LOST 16

/* None of @sizes is less than the largest number, and than what all terms are on average. */
static void
level (double *sizes, const double *numbers, gint64 n, double norm)
{
  double least = norm / sqrt ((double) n);

  for (gint64 i = 0; i < n; i++)
    if (isfinite (numbers[i]))
      least = MAX (least, fabs (numbers[i]));
  for (gint64 i = 0; i < n; i++)
    sizes[i] = MAX (sizes[i], least);
}

void
operation_weigh (const Operation *operation, const AdjTensorData *exact, guint item, Terms *terms)
{
  const AdjOp *op = operation->node->op;
  gboolean cancels = op != NULL && (op->flags & ADJ_OP_CANCELS) != 0;
  gboolean sums =
      op != NULL && !cancels && (op->band == ADJ_BAND_SUM || op->band == ADJ_BAND_PRODUCT);
  gboolean lost, apart = op != NULL && adj_op_get_body (op) != NULL;
  Feed feed = { operation, FEED_NUDGED, 0, 0 };
  gint64 n;
  g_autofree double *numbers = deviation_read (exact, &n);

  if (apart)
    {
      terms->sizes = g_new0 (double, n + 1);
      for (guint k = 0; add_nudge (&feed, k, item, numbers, n, terms->sizes);)
        k++;
      terms->norm = norm_of (terms->sizes, n);
    }
  else
    terms->norm = norm_of_moves (&feed, item, numbers, n);
  terms->coarse = !apart && op != NULL && (cancels || op->band == ADJ_BAND_SMOOTH);
  if (sums && !apart)
    terms->sizes = absolute_terms (&feed, item, n);
  if (terms->sizes == NULL)
    terms->sizes = g_new0 (double, n + 1);
  lost = !apart && is_lost (terms, numbers, n);
  if (lost)
    terms->norm *= LOST;
  if ((!sums && !apart) || cancels || lost)
    level (terms->sizes, numbers, n, terms->norm);
}
