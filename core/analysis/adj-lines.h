/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The lines of a program that some nodes come from, by their innermost frames: all zero at first.
 * Of several files the first counts. */
typedef struct
{
  const char *file; /* (unowned) (nullable): %NULL: no node says it */
  guint first, last;
} AdjLines;

void adj_lines_add (AdjLines *lines, const AdjNode *node);
/* (transfer full) (nullable): "models.py:40–71", or of one line "models.py:40". */
char *adj_lines_print (const AdjLines *lines);

G_END_DECLS
