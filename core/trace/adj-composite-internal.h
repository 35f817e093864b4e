/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/adj-composite.h"

G_BEGIN_DECLS

/* Composite tensors, for stages that pass them on. */

/* (transfer none): a composite tensor like @tensor, with each innermost tensor replaced by the
 * result of @map (borrowed; %NULL: the context is in error).  Borrowed from the scope. */
typedef AdjTensor *(*AdjCompositeMapFunc) (AdjContext *cx, AdjTensor *innermost, gpointer data);
AdjTensor *
adj_composite_map (AdjContext *cx, AdjTensor *tensor, AdjCompositeMapFunc map, gpointer data);

/* (transfer none): a tensor without history on the memory of @tensor, composite or not, that shares
 * version and outer storage with @like.  Borrowed from the scope. */
AdjTensor *adj_composite_alias (AdjContext *cx, AdjTensor *tensor, AdjTensor *like);

/* Whether the mode for composite tensors is @mode or below it. */
gboolean adj_composite_is_handled (const AdjMode *mode);

G_END_DECLS
