/* SPDX-License-Identifier: MIT */
/* The source lines of some nodes. */

#include "analysis/adj-lines.h"

#include <string.h>

#include "ir/adj-graph.h"

void
adj_lines_add (AdjLines *lines, const AdjNode *node)
{
  const guint n = node->meta.n_frames;
  const AdjFrame *frame = n > 0 ? &node->meta.frames[n - 1] : NULL;

  if (frame == NULL || (lines->file != NULL && !g_str_equal (lines->file, frame->file)))
    return;
  lines->first = lines->file != NULL ? MIN (lines->first, frame->line) : frame->line;
  lines->last = MAX (lines->last, frame->line);
  lines->file = frame->file;
}

char *
adj_lines_print (const AdjLines *lines)
{
  const char *slash = lines->file != NULL ? strrchr (lines->file, '/') : NULL;
  const char *name = slash != NULL ? slash + 1 : lines->file;

  if (name == NULL || lines->first == lines->last)
    return name != NULL ? g_strdup_printf ("%s:%u", name, lines->first) : NULL;
  return g_strdup_printf ("%s:%u–%u", name, lines->first, lines->last);
}
