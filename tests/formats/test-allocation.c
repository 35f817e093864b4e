/* SPDX-License-Identifier: MIT */

/* Every reader, with one allocation after another failing: the file is read, or refused in one
 * line, or GLib ends the process as it does where g_malloc() fails.  Nothing else may happen.
 *
 * ADJ_TEST_ALLOCATIONS=all fails each, else a part of them. */

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adjoint.h"
#include "support/adj-test.h"

#define N_SAMPLES 100
#define MAX_MESSAGE 4096

/* -- an allocator that can fail -- */

void *__libc_malloc (size_t n);
void *__libc_calloc (size_t n, size_t size);
void *__libc_realloc (void *old, size_t n);
void *__libc_memalign (size_t alignment, size_t n);

static gint64 n_allocations;
static gsize smallest;      /* that counts */
static gint64 failing = -1; /* which of them */

static gboolean
fails (size_t n)
{
  if (n < smallest || n_allocations++ != failing)
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
read_tensors (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjSafetensors) file = adj_safetensors_load (path, &error);

  if (file != NULL)
    return READ;
  fprintf (stderr, "%s\n", error->message);
  return REFUSED;
}

static gint64
count (int (*reader) (const char *path), const char *path)
{
  gint64 before;

  reader (path); /* what is made once */
  before = n_allocations;
  g_assert_cmpint (reader (path), ==, READ);
  return n_allocations - before;
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

/* In a process of its own: what a reader that is ended leaves is gone with it. */
static Outcome
read_failing (int (*reader) (const char *path), const char *path, gint64 which)
{
  char said[MAX_MESSAGE + 1];
  gsize length = 0;
  gssize n;
  int ends[2], status;
  pid_t child;
  Outcome outcome;

  g_assert_cmpint (pipe (ends), ==, 0);
  child = fork ();
  if (child == 0)
    {
      dup2 (ends[1], STDOUT_FILENO);
      dup2 (ends[1], STDERR_FILENO);
      prctl (PR_SET_DUMPABLE, 0);
      failing = n_allocations + which;
      _exit (reader (path));
    }
  close (ends[1]);
  while (length < MAX_MESSAGE && (n = read (ends[0], said + length, MAX_MESSAGE - length)) > 0)
    length += (gsize) n;
  said[length] = '\0';
  close (ends[0]);
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  outcome = judge (status, said);
  if (outcome == WRONG)
    g_error ("%s, allocation %" G_GINT64_FORMAT ": status %x, '%s'", path, which, (guint) status,
             said);
  return outcome;
}

static void
fail_each (int (*reader) (const char *path), const char *path)
{
  gint64 n = count (reader, path);
  gint64 step = g_getenv ("ADJ_TEST_ALLOCATIONS") != NULL ? 1 : n / N_SAMPLES + 1;
  guint outcomes[WRONG] = { 0 };

  for (gint64 i = 0; i < n; i += step)
    outcomes[read_failing (reader, path, i)]++;
  g_test_message ("%s: of %" G_GINT64_FORMAT " allocations in steps of %" G_GINT64_FORMAT
                  " %u were not missed, %u refused, %u ended by GLib",
                  path, n, step, outcomes[READ], outcomes[REFUSED], outcomes[ENDED_BY_GLIB]);
}

/* -- files -- */

static void
test_bundle (gconstpointer name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "..", name, NULL);

  fail_each (read_bundle, path);
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
  fail_each (read_tensors, path);
}

/* The directory form. */
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
  fail_each (read_bundle, path);
}

/* What a file asks for by its size is never more than a refusal. */
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
  gint64 n;

  g_assert_cmpuint (strlen (header) % 4, !=, 0); /* so that what follows is not aligned */
  g_byte_array_append (file, (const guint8 *) &length, sizeof length);
  g_byte_array_append (file, (const guint8 *) header, strlen (header));
  g_byte_array_append (file, (const guint8 *) data, 4 << 20);
  g_assert_true (g_file_set_contents (path, (const char *) file->data, (gssize) file->len, NULL));
  smallest = 1 << 20;
  n = count (read_tensors, path);
  g_assert_cmpint (n, ==, 3);
  for (gint64 i = 0; i < n; i++)
    g_assert_cmpint (read_failing (read_tensors, path, i), ==, REFUSED);
  smallest = 0;
}

int
main (int argc, char **argv)
{
  static const char *const files[] = {
    "data/graphs/mlp.adjoint",
    "data/graphs/torch-trace",
    "tests/formats/data/console-2.15.txt",
    "tests/formats/data/console-2.1.txt",
    "tests/formats/data/models-console-2.15.txt.gz",
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++)
    {
      g_autofree char *base = g_path_get_basename (files[i]);
      g_autofree char *path = g_strconcat ("/formats/allocation/", base, NULL);

      g_test_add_data_func (path, files[i], test_bundle);
    }
  g_test_add_func ("/formats/allocation/folder", test_folder);
  g_test_add_func ("/formats/allocation/safetensors", test_tensors);
  g_test_add_func ("/formats/allocation/large", test_large);
  return g_test_run ();
}
