/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* Gives every result of an inferred call its tensor: the written argument itself, a view, or new
 * memory (@fake: without bytes). */
gboolean adj_op_call_allocate (AdjOpCall *call, gboolean fake);

/* After a call ran: bumps the version of the arguments that its schema marks as written. */
void adj_op_call_bump_versions (AdjOpCall *call);

G_END_DECLS
