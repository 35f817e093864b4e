/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/verdict-private.h"

G_BEGIN_DECLS

/* Whether the value of @side, which has other elements than it should, holds places along a
 * dimension (ADJ_OP_INDICES) at which its input has the same numbers: among equals any may be
 * named, but each only once. */
gboolean ties_name_equals (const Side *side);

G_END_DECLS
