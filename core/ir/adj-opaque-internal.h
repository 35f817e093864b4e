/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-opaque.h"

G_BEGIN_DECLS

/* Whether both have the same class and content, as two objects read from one file do. */
gboolean adj_opaque_is_like (const AdjOpaque *a, const AdjOpaque *b);
/* Whether one can replace the other: they are one object, or values with equal content. */
gboolean adj_opaque_is_same (const AdjOpaque *a, const AdjOpaque *b);

G_END_DECLS
