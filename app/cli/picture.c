/* SPDX-License-Identifier: MIT */
/* Writes a scene as a picture, its format by the name of the file. */

#include "picture.h"

gboolean
adj_picture_is (const char *path)
{
  return g_str_has_suffix (path, ".svg") || g_str_has_suffix (path, ".png") ||
         g_str_has_suffix (path, ".pdf");
}

static void
show_progress (guint done, guint total, guint n_equal, gpointer data)
{
  adj_progress_line (done, total, data);
}

gboolean
adj_picture_write (const AdjTarget *target,
                   const AdjLayoutOptions *layout,
                   const AdjPaintOptions *paint,
                   const char *path,
                   GError **error)
{
  AdjProgressLine line = { .what = "blocks laid out" };
  AdjProgressLine painting = { .what = "parts painted" };
  AdjLayoutOptions options = *layout;
  AdjPaintOptions paint_options = *paint;
  gboolean done;
  AdjGraph *graph = target->graph->graph;
  g_autoptr (AdjCaptured) captured = adj_captured_new (graph, target->bundle);
  g_autoptr (AdjScene) scene = NULL;

  options.captured = captured;
  options.undecided = adj_bundle_graph_is_undecided (target->graph);
  options.progress = show_progress;
  options.progress_data = &line;
  scene = adj_layout_mirror (graph, &options, NULL, NULL, error);
  adj_progress_line_end (&line);
  if (scene == NULL)
    return FALSE;
  paint_options.progress = adj_progress_line;
  paint_options.data = &painting;
  done = adj_scene_render_file (scene, path, &paint_options, error);
  adj_progress_line_end (&painting);
  return done;
}
