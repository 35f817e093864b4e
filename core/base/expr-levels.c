/* SPDX-License-Identifier: MIT */
/* Precedence of the operators in rule expressions. */

#include <string.h>

#include "base/adj-expr-private.h"

static const struct
{
  const char *text;
  AdjExprLevel level;
} binary_operators[] = {
  { "or", ADJ_LEVEL_OR },         { "and", ADJ_LEVEL_AND },       { "==", ADJ_LEVEL_COMPARISON },
  { "!=", ADJ_LEVEL_COMPARISON }, { "<", ADJ_LEVEL_COMPARISON },  { "<=", ADJ_LEVEL_COMPARISON },
  { ">", ADJ_LEVEL_COMPARISON },  { ">=", ADJ_LEVEL_COMPARISON }, { "|", ADJ_LEVEL_BIT_OR },
  { "^", ADJ_LEVEL_BIT_XOR },     { "&", ADJ_LEVEL_BIT_AND },     { "<<", ADJ_LEVEL_SHIFT },
  { ">>", ADJ_LEVEL_SHIFT },      { "+", ADJ_LEVEL_SUM },         { "-", ADJ_LEVEL_SUM },
  { "*", ADJ_LEVEL_PRODUCT },     { "/", ADJ_LEVEL_PRODUCT },     { "//", ADJ_LEVEL_PRODUCT },
  { "%", ADJ_LEVEL_PRODUCT },     { "@", ADJ_LEVEL_PRODUCT },     { "**", ADJ_LEVEL_POWER },
};

AdjExprLevel
adj_expr_binary_level (const char *text, gsize length)
{
  for (guint i = 0; i < G_N_ELEMENTS (binary_operators); i++)
    if (strlen (binary_operators[i].text) == length &&
        memcmp (binary_operators[i].text, text, length) == 0)
      return binary_operators[i].level;
  return ADJ_LEVEL_ATOM;
}
