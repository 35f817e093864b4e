/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/joint-private.h"

G_BEGIN_DECLS

/* Floating-point operations of matrix products, convolutions and attention; 0 for everything else.
 * @compat: only those that PyTorch 2.6 counts. */
double runtime_flops (const Joint *joint, guint node, gboolean compat);

/* Estimated cost of computing @node once more, in the unit of the options' estimate. */
double runtime_of (const Joint *joint, guint node, const AdjPartitionOptions *options);

G_END_DECLS
