/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/**
 * session_pair_values:
 *
 * Which node of @b computes the value of each node of @a, when both get the same inputs: the one
 * that calls the same on the same values, else the one of the same name that differs in what it
 * calls but not in the values it gets.  Several nodes of @a may have one partner (recomputation);
 * where graphs have parted there is none, for a likeness of names says nothing then.
 *
 * Returns: (transfer full): ADJ_NO_NODE for those without a partner
 */
AdjNodeId *session_pair_values (const AdjGraph *a, const AdjGraph *b);

/* Whether the placeholders of both have the same names, so that inputs go by name and not by
 * place. */
gboolean session_inputs_go_by_name (const AdjGraph *a, const AdjGraph *b);

G_END_DECLS
