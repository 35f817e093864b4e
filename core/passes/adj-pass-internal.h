/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-pass.h"

G_BEGIN_DECLS

/* The passes of passes.inc, of whatever layer. */
#define PASS(name, file) extern const AdjPass adj_pass_##name;
#include "passes/passes.inc"
#undef PASS

/* For passes: @text is among the warnings of the result. */
void adj_pass_warn (AdjPassContext *context, const char *text);

G_END_DECLS
