/* SPDX-License-Identifier: MIT */
/* Fuzzes safetensors files. */

#include "formats/adj-safetensors.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A file that was read can be written and reads the same. */
static void
check_round_trip (const AdjSafetensors *file)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjSafetensors) again = NULL;

  for (guint i = 0; i < adj_safetensors_get_n (file); i++)
    if (adj_safetensors_get (file, i) != NULL)
      {
        g_ptr_array_add (names, (gpointer) adj_safetensors_get_name (file, i));
        g_ptr_array_add (tensors, adj_safetensors_get (file, i));
      }
  bytes = adj_safetensors_write ((const char *const *) names->pdata,
                                 (AdjTensorData *const *) tensors->pdata, names->len, NULL);
  g_assert_nonnull (bytes);
  again = adj_safetensors_read (bytes, NULL, NULL);
  g_assert_nonnull (again);
  g_assert_cmpuint (adj_safetensors_get_n (again), ==, names->len);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (AdjSafetensors) file = adj_safetensors_read (bytes, "fuzz", NULL);

  if (file != NULL)
    check_round_trip (file);
  return 0;
}
