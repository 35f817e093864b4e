/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-pass.h"

G_BEGIN_DECLS

/* The passes of passes.inc, from all layers. */
#define PASS(name, file) extern const AdjPass adj_pass_##name;
#include "passes/passes.inc"
#undef PASS

/* For passes: adds @text to the warnings of the result. */
void adj_pass_warn (AdjPassContext *context, const char *text);

/* Records a step with a name of its own; @ns: its time in nanoseconds. */
void adj_pass_step (AdjPassContext *context, const char *name, const char *note, gint64 ns);
/* @role: (static): of the resulting graph, for example "inference". */
void adj_pass_context_set_role (AdjPassContext *context, const char *role);

G_END_DECLS
