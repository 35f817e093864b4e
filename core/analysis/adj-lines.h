/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The source lines of some nodes, by their innermost frames outside of PyTorch; initially all zero.
 * Only lines of the first file count. */
typedef struct
{
  const char *file; /* (unowned) (nullable): %NULL: no node has a place */
  guint first, last;
} AdjLines;

void adj_lines_add (AdjLines *lines, const AdjNode *node);
/* (transfer full) (nullable): "models.py:40–71", or of one line "models.py:40". */
char *adj_lines_print (const AdjLines *lines);

G_END_DECLS
