/* SPDX-License-Identifier: MIT */
#include "model/adj-export.h"

#include "scene/paint-cairo.h"

typedef struct
{
  AdjScene *scene;
  AdjScheme scheme;
  char *path;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  adj_scene_unref (input->scene);
  g_free (input->path);
  g_free (input);
}

static gpointer
write_picture (AdjWork *work, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_work_get_input (work);
  AdjPaintOptions options = { .scheme = input->scheme, .legend = TRUE };

  if (!adj_scene_render_file (input->scene, input->path, &options, error))
    return NULL;
  return g_file_new_for_path (input->path);
}

AdjWork *
adj_export_start (
    GObject *owner, AdjScene *scene, AdjScheme scheme, const char *path, GAsyncReadyCallback done)
{
  Input *input = g_new0 (Input, 1);

  *input = (Input){ adj_scene_ref (scene), scheme, g_strdup (path) };
  return adj_work_start (owner, ADJ_WORK_LIGHT, write_picture, input, input_free, g_object_unref,
                         done);
}

const char *
adj_export_get_path (AdjWork *work)
{
  return ((const Input *) adj_work_get_input (work))->path;
}
