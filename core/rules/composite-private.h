/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/rule-arguments-private.h"

G_BEGIN_DECLS

/* Builtins of composite operators; ops/composite-builtins.inc says what each one is. */
#define BUILTIN(word, help)                                                                        \
  gboolean rule_##word (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out);
#include "ops/composite-builtins.inc"
#undef BUILTIN

/* -- what they read of their arguments (composite.c); the context has the error -- */

AdjSymbols *rule_symbols (const AdjRuleCall *call);
/* That of an empty tensor for what is none. */
const AdjShape *rule_shape_given (AdjRuleCall *call, const AdjValue *value);
/* Entries of a LIST, or a lone number, into @out; returns how many. */
guint rule_sizes_given (AdjRuleCall *call, const AdjValue *value, AdjSize *out);
gint64 rule_int_of (AdjRuleCall *call, const AdjValue *value);
/* Counted from the front. */
gint64 rule_wrapped_dim (AdjRuleCall *call, gint64 dim, gint64 rank);
gboolean rule_give_sizes (AdjRuleCall *call, const AdjSize *sizes, guint n, AdjValue *out);

G_END_DECLS
