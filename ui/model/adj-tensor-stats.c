/* SPDX-License-Identifier: MIT */
/* Statistics of a tensor's elements: range, mean, counts and bins. */

#include "model/adj-tensor-stats.h"

#include <math.h>

#include "report/adj-properties.h"

#define MAX_SAMPLED 262144

static gint64
step_of (const AdjTensorData *data)
{
  return adj_tensor_data_get_numel (data) / MAX_SAMPLED + 1;
}

static void
fill_bins (const AdjTensorData *data, double low, double high, AdjTensorStats *stats)
{
  double width = (high - low) / ADJ_STATS_BINS;

  stats->low = low;
  stats->high = high;
  for (gint64 i = 0; i < stats->n; i += step_of (data))
    {
      double value = adj_tensor_data_get_double (data, i);
      guint bin;

      if (!isfinite (value))
        continue;
      bin = width > 0 ? (guint) ((value - low) / width) : ADJ_STATS_BINS / 2;
      bin = MIN (bin, ADJ_STATS_BINS - 1);
      stats->bins[bin]++;
      stats->largest_bin = MAX (stats->largest_bin, stats->bins[bin]);
    }
}

/* Computes all but the bins. */
static void
measure (const AdjTensorData *data, AdjTensorStats *stats)
{
  gint64 n = adj_tensor_data_get_numel (data), finite = 0;
  double sum = 0, squares = 0;

  *stats = (AdjTensorStats){ .n = n, .min = INFINITY, .max = -INFINITY, .low = NAN, .high = NAN };
  for (gint64 i = 0; i < n; i += step_of (data))
    {
      double value = adj_tensor_data_get_double (data, i);

      stats->n_sampled++;
      if (isnan (value))
        stats->n_nan++;
      else if (isinf (value))
        stats->n_inf++;
      else
        {
          double before = value - (finite > 0 ? sum / finite : 0);

          finite++;
          sum += value;
          squares += before * (value - sum / finite);
          stats->min = MIN (stats->min, value);
          stats->max = MAX (stats->max, value);
        }
    }
  if (finite == 0)
    {
      stats->min = stats->max = stats->mean = stats->deviation = NAN;
      return;
    }
  stats->mean = sum / finite;
  stats->deviation = finite > 1 ? sqrt (MAX (squares / (finite - 1), 0)) : 0;
}

void
adj_tensor_stats_compute (const AdjTensorData *data, AdjTensorStats *stats)
{
  measure (data, stats);
  fill_bins (data, stats->min, stats->max, stats);
}

void
adj_tensor_stats_compute_both (const AdjTensorData *a,
                               const AdjTensorData *b,
                               AdjTensorStats *stats_a,
                               AdjTensorStats *stats_b)
{
  double low, high;

  measure (a, stats_a);
  measure (b, stats_b);
  /* fmin and fmax return the other number if one is NaN. */
  low = fmin (stats_a->min, stats_b->min);
  high = fmax (stats_a->max, stats_b->max);
  fill_bins (a, low, high, stats_a);
  fill_bins (b, low, high, stats_b);
}

char *
adj_tensor_stats_first (const AdjTensorData *data, guint n)
{
  gint64 numel = adj_tensor_data_get_numel (data);
  GString *text = g_string_new (NULL);

  for (gint64 i = 0; i < MIN ((gint64) n, numel); i++)
    {
      g_autofree char *number = adj_properties_number (adj_tensor_data_get_double (data, i));

      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", number);
    }
  if (numel > (gint64) n)
    g_string_append (text, ", …");
  return g_string_free (text, FALSE);
}
