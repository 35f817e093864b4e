/* SPDX-License-Identifier: MIT */
/* Replay inputs: what a node gets when it is computed again (as it came, in float64, absolute
 * values, moved), and that computation. */

#include <math.h>
#include <string.h>

#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "exec/feed-private.h"
#include "exec/judge-private.h"
#include "exec/noise-private.h"
#include "exec/steps-private.h"
#include "interpreter/adj-interpreter-internal.h"
#include "interpreter/adj-interpreter.h"
#include "rules/adj-operators.h"
#include "trace/adj-decompose.h"

/* So that what is computed does not move as what it is computed from. */
#define STEPS_SEED 0x5851f42d4c957f2du

static AdjTensorData *
change_wide (const Feed *feed, AdjTensorData *wide)
{
  gsize size;
  const void *bytes = g_bytes_get_data (adj_tensor_data_get_bytes (wide), &size);
  g_autoptr (GBytes) store = NULL;
  double *changed;

  if (feed->kind == FEED_ROUNDED || feed->kind == FEED_IN_STEPS)
    return noise_move_tensor (wide, feed->step, feed->seed + ((guint64) feed->n_fed << 40));
  if (feed->kind == FEED_AS_IT_IS || feed->kind == FEED_STEPS_ONLY || feed->kind == FEED_AROUND ||
      (feed->kind == FEED_NUDGED && feed->n_fed != feed->nudged))
    return adj_tensor_data_ref (wide);
  changed = g_memdup2 (bytes, size);
  for (gsize i = 0; i < size / sizeof (double); i++)
    changed[i] = feed->kind == FEED_ABSOLUTE ? fabs (changed[i]) : changed[i] * (1 + FEED_STEP);
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

static void
push_modes (AdjContext *cx, const Feed *feed, NodeRounding *rounding)
{
  static const AdjDecompositions all = { .bit = ADJ_TABLE_BOTH };
  gboolean in_steps = feed->kind == FEED_IN_STEPS || feed->kind == FEED_STEPS_ONLY;
  StepsMove move = { in_steps ? feed->step : 0, feed->step, feed->seed ^ STEPS_SEED };

  if (feed->kind != FEED_AS_IT_CAME)
    adj_context_push_mode (cx, adj_float64_mode_new ());
  if (in_steps || feed->kind == FEED_AROUND)
    adj_context_push_mode (cx, steps_mode_new (&move));
  if (in_steps)
    adj_context_push_mode (cx, adj_decompose_mode_new (&all));
  adj_context_push_mode (cx, rounding_mode_new (rounding));
}

AdjValue
feed_compute (Feed *feed, NodeRounding *rounding)
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
  push_modes (cx, feed, rounding);
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

double *
feed_compute_item (Feed *feed, guint item, gint64 n)
{
  NodeRounding rounding;
  g_auto (AdjValue) result = feed_compute (feed, &rounding);
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
