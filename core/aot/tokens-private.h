/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

/* A mode that passes a token through operators with an effect, to be pushed below
 * functionalization. @token (nullable): for the first effect; without it the first effect makes
 * one. */
AdjMode *aot_effects_mode_new (AdjTensor *token);
/* Whether an operator with an effect was called, in the forward (0) or the backward (1). */
gboolean aot_effects_mode_was_used (const AdjMode *mode, guint direction);
/* Effects are of the backward from now on; nothing when @cx has no such mode. */
void aot_effects_begin_backward (AdjContext *cx);

/* Effect tokens are the first inputs and the first outputs. */
gboolean aot_thread_tokens (AotProgram *program, GError **error);
/* What the trace is given for a token. */
extern const AdjValue aot_token_example;
/* After a trace: whether effects turned up in the backward that had no token.  They have one in
 * the next trace. */
gboolean aot_tokens_need_retrace (AotProgram *program);

/* (transfer full): a compiled backward that is called without the tokens of its effects. */
AdjFunction *aot_tokens_wrap_backward (AdjFunction *backward, guint n_tokens);

G_END_DECLS
