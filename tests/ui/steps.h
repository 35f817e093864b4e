/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-layout.h"
#include "model/adj-graph-set.h"

G_BEGIN_DECLS

/* Neighbouring stages of every bundled graph, from the files and as made by passes, each laid
 * out as in the window. */

typedef struct
{
  const char *name; /* "sac#0-0-joint → sac#0-0-forward+backward" */
  const AdjBundleGraph *before, *after;
  const AdjScene *scene_before, *scene_after;
} AdjTestStep;

typedef void (*AdjTestStepFunc) (const AdjTestStep *step, gpointer data);

/* @shared: with a layout shared by neighbouring stages; else separately */
void adj_test_each_step (gboolean shared, AdjTestStepFunc each, gpointer data);

/* Movement of the cards that both stages have, in pixels at zoom 1, relative to the most common
 * shift, which the camera follows. */
typedef struct
{
  guint n;       /* cards in both stages */
  guint n_still; /* cards among them that do not move */
  float median_x, p95_x, longest_x;
  float median_y, p95_y, longest_y;
} AdjTestDrift;

AdjTestDrift adj_test_step_drift (const AdjTestStep *step);

G_END_DECLS
