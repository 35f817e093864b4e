/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/verdict-private.h"

G_BEGIN_DECLS

/* Whether the value of @side, whose elements differ from the expected, has indices along a
 * dimension (ADJ_OP_INDICES) at which its input has equal numbers: any of the tied indices is
 * right, but each only once. */
gboolean ties_name_equals (const Side *side);

G_END_DECLS
