/* SPDX-License-Identifier: MIT */
/* The verdict on one tensor: whether its difference to the peer is explained by rounding of its
 * operator and inputs. */

#include <math.h>

#include "analysis/adj-node-call.h"
#include "call/adj-op.h"
#include "exec/perturbation-private.h"
#include "exec/places-private.h"
#include "exec/ties-private.h"
#include "exec/unstable-private.h"
#include "exec/verdict-private.h"
#include "interpreter/adj-gauge.h"

/* How much larger than ours a peer's error may be before it is no rounding error. */
#define OTHER_FUNCTION 100

/* How much further than the sample of it rounding may take a value. */
#define MAX_PERTURBATIONS 16

static gboolean
collect_leaf (const AdjValue *leaf, gpointer data)
{
  g_ptr_array_add (data, leaf->kind == ADJ_VALUE_DATA ? leaf->data : NULL);
  return TRUE;
}

GPtrArray *
list_tensors (const AdjValue *value)
{
  GPtrArray *tensors = g_ptr_array_new ();

  if (value != NULL)
    adj_value_foreach (value, collect_leaf, tensors);
  return tensors;
}

AdjTensorData *
nth_tensor (const GPtrArray *tensors, guint index)
{
  return index < tensors->len ? tensors->pdata[index] : NULL;
}

static double
distance (const AdjTensorData *a, const AdjTensorData *r)
{
  AdjTensorDifference difference;

  if (a == NULL || r == NULL)
    return NAN;
  adj_tensor_compare (a, r, &difference);
  return !difference.same_shape || difference.n_class_mismatch > 0 ? INFINITY : difference.rel_l2;
}

/* By how many u the results of two programs may differ by rounding alone. */
#define SLACK 4

static double
slack (const Leaf *leaf)
{
  return SLACK * adj_dtype_unit_roundoff (leaf->coarsest);
}

/* Twice the peer's error, thrice for 16-bit or small tensors. */
static double
allowed_error (const Leaf *leaf, double peer)
{
  gboolean small = adj_tensor_data_get_numel (leaf->own.value) < 1000 ||
                   adj_dtype_unit_roundoff (leaf->coarsest) > 0x1p-24;

  return (small ? 3 : 2) * peer + slack (leaf);
}

static gboolean
is_close (const AdjTensorDifference *difference, const Leaf *leaf, double rtol, double atol)
{
  gint64 n, n_peer;
  g_autofree double *a = deviation_read (leaf->own.value, &n);
  g_autofree double *r = deviation_read (leaf->peer.value, &n_peer);

  for (gint64 i = 0; i < n; i++)
    if (isfinite (a[i]) && fabs (a[i] - r[i]) > atol + rtol * fabs (r[i]))
      return FALSE;
  return difference->n_class_mismatch == 0;
}

/* (transfer full): what the operator of @side gives exactly; of vectors that it leaves a factor,
 * and of places that rounding moves, the nearest of those that may be. */
static AdjTensorData *
exact_of (const Side *side, const Leaf *leaf)
{
  const AdjOp *op =
      side->operation != NULL ? adj_node_find_op (side->operation->node, ADJ_OP_GAUGE) : NULL;
  const AdjSchema *schema = op != NULL ? adj_op_get_schema (op) : NULL;

  if (op == NULL || leaf->item >= schema->n_returns)
    return places_find_nearest (side, leaf);
  return adj_gauge_align (side->exact, side->value,
                          g_strcmp0 (schema->returns[leaf->item].name, "Vh") == 0);
}

/* Whether the operator of @side is right there; its terms are looked at only where it seems not to
 * be. */
static AdjDeviation
deviate (const Side *side, const Leaf *leaf)
{
  AdjDeviation deviation = ADJ_DEVIATION_NONE;
  g_autoptr (AdjTensorData) exact = NULL;
  g_auto (Terms) terms = { 0 };

  if (side->value == NULL || side->exact == NULL)
    return deviation;
  exact = exact_of (side, leaf);
  deviation = deviation_measure (side->value, exact, &leaf->rounding, NULL);
  if (!deviation.measured || deviation.right)
    return deviation;
  if (ties_name_equals (side))
    {
      deviation.right = TRUE;
      return deviation;
    }
  if (deviation.rel_l2_limit == 0 && leaf->rounding.n_calls <= 1)
    return deviation;
  operation_estimate_condition (side->operation, &leaf->rounding, side->exact,
                                adj_tensor_data_get_meta (side->value)->dtype, leaf->item, &terms);
  return deviation_measure (side->value, exact, &leaf->rounding, &terms);
}

/* Where terms cancel, no relative error says anything: the gradient of a bias before a softmax is
 * zero, and what two programs give for it are two roundings. */
static gboolean
is_perturbation (const AdjTensorData *value, const Leaf *leaf)
{
  double perturbation = perturbation_distance (leaf->unmoved, leaf->moved);

  return perturbation > 0 &&
         perturbation_distance (value, leaf->truth) <= MAX_PERTURBATIONS * perturbation;
}

/* By finite errors against the float64 run.  A peer that computes something else is far from our
 * truth, where mere rounding keeps it at an error like ours. */
static AdjCause
verdict_by_errors (const Leaf *leaf, AdjValueComparison *value)
{
  value->accumulated_limit = allowed_error (leaf, value->peer);
  if (!(value->accumulated <= value->accumulated_limit) && !is_perturbation (leaf->own.value, leaf))
    return ADJ_CAUSE_FURTHER;
  if (!leaf->own_truth)
    return ADJ_CAUSE_NONE;
  value->peer_limit = OTHER_FUNCTION * value->accumulated + slack (leaf);
  if (!(value->peer <= value->peer_limit) && !is_perturbation (leaf->peer.value, leaf))
    return ADJ_CAUSE_OTHER;
  return ADJ_CAUSE_NONE;
}

static AdjCause
verdict_by_rest (const Leaf *leaf, const Stable *stable, AdjValueComparison *value)
{
  Leaf rest = *leaf;

  rest.own.value = stable->own;
  rest.peer.value = stable->peer;
  rest.truth = stable->truth;
  rest.unmoved = stable->unmoved;
  rest.moved = stable->moved;
  value->accumulated = distance (rest.own.value, rest.truth);
  value->peer = distance (rest.peer.value, rest.truth);
  return verdict_by_errors (&rest, value);
}

/* By their errors against the float64 run, of what both have numbers for. */
static AdjCause
verdict_by_run (const Leaf *leaf, AdjValueComparison *value)
{
  g_auto (Stable) answered = { 0 };

  if (isnan (value->peer))
    return ADJ_CAUSE_NONE;
  if (isinf (value->accumulated) && isinf (value->peer) && stable_find_answered (leaf, &answered))
    return verdict_by_rest (leaf, &answered, value);
  return verdict_by_errors (leaf, value);
}

/* Of elements that are finite on one side only: by the others, where rounding alone makes these. */
static AdjCause
verdict_by_stable (const Leaf *leaf, AdjValueComparison *value)
{
  g_auto (Stable) stable = { 0 };

  return stable_find (leaf, &stable) ? verdict_by_rest (leaf, &stable, value) : ADJ_CAUSE_CLASS;
}

static AdjCause
find_cause (const AdjComparisonRequest *request, const Leaf *leaf, AdjValueComparison *value)
{
  const AdjTensorDifference *difference = &value->difference;
  AdjDType dtype = adj_tensor_data_get_meta (leaf->own.value)->dtype;

  if (!isnan (request->rtol) && leaf->peer.value != NULL)
    return is_close (difference, leaf, request->rtol, request->atol) ? ADJ_CAUSE_NONE
                                                                     : ADJ_CAUSE_TOLERANCE;
  if (value->own.measured && !value->own.right)
    return ADJ_CAUSE_OWN;
  if (value->peer_own.measured && !value->peer_own.right)
    return ADJ_CAUSE_PEER;
  if (leaf->peer.value == NULL ||
      (value->own.measured && value->peer_own.measured && !leaf->inputs_differ))
    return ADJ_CAUSE_NONE;
  if (difference->n_class_mismatch > 0)
    return verdict_by_stable (leaf, value);
  if (adj_dtype_info (dtype)->category < ADJ_CATEGORY_FLOAT)
    return ADJ_CAUSE_BITS;
  return verdict_by_run (leaf, value);
}

static AdjVerdict
decide_verdict (const AdjComparisonRequest *request, const Leaf *leaf, AdjValueComparison *value)
{
  const AdjTensorDifference *difference = &value->difference;

  if (leaf->peer.value != NULL && (!difference->same_shape || !difference->same_dtype))
    {
      value->cause = ADJ_CAUSE_TYPE;
      return ADJ_VERDICT_DIFFERS;
    }
  if (leaf->peer.value != NULL && deviation_is_none (leaf->own.value, leaf->peer.value))
    return ADJ_VERDICT_EQUAL;
  value->cause = find_cause (request, leaf, value);
  if (value->cause != ADJ_CAUSE_NONE)
    return ADJ_VERDICT_DIFFERS;
  return leaf->peer.value == NULL && value->own.rel_l2 == 0 ? ADJ_VERDICT_EQUAL
                                                            : ADJ_VERDICT_WITHIN;
}

void
compare_leaf (const AdjComparisonRequest *request, const Leaf *leaf, AdjValueComparison *out)
{
  AdjTensorData *against = leaf->peer.value != NULL ? leaf->peer.value : leaf->truth;

  out->own = deviate (&leaf->own, leaf);
  out->peer_own = deviate (&leaf->peer, leaf);
  out->dtype = adj_tensor_data_get_meta (leaf->own.value)->dtype;
  out->band = leaf->rounding.band;
  out->reduction = leaf->rounding.reduction;
  out->accumulated = distance (leaf->own.value, leaf->truth);
  out->peer = distance (leaf->peer.value, leaf->truth);
  if (against != NULL)
    adj_tensor_compare (leaf->own.value, against, &out->difference);
  out->verdict = decide_verdict (request, leaf, out);
}
