/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/steps-private.h"

G_BEGIN_DECLS

/* Builtins that only gradients call; ops/gradient-builtins.inc says what each one is. */
#define BUILTIN(word, help)                                                                        \
  gboolean rule_##word (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out);
#include "ops/gradient-builtins.inc"
#undef BUILTIN

G_END_DECLS
