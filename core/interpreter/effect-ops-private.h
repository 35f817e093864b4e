/* SPDX-License-Identifier: MIT */
#pragma once

#include "interpreter/adj-effect-ops.h"

G_BEGIN_DECLS

/* One file for each operator. */
extern const AdjEffectOp adj_effect_leaf_function;
extern const AdjEffectOp adj_effect_linear_dynamic;
extern const AdjEffectOp adj_effect_print;

/* -- format.c -- */

/* (transfer full) (nullable): the result of Python's `format.format (*args, **kwargs)`; %NULL with
 * ADJ_ERROR_UNSUPPORTED or ADJ_ERROR_SHAPE. */
char *effect_format (
    const char *format, const AdjValue *args, guint n_args, const AdjValue *kwargs, GError **error);

/* Whether @value was made by adj_tree_spec_new(). */
gboolean adj_is_tree_spec (const AdjValue *value);

G_END_DECLS
