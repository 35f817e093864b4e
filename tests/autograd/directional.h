/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/case.h"

G_BEGIN_DECLS

/* A recorded case as a function of one number, in float64: its arguments move along a direction. */
typedef struct
{
  OracleCase *c;
  const AdjRule *rule;
  const char *release; /* (nullable): whose rule it is */
  GArray *leaves;      /* of Leaf */
  guint next_leaf;
  guint32 seed;
  AdjValue written; /* (owned): what was written and is not returned */
  GError *error;
} Function;

typedef struct
{
  double value, slope, slope_scale, curve, curve_scale;
  gboolean has_curve;
} Point;

typedef enum
{
  VERDICT_RIGHT,
  VERDICT_WRONG,
  VERDICT_ROUGH, /* no derivative there */
} Verdict;

/* Of @c, whose gradient @rule computes, in @release (nullable). */
void function_init (Function *f, OracleCase *c, const AdjRule *rule, const char *release);
void function_clear (Function *f);

/* At @step along the first direction and @step2 along the second, with the second derivative where
 * @curve asks for it.  %FALSE with the error kept in @f, or none when no result requires a
 * gradient. */
gboolean function_evaluate (Function *f, double step, double step2, gboolean curve, Point *out);

/* Compares the slope of @point, or its curve, with differences; @error: how far it is off, beside
 * the largest number that was added up. */
Verdict function_check (Function *f, const Point *point, gboolean curve, double *error);

G_END_DECLS
