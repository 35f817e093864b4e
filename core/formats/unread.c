/* SPDX-License-Identifier: MIT */
/* Describes a file that no format accepts, and says what to do with it. */

#include <gio/gio.h>
#include <string.h>

#include "base/adj-file-internal.h"
#include "formats/adj-debug-log.h"
#include "formats/torch-stream-private.h"
#include "formats/unread-private.h"
#include "formats/zip-private.h"

#define RECORD "record a step of the model with adjoint_capture"
#define SCRIPTED "a program of TorchScript, which is not read: " RECORD
#define SAVED                                                                                      \
  "values of torch.save without a graph: open a graph, and give them to its run (adjoint run "     \
  "GRAPH --inputs FILE)"
#define PICKLED                                                                                    \
  "a pickle of Python without a graph: give its tensors to the run of one (adjoint run GRAPH "     \
  "--inputs FILE); a snapshot of memory is listed by adjoint memory FILE"
#define TENSORS                                                                                    \
  "tensors without a graph: open a graph, and give them to its run (adjoint run GRAPH --inputs "   \
  "FILE)"
#define PACKED "a ZIP archive without adjoint.json, which every .adjoint file has"
#define LOGGED                                                                                     \
  "a log of DebugMode without a graph: compare a graph with it (adjoint compare GRAPH FILE)"
#define EMPTY "the file is empty"
#define FOLDER                                                                                     \
  "no logs in this folder: expected one of TORCH_TRACE, or of consoles with TORCH_LOGS, in it or " \
  "below it, or an .adjoint folder"
#define OTHER                                                                                      \
  "not a file that we read: expected an .adjoint file or folder, a .pt2 program, a TORCH_TRACE "   \
  "or TORCH_LOGS log, or the text of a graph"

/* The first row whose suffix one of the archive's entries has describes the archive; a scripted
 * program contains data.pkl, too. */
static const struct
{
  const char *suffix;
  const char *what;
} archives[] = {
  { "constants.pkl", SCRIPTED },
  { "data.pkl", SAVED },
};

static gboolean
has_entry (const ZipArchive *archive, const char *suffix)
{
  for (guint i = 0; i < zip_get_n (archive); i++)
    if (g_str_has_suffix (zip_get_name (archive, i), suffix))
      return TRUE;
  return FALSE;
}

/* (nullable): %NULL of an archive that cannot be opened */
static const char *
describe_archive (const char *path, GError **error)
{
  g_autoptr (AdjFilePart) part = adj_file_part_open (path, ADJ_FILE_WHOLE, NULL, error);
  g_autoptr (ZipArchive) archive = part != NULL ? zip_open (part, path, error) : NULL;

  if (archive == NULL)
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (archives); i++)
    if (has_entry (archive, archives[i].suffix))
      return archives[i].what;
  return PACKED;
}

/* By the first bytes: an opening of a pickle and the number that torch.save wrote in its time
 * before archives, or a header of JSON behind its length. */
static const char *
describe_bytes (const char *path, const guint8 *head, gsize length)
{
  if (torch_stream_is (head, length))
    return SAVED;
  if (pickle_is (head, length))
    return PICKLED;
  if (adj_debug_log_is (path))
    return LOGGED;
  if (g_str_has_suffix (path, ".safetensors") ||
      (length > 8 && head[8] == '{' && memcmp (head + 4, "\0\0\0\0", 4) == 0))
    return TENSORS;
  return OTHER;
}

void
unread_fail (const char *path, const guint8 *head, gsize length, GError **error)
{
  const char *what;

  if (length == 0)
    what = g_file_test (path, G_FILE_TEST_IS_DIR) ? FOLDER : EMPTY;
  else if (length >= 4 && memcmp (head, "PK\003\004", 4) == 0)
    what = describe_archive (path, error);
  else
    what = describe_bytes (path, head, length);
  if (what != NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: %s", path, what);
}
