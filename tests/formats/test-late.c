/* SPDX-License-Identifier: MIT */
/* Large files: opened by their index; tensors are read and verified at first access. */

#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "formats/adj-format.h"
#include "session/adj-session.h"
#include "support/adj-test.h"
#include "support/large-bundle.h"
#include "tensor/adj-late-bytes-internal.h"

#define LARGE (17 << 20)

typedef struct
{
  AdjTestFolder *folder;
  char *path;
  AdjBundle *bundle; /* of the file at @path */
} Fixture;

static AdjBundle *
load (const char *path)
{
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

static void
save (AdjBundle *bundle, const char *path)
{
  g_autoptr (GError) error = NULL;

  adj_format_for_path (path, &error)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) bundle = adj_test_large_bundle (LARGE);

  fixture->folder = adj_test_folder_new ();
  fixture->path = g_build_filename (fixture->folder->path, data, NULL);
  save (bundle, fixture->path);
  fixture->bundle = load (fixture->path);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_bundle_unref (fixture->bundle);
  g_free (fixture->path);
  adj_test_folder_free (fixture->folder);
}

static AdjTensorData *
get_input (const AdjBundle *bundle)
{
  return adj_bundle_get_call (bundle, 0)->inputs[0].data;
}

/* The file that contains the elements. */
static char *
data_path (const Fixture *fixture)
{
  g_autofree char *tensors = g_build_filename (fixture->path, "tensors", NULL);
  g_autoptr (GDir) dir = g_dir_open (tensors, 0, NULL);

  return dir != NULL ? g_build_filename (tensors, g_dir_read_name (dir), NULL)
                     : g_strdup (fixture->path);
}

/* Overwrites a number in the middle of the elements, after a pause that lets the file's time
 * change. */
static void
write_into (const Fixture *fixture)
{
  g_autofree char *path = data_path (fixture);
  float one = 1;
  int fd;

  g_usleep (20000);
  fd = open (path, O_WRONLY);
  g_assert_cmpint (pwrite (fd, &one, sizeof one, LARGE / 2 / 64 * 64), ==, sizeof one);
  close (fd);
}

static void
assert_run_fails (AdjBundle *bundle, const char *why)
{
  g_autoptr (GError) error = NULL;
  AdjSessionRun run = { .bundle = bundle, .graph = adj_bundle_get_graph (bundle, 0) };
  AdjRunResult result = { 0 };

  g_assert_false (adj_session_run (&run, &result, NULL, NULL, &error));
  g_assert_nonnull (strstr (error->message, ".safetensors: "));
  g_assert_nonnull (strstr (error->message, why));
  g_assert_null (strchr (error->message, '\n'));
}

static void
test_read (Fixture *fixture, gconstpointer data)
{
  AdjTensorData *input = get_input (fixture->bundle);
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (adj_tensor_data_get_numel (input), ==, LARGE / 4);
  g_assert_true (adj_tensor_data_fetch (input, &error));
  g_assert_no_error (error);
  g_assert_cmpint ((guintptr) g_bytes_get_data (adj_tensor_data_get_bytes (input), NULL) % 64, ==,
                   0);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (fixture->bundle)), ==, 0);
}

/* Tensors read before the change stay valid; later reads fail each time. */
static void
test_changed (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) other = load (fixture->path);
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_tensor_data_fetch (get_input (other), NULL));
  write_into (fixture);
  g_assert_true (adj_tensor_data_fetch (get_input (other), NULL));
  g_assert_false (adj_tensor_data_fetch (get_input (fixture->bundle), &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_STALE);
  g_assert_cmpfloat (adj_tensor_data_get_double (get_input (fixture->bundle), LARGE / 8), ==, 0);
  assert_run_fails (fixture->bundle, "somebody changed the file since it was opened");
}

static void
test_cut (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = data_path (fixture);

  g_assert_cmpint (truncate (path, 100), ==, 0);
  assert_run_fails (fixture->bundle, "somebody changed the file since it was opened");
}

/* A replaced file stays readable through the open descriptor. */
static void
test_replaced (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) small = adj_test_large_bundle (64);
  g_autoptr (GError) error = NULL;

  save (small, fixture->path);
  g_assert_true (adj_tensor_data_fetch (get_input (fixture->bundle), &error));
  g_assert_no_error (error);
}

/* A change before the file is opened is detected by the hash. */
static void
test_edited (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) edited = NULL;

  write_into (fixture);
  edited = load (fixture->path);
  assert_run_fails (edited, "edited by hand (its sha256");
}

/* A file is saved over itself; one with missing data is not written. */
static void
test_saved (Fixture *fixture, gconstpointer data)
{
  g_autofree char *before = NULL, *after = NULL;
  g_autofree char *path = data_path (fixture);
  g_autofree char *copy = g_build_filename (fixture->folder->path, "copy.adjoint", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) again = NULL;
  gsize n_before, n_after;

  before = adj_test_read_file (path, &n_before);
  save (fixture->bundle, fixture->path);
  after = adj_test_read_file (path, &n_after);
  g_assert_cmpmem (before, n_before, after, n_after);
  again = load (fixture->path);
  write_into (fixture);
  g_assert_false (adj_format_for_path (copy, NULL)->save (again, copy, NULL, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_STALE);
  g_assert_false (g_file_test (copy, G_FILE_TEST_EXISTS));
}

int
main (int argc, char **argv)
{
  static const char *const forms[] = { "large.adjoint", "large/" };
  static const struct
  {
    const char *name;
    void (*run) (Fixture *fixture, gconstpointer data);
  } tests[] = {
    { "read", test_read },         { "changed", test_changed }, { "cut", test_cut },
    { "replaced", test_replaced }, { "edited", test_edited },   { "saved", test_saved },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    for (guint k = 0; k < G_N_ELEMENTS (tests); k++)
      {
        g_autofree char *path =
            g_strdup_printf ("/formats/late/%s%s", i == 0 ? "" : "folder/", tests[k].name);

        g_test_add (path, Fixture, forms[i], set_up, tests[k].run, tear_down);
      }
  return g_test_run ();
}
