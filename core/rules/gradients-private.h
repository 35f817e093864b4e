/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/steps-private.h"

G_BEGIN_DECLS

/* Builtins of gradients only; documented in ops/gradient-builtins.inc. */
#define BUILTIN(word, help)                                                                        \
  gboolean rule_##word (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out);
#include "ops/gradient-builtins.inc"
#undef BUILTIN

G_END_DECLS
