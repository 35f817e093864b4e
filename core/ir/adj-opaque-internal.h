/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-opaque.h"

G_BEGIN_DECLS

/* Whether both are of one class and have the same content: two that were read of one file. */
gboolean adj_opaque_is_like (const AdjOpaque *a, const AdjOpaque *b);
/* Whether one can stand for the other: they are one object, or values with the same content. */
gboolean adj_opaque_is_same (const AdjOpaque *a, const AdjOpaque *b);

G_END_DECLS
