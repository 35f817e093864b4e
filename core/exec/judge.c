/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "exec/judge-private.h"
#include "exec/noise-private.h"

/* How much larger than ours a peer's error may be before it is no rounding error. */
#define OTHER_FUNCTION 100

/* How much further than the sample of it rounding may take a value. */
#define NOISE 16

static gboolean
collect_leaf (const AdjValue *leaf, gpointer data)
{
  g_ptr_array_add (data, leaf->kind == ADJ_VALUE_DATA ? leaf->data : NULL);
  return TRUE;
}

GPtrArray *
judge_tensors (const AdjValue *value)
{
  GPtrArray *tensors = g_ptr_array_new ();

  if (value != NULL)
    adj_value_foreach (value, collect_leaf, tensors);
  return tensors;
}

AdjTensorData *
judge_nth (const GPtrArray *tensors, guint index)
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

/* operators §5.3: twice the peer's error, thrice for 16-bit or small tensors, plus a slack. */
static double
allowed_error (const Leaf *leaf, double peer)
{
  const AdjTensorMeta *meta = adj_tensor_data_get_meta (leaf->candidate);
  double u = adj_dtype_unit_roundoff (meta->dtype);
  gboolean small = adj_tensor_data_get_numel (leaf->candidate) < 1000 || u > 0x1p-24;

  return (small ? 3 : 2) * peer + 1e-5 * (u / 0x1p-24);
}

/* A peer that computes something else is far from our truth, where mere rounding keeps it at an
 * error like ours. */
static gboolean
is_other_function (const Leaf *leaf, const AdjValueComparison *value)
{
  double u = adj_dtype_unit_roundoff (adj_tensor_data_get_meta (leaf->candidate)->dtype);

  return leaf->own_truth && !isnan (value->peer) &&
         !(value->peer <= OTHER_FUNCTION * value->accumulated + 1e-5 * (u / 0x1p-24));
}

static gboolean
is_close (const AdjTensorDifference *difference, const Leaf *leaf, double rtol, double atol)
{
  g_autofree double *a = g_new (double, difference->n + 1);
  g_autofree double *r = g_new (double, difference->n + 1);

  adj_tensor_data_read_doubles (leaf->candidate, a);
  adj_tensor_data_read_doubles (leaf->peer, r);
  for (gint64 i = 0; i < difference->n; i++)
    if (isfinite (a[i]) && fabs (a[i] - r[i]) > atol + rtol * fabs (r[i]))
      return FALSE;
  return difference->n_class_mismatch == 0;
}

/* Where terms cancel, no relative error says anything: the gradient of a bias before a softmax is
 * zero, and what two programs give for it are two roundings. */
static gboolean
is_noise (const AdjTensorData *value, const AdjTensorData *truth, double noise)
{
  return noise > 0 && noise_distance (value, truth) <= NOISE * noise;
}

static AdjVerdict
judge (const AdjComparisonRequest *request, const Leaf *leaf, const AdjValueComparison *value)
{
  const AdjTensorDifference *difference = &value->difference;
  gboolean floating = adj_dtype_is_floating (adj_tensor_data_get_meta (leaf->candidate)->dtype);
  gboolean same_bits;

  if (leaf->peer != NULL)
    {
      if (!difference->same_shape || !difference->same_dtype || difference->n_class_mismatch > 0)
        return ADJ_VERDICT_DIFFERS;
      same_bits = difference->max_abs == 0;
      if (!isnan (request->rtol))
        return same_bits                                                   ? ADJ_VERDICT_EQUAL
               : is_close (difference, leaf, request->rtol, request->atol) ? ADJ_VERDICT_WITHIN
                                                                           : ADJ_VERDICT_DIFFERS;
      if (!floating)
        return same_bits ? ADJ_VERDICT_EQUAL : ADJ_VERDICT_DIFFERS;
    }
  else
    same_bits = value->local == 0;
  if (!isnan (value->local) && value->local > value->local_limit &&
      !is_noise (leaf->candidate, leaf->local, leaf->local_noise))
    return ADJ_VERDICT_DIFFERS;
  if (!isnan (value->peer) && !(value->accumulated <= allowed_error (leaf, value->peer)) &&
      !is_noise (leaf->candidate, leaf->truth, leaf->noise))
    return ADJ_VERDICT_DIFFERS;
  if (!same_bits && is_other_function (leaf, value) &&
      !is_noise (leaf->peer, leaf->truth, leaf->noise))
    return ADJ_VERDICT_DIFFERS;
  return same_bits ? ADJ_VERDICT_EQUAL : ADJ_VERDICT_WITHIN;
}

void
compare_leaf (const AdjComparisonRequest *request,
              const Leaf *leaf,
              double limit,
              AdjValueComparison *out)
{
  AdjTensorData *against = leaf->peer != NULL ? leaf->peer : leaf->truth;

  out->local = distance (leaf->candidate, leaf->local);
  out->local_limit = limit;
  out->accumulated = distance (leaf->candidate, leaf->truth);
  out->peer = distance (leaf->peer, leaf->truth);
  if (against != NULL)
    adj_tensor_compare (leaf->candidate, against, &out->difference);
  out->verdict = judge (request, leaf, out);
}
