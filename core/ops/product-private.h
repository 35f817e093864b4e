/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* Shared by matrix products. */

/* Adds the product of arguments @first and @first + 1, of rank 2 or 3, in their dtype; fails the
 * call if their sizes do not match. */
gboolean op_product_meta (AdjOpCall *call, guint first, guint rank);
/* The same for arguments 1 and 2, to which argument 0 must broadcast. */
gboolean op_add_product_meta (AdjOpCall *call, guint rank);

/* Number of products summed for each element of a result whose first factor is argument @first; and
 * FLOPs in total. */
double op_product_reduction (const AdjOpCall *call, guint first);
double op_product_flops (const AdjOpCall *call, guint first);

G_END_DECLS
