/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "canvas/adj-camera.h"
#include "canvas/adj-heat.h"
#include "canvas/adj-highlight.h"
#include "canvas/adj-marks.h"
#include "canvas/adj-morph.h"
#include "canvas/adj-text-cache.h"
#include "scene/adj-palette.h"

G_BEGIN_DECLS

/* Everything that one frame of the canvas is painted from. */
typedef struct
{
  const AdjScene *scene;
  AdjTextCache *texts;
  GHashTable *arrows; /* made by adj_scene_painter_new_arrows() */
  AdjScheme scheme;
  const AdjHighlight *highlight; /* (nullable): everything else is dimmed */
  const AdjMarks *marks;         /* (nullable) */
  GBytes *changes;               /* (nullable): as adj_graph_view_set_changes() */
  const AdjHeat *heat;           /* (nullable) */
  const AdjGraph *graph;         /* that @scene shows */
  const AdjMorph *morph;         /* (nullable): the transition to @scene */
  gboolean ghosts; /* @scene is the one before the transition: paints its removed boxes */
  AdjLabeling labeling;
  guint selected; /* box, or ADJ_NO_BOX */
  guint hovered;  /* box, or ADJ_NO_BOX */
  guint hovered_edge;
  AdjCamera camera;
  float width, height; /* of the widget */
  float device_scale;  /* device pixels per widget pixel */
} AdjSceneFrame;

/* Heads of arrows by colour, cached between frames. */
GHashTable *adj_scene_painter_new_arrows (void);

void adj_scene_painter_paint (const AdjSceneFrame *frame, GtkSnapshot *snapshot);

/* The colour of a verdict's sign in a scheme, and the sign ("=", "≈", "≠", "–"). */
GdkRGBA adj_verdict_color (AdjVerdict verdict, AdjScheme scheme);
const char *adj_verdict_sign (AdjVerdict verdict);

GdkRGBA adj_color_to_rgba (const AdjColor *color);

G_END_DECLS
