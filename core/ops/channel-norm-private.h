/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/spatial-private.h"

G_BEGIN_DECLS

/* What batch norm and group norm have in common. */

/* What is normalised, and which of its dims the statistics and the weights have. */
typedef struct
{
  AdjKView x;
  guint32 statistics, weights;
  AdjKView w, b; /* with the dims of weights; without data: 1 and 0 */
} OpNorm;

/* What sums are made in. */
AdjKType op_norm_type (const OpNorm *norm);
/* Elements per statistic. */
gint64 op_norm_group_size (const OpNorm *norm);

/* Views of statistics have the dims of the statistics. */

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
  gboolean constant;            /* the statistics do not depend on x */
} OpNormGradients;

void op_norm_differentiate (AdjKQueue *queue, const OpNorm *norm, const OpNormGradients *to);

/* A tensor or None must have one entry per channel; its dtype into @dtype when it is there. */
gboolean
op_norm_check_channels (const AdjOpCall *call, guint arg, AdjSize channels, AdjDType *dtype);
gboolean op_norm_check_input (const AdjOpCall *call, const AdjTensorMeta *input);
/* Gradients of the input, argument @input, and of weight and bias, those that @mask wants. */
gboolean op_norm_add_gradients (AdjOpCall *call, guint input, guint mask, AdjDType dtype);

double op_norm_flops (const AdjOpCall *call);
double op_norm_backward_flops (const AdjOpCall *call);
double op_norm_reduction (const AdjOpCall *call);
double op_norm_backward_reduction (const AdjOpCall *call);

G_END_DECLS
