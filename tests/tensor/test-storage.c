/* SPDX-License-Identifier: MIT */
/* Storage: copies on write, alignment, resizing. */

#include <string.h>

#include "tensor/adj-storage.h"

static void
test_zeroed (void)
{
  g_autoptr (AdjStorage) storage = adj_storage_new (100, ADJ_CPU);
  const guint8 *bytes = adj_storage_read (storage);

  g_assert_cmpuint (adj_storage_get_n_bytes (storage), ==, 100);
  g_assert_cmpuint ((guintptr) bytes % 16, ==, 0);
  for (guint i = 0; i < 100; i++)
    g_assert_cmpuint (bytes[i], ==, 0);
}

static void
test_copies_on_write (void)
{
  static const char text[] = "0123456789abcdef";
  g_autoptr (GBytes) bytes = g_bytes_new (text, sizeof text);
  g_autoptr (AdjStorage) storage = adj_storage_new_shared (bytes, ADJ_CPU);
  g_autoptr (GBytes) before = adj_storage_snapshot (storage);
  g_autoptr (GBytes) after = NULL;
  char *writable;

  g_assert_true (adj_storage_read (storage) == g_bytes_get_data (bytes, NULL));
  g_assert_true (before == bytes);

  writable = adj_storage_write (storage);
  g_assert_true ((gconstpointer) writable != g_bytes_get_data (bytes, NULL));
  g_assert_cmpstr (writable, ==, text);
  g_assert_true (adj_storage_write (storage) == writable);
  writable[0] = 'X';

  g_assert_cmpstr (g_bytes_get_data (bytes, NULL), ==, text);
  after = adj_storage_snapshot (storage);
  writable[1] = 'Y';
  g_assert_cmpstr (g_bytes_get_data (after, NULL), ==, "X123456789abcdef");
}

/* Kernels access elements in place, which needs alignment. */
static void
test_aligns (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new ("0123456789abcdef", 16);
  g_autoptr (GBytes) odd = g_bytes_new_from_bytes (bytes, 1, 8);
  g_autoptr (AdjStorage) storage = adj_storage_new_shared (odd, ADJ_CPU);

  g_assert_cmpuint ((guintptr) adj_storage_read (storage) % 16, ==, 0);
  g_assert_cmpmem (adj_storage_read (storage), 8, "12345678", 8);
}

static void
test_resize (void)
{
  g_autoptr (GBytes) bytes = g_bytes_new ("abcd", 4);
  g_autoptr (AdjStorage) storage = adj_storage_new_shared (bytes, ADJ_CPU);

  adj_storage_resize (storage, 6);
  g_assert_cmpmem (adj_storage_read (storage), adj_storage_get_n_bytes (storage), "abcd\0\0", 6);
  adj_storage_resize (storage, 2);
  g_assert_cmpmem (adj_storage_read (storage), adj_storage_get_n_bytes (storage), "ab", 2);
  adj_storage_resize (storage, 0);
  g_assert_cmpuint (adj_storage_get_n_bytes (storage), ==, 0);
  g_assert_nonnull (adj_storage_read (storage));
  g_assert_cmpmem (g_bytes_get_data (bytes, NULL), 4, "abcd", 4);
}

static void
test_fake (void)
{
  g_autoptr (AdjStorage) storage = adj_storage_new_fake (G_MAXSIZE, ADJ_CPU);

  g_assert_true (adj_storage_is_fake (storage));
  g_assert_cmpuint (adj_storage_get_n_bytes (storage), ==, G_MAXSIZE);
  adj_storage_resize (storage, 8);
  g_assert_cmpuint (adj_storage_get_n_bytes (storage), ==, 8);
}

static void
test_identity (void)
{
  g_autoptr (AdjStorage) a = adj_storage_new (0, ADJ_CPU);
  g_autoptr (AdjStorage) b = adj_storage_new (0, (AdjDevice){ ADJ_DEVICE_CUDA, 1 });

  g_assert_cmpuint (adj_storage_get_id (a), !=, adj_storage_get_id (b));
  g_assert_cmpint (adj_storage_get_device (b).index, ==, 1);
  g_assert_cmpuint (adj_storage_get_version (a), ==, 0);
  adj_storage_bump_version (a);
  g_assert_cmpuint (adj_storage_get_version (a), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensor/storage/zeroed", test_zeroed);
  g_test_add_func ("/tensor/storage/copies-on-write", test_copies_on_write);
  g_test_add_func ("/tensor/storage/aligns", test_aligns);
  g_test_add_func ("/tensor/storage/resize", test_resize);
  g_test_add_func ("/tensor/storage/fake", test_fake);
  g_test_add_func ("/tensor/storage/identity", test_identity);
  return g_test_run ();
}
