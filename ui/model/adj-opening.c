/* SPDX-License-Identifier: MIT */
#include "model/adj-opening.h"

#include <glib/gi18n.h>

#include "formats/adj-format.h"
#include "model/adj-graph-set.h"

static AdjGraphSet *
make_set (AdjBundle *bundle)
{
  return bundle != NULL ? adj_graph_set_new (bundle) : NULL;
}

static gpointer
load (AdjWork *work, GCancellable *cancellable, GError **error)
{
  g_autofree char *path = g_file_get_path (adj_work_get_input (work));

  if (path == NULL)
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   _ ("Only files of this computer can be opened"));
      return NULL;
    }
  return make_set (adj_bundle_load (path, cancellable, error));
}

static gpointer
load_text (AdjWork *work, GCancellable *cancellable, GError **error)
{
  GBytes *text = adj_work_get_input (work);
  gsize length;
  const char *chars = g_bytes_get_data (text, &length);

  return make_set (
      adj_bundle_load_text (chars != NULL ? chars : "", (gssize) length, "clipboard", error));
}

AdjWork *
adj_opening_start_file (GObject *owner, GFile *file, GAsyncReadyCallback done)
{
  return adj_work_start (owner, ADJ_WORK_LIGHT, load, g_object_ref (file), g_object_unref,
                         (GDestroyNotify) adj_graph_set_unref, done);
}

AdjWork *
adj_opening_start_text (GObject *owner, GBytes *text, GAsyncReadyCallback done)
{
  return adj_work_start (owner, ADJ_WORK_LIGHT, load_text, g_bytes_ref (text),
                         (GDestroyNotify) g_bytes_unref, (GDestroyNotify) adj_graph_set_unref,
                         done);
}
