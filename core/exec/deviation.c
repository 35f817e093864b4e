/* SPDX-License-Identifier: MIT */
/* How far a value is from another: in relative error, in units in the last place, and as slope
 * over many elements. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/deviation-private.h"
#include "interpreter/adj-numeric-internal.h"
#include "tensor/adj-late-bytes-internal.h"

/* Standard errors of the slope that are attributed to chance. */
#define CHANCE 5

/* Weight of a measured move as a term: the move includes the number of roundings. */
#define MOVE_TO_TERM 0.25

/* Roundings of its weights that a blend may be off. */
#define PLACING 4

/* A sum of n terms of one sign that are added one after the other is off by about n^1/2 / 4
 * roundings of itself; the worst of many such sums by four times as many. */
#define IN_TURN 0.5
#define WORST_IN_TURN (2 * IN_TURN / ADJ_ELEMENT_LIMIT)

void
terms_clear (Terms *terms)
{
  for (guint i = 0; i < terms->n_around; i++)
    g_free (terms->around[i]);
  g_free (terms->around);
  g_free (terms->moves);
  g_free (terms->sizes);
  g_free (terms->counts);
}

static gboolean
is_complex (AdjDType dtype)
{
  return adj_dtype_info (dtype)->category == ADJ_CATEGORY_COMPLEX;
}

double *
deviation_read (const AdjTensorData *data, gint64 *n)
{
  double *numbers;

  *n = adj_tensor_data_get_numel (data) *
       (is_complex (adj_tensor_data_get_meta (data)->dtype) ? 2 : 1);
  numbers = g_new (double, *n + 1);
  adj_tensor_data_read_parts (data, numbers);
  return numbers;
}

static gboolean
same_numbers (const AdjTensorData *a, const AdjTensorData *b)
{
  gint64 n, n_b;
  g_autofree double *x = deviation_read (a, &n);
  g_autofree double *y = deviation_read (b, &n_b);

  for (gint64 i = 0; i < n; i++)
    if (x[i] != y[i] && !(isnan (x[i]) && isnan (y[i])))
      return FALSE;
  return TRUE;
}

gboolean
deviation_is_none (const AdjTensorData *a, const AdjTensorData *b)
{
  const AdjTensorMeta *am = adj_tensor_data_get_meta (a), *bm = adj_tensor_data_get_meta (b);
  g_autoptr (AdjTensorData) x = NULL;
  g_autoptr (AdjTensorData) y = NULL;
  g_autoptr (GBytes) x_bytes = NULL;
  g_autoptr (GBytes) y_bytes = NULL;

  if (am->dtype != bm->dtype || !adj_shape_same_sizes (&am->shape, &bm->shape, NULL))
    return FALSE;
  x = adj_tensor_data_contiguous ((AdjTensorData *) a);
  y = adj_tensor_data_contiguous ((AdjTensorData *) b);
  if (adj_tensor_data_get_storage (x) == adj_tensor_data_get_storage (y))
    return TRUE;
  x_bytes = adj_tensor_data_read_bytes (x, NULL);
  y_bytes = adj_tensor_data_read_bytes (y, NULL);
  if (g_bytes_equal (x_bytes, y_bytes))
    return TRUE;
  return adj_dtype_info (am->dtype)->category >= ADJ_CATEGORY_FLOAT && same_numbers (x, y);
}

static int
by_size (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/* The effective number of independent elements for the slope: equal elements round equally and
 * count once, elements that are small beside others hardly count. */
static double
count_independent (const double *exact, gint64 n)
{
  g_autofree double *squares = g_new (double, n + 1);
  double sum = 0, of_groups = 0, group = 0;

  for (gint64 i = 0; i < n; i++)
    squares[i] = isfinite (exact[i]) ? exact[i] * exact[i] : 0;
  qsort (squares, n, sizeof *squares, by_size);
  for (gint64 i = 0; i < n; i++)
    {
      group = i > 0 && squares[i] == squares[i - 1] ? group + squares[i] : squares[i];
      sum += squares[i];
      if (i + 1 == n || squares[i + 1] != squares[i])
        of_groups += group * group;
    }
  return of_groups > 0 ? MAX (sum * sum / of_groups, 1) : 1;
}

typedef struct
{
  double u, underflow, most;
  double of_moves;                    /* weight of a move as a term, in u of the result */
  gboolean pairs;                     /* elements are the parts of complex numbers */
  double squares, dot, exact_squares; /* of the errors; of their product with the exact values; of
                                         the exact values */
  gint64 n;
  double of_terms;  /* the unit roundoff of terms */
  double coherence; /* L2 norm of the exact values over that of their terms; 1: of sums inside */
  double in_turn;   /* squares of the values, or of partial sums inside, times how many terms are
                       added in turn */
  AdjDeviation *out;
} Sums;

/* Whether both are finite; counts a mismatch where only one is, unless a cast explains it. */
static gboolean
are_finite (Sums *sums, double value, double exact)
{
  double edge = sums->most * (1 - ADJ_ELEMENT_LIMIT * sums->u);
  gboolean same;

  if (isfinite (value) && isfinite (exact) && fabs (exact) <= sums->most)
    return TRUE;
  if (isnan (value) || isnan (exact))
    same = isnan (value) && isnan (exact);
  else
    same = value == exact ||
           (fabs (exact) >= edge && fabs (value) >= edge && (value > 0) == (exact > 0));
  sums->out->n_class_mismatch += !same;
  return FALSE;
}

/* The error in u of @size. */
static double
count_units (const Sums *sums, double value, double exact, double size)
{
  double error = MAX (fabs (value - exact) - sums->underflow, 0);

  return error > 0 ? error / (sums->u * MAX (fabs (exact), size)) : 0;
}

/* How much of the absolute values of their terms is left of the sums.  What sums inside an operator
 * are off moves all results that read them alike. */
static double
find_coherence (const Terms *terms, const double *exact, gint64 n)
{
  double squares = 0;

  if (terms->inside)
    return 1;
  for (gint64 i = 0; i < n; i++)
    squares += isfinite (exact[i]) ? exact[i] * exact[i] : 0;
  return terms->sums > 0 ? MIN (sqrt (squares) / terms->sums, 1) : 0;
}

/* What is added in turn rounds like the partial sums, which are as large as the sum, or as those of
 * other elements. */
static double
find_partial (const Sums *sums, const Terms *terms, double exact, gint64 index)
{
  double other = terms->sizes[index] * sums->coherence;

  if (terms->inside && terms->moves != NULL)
    other = terms->moves[index];
  return MAX (fabs (exact), other);
}

static double
size_in_turn (const Sums *sums, const Terms *terms, double exact, gint64 index)
{
  return WORST_IN_TURN * sqrt (terms->counts[index]) * find_partial (sums, terms, exact, index) *
         sums->of_terms / sums->u;
}

/* The size of an element for its limit; for complex numbers that of both parts, since products
 * round relative to the whole number. */
static double
size_of (const Sums *sums, const Terms *terms, const double *exact, gint64 index)
{
  double size = terms->sizes != NULL ? terms->sizes[index] : 0;
  double other = sums->pairs ? fabs (exact[index ^ 1]) : 0;

  if (terms->moves != NULL)
    size = MAX (size, terms->moves[index] * sums->of_moves);
  if (terms->counts != NULL)
    size = MAX (size, size_in_turn (sums, terms, exact[index], index));
  return isfinite (other) ? MAX (size, other) : size;
}

/* The exact value of element @index or, where @value is far from it, the nearest other right
 * result. */
static double
nearest (const Sums *sums, const Terms *terms, double value, const double *all, gint64 index)
{
  double size = size_of (sums, terms, all, index), exact = all[index], found = exact;

  if (terms->n_around == 0 || count_units (sums, value, exact, size) <= ADJ_ELEMENT_LIMIT)
    return exact;
  for (guint i = 0; i < terms->n_around; i++)
    if (fabs (value - terms->around[i][index]) < fabs (value - found))
      found = terms->around[i][index];
  return found;
}

static void
add_element (Sums *sums, const Terms *terms, double value, double exact, double size, gint64 index)
{
  double error, units;

  if (!are_finite (sums, value, exact))
    return;
  error = value - exact;
  sums->n++;
  sums->squares += error * error;
  sums->dot += error * exact;
  sums->exact_squares += exact * exact;
  if (terms->counts != NULL)
    {
      double partial = terms->inside ? find_partial (sums, terms, exact, index) : exact;

      sums->in_turn += terms->counts[index] * partial * partial;
    }
  units = count_units (sums, value, exact, size);
  if (units > sums->out->element)
    {
      sums->out->element = units;
      sums->out->element_index = index;
    }
}

static double
ratio (double part, double whole)
{
  return whole > 0 ? part / whole : part > 0 ? INFINITY : 0;
}

/* Half of the band is for errors in one direction.  The uncertainty that the other errors leave in
 * the slope counts as chance; where all elements are equal, the slope limit is the distance limit.
 */
static void
limit_slope (AdjDeviation *out, const Sums *sums, const double *exact, gint64 n, double band)
{
  double norm = sqrt (sums->exact_squares);
  double rest, spread;

  out->slope = ratio (sums->dot, sums->exact_squares);
  out->independent = (double) n;
  if (sums->exact_squares > 0 && fabs (out->slope) > band / 2)
    out->independent = count_independent (exact, n);
  rest = MAX (sums->squares - sums->dot * out->slope, 0);
  spread = 1 / sqrt (MAX (out->independent, 1));
  out->slope_limit = band / 2 + (out->rel_l2_limit - band / 2) * spread +
                     CHANCE * ratio (sqrt (rest), norm) * spread;
}

/* The L2 norm of the errors that adding one after the other causes. */
static double
reach_in_turn (const Sums *sums)
{
  return IN_TURN * sums->of_terms * sqrt (sums->in_turn);
}

/* The L2 norm of the errors that the terms explain, at least @reach. */
static double
reach_of_terms (const Sums *sums,
                const NodeRounding *rounding,
                AdjDType dtype,
                const Terms *terms,
                double reach)
{
  reach += rounding_get_term_limit (rounding, dtype, terms->coarse) *
           MAX (terms->norm / 2 - sqrt (sums->exact_squares), 0);
  reach = MAX (reach, rounding_get_sum_limit (rounding, dtype) * terms->sums);
  reach = MAX (reach, reach_in_turn (sums));
  return reach + PLACING * sums->of_terms * terms->places;
}

static AdjDeviation
measure (const double *value,
         const double *exact,
         gint64 n,
         AdjDType whole,
         const NodeRounding *rounding,
         const Terms *terms)
{
  AdjDType dtype = adj_dtype_get_real (whole);
  static const Terms none = { 0 };
  AdjDeviation out = { .measured = TRUE, .element_index = -1, .terms = 1 };
  Sums sums = { .u = rounding_get_unit (rounding, dtype),
                .underflow = rounding_get_underflow (rounding, dtype),
                .most = adj_dtype_largest (dtype),
                .pairs = is_complex (whole),
                .of_terms = rounding_get_term_unit (rounding, dtype),
                .out = &out };
  double limit = rounding_get_limit (rounding, dtype), norm, reach;

  if (terms == NULL)
    terms = &none;
  sums.of_moves = (terms->fine ? sums.of_terms / sums.u : 1) * MOVE_TO_TERM;
  sums.coherence = find_coherence (terms, exact, n);
  for (gint64 i = 0; i < n; i++)
    add_element (&sums, terms, value[i], nearest (&sums, terms, value[i], exact, i),
                 size_of (&sums, terms, exact, i), i);
  norm = sqrt (sums.exact_squares);
  reach = limit * norm;
  if (limit > 0)
    reach += sums.underflow * sqrt ((double) sums.n);
  if (terms != &none)
    {
      out.terms = ratio (terms->norm, norm);
      reach = reach_of_terms (&sums, rounding, dtype, terms, reach);
    }
  out.rel_l2 = ratio (sqrt (sums.squares), norm);
  out.rel_l2_limit = ratio (reach, norm);
  limit_slope (&out, &sums, exact, n, limit);
  out.slope_limit = MAX (out.slope_limit, sums.coherence * ratio (reach_in_turn (&sums), norm));
  out.slope_limit += ratio (rounding_get_bias (rounding, dtype) * sqrt ((double) sums.n), norm);
  out.right = out.n_class_mismatch == 0 && sqrt (sums.squares) <= reach &&
              fabs (out.slope) <= out.slope_limit && out.element <= ADJ_ELEMENT_LIMIT;
  return out;
}

/* For operators that do not round: @exact, cast to the type of @value, must be equal. */
static AdjDeviation
measure_exact (const AdjTensorData *value, AdjTensorData *exact)
{
  g_autoptr (AdjTensorData) cast =
      adj_tensor_data_cast (exact, adj_tensor_data_get_meta (value)->dtype);
  gint64 n, n_exact;
  g_autofree double *values = deviation_read (value, &n);
  g_autofree double *exacts = deviation_read (cast, &n_exact);
  NodeRounding none = { 0 };
  AdjDeviation out;

  if (n != n_exact)
    return ADJ_DEVIATION_NONE;
  out = measure (values, exacts, n, adj_tensor_data_get_meta (value)->dtype, &none, NULL);
  out.right = deviation_is_none (value, cast);
  return out;
}

AdjDeviation
deviation_measure (const AdjTensorData *value,
                   AdjTensorData *exact,
                   const NodeRounding *rounding,
                   const Terms *terms)
{
  AdjDType dtype = adj_dtype_get_real (adj_tensor_data_get_meta (value)->dtype);
  gint64 n, n_exact;
  g_autofree double *values = NULL;
  g_autofree double *exacts = NULL;

  if (rounding_get_limit (rounding, dtype) == 0)
    return measure_exact (value, exact);
  values = deviation_read (value, &n);
  exacts = deviation_read (exact, &n_exact);
  if (n != n_exact)
    return ADJ_DEVIATION_NONE;
  return measure (values, exacts, n, adj_tensor_data_get_meta (value)->dtype, rounding, terms);
}
