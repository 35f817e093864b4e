/* SPDX-License-Identifier: MIT */
/* Every reader over files that are cut off, or written while they are read, and killed while it
 * reads: what is read is whole or refused with one line, and nothing is left behind or changed. */

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "formats/adj-debug-log.h"
#include "formats/adj-format.h"
#include "formats/adj-memory-snapshot.h"
#include "formats/adj-tensor-list-internal.h"
#include "support/adj-test.h"
#include "tensor/adj-late-bytes-internal.h"

#define N_CUTS 61
#define N_OPENED 60
#define N_KILLED 12

typedef struct
{
  const char *name;
  const char *sample; /* in the folder of tests */
  gboolean (*open) (const char *path, GError **error);
} Reader;

/* Graphs, and the values of what was recorded. */
static gboolean
open_bundle (const char *path, GError **error)
{
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, error);

  for (guint i = 0; bundle != NULL && i < adj_bundle_get_n_calls (bundle); i++)
    {
      const AdjRecordedCall *call = adj_bundle_get_call (bundle, i);

      for (guint k = 0; k < call->n_inputs; k++)
        if (call->inputs[k].kind == ADJ_VALUE_DATA &&
            !adj_tensor_data_fetch (call->inputs[k].data, error))
          return FALSE;
    }
  return bundle != NULL;
}

static gboolean
open_tensors (const char *path, GError **error)
{
  g_autoptr (AdjTensorList) list = adj_tensor_list_load (path, error);

  for (guint i = 0; list != NULL && i < adj_tensor_list_get_n (list); i++)
    if (adj_tensor_list_get (list, i, error) == NULL)
      return FALSE;
  return list != NULL;
}

static gboolean
open_snapshot (const char *path, GError **error)
{
  g_autoptr (AdjMemorySnapshot) snapshot = adj_memory_snapshot_load (path, NULL, error);

  return snapshot != NULL;
}

static gboolean
open_debug_log (const char *path, GError **error)
{
  g_autoptr (AdjDebugLog) log = adj_debug_log_load (path, NULL, error);

  return log != NULL;
}

static const Reader readers[] = {
  { "trace.log", "formats/data/trace-2.15.log", open_bundle },
  { "console.txt", "formats/data/console-2.15.txt", open_bundle },
  { "new.pt2", "fuzz/corpus/fuzz-torch-save/branch-2.15.pt2", open_bundle },
  { "old.pt2", "fuzz/corpus/fuzz-torch-save/branch-2.6.pt2", open_bundle },
  { "saved.pt", "fuzz/corpus/fuzz-torch-save/saved-2.15.pt", open_tensors },
  { "snapshot.pickle", "formats/data/snapshot.pickle", open_snapshot },
  { "debug.json", "formats/data/debug/norms.json", open_debug_log },
};

typedef struct
{
  const Reader *reader;
  AdjTestFolder *folder;
  char *path;
  char *contents;
  gsize length;
} Fixture;

static void
put (const Fixture *fixture, gsize length)
{
  g_autoptr (GError) error = NULL;

  g_file_set_contents (fixture->path, fixture->contents, (gssize) length, &error);
  g_assert_no_error (error);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *sample = NULL;

  fixture->reader = data;
  sample = g_test_build_filename (G_TEST_DIST, fixture->reader->sample, NULL);
  fixture->folder = adj_test_folder_new ();
  fixture->path = g_build_filename (fixture->folder->path, fixture->reader->name, NULL);
  g_assert_true (g_file_get_contents (sample, &fixture->contents, &fixture->length, NULL));
  put (fixture, fixture->length);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_free (fixture->path);
  g_free (fixture->contents);
  adj_test_folder_free (fixture->folder);
}

/* What is refused is said in one line that begins with the file. */
static gboolean
open_or_refuse (const Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  gboolean opened = fixture->reader->open (fixture->path, &error);

  g_assert_true (opened == (error == NULL));
  if (error != NULL && (strchr (error->message, '\n') != NULL ||
                        strstr (error->message, fixture->reader->name) == NULL))
    g_error ("not one line that names the file: '%s'", error->message);
  return opened;
}

static void
assert_unchanged (const Fixture *fixture)
{
  g_autoptr (GDir) folder = g_dir_open (fixture->folder->path, 0, NULL);
  g_autofree char *contents = NULL;
  gsize length;

  g_assert_cmpstr (g_dir_read_name (folder), ==, fixture->reader->name);
  g_assert_null (g_dir_read_name (folder));
  g_assert_true (g_file_get_contents (fixture->path, &contents, &length, NULL));
  g_assert_cmpmem (contents, length, fixture->contents, fixture->length);
}

static void
test_cut (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < N_CUTS; i++)
    {
      put (fixture, fixture->length * i / N_CUTS);
      open_or_refuse (fixture);
    }
  put (fixture, fixture->length);
  g_assert_true (open_or_refuse (fixture));
}

typedef struct
{
  const Fixture *fixture;
  gint stop;
} Writer;

/* Cuts the file off, writes it in two parts, and puts another in its place, again and again. */
static gpointer
write_again (gpointer data)
{
  Writer *writer = data;
  const Fixture *fixture = writer->fixture;

  for (guint i = 0; !g_atomic_int_get (&writer->stop); i++)
    {
      FILE *file = g_fopen (fixture->path, "w");
      gsize half = fixture->length * (i % 7) / 7;

      g_assert_nonnull (file);
      fwrite (fixture->contents, 1, half, file);
      fflush (file);
      g_usleep (i % 5 * 100);
      fwrite (fixture->contents + half, 1, fixture->length - half, file);
      fclose (file);
      put (fixture, i % 3 == 0 ? half : fixture->length);
      g_usleep (200);
    }
  return NULL;
}

static void
test_rewritten (Fixture *fixture, gconstpointer data)
{
  Writer writer = { fixture, FALSE };
  GThread *thread = g_thread_new ("writer", write_again, &writer);

  for (guint i = 0; i < N_OPENED; i++)
    open_or_refuse (fixture);
  g_atomic_int_set (&writer.stop, TRUE);
  g_thread_join (thread);
  put (fixture, fixture->length);
  g_assert_true (open_or_refuse (fixture));
}

/* A process that reads on and on ends in the middle of it. */
static void
test_killed (Fixture *fixture, gconstpointer data)
{
  for (guint i = 0; i < N_KILLED; i++)
    {
      pid_t child = fork ();
      int status;

      g_assert_cmpint (child, >=, 0);
      while (child == 0)
        if (!fixture->reader->open (fixture->path, NULL))
          _exit (1);
      g_usleep (i * 700);
      g_assert_cmpint (kill (child, SIGKILL), ==, 0);
      g_assert_cmpint (waitpid (child, &status, 0), ==, child);
      g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
    }
  assert_unchanged (fixture);
  g_assert_true (open_or_refuse (fixture));
}

static void
add (const char *what, const Reader *reader, void (*test) (Fixture *, gconstpointer))
{
  g_autofree char *path = g_strdup_printf ("/formats/unquiet/%s/%s", reader->name, what);

  g_test_add (path, Fixture, reader, set_up, test, tear_down);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (readers); i++)
    {
      add ("cut", &readers[i], test_cut);
      add ("killed", &readers[i], test_killed);
      add ("rewritten", &readers[i], test_rewritten);
    }
  return g_test_run ();
}
