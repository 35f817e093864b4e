/* SPDX-License-Identifier: MIT */

/* Measures how far a switch of stage moves the cards that both stages have, one JSON line each:
 * all neighbouring stages of every bundled graph, laid out separately and with a shared layout. */

#include <stdio.h>

#include "steps.h"

static void
print (const AdjTestStep *step, gpointer shared)
{
  AdjTestDrift drift = adj_test_step_drift (step);
  AdjRect bounds = adj_scene_get_bounds (step->scene_after);

  printf ("{\"bench\": \"steps\", \"step\": \"%s\", \"shared\": %s, \"cards\": %u, \"still\": %u, "
          "\"median_x\": %.0f, \"p95_x\": %.0f, \"longest_x\": %.0f, "
          "\"median_y\": %.0f, \"p95_y\": %.0f, \"longest_y\": %.0f, \"height\": %.0f}\n",
          step->name, shared != NULL ? "true" : "false", drift.n, drift.n_still,
          (double) drift.median_x, (double) drift.p95_x, (double) drift.longest_x,
          (double) drift.median_y, (double) drift.p95_y, (double) drift.longest_y,
          (double) bounds.height);
  fflush (stdout);
}

int
main (void)
{
  for (guint shared = 0; shared < 2; shared++)
    adj_test_each_step (shared == 1, print, GUINT_TO_POINTER (shared));
  return 0;
}
