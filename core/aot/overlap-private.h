/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-shape.h"

G_BEGIN_DECLS

/* Whether two pieces of one storage may have an element in common.  Never %FALSE wrongly. */
gboolean aot_may_overlap (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols);

G_END_DECLS
