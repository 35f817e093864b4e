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
#include "support/zip-bytes.h"
#include "tensor/adj-late-bytes-internal.h"

#define N_CUTS 61
#define N_OPENED 60
#define N_KILLED 12

#define TRACE_OF_RANK(rank) "dedicated_log_torch_trace_rank_" #rank "_abcdefgh.log"
#define N_OF_RANK_1 8

typedef struct
{
  const char *name;   /* of what is opened */
  const char *sample; /* (nullable) in the folder of tests */
  gboolean (*open) (const char *path, GError **error);
  GBytes *(*make) (const char *sample, gsize length); /* (nullable) what is written of it */
  const char *inside;  /* (nullable) the file that is harmed in the folder that is opened */
  gboolean is_refused; /* what is whole, too */
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

/* A folder with the log of another rank, of which nothing is lost whatever is done to the first. */
static gboolean
open_ranks (const char *path, GError **error)
{
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, error);
  guint n = 0;

  for (guint i = 0; bundle != NULL && i < adj_bundle_get_n_graphs (bundle); i++)
    n += adj_bundle_get_graph (bundle, i)->rank == 1;
  g_assert_cmpuint (n, ==, N_OF_RANK_1);
  return TRUE;
}

static GBytes *
pack (const char *sample, gsize length)
{
  g_autoptr (GConverter) zipper =
      G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) stream = g_converter_output_stream_new (memory, zipper);

  g_assert_true (g_output_stream_write_all (stream, sample, length, NULL, NULL, NULL));
  g_assert_true (g_output_stream_close (stream, NULL, NULL));
  return g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (memory));
}

/* Compiled code, and no program. */
static GBytes *
make_package (const char *sample, gsize length)
{
  return g_byte_array_free_to_bytes (zip_bytes_new ((const ZipPart[]){
      { "m/archive_format", "pt2", 3 },
      { "m/archive_version", "0", 1 },
      { "m/byteorder", "little", 6 },
      { "m/data/aotinductor/model/net.wrapper.so", "code", 4 },
      { "m/data/aotinductor/model/net.wrapper.cpp", "text", 4 },
      { NULL },
  }));
}

static const Reader readers[] = {
  { .name = "trace.log", .sample = "formats/data/trace-2.15.log", .open = open_bundle },
  { .name = "trace.log.gz",
    .sample = "formats/data/trace-2.15.log",
    .open = open_bundle,
    .make = pack },
  { .name = "ranks",
    .sample = "formats/data/trace-2.15.log",
    .open = open_ranks,
    .inside = TRACE_OF_RANK (0) },
  { .name = "console.txt", .sample = "formats/data/console-2.15.txt", .open = open_bundle },
  { .name = "console.txt.gz",
    .sample = "formats/data/console-2.15.txt",
    .open = open_bundle,
    .make = pack },
  { .name = "fx_graph_runnable.py",
    .sample = "fuzz/corpus/fuzz-logs/runnable-2.6",
    .open = open_bundle },
  { .name = "new.pt2",
    .sample = "fuzz/corpus/fuzz-torch-save/branch-2.15.pt2",
    .open = open_bundle },
  { .name = "old.pt2",
    .sample = "fuzz/corpus/fuzz-torch-save/branch-2.6.pt2",
    .open = open_bundle },
  { .name = "package.pt2", .open = open_bundle, .make = make_package, .is_refused = TRUE },
  { .name = "saved.pt",
    .sample = "fuzz/corpus/fuzz-torch-save/saved-2.15.pt",
    .open = open_tensors },
  { .name = "snapshot.pickle", .sample = "formats/data/snapshot.pickle", .open = open_snapshot },
  { .name = "debug.json", .sample = "formats/data/debug/norms.json", .open = open_debug_log },
};

typedef struct
{
  const Reader *reader;
  AdjTestFolder *folder;
  char *opened;
  char *path; /* that is harmed: @opened, or a file in it */
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

static char *
read_sample (const char *name, gsize *length)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, name, NULL);

  return adj_test_read_file (path, length);
}

static void
make_contents (Fixture *fixture)
{
  const Reader *reader = fixture->reader;
  GBytes *made;

  if (reader->sample != NULL)
    fixture->contents = read_sample (reader->sample, &fixture->length);
  if (reader->make == NULL)
    return;
  made = reader->make (fixture->contents, fixture->length);
  g_free (fixture->contents);
  fixture->contents = g_bytes_unref_to_data (made, &fixture->length);
}

static void
add_rank_1 (const char *folder)
{
  g_autofree char *path = g_build_filename (folder, TRACE_OF_RANK (1), NULL);
  gsize length;
  g_autofree char *log = read_sample ("formats/data/trace-2.4.log", &length);

  g_assert_cmpint (g_mkdir (folder, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, log, (gssize) length, NULL));
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->reader = data;
  fixture->folder = adj_test_folder_new ();
  fixture->opened = g_build_filename (fixture->folder->path, fixture->reader->name, NULL);
  fixture->path = g_build_filename (fixture->opened, fixture->reader->inside, NULL);
  if (fixture->reader->inside != NULL)
    add_rank_1 (fixture->opened);
  make_contents (fixture);
  put (fixture, fixture->length);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  g_free (fixture->opened);
  g_free (fixture->path);
  g_free (fixture->contents);
  adj_test_folder_free (fixture->folder);
}

/* How often a harm is done that is done @usual times. */
static guint
count_of (guint usual)
{
  const char *wanted = g_getenv ("ADJ_TEST_ROUNDS");

  return wanted != NULL ? (guint) g_ascii_strtoull (wanted, NULL, 10) : usual;
}

/* What is refused is said in one line that begins with the file. */
static gboolean
open_or_refuse (const Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  gboolean opened = fixture->reader->open (fixture->opened, &error);

  g_assert_true (opened == (error == NULL));
  if (error != NULL && (strchr (error->message, '\n') != NULL ||
                        strstr (error->message, fixture->reader->name) == NULL))
    g_error ("not one line that names the file: '%s'", error->message);
  return opened;
}

/* Once the file is whole again, nothing of what was done to it is left. */
static void
assert_opens (const Fixture *fixture)
{
  put (fixture, fixture->length);
  g_assert_true (open_or_refuse (fixture) == !fixture->reader->is_refused);
}

static guint
count_files (const char *path)
{
  g_autoptr (GDir) folder = g_dir_open (path, 0, NULL);
  guint n = 0;

  while (folder != NULL && g_dir_read_name (folder) != NULL)
    n++;
  return n;
}

static void
assert_unchanged (const Fixture *fixture)
{
  g_autofree char *contents = NULL;
  gsize length;

  g_assert_cmpuint (count_files (fixture->folder->path), ==, 1);
  g_assert_cmpuint (count_files (fixture->opened), ==, fixture->reader->inside != NULL ? 2 : 0);
  contents = adj_test_read_file (fixture->path, &length);
  g_assert_cmpmem (contents, length, fixture->contents, fixture->length);
}

static void
test_cut (Fixture *fixture, gconstpointer data)
{
  guint n = count_of (N_CUTS);

  for (guint i = 0; i < n; i++)
    {
      put (fixture, fixture->length * i / n);
      open_or_refuse (fixture);
    }
  assert_opens (fixture);
}

typedef struct
{
  const Fixture *fixture;
  gint stop;
} Writer;

/* Cuts the file off, writes it in two parts, removes it, and puts another in its place, again and
 * again. */
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
      if (i % 5 == 0)
        g_assert_cmpint (g_unlink (fixture->path), ==, 0);
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

  for (guint i = 0; i < count_of (N_OPENED); i++)
    open_or_refuse (fixture);
  g_atomic_int_set (&writer.stop, TRUE);
  g_thread_join (thread);
  assert_opens (fixture);
}

/* A process that reads on and on ends in the middle of it. */
static void
test_killed (Fixture *fixture, gconstpointer data)
{
  const Reader *reader = fixture->reader;

  for (guint i = 0; i < count_of (N_KILLED); i++)
    {
      pid_t child = fork ();
      int status;

      g_assert_cmpint (child, >=, 0);
      while (child == 0)
        if (reader->open (fixture->opened, NULL) == reader->is_refused)
          _exit (1);
      g_usleep (i % 100 * 700);
      g_assert_cmpint (kill (child, SIGKILL), ==, 0);
      g_assert_cmpint (waitpid (child, &status, 0), ==, child);
      g_assert_true (WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL);
    }
  assert_unchanged (fixture);
  assert_opens (fixture);
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
