/* SPDX-License-Identifier: MIT */
/* Differences of PyTorch releases when a graph is run: a row for each. */

#include "interpreter/habits-private.h"

static const Habits rows[] = {
  { .release = "2.6" },
  { .release = "2.15",
    .drops_whole = TRUE,
    .fills = TRUE,
    .wide_scores = TRUE,
    .checkpoints_plainly = TRUE },
};

const Habits *
habits_find (const AdjContext *cx)
{
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    if (g_strcmp0 (adj_context_get_release (cx), rows[i].release) == 0)
      return &rows[i];
  return &rows[0];
}
