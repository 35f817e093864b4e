/* SPDX-License-Identifier: MIT */
/* Memory snapshots of a GPU, and pickles that are not snapshots. */

#include <string.h>

#include "base/adj-error.h"
#include "formats/adj-memory-snapshot.h"
#include "support/adj-test.h"

static void
test_lists (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "snapshot.pickle", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjMemorySnapshot) snapshot = adj_memory_snapshot_load (path, NULL, &error);
  const AdjMemorySegment *segment;
  const AdjMemoryEvent *event;

  g_assert_no_error (error);
  g_assert_cmpuint (adj_memory_snapshot_get_n_segments (snapshot), ==, 1);
  segment = adj_memory_snapshot_get_segment (snapshot, 0);
  g_assert_cmpuint (segment->total, ==, 4096);
  g_assert_cmpuint (segment->allocated, ==, 1024);
  g_assert_cmpuint (segment->n_blocks, ==, 2);
  g_assert_cmpstr (segment->type, ==, "small");
  g_assert_cmpuint (adj_memory_snapshot_get_n_events (snapshot), ==, 5);
  event = adj_memory_snapshot_get_event (snapshot, 2);
  g_assert_cmpstr (event->action, ==, "alloc");
  g_assert_cmpuint (event->allocated, ==, 3072);
  g_assert_cmpint (event->time_us, ==, 2500);
  g_assert_cmpstr (event->frame, ==, "train.py:5 step");
  g_assert_cmpuint (adj_memory_snapshot_get_event (snapshot, 4)->allocated, ==, 1024);
}

static void
test_refuses (void)
{
  static const struct
  {
    const char *bytes;
    gsize length;
    const char *mentions;
  } cases[] = {
    { "", 0, "no snapshot of memory, as" },
    { "PK\3\4", 4, "no snapshot of memory, as" },
    { "\200\2]q\0.", 6, "no snapshot of memory" },
    { "\200\2}(X\1\0\0", 8, "the pickle ends in the middle" },
    { "\200\2cos\nsystem\nX\4\0\0\0true\205R.", 25, "no snapshot of memory" },
  };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "a.pickle", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (g_file_set_contents (path, cases[i].bytes, (gssize) cases[i].length, NULL));
      g_assert_null (adj_memory_snapshot_load (path, NULL, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
      g_assert_nonnull (strstr (error->message, cases[i].mentions));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/memory-snapshot/lists", test_lists);
  g_test_add_func ("/formats/memory-snapshot/refuses", test_refuses);
  return g_test_run ();
}
