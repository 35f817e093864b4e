/* SPDX-License-Identifier: MIT */

/* Every reader, with each allocation failing in turn: the file is read, or refused with one
 * line, or GLib aborts the process as it does when g_malloc() fails.  Nothing else may happen.
 *
 * The file is read once.  At each allocation the process forks a child in which it fails, and
 * waits for it. Every allocation of a small file is tested, a sample of those of large ones; all
 * with ADJ_TEST_ALLOCATIONS=all. */

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adjoint.h"
#include "formats/adj-debug-log.h"
#include "formats/adj-memory-snapshot.h"
#include "formats/adj-tensor-list-internal.h"
#include "support/adj-test.h"

/* Up to this number of allocations all of them are tested. */
#define FEW 8000
#define N_SAMPLES 100
#define MAX_MESSAGE 4096

/* -- an allocator that can fail -- */

void *__libc_malloc (size_t n);
void *__libc_calloc (size_t n, size_t size);
void *__libc_realloc (void *old, size_t n);
void *__libc_memalign (size_t alignment, size_t n);

static gsize smallest;       /* smallest size that counts, in bytes */
static gint64 n_allocations; /* so far */
static gint64 step;          /* every step-th allocation fails; 0: none */

static gboolean split_off (void);

static gboolean
fails (size_t n)
{
  if (n < smallest || n_allocations++ % MAX (step, 1) != 0 || step == 0 || !split_off ())
    return FALSE;
  errno = ENOMEM;
  return TRUE;
}

void *
malloc (size_t n)
{
  return fails (n) ? NULL : __libc_malloc (n);
}

void *
calloc (size_t n, size_t size)
{
  return fails (n * size) ? NULL : __libc_calloc (n, size);
}

void *
realloc (void *old, size_t n)
{
  return fails (n) ? NULL : __libc_realloc (old, n);
}

void *
aligned_alloc (size_t alignment, size_t n)
{
  return fails (n) ? NULL : __libc_memalign (alignment, n);
}

/* -- one reading -- */

typedef enum
{
  READ,
  REFUSED,
  ENDED_BY_GLIB,
  WRONG,
} Outcome;

static int
read_bundle (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);

  if (bundle != NULL)
    return READ;
  fprintf (stderr, "%s\n", error->message);
  return REFUSED;
}

static int
read_saved_tensors (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjTensorList) list = adj_tensor_list_load (path, &error);

  if (list != NULL)
    return READ;
  fprintf (stderr, "%s\n", error->message);
  return REFUSED;
}

static int
read_debug_log (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjDebugLog) log = adj_debug_log_load (path, NULL, &error);

  if (log != NULL)
    return READ;
  fprintf (stderr, "%s\n", error->message);
  return REFUSED;
}

static int
read_snapshot (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjMemorySnapshot) snapshot = adj_memory_snapshot_load (path, NULL, &error);

  if (snapshot != NULL)
    return READ;
  fprintf (stderr, "%s\n", error->message);
  return REFUSED;
}

static int
read_tensors (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjSafetensors) file = adj_safetensors_load (path, &error);

  if (file != NULL)
    return READ;
  fprintf (stderr, "%s\n", error->message);
  return REFUSED;
}

static gboolean
is_one_line (const char *text)
{
  const char *end = strchr (text, '\n');

  return end != NULL && end != text && end[1] == '\0';
}

static gboolean
is_of_glib (const char *text)
{
  return strstr (text, "failed to allocate") != NULL || strstr (text, "Not enough memory") != NULL;
}

static Outcome
judge (int status, const char *said)
{
  if (WIFSIGNALED (status))
    return (WTERMSIG (status) == SIGABRT || WTERMSIG (status) == SIGTRAP) && is_of_glib (said)
               ? ENDED_BY_GLIB
               : WRONG;
  if (WEXITSTATUS (status) == REFUSED)
    return is_one_line (said) ? REFUSED : WRONG;
  return WEXITSTATUS (status) == READ ? READ : WRONG;
}

static struct
{
  const char *path;
  gboolean is_child;
  guint outcomes[WRONG];
} reading;

/* Reads what the process writes to @end, and checks how it exits. */
static void
wait_for (pid_t child, int end)
{
  char said[MAX_MESSAGE + 1];
  gsize length = 0;
  gssize n;
  int status;
  Outcome outcome;

  while (length < MAX_MESSAGE && (n = read (end, said + length, MAX_MESSAGE - length)) > 0)
    length += (gsize) n;
  said[length] = '\0';
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  outcome = judge (status, said);
  if (outcome != WRONG)
    reading.outcomes[outcome]++;
  else
    {
      step = 0;
      g_error ("%s, allocation %" G_GINT64_FORMAT ": status %x, '%s'", reading.path, n_allocations,
               (guint) status, said);
    }
}

/* Forks; returns %TRUE in the child, whose allocation fails.  Memory that an aborted reader
 * leaks is freed with the child. */
static gboolean
split_off (void)
{
  int ends[2];
  pid_t child;

  g_assert_cmpint (pipe (ends), ==, 0);
  child = fork ();
  if (child == 0)
    {
      dup2 (ends[1], STDOUT_FILENO);
      dup2 (ends[1], STDERR_FILENO);
      prctl (PR_SET_DUMPABLE, 0);
      step = 0;
      reading.is_child = TRUE;
      return TRUE;
    }
  g_assert_cmpint (child, >, 0);
  close (ends[1]);
  wait_for (child, ends[0]);
  close (ends[0]);
  return FALSE;
}

static gint64
count (int (*reader) (const char *path), const char *path)
{
  reader (path); /* allocate one-time data */
  n_allocations = 0;
  g_assert_cmpint (reader (path), ==, READ);
  return n_allocations;
}

static void
fail_each (int (*reader) (const char *path), const char *path, gint64 every)
{
  int outcome;

  memset (&reading, 0, sizeof reading);
  reading.path = path;
  n_allocations = 0;
  step = every;
  outcome = reader (path);
  if (reading.is_child)
    _exit (outcome);
  step = 0;
  g_assert_cmpint (outcome, ==, READ);
}

static void
try_each (int (*reader) (const char *path), const char *path)
{
  gint64 n = count (reader, path);
  gboolean all = n <= FEW || g_getenv ("ADJ_TEST_ALLOCATIONS") != NULL;
  gint64 every = all ? 1 : n / N_SAMPLES + 1;

  fail_each (reader, path, every);
  g_test_message ("%s: of %" G_GINT64_FORMAT " allocations in steps of %" G_GINT64_FORMAT
                  " %u were not missed, %u refused, %u ended by GLib",
                  path, n, every, reading.outcomes[READ], reading.outcomes[REFUSED],
                  reading.outcomes[ENDED_BY_GLIB]);
}

/* -- files -- */

typedef struct
{
  int (*reader) (const char *path);
  const char *path;
} Sample;

static void
test_sample (gconstpointer data)
{
  const Sample *sample = data;
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "..", sample->path, NULL);

  try_each (sample->reader, path);
}

static void
test_tensors (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "t.safetensors", NULL);
  const float numbers[] = { 1, 2, 3 };
  const gint64 size = 3;
  g_autoptr (AdjTensorData) data =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &size, 1, numbers, NULL);
  const char *const names[] = { "a", "b" };
  AdjTensorData *const tensors[] = { data, data };
  g_autoptr (GError) error = NULL;

  adj_safetensors_save (path, names, tensors, 2, &error);
  g_assert_no_error (error);
  try_each (read_tensors, path);
}

/* The folder form. */
static void
test_folder (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *capture = adj_test_data_path ("graphs/mlp.adjoint");
  g_autofree char *path = g_build_filename (folder->path, "mlp/", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (capture, NULL, &error);

  g_assert_no_error (error);
  adj_format_find ("adjoint", NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  try_each (read_bundle, path);
}

/* A size in a file, however large, causes at most an error. */
static void
test_large (void)
{
  static const char header[] = "{\"f\":{\"dtype\":\"F32\",\"shape\":[524288],\"data_offsets\":"
                               "[0,2097152]},\"b\":{\"dtype\":\"BOOL\",\"shape\":[2097152],"
                               "\"data_offsets\":[2097152,4194304]}}";
  const guint64 length = GUINT64_TO_LE (strlen (header));
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "t.safetensors", NULL);
  g_autofree char *data = g_strnfill (4 << 20, 2);
  g_autoptr (GByteArray) file = g_byte_array_new ();

  g_assert_cmpuint (strlen (header) % 4, !=, 0); /* so that the data is not aligned */
  g_byte_array_append (file, (const guint8 *) &length, sizeof length);
  g_byte_array_append (file, (const guint8 *) header, strlen (header));
  g_byte_array_append (file, (const guint8 *) data, 4 << 20);
  g_assert_true (g_file_set_contents (path, (const char *) file->data, (gssize) file->len, NULL));
  smallest = 1 << 20;
  g_assert_cmpint (count (read_tensors, path), ==, 3);
  fail_each (read_tensors, path, 1);
  g_assert_cmpuint (reading.outcomes[REFUSED], ==, 3);
  smallest = 0;
}

static const Sample samples[] = {
  { read_bundle, "data/graphs/mlp.adjoint" },
  { read_bundle, "data/graphs/torch-trace" },
  { read_bundle, "tests/formats/data/trace-2.4.log" },
  { read_bundle, "tests/formats/data/console-2.15.txt" },
  { read_bundle, "tests/formats/data/console-2.1.txt" },
  { read_bundle, "tests/formats/data/models-console-2.15.txt.gz" },
  { read_bundle, "tests/formats/data/pt2/2.6/nograd.pt2" },
  { read_bundle, "tests/formats/data/pt2/2.15/counter.pt2" },
  { read_bundle, "tests/formats/data/pt2/2.6/dynamic.pt2" },
  { read_bundle, "tests/formats/data/pt2/2.15/arguments.pt2" },
  { read_bundle, "tests/formats/data/compiled-autograd.adjoint" },
  { read_bundle, "tests/formats/data/autograd-console-2.6.txt" },
  { read_bundle, "tests/formats/data/counting-policy.adjoint" },
  { read_debug_log, "tests/formats/data/debug/norms.json" },
  { read_bundle, "data/graphs/gpt2-inductor.adjoint" },
  { read_bundle, "tests/session/data/dynamic-sizes.adjoint" },
  { read_bundle, "tests/fuzz/corpus/fuzz-text/forms" },
  { read_saved_tensors, "tests/formats/data/pt2/2.6/mlp.outputs.pt" },
  { read_snapshot, "tests/formats/data/snapshot.pickle" },
};

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autofree char *base = g_path_get_basename (samples[i].path);
      g_autofree char *path = g_strconcat ("/formats/allocation/", base, NULL);

      g_test_add_data_func (path, &samples[i], test_sample);
    }
  g_test_add_func ("/formats/allocation/folder", test_folder);
  g_test_add_func ("/formats/allocation/safetensors", test_tensors);
  g_test_add_func ("/formats/allocation/large", test_large);
  return g_test_run ();
}
