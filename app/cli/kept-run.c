/* SPDX-License-Identifier: MIT */
/* adjoint run --keep: adds a run to the file of its graph. */

#include "kept-run.h"

#include <gio/gio.h>
#include <stdio.h>

#include "base/adj-format-bytes.h"
#include "plugins.h"

gboolean
adj_kept_run_check (const AdjTarget *target, const char *name, const char *into, GError **error)
{
  const AdjFormat *format =
      into != NULL ? adj_format_for_path (into, error) : adj_format_detect (target->path, error);

  if (format == NULL)
    return FALSE;
  if (!g_str_equal (format->name, "adjoint"))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   into != NULL ? "%s: only an .adjoint file keeps runs"
                                : "%s: only an .adjoint file keeps runs: name one with --into",
                   into != NULL ? into : target->path);
      return FALSE;
    }
  if (target->recorded != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "%s is put together from graphs of the file: runs of those can be kept",
                   target->name);
      return FALSE;
    }
  if (adj_run_name_is_valid (name))
    return TRUE;
  g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                       "--keep: the name of a run is a line of 1 to 100 bytes");
  return FALSE;
}

static gboolean
check_size (const AdjSessionRun *run, const AdjRecordedCall *kept, gboolean values, GError **error)
{
  guint64 n = adj_session_count_kept_bytes (run->bundle, kept, values);
  g_autofree char *size = NULL;

  if (n <= ADJ_SESSION_MAX_KEPT)
    return TRUE;
  size = adj_format_bytes (n);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s, and at most 64 MiB of a run are kept", size);
  return FALSE;
}

/* Makes the run, with the values of its nodes unless they are too large. */
static AdjRecordedCall *
make_run (const AdjSessionRun *run,
          const AdjRunResult *result,
          GHashTable *values,
          const char *name,
          const char *inputs,
          GError **error)
{
  g_autoptr (AdjRecordedCall) bare = adj_session_make_run (run, result, NULL, name, inputs, error);
  g_autoptr (AdjRecordedCall) whole = NULL;
  g_autoptr (GError) large = NULL;

  if (bare == NULL)
    return NULL;
  if (!check_size (run, bare, FALSE, error))
    {
      g_prefix_error (error, "its inputs and outputs are ");
      return NULL;
    }
  whole = adj_run_new (bare, values);
  if (check_size (run, whole, TRUE, &large))
    return g_steal_pointer (&whole);
  fprintf (stderr, "the values of its nodes are not kept: they are %s\n", large->message);
  return g_steal_pointer (&bare);
}

/* Reads the file again, as another program may have saved it meanwhile.  A file that does not exist
 * starts as a copy of @bundle.  (transfer full) (nullable) */
static AdjBundle *
read_again (AdjBundle *bundle, const char *path, GError **error)
{
  return g_file_test (path, G_FILE_TEST_EXISTS) ? plugins_load_bundle (path, error)
                                                : adj_bundle_ref (bundle);
}

static gboolean
add_run (AdjBundle *bundle, const AdjSessionRun *run, const AdjRecordedCall *made, GError **error)
{
  g_autoptr (AdjRecordedCall) moved = adj_session_move_run (run->bundle, made, bundle, error);
  g_autoptr (GPtrArray) before = adj_bundle_dup_runs (bundle);
  g_autoptr (GPtrArray) runs = NULL;

  if (moved == NULL)
    return FALSE;
  runs = adj_runs_without (before, moved->graph, moved->origin->name);
  g_ptr_array_add (runs, adj_run_ref (moved));
  adj_bundle_set_runs (bundle, runs);
  return TRUE;
}

gboolean
adj_kept_run_save (const AdjSessionRun *run,
                   const AdjRunResult *result,
                   GHashTable *values,
                   const char *name,
                   const char *inputs,
                   const char *path,
                   GError **error)
{
  g_autoptr (AdjRecordedCall) made = make_run (run, result, values, name, inputs, error);
  const AdjFormat *format = adj_format_find ("adjoint", error);
  g_autoptr (AdjFileWriter) writer =
      made != NULL && format != NULL ? adj_bundle_open_writer (path, NULL, error) : NULL;
  const AdjSaveOptions options = { .writer = writer };
  g_autoptr (AdjBundle) bundle = NULL;

  if (writer == NULL)
    return FALSE;
  bundle = read_again (run->bundle, path, error);
  if (bundle == NULL)
    return FALSE;
  if (!add_run (bundle, run, made, error))
    {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }
  return format->save (bundle, path, &options, NULL, error);
}
