/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

/* A mode that computes draws from a seed and an offset, to be pushed below functionalization. Seeds
 * and offsets are int64 scalars and are referenced; those of the backward may be %NULL. */
AdjMode *aot_rng_mode_new (AdjTensor *const seeds[2], AdjTensor *const offsets[2]);
/* Makes later draws belong to the backward; no effect if @cx has no such mode. */
void aot_rng_begin_backward (AdjContext *cx);
/* The offset after the draws of the forward (0) or the backward (1); borrowed from the scope. */
AdjTensor *aot_rng_get_offset (AdjContext *cx, AdjMode *mode, guint direction);

/* (transfer full): wraps a compiled backward, so that it is called without seed and offset. */
AdjFunction *aot_rng_wrap_backward (AdjFunction *backward);

/* Makes seed and offset inputs of the function, and its draws functions of them. */
gboolean aot_functionalize_rng (AotProgram *program, GError **error);

G_END_DECLS
