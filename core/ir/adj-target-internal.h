/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-target.h"

G_BEGIN_DECLS

/* As adj_target_get_stem() of a method, module or attribute, whose whole path counts. */
char *adj_target_get_path_stem (const char *target);

typedef enum
{
  ADJ_FIXITY_INFIX,
  ADJ_FIXITY_PREFIX,
  ADJ_FIXITY_INPLACE,
} AdjFixity;

/* The infix, prefix or in-place symbol of "operator.add" ("+"), or %NULL. */
const char *adj_target_get_symbol (const char *target, AdjFixity *fixity);
/* The reverse: "operator.add" for "+" and INFIX. */
const char *adj_target_from_symbol (const char *symbol, AdjFixity fixity);

G_END_DECLS
