/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* Readability of a picture.  Lengths are in pixels at zoom 1, of whole lines, excluding lines
 * that cross the gutter. */
typedef struct
{
  guint n_boxes, n_edges; /* @n_edges: edges that do not cross the gutter */
  float width, height;
  float gutter; /* width of the band between the columns, lanes included; 0: one column */
  float row;    /* height of the tallest module at the outermost level with several modules */
  float median, p95, longest;
  guint64 n_crossings; /* crossings of two lines, bridges included; forks do not count */
  guint n_empty;       /* frames of modules without a card in them */
  guint n_outside;     /* cards that are not within the rows of their module */
  const char *outside; /* (unowned) (nullable): name of the first card outside */
} AdjLayoutMetrics;

/* Measures @scene.  The modules of a node are its own or, without any, those of its forward
 * node. */
AdjLayoutMetrics adj_layout_metrics_take (const AdjScene *scene, const AdjGraph *graph);

G_END_DECLS
