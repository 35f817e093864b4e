/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Compares graphs modulo N1 to N4 (aot/SPEC.md §10): names do not count, identities are left
 * out, and some operators are equivalent. */

/* Counts the nodes of @a and @b whose computation does not occur in the other graph; logs the
 * first of each side. */
guint modulo_count_differences (const AdjGraph *a, const AdjGraph *b);

G_END_DECLS
