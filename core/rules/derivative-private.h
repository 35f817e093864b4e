/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"

G_BEGIN_DECLS

/* The values of names in an expression; the names in a value refer to @outer. */
typedef struct DerivativeNames
{
  const struct DerivativeNames *outer; /* (nullable) */
  const char *const *names;
  const AdjExpr *const *values; /* entries are %NULL for absent values */
  guint n;
  guint depth; /* of inlined bodies of backward operators */
} DerivativeNames;

#define DERIVATIVE_N_LETTERS 26

/* The names of a pattern: its letters. */
typedef struct
{
  DerivativeNames names; /* first */
  const char *letters[DERIVATIVE_N_LETTERS];
  const AdjExpr *values[DERIVATIVE_N_LETTERS];
} DerivativeBinding;

/* (nullable): the value of @name; @around (out): the names that its own names refer to. */
const AdjExpr *derivative_names_find (const DerivativeNames *names,
                                      const char *name,
                                      const DerivativeNames **around);

/* (nullable): the body from mathematics.inc that replaces @expr; its names refer to @binding, which
 * is filled. */
const AdjExpr *derivative_find_body (const AdjExpr *expr,
                                     const DerivativeNames *names,
                                     DerivativeBinding *binding);

G_END_DECLS
