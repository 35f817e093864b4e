/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/**
 * session_find_other_draws:
 * @pairs: (array): as of session_pair_values()
 *
 * Finds the values of @a that depend on random numbers which @b draws by other operators, and whose
 * counterpart in @b depends on such numbers, too.  The n-th drawing calls of both graphs are
 * compared; from the first that differ on, all numbers differ.  Where one of the graphs ends its
 * draws first, none is found: its values differ for another reason.
 *
 * Returns: (transfer full) (nullable) (array): for each node of @a; %NULL: none
 */
guint8 *session_find_other_draws (const AdjGraph *a, const AdjGraph *b, const AdjNodeId *pairs);

G_END_DECLS
