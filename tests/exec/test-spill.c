/* SPDX-License-Identifier: MIT */
/* Values of nodes that do not fit into the memory they may take. */

#include <glib.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "adjoint.h"
#include "exec/adj-spill.h"
#include "support/adj-test.h"

#define N_ELEMENTS 1000
#define N_BYTES (N_ELEMENTS * sizeof (float))

/* @first, @first + 1, … in f32. */
static AdjTensorData *
count_from (double first)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  gint64 size = N_ELEMENTS;
  g_autofree float *values = g_new (float, N_ELEMENTS);
  g_autoptr (GBytes) bytes = NULL;

  for (guint i = 0; i < N_ELEMENTS; i++)
    values[i] = (float) (first + i);
  adj_shape_init_ints (&meta.shape, 1, &size);
  bytes = g_bytes_new (values, N_BYTES);
  return adj_tensor_data_new (&meta, bytes, NULL);
}

static guint
count_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
test_keeps_values (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GPtrArray) kept =
      g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_data_unref);
  AdjSpill *spill;

  g_setenv ("TMPDIR", folder->path, TRUE);
  spill = adj_spill_new (3 * N_BYTES);
  for (guint i = 0; i < 100; i++)
    {
      g_autoptr (AdjTensorData) data = count_from (i);
      g_autoptr (GError) error = NULL;

      g_ptr_array_add (kept, adj_spill_take (spill, data, &error));
      g_assert_no_error (error);
      g_assert_true ((kept->pdata[i] == data) == (i < 3));
    }
  g_assert_cmpuint (adj_spill_get_spilled (spill), ==, 97 * N_BYTES);
  g_assert_cmpuint (count_files (folder->path), ==, 0); /* nothing that a crash would leave */
  adj_spill_free (spill);
  for (guint i = 0; i < 100; i++)
    {
      AdjTensorData *data = kept->pdata[i];

      g_assert_cmpint (adj_tensor_data_get_numel (data), ==, N_ELEMENTS);
      g_assert_cmpfloat (adj_tensor_data_get_double (data, 7), ==, i + 7);
      g_assert_cmpint ((gintptr) g_bytes_get_data (adj_tensor_data_get_bytes (data), NULL) % 16, ==,
                       0);
    }
  g_unsetenv ("TMPDIR");
}

/* What is kept, and what was written just before, is not kept again for a view of it. */
static void
test_counts_shared_once (void)
{
  g_autoptr (AdjSpill) spill = adj_spill_new (N_BYTES);
  g_autoptr (AdjTensorData) first = count_from (0);
  g_autoptr (AdjTensorData) second = count_from (1);

  for (guint i = 0; i < 10; i++)
    {
      g_autoptr (AdjTensorData) again = adj_spill_take (spill, first, NULL);
      g_autoptr (AdjTensorData) written = adj_spill_take (spill, second, NULL);

      g_assert_true (again == first);
      g_assert_cmpfloat (adj_tensor_data_get_double (written, 0), ==, 1);
    }
  g_assert_cmpuint (adj_spill_get_spilled (spill), ==, N_BYTES);
}

static void
test_full_disk (void)
{
  g_autoptr (AdjSpill) spill = adj_spill_new (1);
  g_autoptr (AdjTensorData) data = count_from (0);
  g_autoptr (AdjTensorData) kept = NULL;
  g_autoptr (GError) error = NULL;
  struct rlimit before, none;

  signal (SIGXFSZ, SIG_IGN);
  getrlimit (RLIMIT_FSIZE, &before);
  none = before;
  none.rlim_cur = 1024;
  setrlimit (RLIMIT_FSIZE, &none);
  kept = adj_spill_take (spill, data, &error);
  setrlimit (RLIMIT_FSIZE, &before);
  g_assert_null (kept);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY);
  g_assert_nonnull (strstr (error->message, "no room for 64 MiB beside 0 B"));
}

/* A whole comparison with next to no memory for values finds the same. */
static void
test_compares_spilled (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  AdjSessionRun run = { .bundle = bundle,
                        .graph = adj_bundle_find_graph (bundle, "joint", &error),
                        .keep_memory = 64 };
  g_autoptr (AdjComparison) comparison = NULL;

  g_assert_no_error (error);
  comparison = adj_session_compare_recorded (&run, TRUE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->first, ==, -1);
  g_assert_cmpuint (comparison->n_nodes, ==, 52);
  g_assert_cmpuint (comparison->spilled, >, 10000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/spill/keeps-values", test_keeps_values);
  g_test_add_func ("/exec/spill/counts-shared-once", test_counts_shared_once);
  g_test_add_func ("/exec/spill/full-disk", test_full_disk);
  g_test_add_func ("/exec/spill/compares-spilled", test_compares_spilled);
  return g_test_run ();
}
