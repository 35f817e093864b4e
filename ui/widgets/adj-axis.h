/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  ADJ_AXIS_BYTES, /* KiB, MiB … */
  ADJ_AXIS_FLOPS, /* kFLOP, MFLOP … */
  ADJ_AXIS_STEPS, /* whole numbers */
} AdjAxisUnit;

/* An axis with round numbers in one unit, a little wider than its data. */
typedef struct
{
  double from, to;  /* the ends */
  double step;      /* distance of marks, which begin at @from */
  double scale;     /* the value of one unit */
  const char *unit; /* "KiB" */
} AdjAxis;

void adj_axis_init (AdjAxis *axis, double least, double most, AdjAxisUnit unit);

/* The position of @value: 0 at the beginning, 1 at the end. */
double adj_axis_get_share (const AdjAxis *axis, double value);
/* The marks. */
guint adj_axis_get_n (const AdjAxis *axis);
double adj_axis_get (const AdjAxis *axis, guint index);
char *adj_axis_print (const AdjAxis *axis, guint index); /* (transfer full): without the unit */

G_END_DECLS
