/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/rule-arguments-private.h"

G_BEGIN_DECLS

/* Builtins of composite operators; documented in ops/composite-builtins.inc. */
#define BUILTIN(word, help)                                                                        \
  gboolean rule_##word (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out);
#include "ops/composite-builtins.inc"
#undef BUILTIN

G_END_DECLS
