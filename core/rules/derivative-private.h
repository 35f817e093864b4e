/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"

G_BEGIN_DECLS

/* What names in an expression stand for; each value is read with the names around these. */
typedef struct DerivativeNames
{
  const struct DerivativeNames *outer; /* (nullable) */
  const char *const *names;
  const AdjExpr *const *values; /* entries are %NULL where nothing is given */
  guint n;
  guint depth; /* of backward operators whose bodies are put in */
} DerivativeNames;

#define DERIVATIVE_N_LETTERS 26

/* Those of a pattern: its letters. */
typedef struct
{
  DerivativeNames names; /* first */
  const char *letters[DERIVATIVE_N_LETTERS];
  const AdjExpr *values[DERIVATIVE_N_LETTERS];
} DerivativeBinding;

/* (nullable): what @name stands for, and with which names that is read. */
const AdjExpr *derivative_names_find (const DerivativeNames *names,
                                      const char *name,
                                      const DerivativeNames **around);

/* (nullable): what is written instead of @expr by mathematics.inc, to be read with the names of
 * @binding, which is filled. */
const AdjExpr *derivative_find_body (const AdjExpr *expr,
                                     const DerivativeNames *names,
                                     DerivativeBinding *binding);

G_END_DECLS
