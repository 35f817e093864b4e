/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/**
 * session_find_other_draws:
 * @pairs: (array): as of session_pair_values()
 *
 * Which values of @a depend on random numbers that @b draws by other operators, and are laid beside
 * values that depend on such numbers, too: the n-th call that draws does it as the n-th of the
 * other graph, or from there on all numbers are others.  A graph that draws no more has other
 * values for another reason.
 *
 * Returns: (transfer full) (nullable) (array): for each node of @a; %NULL: none
 */
guint8 *session_find_other_draws (const AdjGraph *a, const AdjGraph *b, const AdjNodeId *pairs);

G_END_DECLS
