/* SPDX-License-Identifier: MIT */
/* safetensors: every rule violated once, and files written by the reference package. */

#include <string.h>

#include "damage.h"
#include "formats/adj-safetensors.h"
#include "support/adj-test.h"
#include "support/bad-files.h"

static GBytes *
compose (const char *header, gsize n_data)
{
  guint64 n = strlen (header);
  guint8 *out = g_malloc0 (8 + n + n_data);

  for (guint i = 0; i < 8; i++)
    out[i] = n >> (8 * i) & 255;
  memcpy (out + 8, header, n);
  return g_bytes_new_take (out, 8 + n + n_data);
}

/* One row for each rule of the format, violated once, and one for a header that just satisfies
 * it. */
static void
test_rule (gconstpointer data)
{
  const AdjBadFile *row = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = adj_bad_file_get_bytes (row);
  g_autoptr (AdjSafetensors) file = adj_safetensors_read (bytes, "in.safetensors", &error);

  if (file != NULL && adj_safetensors_find (file, "x", &error) != NULL)
    {
      g_assert_cmpint (row->status, ==, 0);
      return;
    }
  g_assert_cmpint (row->status, ==, 2);
  if (file == NULL)
    {
      g_assert_true (g_str_has_prefix (error->message, "in.safetensors:"));
      g_assert_nonnull (strstr (error->message, row->out));
    }
}

static void
test_depth (void)
{
  g_autoptr (GString) header = g_string_new ("{\"a\":");
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 100000; i++)
    g_string_append_c (header, '[');
  bytes = compose (header->str, 0);
  g_assert_null (adj_safetensors_read (bytes, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_nonnull (strstr (error->message, "nested deeper than"));
}

/* -- a file of the Python package -- */

static GBytes *
read_torch (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "torch.safetensors", NULL);
  gsize length;
  char *data = adj_test_read_file (path, &length);

  return g_bytes_new_take (data, length);
}

static void
assert_tensor (const AdjSafetensors *file,
               const char *name,
               AdjDType dtype,
               guint rank,
               const double *values,
               guint n)
{
  AdjTensorData *data = adj_safetensors_find (file, name, NULL);

  g_assert_nonnull (data);
  g_assert_cmpint (adj_tensor_data_get_meta (data)->dtype, ==, dtype);
  g_assert_cmpuint (adj_tensor_data_get_meta (data)->shape.rank, ==, rank);
  g_assert_cmpint (adj_tensor_data_get_numel (data), ==, n);
  for (guint i = 0; i < n; i++)
    g_assert_cmpfloat (adj_tensor_data_get_double (data, i), ==, values[i]);
}

static void
assert_torch (const AdjSafetensors *file)
{
  static const double weight[] = { 0, 0.5, 1, 1.5, 2, 2.5 }, bias[] = { 1.5, -2 };
  static const double half[] = { 0.5, 65504 }, brain[] = { 1, -3 }, mask[] = { 1, 0 };
  static const double count[] = { 7 }, small[] = { -1, 2 }, nine[] = { 9 };

  g_assert_cmpuint (adj_safetensors_get_n (file), ==, 9);
  assert_tensor (file, "weight", ADJ_DTYPE_F32, 2, weight, 6);
  assert_tensor (file, "bias", ADJ_DTYPE_F64, 1, bias, 2);
  assert_tensor (file, "half", ADJ_DTYPE_F16, 1, half, 2);
  assert_tensor (file, "brain", ADJ_DTYPE_BF16, 1, brain, 2);
  assert_tensor (file, "mask", ADJ_DTYPE_BOOL, 2, mask, 2);
  assert_tensor (file, "count", ADJ_DTYPE_I64, 0, count, 1);
  assert_tensor (file, "none", ADJ_DTYPE_F32, 2, NULL, 0);
  assert_tensor (file, "small", ADJ_DTYPE_I8, 1, small, 2);
  assert_tensor (file, "name with \"quotes\" and ünïcode", ADJ_DTYPE_I32, 1, nine, 1);
  g_assert_null (adj_safetensors_find (file, "__metadata__", NULL));
  g_assert_null (adj_safetensors_find (file, "absent", NULL));
}

static void
test_reads_package (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = read_torch ();
  g_autoptr (AdjSafetensors) file = adj_safetensors_read (bytes, "torch.safetensors", &error);

  g_assert_no_error (error);
  assert_torch (file);
}

#define T(dtype, shape, offsets)                                                                   \
  "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

/* Data that is unaligned in the file is aligned in memory. */
static void
test_aligns (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) packed =
      compose ("{\"a\":" T ("U8", "[1]", "[0,1]") ",\"b\":" T ("F64", "[1]", "[1,9]") "} ", 9);
  g_autoptr (AdjSafetensors) file = adj_safetensors_read (packed, NULL, &error);
  GBytes *bytes;

  g_assert_no_error (error);
  bytes = adj_tensor_data_get_bytes (adj_safetensors_find (file, "b", NULL));
  g_assert_cmpuint ((guintptr) g_bytes_get_data (bytes, NULL) % 8, ==, 0);
}

static void
test_normalises_booleans (void)
{
  static const char header[] = "{\"a\":" T ("BOOL", "[3]", "[0,3]") "}";
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) zeros = compose (header, 3);
  gsize length;
  guint8 *copy = g_memdup2 (g_bytes_get_data (zeros, &length), g_bytes_get_size (zeros));
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjSafetensors) file = NULL;
  const guint8 *data;

  memcpy (copy + length - 3, "\0\1\377", 3);
  bytes = g_bytes_new_take (copy, length);
  file = adj_safetensors_read (bytes, NULL, &error);
  g_assert_no_error (error);
  data = g_bytes_get_data (adj_tensor_data_get_bytes (adj_safetensors_get (file, 0)), NULL);
  g_assert_cmpmem (data, 3, "\0\1\1", 3);
}

/* -- writing -- */

static GBytes *
write_again (const AdjSafetensors *file)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  GBytes *bytes;

  for (guint i = 0; i < adj_safetensors_get_n (file); i++)
    {
      g_ptr_array_add (names, (gpointer) adj_safetensors_get_name (file, i));
      g_ptr_array_add (tensors, adj_safetensors_get (file, i));
    }
  bytes = adj_safetensors_write ((const char *const *) names->pdata,
                                 (AdjTensorData *const *) tensors->pdata, names->len, &error);
  g_assert_no_error (error);
  return bytes;
}

static void
test_round_trip (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) first = read_torch ();
  g_autoptr (AdjSafetensors) file = adj_safetensors_read (first, NULL, &error);
  g_autoptr (GBytes) second = write_again (file);
  g_autoptr (AdjSafetensors) again = adj_safetensors_read (second, NULL, &error);
  g_autoptr (GBytes) third = NULL;
  const guint8 *data = g_bytes_get_data (second, NULL);

  g_assert_no_error (error);
  assert_torch (again);
  g_assert_cmpint ((data[0] | data[1] << 8 | data[2] << 16) % 64, ==, 56);
  g_assert_cmpstr (adj_safetensors_get_name (again, 0), ==, "bias");
  third = write_again (again);
  g_assert_true (g_bytes_equal (second, third));
}

static void
test_refuses_to_write (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) first = read_torch ();
  g_autoptr (AdjSafetensors) file = adj_safetensors_read (first, NULL, &error);
  AdjTensorData *tensors[] = { adj_safetensors_get (file, 0), adj_safetensors_get (file, 1) };
  const char *same[] = { "a", "a" };
  const char *reserved[] = { "__metadata__" };

  g_assert_null (adj_safetensors_write (same, tensors, 2, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY);
  g_clear_error (&error);
  g_assert_null (adj_safetensors_write (reserved, tensors, 1, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY);
}

static void
read_damaged (GBytes *damaged, gpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjSafetensors) file = adj_safetensors_read (damaged, "x", &error);

  g_assert_true ((file != NULL) == (error == NULL));
}

static void
test_damaged (void)
{
  g_autoptr (GBytes) bytes = read_torch ();

  damage_each (bytes, read_damaged, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < adj_bad_tensors.n; i++)
    {
      const AdjBadFile *row = &adj_bad_tensors.files[i];
      g_autofree char *rule = g_strdelimit (g_strdup (row->what), " ", '-');
      g_autofree char *path = g_strdup_printf ("/formats/safetensors/%s/%s",
                                               row->status == 0 ? "accepts" : "rejects", rule);

      g_test_add_data_func (path, row, test_rule);
    }
  g_test_add_func ("/formats/safetensors/rejects/depth", test_depth);
  g_test_add_func ("/formats/safetensors/reads-package", test_reads_package);
  g_test_add_func ("/formats/safetensors/aligns", test_aligns);
  g_test_add_func ("/formats/safetensors/normalises-booleans", test_normalises_booleans);
  g_test_add_func ("/formats/safetensors/round-trip", test_round_trip);
  g_test_add_func ("/formats/safetensors/refuses-to-write", test_refuses_to_write);
  g_test_add_func ("/formats/safetensors/damaged", test_damaged);
  return g_test_run ();
}
