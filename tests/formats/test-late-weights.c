/* SPDX-License-Identifier: MIT */
/* Weights of a large .pt2, loaded at first access, while another process writes the file. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "formats/adj-format.h"
#include "support/adj-test.h"
#include "support/zip-bytes.h"
#include "tensor/adj-late-bytes-internal.h"

#define N_WEIGHTS (17 << 18) /* 17 MiB of f32 */

typedef struct
{
  AdjTestFolder *folder;
  char *path;
  AdjBundle *bundle;
} Fixture;

/* Writes a program of one weight and enlarges its weight table. */
static void
write_program (const char *path, guint n_weights)
{
  g_autofree char *sample =
      g_test_build_filename (G_TEST_DIST, "fuzz", "corpus", "fuzz-pt2", "weight-alone", NULL);
  g_autofree char *text = adj_test_read_file (sample, NULL);
  g_autofree float *weights = g_new (float, n_weights);
  g_autofree char *sizes = g_strdup_printf ("\"sizes\":[{\"as_int\":%u}]", n_weights);
  g_autoptr (GString) grown = g_string_new (text);
  g_auto (GStrv) parts = NULL;
  g_autoptr (GByteArray) bytes = NULL;

  g_string_replace (grown, "\"sizes\":[{\"as_int\":3}]", sizes, 0);
  parts = g_strsplit (grown->str, "\f", 2);
  for (guint i = 0; i < n_weights; i++)
    weights[i] = (float) i;
  bytes = zip_bytes_new ((const ZipPart[]){
      { "m/archive_format", "pt2", 3 },
      { "m/archive_version", "0", 1 },
      { "m/byteorder", "little", 6 },
      { "m/models/model.json", parts[0], strlen (parts[0]) },
      { "m/data/weights/model_weights_config.json", parts[1], strlen (parts[1]) },
      { "m/data/weights/weight_0", (const char *) weights, n_weights * sizeof *weights },
      { NULL },
  });
  g_assert_true (g_file_set_contents (path, (const char *) bytes->data, bytes->len, NULL));
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  fixture->folder = adj_test_folder_new ();
  fixture->path = g_build_filename (fixture->folder->path, "large.pt2", NULL);
  write_program (fixture->path, N_WEIGHTS);
  fixture->bundle = adj_bundle_load (fixture->path, NULL, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_bundle_unref (fixture->bundle);
  g_free (fixture->path);
  adj_test_folder_free (fixture->folder);
}

static AdjTensorData *
get_weights (const Fixture *fixture)
{
  AdjTensorData *weights = adj_bundle_get_call (fixture->bundle, 0)->inputs[0].data;

  g_assert_cmpint (adj_tensor_data_get_numel (weights), ==, N_WEIGHTS);
  return weights;
}

static void
assert_stale (const Fixture *fixture)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (adj_tensor_data_fetch (get_weights (fixture), &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_STALE);
  g_assert_nonnull (strstr (error->message, "large.pt2"));
  g_assert_null (strchr (error->message, '\n'));
}

static void
test_read (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_tensor_data_fetch (get_weights (fixture), &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (adj_tensor_data_get_double (get_weights (fixture), N_WEIGHTS - 1), ==,
                     (float) (N_WEIGHTS - 1));
}

static void
test_written (Fixture *fixture, gconstpointer data)
{
  int file;

  g_usleep (20000);
  file = open (fixture->path, O_WRONLY);
  g_assert_cmpint (pwrite (file, "1234", 4, N_WEIGHTS), ==, 4);
  close (file);
  assert_stale (fixture);
}

static void
test_cut (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint (truncate (fixture->path, 4096), ==, 0);
  assert_stale (fixture);
}

/* A replaced file stays readable through the open descriptor. */
static void
test_replaced (Fixture *fixture, gconstpointer data)
{
  write_program (fixture->path, 3);
  test_read (fixture, data);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function)                                                                       \
  g_test_add ("/formats/late-weights/" name, Fixture, NULL, set_up, function, tear_down)
  TEST ("read", test_read);
  TEST ("written", test_written);
  TEST ("cut", test_cut);
  TEST ("replaced", test_replaced);
  return g_test_run ();
}
