/* SPDX-License-Identifier: MIT */
#include "model/adj-tensor-stats.h"

#include <math.h>

#include "model/adj-facts.h"

#define MAX_SAMPLED 262144

static void
fill_bins (const AdjTensorData *data, gint64 step, AdjTensorStats *stats)
{
  double width = (stats->max - stats->min) / ADJ_STATS_BINS;

  for (gint64 i = 0; i < stats->n; i += step)
    {
      double value = adj_tensor_data_get_double (data, i);
      guint bin;

      if (!isfinite (value))
        continue;
      bin = width > 0 ? (guint) ((value - stats->min) / width) : ADJ_STATS_BINS / 2;
      bin = MIN (bin, ADJ_STATS_BINS - 1);
      stats->bins[bin]++;
      stats->largest_bin = MAX (stats->largest_bin, stats->bins[bin]);
    }
}

void
adj_tensor_stats_compute (const AdjTensorData *data, AdjTensorStats *stats)
{
  gint64 n = adj_tensor_data_get_numel (data), step = n / MAX_SAMPLED + 1, finite = 0;
  double sum = 0, squares = 0;

  *stats = (AdjTensorStats){ .n = n, .min = INFINITY, .max = -INFINITY };
  for (gint64 i = 0; i < n; i += step)
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
  fill_bins (data, step, stats);
}

char *
adj_tensor_stats_first (const AdjTensorData *data, guint n)
{
  gint64 numel = adj_tensor_data_get_numel (data);
  GString *text = g_string_new (NULL);

  for (gint64 i = 0; i < MIN ((gint64) n, numel); i++)
    {
      g_autofree char *number = adj_facts_number (adj_tensor_data_get_double (data, i));

      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", number);
    }
  if (numel > (gint64) n)
    g_string_append (text, ", …");
  return g_string_free (text, FALSE);
}
