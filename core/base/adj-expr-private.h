/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"

G_BEGIN_DECLS

/* Python's levels of binding, loosest first. */
typedef enum
{
  ADJ_LEVEL_LET,
  ADJ_LEVEL_CHOICE,
  ADJ_LEVEL_OR,
  ADJ_LEVEL_AND,
  ADJ_LEVEL_NOT,
  ADJ_LEVEL_COMPARISON, /* does not chain: "a < b < c" is refused */
  ADJ_LEVEL_BIT_OR,
  ADJ_LEVEL_BIT_XOR,
  ADJ_LEVEL_BIT_AND,
  ADJ_LEVEL_SHIFT,
  ADJ_LEVEL_SUM,
  ADJ_LEVEL_PRODUCT,
  ADJ_LEVEL_UNARY,
  ADJ_LEVEL_POWER, /* binds to the right; its right operand may be a unary */
  ADJ_LEVEL_ATOM,
} AdjExprLevel;

/* ADJ_LEVEL_ATOM when @text is no binary operator. */
AdjExprLevel adj_expr_binary_level (const char *text, gsize length);

G_END_DECLS
