/* SPDX-License-Identifier: MIT */
/* Ticks of an axis at round numbers. */

#include "widgets/adj-axis.h"

#include <math.h>

#define MARKS 5 /* approximate number of intervals */

static const struct
{
  double base;
  const char *units[6];
} scales[] = {
  [ADJ_AXIS_BYTES] = { 1024, { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB" } },
  [ADJ_AXIS_FLOPS] = { 1000, { "FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP" } },
  [ADJ_AXIS_STEPS] = { HUGE_VAL, { "" } },
};

/* 1, 2 or 5 times a power of ten. */
static double
round_step (double step)
{
  double power = pow (10, floor (log10 (step))), rest = step / power;

  return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

void
adj_axis_init (AdjAxis *axis, double least, double most, AdjAxisUnit unit)
{
  guint prefix = 0;

  *axis = (AdjAxis){ .scale = 1 };
  while (most / axis->scale >= scales[unit].base && prefix + 1 < G_N_ELEMENTS (scales[unit].units))
    {
      axis->scale *= scales[unit].base;
      prefix++;
    }
  axis->unit = scales[unit].units[prefix];
  least /= axis->scale;
  most /= axis->scale;
  if (!(most > least))
    {
      least = MAX (floor (least) - 1, 0);
      most = least + 2;
    }
  axis->step = round_step ((most - least) / MARKS) * axis->scale;
  if (unit == ADJ_AXIS_STEPS)
    axis->step = MAX (axis->step, 1);
  axis->from = floor (least * axis->scale / axis->step) * axis->step;
  axis->to = ceil (most * axis->scale / axis->step) * axis->step;
}

double
adj_axis_get_share (const AdjAxis *axis, double value)
{
  return (value - axis->from) / (axis->to - axis->from);
}

guint
adj_axis_get_n (const AdjAxis *axis)
{
  return (guint) lround ((axis->to - axis->from) / axis->step) + 1;
}

double
adj_axis_get (const AdjAxis *axis, guint index)
{
  return axis->from + index * axis->step;
}

char *
adj_axis_print (const AdjAxis *axis, guint index)
{
  double digits = -floor (log10 (axis->step / axis->scale) + 1e-9);

  return g_strdup_printf ("%.*f", (int) CLAMP (digits, 0, 6),
                          adj_axis_get (axis, index) / axis->scale);
}
