/* SPDX-License-Identifier: MIT */
#pragma once

#include "scene/adj-scene.h"

G_BEGIN_DECLS

#define ADJ_ZOOM_MIN 0.005f
#define ADJ_ZOOM_MAX 4.0f

/* Position and zoom of the canvas: the scene point at the widget's top left corner, and pixels per
 * scene unit. */
typedef struct
{
  float x, y;
  float zoom;
} AdjCamera;

#define ADJ_CAMERA_INIT                                                                            \
  {                                                                                                \
    0, 0, 1                                                                                        \
  }

AdjPoint adj_camera_to_scene (const AdjCamera *camera, float px, float py);
AdjPoint adj_camera_to_widget (const AdjCamera *camera, float x, float y);
AdjRect adj_camera_rect_to_widget (const AdjCamera *camera, const AdjRect *rect);
/* The rectangle of the scene that a widget of that size shows. */
AdjRect adj_camera_visible (const AdjCamera *camera, float width, float height);

void adj_camera_pan (AdjCamera *camera, float dx, float dy);
/* Multiplies the zoom so that the scene point under (@px, @py) stays there. */
void adj_camera_zoom_at (AdjCamera *camera, float factor, float px, float py);
void adj_camera_center_on (AdjCamera *camera, AdjPoint point, float width, float height);
/* Shows all of @rect, with a zoom of at most @max_zoom. */
void
adj_camera_fit (AdjCamera *camera, const AdjRect *rect, float width, float height, float max_zoom);
/* Moves the camera so that a part of @bounds stays in view. */
void adj_camera_clamp (AdjCamera *camera, const AdjRect *bounds, float width, float height);

/* Interpolates between @a and @b; @t from 0 to 1. */
AdjCamera adj_camera_mix (const AdjCamera *a, const AdjCamera *b, float t);
gboolean adj_camera_equal (const AdjCamera *a, const AdjCamera *b);

G_END_DECLS
