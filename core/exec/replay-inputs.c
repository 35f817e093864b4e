/* SPDX-License-Identifier: MIT */
/* Inputs on which a node is computed again (as they came, in float64, absolute values, perturbed),
 * and that computation. */

#include <math.h>
#include <string.h>

#include "call/adj-context-internal.h"
#include "call/adj-generator-internal.h"
#include "call/adj-mode.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"
#include "exec/perturbation-mode-private.h"
#include "exec/perturbation-private.h"
#include "exec/replay-inputs-private.h"
#include "exec/verdict-private.h"
#include "interpreter/adj-interpreter-internal.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph.h"
#include "rules/adj-operators.h"
#include "tensor/adj-late-bytes-internal.h"
#include "trace/adj-decompose.h"

/* Separates the random moves of intermediate results from those of inputs. */
#define PERTURBATION_SEED 0x5851f42d4c957f2du

static void
make_ones (double *numbers, gsize n, AdjDType dtype)
{
  gboolean pairs = adj_dtype_get_real (dtype) != dtype;

  for (gsize i = 0; i < n; i++)
    numbers[i] = !pairs || i % 2 == 0;
}

/* Makes numbers absolute; complex ones become real, so that their products are no less than any of
 * their terms. */
static void
make_absolute (double *numbers, gsize n, AdjDType dtype)
{
  gboolean pairs = adj_dtype_get_real (dtype) != dtype;

  for (gsize i = 0; i < n; i += pairs ? 2 : 1)
    {
      numbers[i] = pairs ? hypot (numbers[i], numbers[i + 1]) : fabs (numbers[i]);
      if (pairs)
        numbers[i + 1] = 0;
    }
}

static AdjTensorData *
change_wide (const Replay *replay, AdjTensorData *wide)
{
  gsize size;
  const void *bytes = g_bytes_get_data (adj_tensor_data_get_bytes (wide), &size);
  g_autoptr (GBytes) store = NULL;
  double *changed;

  if (replay->kind == REPLAY_ROUNDED || replay->kind == REPLAY_PERTURBED)
    return perturbation_move_tensor (wide, replay->step, 0,
                                     replay->seed + ((guint64) replay->n_replayed << 40));
  if (replay->kind == REPLAY_AS_IT_IS || replay->kind == REPLAY_DECOMPOSED ||
      replay->kind == REPLAY_PERTURBED_INSIDE || replay->kind == REPLAY_AROUND ||
      replay->kind == REPLAY_PLACED ||
      (replay->kind == REPLAY_NUDGED && replay->n_replayed != replay->nudged))
    return adj_tensor_data_ref (wide);
  changed = g_memdup2 (bytes, size);
  if (replay->kind == REPLAY_ABSOLUTE)
    make_absolute (changed, size / sizeof (double), adj_tensor_data_get_meta (wide)->dtype);
  else if (replay->kind == REPLAY_ONES)
    make_ones (changed, size / sizeof (double), adj_tensor_data_get_meta (wide)->dtype);
  else
    for (gsize i = 0; i < size / sizeof (double); i++)
      changed[i] *= 1 + replay->step;
  store = g_bytes_new_take (changed, size);
  return adj_tensor_data_new (adj_tensor_data_get_meta (wide), store, NULL);
}

static gboolean
fill_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Replay *replay = data;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjTensorData) filled = NULL;
  gsize size;

  if (leaf->kind != ADJ_VALUE_DATA)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  size = adj_tensor_data_get_n_bytes (leaf->data);
  bytes = g_bytes_new_take (memset (g_malloc (MAX (size, 1)), replay->byte, size), size);
  filled = adj_tensor_data_new (adj_tensor_data_get_meta (leaf->data), bytes, NULL);
  *out = ADJ_TENSOR (adj_tensor_new_from_data (filled));
  return TRUE;
}

static gboolean
replay_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Replay *replay = data;
  g_autoptr (AdjTensorData) wide = NULL;
  g_autoptr (AdjTensorData) changed = NULL;
  AdjDType dtype;

  if (leaf->kind == ADJ_VALUE_NODE)
    {
      guint holder = alias_versions_get_holder (replay->operation->versions, leaf->node.index);

      return holder != ALIAS_VERSIONS_UNKNOWN &&
             replay->operation->values[holder].kind != ADJ_VALUE_NONE &&
             adj_value_map (&replay->operation->values[holder],
                            replay->unset != NULL && replay->unset[holder] ? fill_leaf
                                                                           : replay_leaf,
                            replay, out);
    }
  if (leaf->kind != ADJ_VALUE_DATA)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  dtype = adj_tensor_data_get_meta (leaf->data)->dtype;
  if (replay->kind == REPLAY_AS_IT_CAME || !adj_dtype_is_differentiable (dtype))
    {
      *out = ADJ_TENSOR (adj_tensor_new_from_data (leaf->data));
      return TRUE;
    }
  if (adj_dtype_unit_roundoff (dtype) > adj_dtype_unit_roundoff (replay->coarsest))
    replay->coarsest = dtype;
  wide = adj_tensor_data_cast_storage (leaf->data, adj_dtype_get_widest (dtype));
  changed = change_wide (replay, wide);
  replay->n_replayed++;
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

/* Makes factors of sums of products (alpha, beta) absolute, since -1 would make terms cancel. */
static void
make_factors_absolute (AdjValue *kwargs)
{
  for (guint i = 0; adj_value_is_container (kwargs) && i < kwargs->n; i += 2)
    {
      const char *name = kwargs->items[i].text;
      AdjValue *factor = &kwargs->items[i + 1];

      if (!g_str_equal (name, "alpha") && !g_str_equal (name, "beta"))
        continue;
      if (factor->kind == ADJ_VALUE_INT && factor->integer < 0)
        *factor = ADJ_FLOAT (-(double) factor->integer);
      else if (factor->kind == ADJ_VALUE_FLOAT)
        factor->number = fabs (factor->number);
      else if (factor->kind == ADJ_VALUE_COMPLEX)
        {
          factor->items[0].number = hypot (factor->items[0].number, factor->items[1].number);
          factor->items[1].number = 0;
        }
    }
}

static gboolean
replay_arguments (Replay *replay, AdjValue *args, AdjValue *kwargs)
{
  const AdjNode *node = replay->operation->node;

  if (!adj_value_map (&node->args, replay_leaf, replay, args) ||
      !adj_value_map (&node->kwargs, replay_leaf, replay, kwargs))
    return FALSE;
  if (replay->kind == REPLAY_ABSOLUTE)
    make_factors_absolute (kwargs);
  return TRUE;
}

static gboolean
is_stateless (const AdjValue *leaf, gpointer data)
{
  const AdjObject *object =
      leaf->kind == ADJ_VALUE_OPAQUE_OBJECT ? adj_object_from_opaque (leaf->object) : NULL;

  return object == NULL || adj_object_is_value (object);
}

/* Whether the result of @node depends on the state of an object among @args at the call, which was
 * not kept. */
static gboolean
depends_on_state (const AdjNode *node, const AdjValue *args)
{
  const AdjMethod *method = NULL;
  const AdjObject *object;

  if (adj_value_foreach (args, is_stateless, NULL))
    return FALSE;
  if (!g_str_equal (node->target, ADJ_TARGET_CALL_TORCHBIND) || args->n < 2 ||
      is_stateless (&args->items[0], NULL) || args->items[1].kind != ADJ_VALUE_STRING)
    return TRUE;
  object = adj_object_from_opaque (args->items[0].object);
  return adj_object_find_method (object, args->items[1].text, &method) == NULL || !method->pure;
}

static void
push_modes (AdjContext *cx, const Replay *replay, NodeRounding *rounding)
{
  static const AdjDecompositions all = { .bit = ADJ_TABLE_BOTH };
  gboolean inside = replay->kind == REPLAY_PERTURBED || replay->kind == REPLAY_PERTURBED_INSIDE;
  Perturbation move = { inside ? replay->step : 0, replay->step, replay->seed ^ PERTURBATION_SEED };
  AdjPlaceRounding around = { .step = replay->step, .seed = (guint32) (replay->seed >> 32) };

  if (replay->kind != REPLAY_AS_IT_CAME)
    adj_context_push_mode (cx, adj_float64_mode_new ());
  adj_context_set_places (cx, replay->kind == REPLAY_AROUND ? &around : &replay->places);
  if (inside || replay->kind == REPLAY_AROUND)
    adj_context_push_mode (cx, perturbation_mode_new (&move));
  if (inside || replay->kind == REPLAY_DECOMPOSED)
    adj_context_push_mode (cx, adj_decompose_mode_new (&all));
  adj_context_push_mode (cx, rounding_mode_new (rounding));
}

AdjValue
replay_compute (Replay *replay, NodeRounding *rounding)
{
  const AdjNode *node = replay->operation->node;
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  g_auto (AdjValue) result = ADJ_NONE;
  AdjValue exported = ADJ_NONE;
  AdjDrawState before, after;

  *rounding = (NodeRounding){ 0 };
  adj_context_set_release (cx, replay->operation->release);
  adj_generator_set_source (adj_context_get_generator (cx), replay->operation->random_source);
  adj_context_set_narrow_dtype (cx, replay->operation->drawn);
  if (replay->operation->state != NULL)
    adj_context_set_draw_state (cx, g_bytes_get_data (replay->operation->state, NULL));
  replay->n_replayed = 0;
  replay->coarsest = ADJ_DTYPE_NONE;
  adj_context_get_draw_state (cx, &before);
  push_modes (cx, replay, rounding);
  adj_scope_begin (cx);
  if (replay_arguments (replay, &args, &kwargs) && !depends_on_state (node, &args) &&
      adj_interpret_call (cx, node, &args, &kwargs, &result))
    {
      adj_context_get_draw_state (cx, &after);
      if (replay->operation->state != NULL || memcmp (&before, &after, sizeof before) == 0)
        adj_value_map (&result, export_leaf, NULL, &exported);
    }
  rounding->of_inputs = replay->coarsest;
  adj_scope_end (cx);
  adj_context_take_error (cx, NULL);
  return exported;
}

double *
replay_compute_item (Replay *replay, guint item, gint64 n)
{
  NodeRounding rounding;
  g_auto (AdjValue) result = replay_compute (replay, &rounding);
  g_autoptr (GPtrArray) tensors = list_tensors (&result);
  const AdjTensorData *found = nth_tensor (tensors, item);
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
