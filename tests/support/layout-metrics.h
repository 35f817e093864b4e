/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* How well a picture reads.  Lengths are pixels at zoom 1, of whole lines; those of lines that
 * cross the gutter are not among them. */
typedef struct
{
  guint n_boxes, n_edges; /* edges: those that do not cross the gutter */
  float width, height;
  float gutter; /* width of the band between the columns, lanes included; 0: one column */
  float row;    /* height of the tallest module of the outermost level that has more than one */
  float median, p95, longest;
  guint64 n_crossings; /* of two lines, bridges included; where a line forks is none */
  guint n_empty;       /* frames of modules without a card */
  guint n_outside;     /* cards that stand beside the rows of their module */
  const char *outside; /* (unowned) (nullable): name of the first of these */
} AdjLayoutMetrics;

/* The modules of a node are its own, else those of its forward node. */
AdjLayoutMetrics adj_layout_metrics_take (const AdjScene *scene, const AdjGraph *graph);

G_END_DECLS
