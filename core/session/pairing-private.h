/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/**
 * session_pair_values:
 *
 * Finds the node of @b that computes the value of each node of @a when both get the same inputs:
 * the node with the same call on the same values, else the node of the same name whose target
 * differs but whose inputs are the same values.  Several nodes of @a may have one partner
 * (recomputation); where the graphs have diverged there is none, since equal names mean nothing
 * there.
 *
 * Returns: (transfer full): ADJ_NO_NODE for those without a partner
 */
AdjNodeId *session_pair_values (const AdjGraph *a, const AdjGraph *b);

/* Whether the placeholders of both have the same names, so that inputs are matched by name and not
 * by position. */
gboolean session_inputs_go_by_name (const AdjGraph *a, const AdjGraph *b);

G_END_DECLS
