/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Graphs modulo N1 to N4 (aot/SPEC.md §10): names do not count, identities are left out, some
 * operators stand for one another. */

/* How many nodes of @a or @b compute what no node of the other computes; the first of each side go
 * to the test's log. */
guint modulo_count_differences (const AdjGraph *a, const AdjGraph *b);

G_END_DECLS
