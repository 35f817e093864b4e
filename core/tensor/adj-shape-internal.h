/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-shape.h"

G_BEGIN_DECLS

/* Strides derived for other sizes, and overlap of elements in memory. */

/* @shape is @was with other sizes: a stride of @was that equals size × stride of a dimension
 * becomes that product in @shape; any other stride is mapped by @other (nullable). */
void adj_shape_restride (AdjShape *shape,
                         const AdjShape *was,
                         AdjSymbols *symbols,
                         AdjSize (*other) (AdjSize stride, gpointer data),
                         gpointer data);

/* Whether it has no elements. */
gboolean adj_shape_is_empty (const AdjShape *shape, AdjSymbols *symbols);

/* Whether two different indices may refer to the same element. */
gboolean adj_shape_may_overlap (const AdjShape *shape, AdjSymbols *symbols);

/* Whether two tensors on one storage may have an element in common.  %FALSE is certain; where it
 * depends on the hints of symbolic sizes, it is assumed as a guard of @symbols. */
gboolean adj_shapes_may_overlap (const AdjShape *a, const AdjShape *b, AdjSymbols *symbols);

G_END_DECLS
