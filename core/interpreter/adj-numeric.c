/* SPDX-License-Identifier: MIT */
/* The numbers that compare two tensors: differences, units in the last place, cosine,
 * tolerances; rounding of dtypes. */

#include "interpreter/adj-numeric.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "interpreter/adj-numeric-internal.h"

#define N_LOG_BINS 2048

/* For dtypes that are computed with; tolerances are those of torch.testing.assert_close. */
static const struct
{
  double unit_roundoff;
  double smallest;
  double largest;
  double rtol;
  double atol;
} floats[ADJ_N_DTYPES + 1] = {
  [ADJ_DTYPE_F64] = { 0x1p-53, 0x1p-1074, DBL_MAX, 1e-7, 1e-7 },
  [ADJ_DTYPE_F32] = { 0x1p-24, 0x1p-149, 0x1.fffffep127, 1.3e-6, 1e-5 },
  [ADJ_DTYPE_F16] = { 0x1p-11, 0x1p-24, 65504, 1e-3, 1e-5 },
  [ADJ_DTYPE_BF16] = { 0x1p-8, 0x1p-133, 0x1.fep127, 1.6e-2, 1e-5 },
};

double
adj_dtype_unit_roundoff (AdjDType dtype)
{
  return floats[adj_dtype_get_real (dtype)].unit_roundoff;
}

double
adj_dtype_smallest (AdjDType dtype)
{
  return floats[adj_dtype_get_real (dtype)].smallest;
}

double
adj_dtype_largest (AdjDType dtype)
{
  double largest = floats[adj_dtype_get_real (dtype)].largest;

  return largest > 0 ? largest : DBL_MAX;
}

AdjRoundings
adj_band_roundings (AdjBand band, double k)
{
  double log2_k = k > 1 ? log2 (k) : 0;

  switch (band)
    {
    case ADJ_BAND_EXACT:
      return (AdjRoundings){ 0, 0 };
    case ADJ_BAND_ROUNDED:
      return (AdjRoundings){ 2, 0 };
    case ADJ_BAND_SMOOTH:
      return (AdjRoundings){ 2, 6 };
    case ADJ_BAND_PLACES:
      return (AdjRoundings){ 2, 4 + log2_k };
    case ADJ_BAND_SUM:
      return (AdjRoundings){ 2, 2 + log2_k };
    case ADJ_BAND_PRODUCT:
      return (AdjRoundings){ 2, 2 + 2 * log2_k };
    case ADJ_BAND_LINALG:
      return (AdjRoundings){ 2, 6 + 4 * log2_k };
    }
  g_assert_not_reached ();
}

double
adj_roundings_limit (AdjRoundings roundings, AdjDType dtype)
{
  double u = adj_dtype_unit_roundoff (dtype);

  return u * roundings.of_result +
         MIN (u, adj_dtype_unit_roundoff (ADJ_DTYPE_F32)) * roundings.within;
}

double
adj_band_limit (AdjBand band, AdjDType dtype, double k)
{
  return adj_roundings_limit (adj_band_roundings (band, k), dtype);
}

const char *
adj_verdict_name (AdjVerdict verdict)
{
  static const char *const names[] = { "equal", "within", "differs", "skipped" };

  return names[verdict];
}

/* The integer that orders the values of @dtype like their bit patterns; @value is representable
 * in it up to rounding. */
static gint64
ordered_bits (double value, AdjDType dtype)
{
  gint64 bits;

  if (dtype == ADJ_DTYPE_F64)
    {
      memcpy (&bits, &value, sizeof bits);
      return bits < 0 ? G_MININT64 - bits : bits;
    }
  else
    {
      float narrow = (float) value;
      gint32 word;

      memcpy (&word, &narrow, sizeof word);
      bits = word < 0 ? (gint64) G_MININT32 - word : word;
      if (dtype == ADJ_DTYPE_BF16)
        bits /= 1 << 16;
      else if (dtype == ADJ_DTYPE_F16)
        bits /= 1 << 13;
      return bits;
    }
}

static guint
ulp_bin (double a, double r, AdjDType dtype)
{
  guint64 x = (guint64) ordered_bits (a, dtype), y = (guint64) ordered_bits (r, dtype);
  guint64 distance = (gint64) x > (gint64) y ? x - y : y - x;
  guint bin = 0;

  while (distance > 0 && bin < ADJ_N_HISTOGRAM - 1)
    {
      distance >>= 1;
      bin++;
    }
  return bin;
}

/* Sums of one pass; quantiles come from the histogram of log2 |a - r|. */
typedef struct
{
  double sum_abs, sum_sq, ref_sq, a_sq, dot, sum_signed, max_ref, max_finite_rel;
  gint64 n_finite;
  guint64 bins[N_LOG_BINS];
  guint64 n_zero;
} Sums;

static guint
log_bin (double difference)
{
  int exponent;
  double mantissa = frexp (difference, &exponent);

  exponent = CLAMP (exponent, -512, 511);
  return (guint) (exponent + 512) * 2 + (mantissa >= 0.75);
}

static double
quantile (const Sums *sums, double q)
{
  guint64 wanted = (guint64) ceil (q * (double) sums->n_finite), seen = sums->n_zero;

  if (sums->n_finite == 0 || seen >= wanted)
    return 0;
  for (guint i = 0; i < N_LOG_BINS; i++)
    if ((seen += sums->bins[i]) >= wanted)
      return ldexp (i % 2 ? 1.0 : 0.75, (int) (i / 2) - 512);
  return INFINITY;
}

static gboolean
same_class (double a, double r)
{
  if (isnan (a) || isnan (r))
    return isnan (a) && isnan (r);
  if (isinf (a) || isinf (r))
    return a == r;
  return TRUE;
}

static void
note_not_close (AdjTensorDifference *out, gint64 index)
{
  if (out->n_not_close_listed < G_N_ELEMENTS (out->not_close))
    out->not_close[out->n_not_close_listed++] = index;
  out->n_not_close++;
}

static void
add_pair (AdjTensorDifference *out, Sums *sums, double a, double r, gint64 index, AdjDType dtype)
{
  double difference;

  out->n_nan_a += isnan (a);
  out->n_nan_r += isnan (r);
  out->n_inf_a += isinf (a) != 0;
  out->n_inf_r += isinf (r) != 0;
  if (!same_class (a, r))
    {
      out->n_class_mismatch++;
      note_not_close (out, index);
      return;
    }
  if (!isfinite (a))
    return;

  difference = fabs (a - r);
  if (difference > floats[dtype].atol + floats[dtype].rtol * fabs (r))
    note_not_close (out, index);
  if (difference > out->max_abs || out->max_index < 0)
    {
      out->max_abs = difference;
      out->max_index = index;
    }
  sums->n_finite++;
  sums->sum_abs += difference;
  sums->sum_sq += difference * difference;
  sums->sum_signed += a - r;
  sums->ref_sq += r * r;
  sums->a_sq += a * a;
  sums->dot += a * r;
  sums->max_ref = MAX (sums->max_ref, fabs (r));
  if (difference > 0)
    sums->bins[log_bin (difference)]++;
  else
    sums->n_zero++;
  if (adj_dtype_is_floating (dtype))
    out->ulp[ulp_bin (a, r, dtype)]++;
}

static double
ratio (double part, double whole)
{
  return whole > 0 ? part / whole : part > 0 ? INFINITY : 0;
}

static double
max_relative (const double *a, const double *r, gint64 n, double floor)
{
  double max = 0;

  for (gint64 i = 0; i < n; i++)
    if (isfinite (a[i]) && isfinite (r[i]))
      max = MAX (max, ratio (fabs (a[i] - r[i]), MAX (fabs (r[i]), floor)));
  return max;
}

static void
compare_elements (const double *a, const double *r, AdjDType dtype, AdjTensorDifference *out)
{
  g_autofree Sums *sums = g_new0 (Sums, 1);

  for (gint64 i = 0; i < out->n; i++)
    add_pair (out, sums, a[i], r[i], i, dtype);

  out->mean_abs = sums->n_finite > 0 ? sums->sum_abs / (double) sums->n_finite : 0;
  out->p50_abs = quantile (sums, 0.5);
  out->p99_abs = quantile (sums, 0.99);
  out->scaled_max = ratio (out->max_abs, sums->max_ref);
  out->rel_l2 = ratio (sqrt (sums->sum_sq), sqrt (sums->ref_sq));
  out->cosine = sums->a_sq > 0 && sums->ref_sq > 0
                    ? sums->dot / (sqrt (sums->a_sq) * sqrt (sums->ref_sq))
                    : (sums->a_sq == sums->ref_sq ? 1 : 0);
  out->bias = sums->n_finite > 0 ? ratio (sums->sum_signed / (double) sums->n_finite,
                                          sqrt (sums->ref_sq / (double) sums->n_finite))
                                 : 0;
  out->max_rel = max_relative (a, r, out->n, 1e-3 * sums->max_ref);
}

static gboolean
same_sizes (const AdjTensorMeta *a, const AdjTensorMeta *r)
{
  return adj_shape_same_sizes (&a->shape, &r->shape, NULL);
}

static gboolean
same_strides (const AdjTensorMeta *a, const AdjTensorMeta *r)
{
  for (guint i = 0; i < a->shape.rank; i++)
    if (!adj_size_same (a->shape.stride[i], r->shape.stride[i]) &&
        !adj_size_is (NULL, a->shape.size[i], 1))
      return FALSE;
  return TRUE;
}

void
adj_tensor_compare (const AdjTensorData *a, const AdjTensorData *r, AdjTensorDifference *out)
{
  const AdjTensorMeta *am = adj_tensor_data_get_meta (a), *rm = adj_tensor_data_get_meta (r);
  gboolean a_narrower = adj_dtype_unit_roundoff (am->dtype) > adj_dtype_unit_roundoff (rm->dtype);
  g_autofree double *av = NULL;
  g_autofree double *rv = NULL;
  gint64 parts;

  *out = (AdjTensorDifference){ .max_index = -1 };
  out->same_dtype = am->dtype == rm->dtype;
  out->same_shape = same_sizes (am, rm);
  if (!out->same_shape)
    return;
  out->same_strides = same_strides (am, rm);
  out->n = adj_tensor_data_get_numel (a);
  parts = adj_dtype_get_real (am->dtype) != am->dtype ? 2 : 1;
  if ((adj_dtype_get_real (rm->dtype) != rm->dtype) != (parts == 2))
    return;
  av = g_new (double, parts * out->n + 1);
  rv = g_new (double, parts * out->n + 1);
  adj_tensor_data_read_parts (a, av);
  adj_tensor_data_read_parts (r, rv);
  out->n *= parts;
  compare_elements (av, rv, adj_dtype_get_real (a_narrower ? am->dtype : rm->dtype), out);
  out->n /= parts;
  out->max_index = out->max_index < 0 ? -1 : out->max_index / parts;
  for (guint i = 0; i < out->n_not_close_listed; i++)
    out->not_close[i] /= parts;
}
