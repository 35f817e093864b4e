/* SPDX-License-Identifier: MIT */
#include "model/adj-export.h"

#include "formats/adj-format.h"
#include "scene/paint-cairo.h"

typedef struct
{
  AdjScene *scene;   /* (owned) (nullable): the picture to write */
  AdjBundle *bundle; /* (owned) (nullable): the file to write */
  AdjScheme scheme;
  char *path;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  g_clear_pointer (&input->scene, adj_scene_unref);
  g_clear_pointer (&input->bundle, adj_bundle_unref);
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

  *input = (Input){ .scene = adj_scene_ref (scene), .scheme = scheme, .path = g_strdup (path) };
  return adj_work_start (owner, ADJ_WORK_LIGHT, write_picture, input, input_free, g_object_unref,
                         done);
}

static gpointer
write_bundle (AdjWork *work, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_work_get_input (work);
  const AdjFormat *format = adj_format_for_path (input->path, error);

  if (format == NULL || !format->save (input->bundle, NULL, input->path, cancellable, error))
    return NULL;
  return g_file_new_for_path (input->path);
}

AdjWork *
adj_export_start_bundle (GObject *owner,
                         AdjBundle *bundle,
                         const char *path,
                         GAsyncReadyCallback done)
{
  Input *input = g_new0 (Input, 1);

  *input = (Input){ .bundle = adj_bundle_ref (bundle), .path = g_strdup (path) };
  return adj_work_start (owner, ADJ_WORK_LIGHT, write_bundle, input, input_free, g_object_unref,
                         done);
}

const char *
adj_export_get_path (AdjWork *work)
{
  return ((const Input *) adj_work_get_input (work))->path;
}
