/* SPDX-License-Identifier: MIT */
/* The source lines of some nodes. */

#include "analysis/adj-lines.h"

#include <string.h>

#include "ir/adj-graph.h"

/* (nullable): the innermost frame that is not of PyTorch itself, where there is one: a line of the
 * model, not that of nn.Linear.forward(). */
static const AdjFrame *
find_frame (const AdjNode *node)
{
  const AdjFrame *frames = node->meta.frames;
  guint n = node->meta.n_frames;

  for (guint i = n; i-- > 0;)
    if (frames[i].file != NULL && strstr (frames[i].file, "-packages/torch/") == NULL)
      return &frames[i];
  return n > 0 ? &frames[n - 1] : NULL;
}

void
adj_lines_add (AdjLines *lines, const AdjNode *node)
{
  const AdjFrame *frame = find_frame (node);

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
