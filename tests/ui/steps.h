/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-layout.h"
#include "model/adj-graph-set.h"

G_BEGIN_DECLS

/* Neighbouring stages of every bundled graph, as their files have them and as passes make them
 * here, each laid out as the window does it. */

typedef struct
{
  const char *name; /* "sac#0-0-joint → sac#0-0-forward+backward" */
  const AdjBundleGraph *before, *after;
  const AdjScene *scene_before, *scene_after;
} AdjTestStep;

typedef void (*AdjTestStepFunc) (const AdjTestStep *step, gpointer data);

/* @shared: as stages of each other; else each by itself */
void adj_test_each_step (gboolean shared, AdjTestStepFunc each, gpointer data);

/* How far the cards that both have are moved, in pixels at zoom 1, beside the shift that most of
 * them have: the camera goes with that. */
typedef struct
{
  guint n;       /* cards in both */
  guint n_still; /* of them, those that are not moved at all */
  float median_x, p95_x, longest_x;
  float median_y, p95_y, longest_y;
} AdjTestDrift;

AdjTestDrift adj_test_step_drift (const AdjTestStep *step);

G_END_DECLS
