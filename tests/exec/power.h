/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* How small a fault may be at one node and still be called "differs" there. */

/* An operator of each class, in a graph whose node "a" it is. */
typedef struct
{
  const char *name;
  AdjBand band;
  double reduction;
  const char *call;   /* of x [64, 192], y [64, 192] and w [192, 64] */
  const char *terms;  /* (nullable): call of the same, which gives the sum of the absolute values of
                         its terms; else those are the result */
  const char *before; /* (nullable): statements that both calls may read */
  guint n_results;    /* 0: it is one tensor, and no tuple */
  guint item;         /* the result that is planted into */
  gboolean wide;      /* there is none of it in 16 bit */
  gboolean measured;  /* only: the test promises nothing */
  double factor;      /* u of f32 that the test promises; 0: the band of the class */
  double units;       /* u of an element's terms that it promises; 0: 80 */
} PowerCase;

guint power_get_n_cases (void);
const PowerCase *power_get_case (guint index);
/* Whether there is such an operator of @dtype. */
gboolean power_has (const PowerCase *row, AdjDType dtype);

typedef struct
{
  const PowerCase *row;
  AdjDType dtype;
  AdjGraph *graph;
  AdjTensorData *inputs[3]; /* x, y, w */
  AdjValue *values;         /* what every node gives */
  AdjTensorData *clean;     /* (unowned): what is planted into */
  gint64 n;                 /* numbers of that, of complex elements both parts */
  double *terms;            /* of each number */
} Power;

/* Normal inputs from @seed. */
void power_init (Power *power, const PowerCase *row, AdjDType dtype, guint32 seed);
void power_clear (Power *power);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Power, power_clear)

/* Who computes wrongly. */
typedef enum
{
  POWER_CANDIDATE,
  POWER_PEER,
} PowerSide;

/* (transfer full): what the node gives, times @factor, and number @index moved by @error besides;
 * rounded to its type. */
AdjTensorData *power_plant (const Power *power, double factor, gint64 index, double error);
/* The verdict at the node when @side has @planted there. */
AdjVerdict power_judge (const Power *power, PowerSide side, AdjTensorData *planted);

/* The smallest factor 1 + k u, and error of k u of the terms of an element, that differ: k, to an
 * eighth; INFINITY: none.  The element is of middling size. */
double power_find_factor (const Power *power, PowerSide side);
double power_find_element (const Power *power, PowerSide side);

G_END_DECLS
