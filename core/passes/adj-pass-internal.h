/* SPDX-License-Identifier: MIT */
#pragma once

#include "passes/adj-pass.h"

G_BEGIN_DECLS

/* For passes: @text is among the warnings of the result. */
void adj_pass_warn (AdjPassContext *context, const char *text);

G_END_DECLS
