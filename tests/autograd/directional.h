/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/case.h"

G_BEGIN_DECLS

/* A recorded case as a float64 function of one number: its arguments move along a direction. */
typedef struct
{
  OracleCase *c;
  const AdjRule *rule;
  const char *release; /* (nullable): release that the rule belongs to */
  GArray *leaves;      /* of Leaf */
  guint next_leaf;
  guint32 seed;
  AdjValue written; /* (owned): values that were written and are not returned */
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
  VERDICT_ROUGH, /* the function has no derivative at this point */
} Verdict;

/* Initializes @f for @c, whose gradient @rule computes in @release (nullable). */
void function_init (Function *f, OracleCase *c, const AdjRule *rule, const char *release);
void function_clear (Function *f);

/* Evaluates at @step along the first direction and @step2 along the second, with the second
 * derivative if @curve is set.  %FALSE with the error kept in @f, or without an error when no
 * result requires a gradient. */
gboolean function_evaluate (Function *f, double step, double step2, gboolean curve, Point *out);

/* Compares the slope of @point, or its curvature, with finite differences.  @error: the
 * deviation relative to the largest summand. */
Verdict function_check (Function *f, const Point *point, gboolean curve, double *error);

G_END_DECLS
