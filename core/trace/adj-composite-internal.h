/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/adj-composite.h"

G_BEGIN_DECLS

/* Composite tensors for the stages that pass them on. */

/* (transfer none): a composite tensor like @tensor, whose innermost tensors are what @map makes of
 * those of it (borrowed; %NULL: the context is in error).  Borrowed from the scope. */
typedef AdjTensor *(*AdjCompositeMapFunc) (AdjContext *cx, AdjTensor *innermost, gpointer data);
AdjTensor *
adj_composite_map (AdjContext *cx, AdjTensor *tensor, AdjCompositeMapFunc map, gpointer data);

/* (transfer none): a tensor without history that shows what @tensor shows, composite or not, and is
 * written together with @like: with outer tensors that share storage.  Borrowed from the scope. */
AdjTensor *adj_composite_alias (AdjContext *cx, AdjTensor *tensor, AdjTensor *like);

/* Whether the mode that handles calls on composite tensors is @mode or below it. */
gboolean adj_composite_is_handled (const AdjMode *mode);

G_END_DECLS
