/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/spatial-private.h"

G_BEGIN_DECLS

/* Shared by batch norm and group norm. */

/* The normalised tensor, and the dims of statistics and weights. */
typedef struct
{
  AdjKView x;
  guint32 statistics, weights;
  AdjKView w, b; /* with the dims of weights; constants 1 and 0 if absent */
} OpNorm;

/* The dtype in which sums are computed. */
AdjKType op_norm_type (const OpNorm *norm);
/* Elements per statistic. */
gint64 op_norm_group_size (const OpNorm *norm);

/* Views of statistics have only the dims of the statistics. */

/* @mean and @var: dense, of op_norm_type(). */
void
op_norm_measure (AdjKQueue *queue, const OpNorm *norm, const AdjKView *mean, const AdjKView *var);
/* @rstd = 1 / √(@var + eps); may be the same. */
void
op_norm_invert_deviation (AdjKQueue *queue, const AdjKView *rstd, const AdjKView *var, double eps);
void op_norm_write (AdjKQueue *queue,
                    const OpNorm *norm,
                    const AdjKView *mean,
                    const AdjKView *rstd,
                    const AdjKView *y);
/* @out = (1 - momentum) · running + momentum · factor · statistic; may be @running. */
void op_norm_average (AdjKQueue *queue,
                      const AdjKView *out,
                      const AdjKView *running,
                      const AdjKView *statistic,
                      double momentum,
                      double factor);

typedef struct
{
  AdjKView g, mean, rstd;
  const AdjKView *gx, *gw, *gb; /* (nullable) each */
  gboolean constant;            /* the statistics are constants, independent of x */
} OpNormGradients;

void op_norm_differentiate (AdjKQueue *queue, const OpNorm *norm, const OpNormGradients *to);

/* Checks that a tensor or None has one entry per channel; its dtype into @dtype if present. */
gboolean
op_norm_check_channels (const AdjOpCall *call, guint arg, AdjSize channels, AdjDType *dtype);
gboolean op_norm_check_input (const AdjOpCall *call, const AdjTensorMeta *input);
/* Adds the gradients of argument @input, weight and bias that @mask requests. */
gboolean op_norm_add_gradients (AdjOpCall *call, guint input, guint mask, AdjDType dtype);

double op_norm_flops (const AdjOpCall *call);
double op_norm_backward_flops (const AdjOpCall *call);
double op_norm_reduction (const AdjOpCall *call);
double op_norm_backward_reduction (const AdjOpCall *call);

G_END_DECLS
