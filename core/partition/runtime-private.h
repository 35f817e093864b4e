/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/joint-private.h"

G_BEGIN_DECLS

/* Floating-point operations of matrix products, convolutions and attention, which are what costs;
 * 0 for everything else.  @compat: only what PyTorch 2.6 counts. */
double runtime_flops (const Joint *joint, guint node, gboolean compat);

/* What computing @node once more is thought to cost, in the unit of the options' estimate. */
double runtime_of (const Joint *joint, guint node, const AdjPartitionOptions *options);

G_END_DECLS
