/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-symbols.h"

G_BEGIN_DECLS

/* What operators that data decide learn and say of symbols. */

/* "zuf0", "zuf1", … for a float that data decide.  It is passed on; nothing computes with it. */
AdjSize adj_symbols_add_unbacked_float (AdjSymbols *symbols, const char *source);

/* Whether @size is such a symbol, or one of a float input (zf0). */
gboolean adj_symbols_is_float (const AdjSymbols *symbols, AdjSize size);

/* From now on @size lies within these bounds too; only of a symbol is it remembered.  %FALSE when
 * nothing does. */
gboolean adj_symbols_restrict (AdjSymbols *symbols, AdjSize size, gint64 min, gint64 max);

/* Whether its bounds say that @size is at most @max, which no guard is needed for. */
gboolean adj_symbols_is_at_most (AdjSymbols *symbols, AdjSize size, gint64 max);

/* @condition holds from now on: what it says of the bounds of one symbol is remembered.  %FALSE
 * when it cannot. */
gboolean adj_symbols_assume (AdjSymbols *symbols, AdjSize condition);

/* Whether Max and Min are decided by the signs of symbols alone, as sympy decides them: Max(1, s0)
 * is s0, and Max(1, s0 - 1) stays although s0 is at least 2. */
void adj_symbols_set_by_sign (AdjSymbols *symbols, gboolean by_sign);

G_END_DECLS
