/* SPDX-License-Identifier: MIT */
/* Tasks that write pictures, bundles and reports. */

#include "model/adj-export.h"

#include <gio/gio.h>
#include <glib/gi18n.h>

#include "formats/adj-format.h"
#include "report/adj-report.h"
#include "scene/paint-cairo.h"

typedef struct
{
  AdjScene *scene;             /* (owned) (nullable): the picture to write, or of a report */
  AdjBundle *bundle;           /* (owned) (nullable): the bundle to write */
  AdjGraphSet *graphs;         /* (owned) (nullable): graphs of the report */
  const AdjBundleGraph *graph; /* of @graphs */
  AdjEvaluation *evaluation;   /* (owned) (nullable) */
  char *etag;                  /* (nullable): expected etag of the file that is replaced */
  char *title;
  gboolean has_part;
  AdjRect part;
  AdjScheme scheme;
  char *path;
} Input;

static void
input_free (gpointer data)
{
  Input *input = data;

  g_clear_pointer (&input->scene, adj_scene_unref);
  g_clear_pointer (&input->bundle, adj_bundle_unref);
  g_clear_pointer (&input->graphs, adj_graph_set_unref);
  g_clear_pointer (&input->evaluation, adj_evaluation_unref);
  g_free (input->etag);
  g_free (input->title);
  g_free (input->path);
  g_free (input);
}

static void
on_progress (guint done, guint total, gpointer data)
{
  adj_task_report (data, done, total, 0);
}

static gpointer
write_picture (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  AdjPaintOptions options = { .scheme = input->scheme,
                              .part = input->has_part ? &input->part : NULL,
                              .legend = !input->has_part,
                              .cancellable = cancellable,
                              .progress = on_progress,
                              .data = task };

  if (!adj_scene_render_file (input->scene, input->path, &options, error))
    return NULL;
  return g_file_new_for_path (input->path);
}

AdjTask *
adj_export_start_picture (GObject *owner,
                          AdjScene *scene,
                          const AdjRect *part,
                          AdjScheme scheme,
                          const char *path,
                          GAsyncReadyCallback done)
{
  Input *input = g_new0 (Input, 1);

  *input = (Input){ .scene = adj_scene_ref (scene), .scheme = scheme, .path = g_strdup (path) };
  input->has_part = part != NULL;
  if (part != NULL)
    input->part = *part;
  return adj_task_start (owner, ADJ_LOAD_LIGHT, write_picture, input, input_free, g_object_unref,
                         done);
}

char *
adj_export_query_etag (GFile *file)
{
  g_autoptr (GFileInfo) info =
      g_file_query_info (file, G_FILE_ATTRIBUTE_ETAG_VALUE, G_FILE_QUERY_INFO_NONE, NULL, NULL);

  return info != NULL ? g_strdup (g_file_info_get_etag (info)) : NULL;
}

/* Fails where another program has written the file since. */
static gboolean
check_etag (const Input *input, GError **error)
{
  g_autoptr (GFile) file = g_file_new_for_path (input->path);
  g_autofree char *now = adj_export_query_etag (file);

  if (input->etag == NULL || g_strcmp0 (now, input->etag) == 0)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_WRONG_ETAG,
               _ ("%s: somebody else has written it meanwhile"), input->path);
  return FALSE;
}

static gpointer
write_bundle (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  const AdjFormat *format = adj_format_for_path (input->path, error);
  g_autoptr (AdjFileWriter) writer =
      format != NULL ? adj_bundle_open_writer (input->path, cancellable, error) : NULL;
  const AdjSaveOptions options = { .progress = on_progress, .data = task, .writer = writer };

  if (writer == NULL || !check_etag (input, error) ||
      !format->save (input->bundle, input->path, &options, cancellable, error))
    return NULL;
  return g_file_new_for_path (input->path);
}

AdjTask *
adj_export_start_bundle (
    GObject *owner, AdjBundle *bundle, const char *path, const char *etag, GAsyncReadyCallback done)
{
  Input *input = g_new0 (Input, 1);

  *input = (Input){ .bundle = adj_bundle_ref (bundle),
                    .path = g_strdup (path),
                    .etag = g_strdup (etag) };
  return adj_task_start (owner, ADJ_LOAD_LIGHT, write_bundle, input, input_free, g_object_unref,
                         done);
}

static gpointer
write_report (AdjTask *task, GCancellable *cancellable, GError **error)
{
  const Input *input = adj_task_get_input (task);
  const AdjComparison *comparison =
      input->evaluation != NULL ? adj_evaluation_get_comparison (input->evaluation) : NULL;
  const char *peer = comparison != NULL ? adj_evaluation_get_peer (input->evaluation) : NULL;
  AdjReport report = {
    .file = input->title,
    .generator = "Adjoint " ADJ_VERSION,
    .bundle = adj_graph_set_get_bundle (input->graphs),
    .graph = input->graph,
    .scene = input->scene,
    .comparison = comparison,
    .compared = peer != NULL ? peer : _ ("what was recorded"),
    .not_run = input->evaluation != NULL ? _ ("The graph was run, but not compared.") : NULL,
    .cancellable = cancellable,
    .progress = on_progress,
    .data = task,
  };

  if (!adj_report_write (&report, input->path, error))
    return NULL;
  return g_file_new_for_path (input->path);
}

AdjTask *
adj_export_start_report (GObject *owner,
                         AdjGraphSet *graphs,
                         const AdjBundleGraph *graph,
                         AdjScene *scene,
                         AdjEvaluation *evaluation,
                         const char *title,
                         const char *path,
                         GAsyncReadyCallback done)
{
  Input *input = g_new0 (Input, 1);

  *input = (Input){ .scene = adj_scene_ref (scene),
                    .graphs = adj_graph_set_ref (graphs),
                    .graph = graph,
                    .title = g_strdup (title),
                    .path = g_strdup (path) };
  if (evaluation != NULL)
    input->evaluation = adj_evaluation_ref (evaluation);
  return adj_task_start (owner, ADJ_LOAD_LIGHT, write_report, input, input_free, g_object_unref,
                         done);
}

const char *
adj_export_get_path (AdjTask *task)
{
  return ((const Input *) adj_task_get_input (task))->path;
}
