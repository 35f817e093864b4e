/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-shape.h"

G_BEGIN_DECLS

/* Strides that follow other sizes, and which elements share memory. */

/* @shape is @was with other sizes: a stride that is the product of a size and a stride there is the
 * product of those of @shape; another one is what @other (nullable) makes of it. */
void adj_shape_restride (AdjShape *shape,
                         const AdjShape *was,
                         AdjSymbols *symbols,
                         AdjSize (*other) (AdjSize stride, gpointer data),
                         gpointer data);

/* Whether two indices may name one element. */
gboolean adj_shape_may_overlap (const AdjShape *shape, AdjSymbols *symbols);

/* Whether two pieces of one storage may have an element in common.  Never %FALSE wrongly. */
gboolean adj_shapes_may_overlap (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols);

G_END_DECLS
