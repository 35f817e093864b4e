/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "base/adj-lexer.h"

G_BEGIN_DECLS

/* The grammar of size expressions, pointwise bodies, gradient and decomposition rules:
 *
 *   expr    = "let" name "=" expr { "," name "=" expr } ":" expr | choice
 *   choice  = or [ "?" expr ":" expr ]
 *   or … and … not … comparison … | ^ & << >> … + - … * / // % … unary … **     (Python's levels)
 *   postfix = primary { "(" [ arg { "," arg } ] ")" | "[" expr "]" | "." name }
 *   arg     = [ name "=" ] expr
 *   primary = number | string | name | "(" expr [ "," … ] ")" | "[" … "]"
 *
 * A dotted call name (`mul.Tensor (g, y)`) is one CALL whose name keeps the dots. */
typedef enum
{
  ADJ_EXPR_INT,
  ADJ_EXPR_FLOAT,
  ADJ_EXPR_STRING,
  ADJ_EXPR_NAME,
  ADJ_EXPR_UNARY,  /* name is the operator: "-", "+", "~", "not" */
  ADJ_EXPR_BINARY, /* name is the operator as written */
  ADJ_EXPR_CHOICE, /* condition, then, else */
  ADJ_EXPR_CALL,   /* name, positional then keyword arguments */
  ADJ_EXPR_INDEX,  /* object, index */
  ADJ_EXPR_LET,    /* arg_names[i] = args[i] for all but the last, which is the body */
  ADJ_EXPR_LIST,
  ADJ_EXPR_TUPLE,
} AdjExprKind;

typedef struct _AdjExpr AdjExpr;

struct _AdjExpr
{
  AdjExprKind kind;
  AdjSpan span;
  const char *name; /* STRING: its value */
  gint64 int_value;
  double float_value;
  guint n_args;
  const AdjExpr **args;
  const char **arg_names; /* (nullable): entries are %NULL for positional arguments */
};

/**
 * adj_expr_parse:
 * @arena: owns the result
 *
 * Nesting is bounded (64 levels).
 *
 * Returns: (nullable) (transfer none): the tree, or %NULL with @error naming line and column
 */
const AdjExpr *adj_expr_parse (AdjArena *arena, const char *text, gssize length, GError **error);

/* Canonical text; adj_expr_parse() of it gives an equal tree. */
void adj_expr_print (const AdjExpr *expr, GString *out);
gboolean adj_expr_equal (const AdjExpr *a, const AdjExpr *b);

/* "name: expr; name: expr": calls @each for every entry; stops and fails when it returns %FALSE. */
typedef gboolean (*AdjRuleFunc) (const char *name,
                                 const AdjExpr *expr,
                                 gpointer data,
                                 GError **error);
gboolean adj_rules_parse (
    AdjArena *arena, const char *text, AdjRuleFunc each, gpointer data, GError **error);

G_END_DECLS
