/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

/* A mode that threads a token through operators with an effect, to be pushed below
 * functionalization. @token (nullable): for the first effect, which makes one if it is %NULL. */
AdjMode *aot_effects_mode_new (AdjTensor *token);
/* Whether an operator with an effect was called, in the forward (0) or the backward (1). */
gboolean aot_effects_mode_was_used (const AdjMode *mode, guint direction);
/* Makes later effects belong to the backward; no effect if @cx has no such mode. */
void aot_effects_begin_backward (AdjContext *cx);

/* Makes the effect tokens the first inputs and outputs. */
gboolean aot_thread_tokens (AotProgram *program, GError **error);
/* The example value of a token in a trace. */
extern const AdjValue aot_token_example;
/* After a trace: whether effects appeared in the backward without a token.  The next trace has one
 * for them. */
gboolean aot_tokens_need_retrace (AotProgram *program);

/* (transfer full): wraps a compiled backward, so that it is called without effect tokens. */
AdjFunction *aot_tokens_wrap_backward (AdjFunction *backward, guint n_tokens);

G_END_DECLS
