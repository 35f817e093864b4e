/* SPDX-License-Identifier: MIT */
/* Reads a file or a folder of logs on whenever a program wrote to it. */

#include "formats/adj-follower.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "base/adj-error.h"
#include "formats/adj-bundle-private.h"
#include "formats/log-files-private.h"
#include "ir/adj-graph.h"

/* Nobody writes to what was written last that long ago. */
#define STILL (10 * G_TIME_SPAN_SECOND)

/* What was seen last: it changes with every write. */
typedef struct
{
  guint64 n_files, bytes;
  gint64 newest; /* nanoseconds */
} Trace;

static void
take_file (const char *path, gpointer data)
{
  Trace *trace = data;
  GStatBuf info;

  if (g_stat (path, &info) != 0)
    return;
  trace->n_files++;
  trace->bytes += (guint64) info.st_size;
  trace->newest =
      MAX (trace->newest,
           (gint64) info.st_mtim.tv_sec * G_GINT64_CONSTANT (1000000000) + info.st_mtim.tv_nsec);
}

static gboolean
look (const char *path, Trace *trace, GError **error)
{
  *trace = (Trace){ 0 };
  if (g_access (path, R_OK) != 0)
    {
      g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", path,
                   g_strerror (errno));
      return FALSE;
    }
  take_file (path, trace);
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    log_files_visit (path, take_file, trace);
  return TRUE;
}

static gboolean
is_same (const Trace *a, const Trace *b)
{
  return a->n_files == b->n_files && a->bytes == b->bytes && a->newest == b->newest;
}

static gboolean
is_written (const Trace *trace)
{
  return trace->newest / 1000 + STILL >= g_get_real_time ();
}

struct _AdjFollower
{
  gatomicrefcount refs;
  char *path;
  AdjBundle *known; /* (owned) (nullable) */
  const AdjExtensions *extensions;
  Trace seen;
  gboolean is_settled;     /* @known is all that is there, and nobody writes on */
  const AdjFormat *format; /* (nullable) that of @growth */
  gpointer growth;         /* (owned) (nullable) */
};

static void
forget_growth (AdjFollower *self)
{
  if (self->growth != NULL)
    self->format->growth_free (self->growth);
  self->growth = NULL;
}

AdjFollower *
adj_follower_new (const char *path, AdjBundle *known, const AdjExtensions *extensions)
{
  AdjFollower *self = g_new0 (AdjFollower, 1);
  Trace now;

  g_atomic_ref_count_init (&self->refs);
  self->path = g_strdup (path);
  self->extensions = extensions;
  self->known = known != NULL ? adj_bundle_ref (known) : NULL;
  if (known != NULL && look (path, &now, NULL) && !is_written (&now))
    {
      self->seen = now;
      self->is_settled = TRUE;
    }
  return self;
}

AdjFollower *
adj_follower_ref (AdjFollower *follower)
{
  g_atomic_ref_count_inc (&follower->refs);
  return follower;
}

void
adj_follower_unref (AdjFollower *follower)
{
  if (!g_atomic_ref_count_dec (&follower->refs))
    return;
  forget_growth (follower);
  adj_bundle_unref (follower->known);
  g_free (follower->path);
  g_free (follower);
}

const char *
adj_follower_get_path (const AdjFollower *follower)
{
  return follower->path;
}

/* What was read of it may no longer be in the file: then it is read anew. */
static AdjBundle *
load_growing (AdjFollower *self, GCancellable *cancellable, GError **error)
{
  gboolean is_new = self->growth == NULL;
  g_autoptr (GError) reason = NULL;
  AdjBundle *bundle = self->format->load_growing (self->path, &self->growth, cancellable, &reason);

  if (bundle != NULL)
    return bundle;
  if (!is_new && g_error_matches (reason, ADJ_ERROR, ADJ_ERROR_STALE))
    return self->format->load_growing (self->path, &self->growth, cancellable, error);
  g_propagate_error (error, g_steal_pointer (&reason));
  return NULL;
}

static AdjBundle *
load (AdjFollower *self, const AdjFormat *format, GCancellable *cancellable, GError **error)
{
  if (format != self->format)
    forget_growth (self);
  self->format = format;
  return format->load_growing != NULL ? load_growing (self, cancellable, error)
                                      : adj_bundle_load (self->path, cancellable, error);
}

static AdjBundle *
extend (AdjFollower *self, AdjBundle *bundle)
{
  if (bundle == NULL || self->extensions == NULL ||
      adj_bundle_extend (bundle, self->extensions, NULL))
    return bundle;
  adj_bundle_unref (bundle);
  return NULL;
}

/* What is not complete yet is no error; what is too much stays so. */
static AdjBundle *
read_on (AdjFollower *self, GCancellable *cancellable, GError **error)
{
  const AdjFormat *format = adj_format_detect (self->path, NULL);
  g_autoptr (GError) reason = NULL;
  g_autoptr (AdjBundle) bundle = format != NULL ? load (self, format, cancellable, &reason) : NULL;

  if (g_error_matches (reason, ADJ_ERROR, ADJ_ERROR_LIMIT))
    g_propagate_error (error, g_steal_pointer (&reason));

  return extend (self, g_steal_pointer (&bundle));
}

/* Puts graphs of @before in the place of equal ones of @bundle, which nobody else has yet. */
static void
keep_graphs (AdjBundle *bundle, const AdjBundle *before)
{
  for (guint i = 0; i < bundle->graphs->len; i++)
    {
      AdjBundleGraph *entry = bundle->graphs->pdata[i];
      const AdjBundleGraph *old = g_hash_table_lookup (before->by_id, entry->id);
      GBytes *text = adj_bundle_get_text (bundle, entry->id);
      GBytes *old_text = old != NULL ? adj_bundle_get_text (before, entry->id) : NULL;

      if (text == NULL || old_text == NULL || (text != old_text && !g_bytes_equal (text, old_text)))
        continue;
      adj_graph_unref (entry->graph);
      entry->graph = adj_graph_ref (old->graph);
    }
}

/* @before: (nullable) */
static gboolean
says_more (const AdjBundle *bundle, const AdjBundle *before)
{
  return before == NULL || adj_bundle_get_n_graphs (bundle) != adj_bundle_get_n_graphs (before) ||
         adj_diags_get_n (adj_bundle_get_diags (bundle)) !=
             adj_diags_get_n (adj_bundle_get_diags (before));
}

/* (transfer full) (nullable): once nobody writes on, what is there as a file that was cut off. */
static AdjBundle *
settle (AdjFollower *self, const Trace *now, GCancellable *cancellable)
{
  g_autoptr (AdjBundle) bundle = NULL;

  if (self->is_settled || self->growth == NULL || is_written (now))
    return NULL;
  bundle = extend (self, adj_bundle_load (self->path, cancellable, NULL));
  if (g_cancellable_is_cancelled (cancellable))
    return NULL;
  self->is_settled = TRUE;
  return bundle != NULL && says_more (bundle, self->known) ? g_steal_pointer (&bundle) : NULL;
}

AdjBundle *
adj_follower_next (AdjFollower *follower, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjBundle) bundle = NULL;
  Trace now;

  if (!look (follower->path, &now, error))
    return NULL;
  if (is_same (&follower->seen, &now))
    bundle = settle (follower, &now, cancellable);
  else
    {
      bundle = read_on (follower, cancellable, error);
      if (g_cancellable_is_cancelled (cancellable))
        return NULL;
      follower->seen = now;
      follower->is_settled = FALSE;
    }
  if (bundle == NULL)
    return NULL;
  if (follower->known != NULL)
    keep_graphs (bundle, follower->known);
  adj_bundle_unref (follower->known);
  follower->known = adj_bundle_ref (bundle);
  return g_steal_pointer (&bundle);
}
