/* SPDX-License-Identifier: MIT */
/* Fuzzes snapshots of GPU memory. */

#include <sys/mman.h>
#include <unistd.h>

#include "formats/adj-memory-snapshot.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check (const AdjMemorySnapshot *snapshot)
{
  for (guint i = 0; i < adj_memory_snapshot_get_n_segments (snapshot); i++)
    g_assert_nonnull (adj_memory_snapshot_get_segment (snapshot, i)->type);
  for (guint i = 0; i < adj_memory_snapshot_get_n_events (snapshot); i++)
    g_assert_nonnull (adj_memory_snapshot_get_event (snapshot, i)->action);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  int file = memfd_create ("fuzz", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", file);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjMemorySnapshot) snapshot = NULL;

  g_assert_cmpint (write (file, data, size), ==, (gssize) size);
  snapshot = adj_memory_snapshot_load (path, NULL, &error);
  close (file);
  g_assert_true ((snapshot == NULL) == (error != NULL));
  if (snapshot != NULL)
    check (snapshot);
  return 0;
}
