/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* For each node of the graph of @call, a part of a joint graph: whether what the joint graph
 * recorded of it is not what it gives in @call, because it depends on an input that was written in
 * between (a norm that backward recomputes gets the running statistics that forward has moved), or
 * on numbers that backward draws once more.
 * @stale: (out) (transfer full) (nullable): it is none, or the joint graph was not recorded.
 * %FALSE: values could not be read. */
gboolean session_find_stale_values (const AdjBundle *bundle,
                                    const AdjRecordedCall *call,
                                    guint8 **stale,
                                    GError **error);

G_END_DECLS
