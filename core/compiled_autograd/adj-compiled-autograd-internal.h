/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/adj-compiled-autograd.h"

G_BEGIN_DECLS

/* Orders of a captured graph by name, as options of steps give them. */

/* "eager", "2024", "2.6", "2.15" or "nodes"; %NULL: eager.  @order, @level (out): the last two are
 * of nodes, "nodes" in the engine's order. */
gboolean adj_capture_order_find (const char *name,
                                 AdjCaptureOrder *order,
                                 AdjCaptureLevel *level,
                                 GError **error);

G_END_DECLS
