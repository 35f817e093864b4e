/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/adj-compiled-autograd.h"

G_BEGIN_DECLS

/* Orders of a captured graph by name, as options of steps give them. */

/* "eager", "2024" or "2.6"; %NULL: eager.  @order (out). */
gboolean adj_capture_order_find (const char *name, AdjCaptureOrder *order, GError **error);

G_END_DECLS
