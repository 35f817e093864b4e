/* SPDX-License-Identifier: MIT */
/* The camera of the canvas: visible part of the scene and zoom. */

#include "canvas/adj-camera.h"

#include <math.h>

/* Pixels of the scene that stay in view when panning. */
#define KEEP 80.0f

AdjPoint
adj_camera_to_scene (const AdjCamera *camera, float px, float py)
{
  return (AdjPoint){ camera->x + px / camera->zoom, camera->y + py / camera->zoom };
}

AdjPoint
adj_camera_to_widget (const AdjCamera *camera, float x, float y)
{
  return (AdjPoint){ (x - camera->x) * camera->zoom, (y - camera->y) * camera->zoom };
}

AdjRect
adj_camera_rect_to_widget (const AdjCamera *camera, const AdjRect *rect)
{
  AdjPoint at = adj_camera_to_widget (camera, rect->x, rect->y);

  return (AdjRect){ at.x, at.y, rect->width * camera->zoom, rect->height * camera->zoom };
}

AdjRect
adj_camera_visible (const AdjCamera *camera, float width, float height)
{
  return (AdjRect){ camera->x, camera->y, width / camera->zoom, height / camera->zoom };
}

void
adj_camera_pan (AdjCamera *camera, float dx, float dy)
{
  camera->x -= dx / camera->zoom;
  camera->y -= dy / camera->zoom;
}

void
adj_camera_zoom_at (AdjCamera *camera, float factor, float px, float py)
{
  AdjPoint still = adj_camera_to_scene (camera, px, py);

  camera->zoom = CLAMP (camera->zoom * factor, ADJ_ZOOM_MIN, ADJ_ZOOM_MAX);
  camera->x = still.x - px / camera->zoom;
  camera->y = still.y - py / camera->zoom;
}

void
adj_camera_center_on (AdjCamera *camera, AdjPoint point, float width, float height)
{
  camera->x = point.x - width / camera->zoom / 2;
  camera->y = point.y - height / camera->zoom / 2;
}

void
adj_camera_fit (AdjCamera *camera, const AdjRect *rect, float width, float height, float max_zoom)
{
  AdjPoint middle = { rect->x + rect->width / 2, rect->y + rect->height / 2 };
  float zoom = MIN (width / MAX (rect->width, 1), height / MAX (rect->height, 1));

  camera->zoom = CLAMP (zoom, ADJ_ZOOM_MIN, MAX (max_zoom, ADJ_ZOOM_MIN));
  adj_camera_center_on (camera, middle, width, height);
}

static float
clamp_axis (float at, float shown, float begin, float size, float keep)
{
  return CLAMP (at, begin + keep - shown, begin + MAX (size - keep, keep - shown));
}

void
adj_camera_clamp (AdjCamera *camera, const AdjRect *bounds, float width, float height)
{
  float keep = KEEP / camera->zoom;

  keep = MIN (keep, MIN (bounds->width, bounds->height));
  camera->x = clamp_axis (camera->x, width / camera->zoom, bounds->x, bounds->width, keep);
  camera->y = clamp_axis (camera->y, height / camera->zoom, bounds->y, bounds->height, keep);
}

AdjCamera
adj_camera_mix (const AdjCamera *a, const AdjCamera *b, float t)
{
  float zoom = a->zoom * powf (b->zoom / a->zoom, t);

  return (AdjCamera){ a->x + (b->x - a->x) * t, a->y + (b->y - a->y) * t, zoom };
}

gboolean
adj_camera_equal (const AdjCamera *a, const AdjCamera *b)
{
  return a->x == b->x && a->y == b->y && a->zoom == b->zoom;
}
