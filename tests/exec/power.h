/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* Measures how small a fault at one node may be to be reported as "differs" there. */

/* An operator of each class, as node "a" of a graph. */
typedef struct
{
  const char *name;
  AdjBand band;
  double reduction;
  const char *call;     /* call with x [64, 192], y [64, 192] and w [192, 64] */
  const char *terms;    /* (nullable): call on the same inputs that returns the sum of the absolute
                           values of its terms; %NULL: the result itself */
  const char *before;   /* (nullable): statements whose results both calls may read */
  guint n_results;      /* 0: the result is a single tensor, not a tuple */
  guint item;           /* index of the changed result */
  gboolean wide;        /* the operator has no 16-bit dtypes */
  double factor;        /* bound on the factor in u of f32; 0: the tolerance of the class */
  double narrow_factor; /* the same in u of 16 bits; 0: 8 */
  double units;         /* bound on an element's error in u of its terms; 0: 80 */
} PowerCase;

guint power_get_n_cases (void);
const PowerCase *power_get_case (guint index);
/* Whether the operator supports @dtype. */
gboolean power_has (const PowerCase *row, AdjDType dtype);

typedef struct
{
  const PowerCase *row;
  AdjDType dtype;
  AdjGraph *graph;
  AdjTensorData *inputs[3]; /* x, y, w */
  AdjValue *values;         /* value of every node */
  AdjTensorData *clean;     /* (unowned): the unchanged value at the node under test */
  gint64 n;                 /* number count of @clean; a complex element counts as two */
  double *terms;            /* sum of absolute terms for each number */
} Power;

/* Makes normally distributed inputs from @seed. */
void power_init (Power *power, const PowerCase *row, AdjDType dtype, guint32 seed);
void power_clear (Power *power);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Power, power_clear)

/* The side that computes wrongly. */
typedef enum
{
  POWER_CANDIDATE,
  POWER_PEER,
} PowerSide;

/* (transfer full): the node's value times @factor, with @error added to number @index, rounded
 * to its dtype. */
AdjTensorData *power_plant (const Power *power, double factor, gint64 index, double error);
/* The verdict at the node when @side has the value @planted there. */
AdjVerdict power_judge (const Power *power, PowerSide side, AdjTensorData *planted);

/* The smallest k, to an eighth, for which a factor 1 + k u, or an error of k u times the terms
 * of a medium-sized element, is reported as differing; INFINITY: none. */
double power_find_factor (const Power *power, PowerSide side);
double power_find_element (const Power *power, PowerSide side);

G_END_DECLS
