/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-symbols.h"

G_BEGIN_DECLS

/* Symbols for data-dependent values, and bounds learned for them. */

/* "zuf0", "zuf1", … for a data-dependent float.  It is passed on; nothing computes with it. */
AdjSize adj_symbols_add_unbacked_float (AdjSymbols *symbols, const char *source);

/* Whether @size is such a symbol, or one of a float input (zf0). */
gboolean adj_symbols_is_float (const AdjSymbols *symbols, AdjSize size);

/* Whether a symbol stands for a value that data decide or for a float input. */
gboolean adj_symbols_have_data (const AdjSymbols *symbols);

/* Intersects the range of @size with [@min, @max]; kept only if @size is a symbol.  %FALSE if the
 * intersection is empty. */
gboolean adj_symbols_restrict (AdjSymbols *symbols, AdjSize size, gint64 min, gint64 max);

/* Whether the range of @size shows that it is at most @max, so that no guard is needed. */
gboolean adj_symbols_is_at_most (AdjSymbols *symbols, AdjSize size, gint64 max);

/* Records that @condition holds, as far as it bounds a single symbol.  %FALSE if it contradicts the
 * ranges. */
gboolean adj_symbols_assume (AdjSymbols *symbols, AdjSize condition);

/* Whether Max and Min are decided by the signs of symbols only, as in sympy: Max(1, s0) is s0, but
 * Max(1, s0 - 1) stays, although s0 is at least 2. */
void adj_symbols_set_by_sign (AdjSymbols *symbols, gboolean by_sign);

G_END_DECLS
