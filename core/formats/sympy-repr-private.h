/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* (transfer full) (nullable): an expression as adj_size_parse() reads it, "s0 + 1", of what
 * sympy's srepr() gave, "Add(Symbol('s0', integer=True), Integer(1))", or of that which is written
 * so already; %NULL: it is damaged. */
char *sympy_repr_to_text (const char *repr);

G_END_DECLS
