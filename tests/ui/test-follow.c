/* SPDX-License-Identifier: MIT */
/* A log that a program is writing: the document grows with it, and what is looked at stays. */

#include <glib/gstdio.h>

#include "ir/adj-graph.h"
#include "model/adj-graph-set.h"
#include "model/adj-log.h"
#include "support/adj-test.h"
#include "ui/adj-wait.h"

#define PART 40000 /* bytes of the log, in the middle of a record */

static gboolean
has_16 (gpointer document)
{
  return adj_bundle_get_n_graphs (adj_document_get_bundle (document)) == 16;
}

static gboolean
has_8 (gpointer document)
{
  return adj_bundle_get_n_graphs (adj_document_get_bundle (document)) == 8;
}

static gboolean
has_some (gpointer document)
{
  return adj_document_get_bundle (document) != NULL;
}

static gboolean
has_said (gpointer said)
{
  return *(gboolean *) said;
}

static void
on_remark (AdjDocument *document, const char *text, gboolean *said)
{
  *said = strstr (text, "No such file") != NULL;
}

static void
run_shell (const char *format, ...)
{
  va_list args;
  g_autofree char *line = NULL;
  char *argv[] = { (char *) "sh", (char *) "-c", NULL, NULL };

  va_start (args, format);
  argv[2] = line = g_strdup_vprintf (format, args);
  va_end (args);
  g_assert_true (g_spawn_async (NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL));
}

static void
test_grows (void)
{
  g_autofree char *log = adj_test_data_path ("graphs/torch-trace");
  g_autofree char *folder = g_dir_make_tmp ("adj-follow-XXXXXX", NULL);
  g_autofree char *name = g_build_filename (folder, "dedicated_log_torch_trace_a.log", NULL);
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autoptr (GFile) file = g_file_new_for_path (folder);
  g_autofree char *all = NULL;
  const AdjGraph *shown;
  AdjScene *scene;
  gboolean said = FALSE;
  guint n;

  run_shell ("f=$(echo %s/*.log); head -c %d $f > %s; sleep 1; for i in 1 2 3 4; do tail -c +%d $f "
             "| tail -c +$(((i - 1) * 3000 + 1)) | head -c 3000 >> %s; sleep .2; done; tail -c +%d "
             "$f >> %s",
             log, PART, name, PART + 1, name, PART + 12001, name);
  g_usleep (G_USEC_PER_SEC / 2);
  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_assert_nonnull (adj_document_get_graph (document));
  n = adj_bundle_get_n_graphs (adj_document_get_bundle (document));
  g_assert_cmpuint (n, <, 16);
  shown = adj_document_get_graph (document)->graph;
  scene = adj_document_get_scene (document);
  adj_document_set_selected (document, (AdjNodeId){ 3 });

  g_assert_true (adj_wait_until (has_16, document, 20));
  g_assert_true (adj_document_get_graph (document)->graph == shown);
  g_assert_true (adj_document_get_scene (document) == scene);
  g_assert_cmpuint (adj_document_get_selected (document).index, ==, 3);
  g_assert_true (adj_graph_set_get (adj_document_get_graphs (document),
                                    adj_document_get_graph_index (document))
                     ->graph == shown);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (adj_document_get_bundle (document))), ==,
                    0);

  g_signal_connect (document, "remark", G_CALLBACK (on_remark), &said);
  g_assert_cmpint (g_remove (name), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
  g_assert_true (adj_wait_until (has_said, &said, 20));
  g_assert_true (has_16 (document));
}

/* The console of a program that has not compiled anything yet, and then prints graph after graph.
 */
static void
test_console (void)
{
  g_autofree char *whole =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "console-2.15.txt", NULL);
  g_autofree char *folder = g_dir_make_tmp ("adj-follow-XXXXXX", NULL);
  g_autofree char *name = g_build_filename (folder, "console.txt", NULL);
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autoptr (GFile) file = g_file_new_for_path (name);
  const AdjGraph *shown;

  run_shell ("head -c 400 %s > %s; sleep 1.5; tail -c +401 %s | head -c 20000 >> %s; sleep 1.5; "
             "tail -c +20401 %s >> %s",
             whole, name, whole, name, whole, name);
  g_usleep (G_USEC_PER_SEC / 2);
  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_assert_true (adj_document_is_waiting (document));
  g_assert_true (adj_wait_until (has_some, document, 20));
  adj_wait_for (document);
  g_assert_null (adj_document_get_error (document));
  shown = adj_document_get_graph (document)->graph;
  g_assert_true (adj_wait_until (has_8, document, 20));
  g_assert_true (adj_document_get_graph (document)->graph == shown);
  g_assert_cmpint (g_remove (name), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* The folder of a run that has not compiled anything yet. */
static void
test_waits (void)
{
  g_autofree char *log = adj_test_data_path ("graphs/torch-trace");
  g_autofree char *folder = g_dir_make_tmp ("adj-follow-XXXXXX", NULL);
  g_autofree char *name = g_build_filename (folder, "dedicated_log_torch_trace_a.log", NULL);
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autoptr (GFile) file = g_file_new_for_path (folder);

  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_assert_nonnull (adj_document_get_error (document));
  g_assert_true (adj_document_is_waiting (document));

  run_shell ("head -c 300 %s/*.log > %s; sleep 1.5; cat %s/*.log > %s", log, name, log, name);
  g_assert_true (adj_wait_until (has_some, document, 20));
  adj_wait_for (document);
  g_assert_null (adj_document_get_error (document));
  g_assert_false (adj_document_is_waiting (document));
  g_assert_true (adj_wait_until (has_16, document, 20));
  g_assert_cmpint (g_remove (name), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

/* What no program goes on writing is not waited for. */
static void
test_waits_not (void)
{
  g_autofree char *folder = g_dir_make_tmp ("adj-follow-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "notes.txt", NULL);
  g_autoptr (AdjDocument) document = adj_document_new ();
  g_autoptr (GFile) file = g_file_new_for_path (path);

  g_assert_true (g_file_set_contents (path, "nothing\n", -1, NULL));
  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_assert_nonnull (adj_document_get_error (document));
  g_assert_false (adj_document_is_waiting (document));
  g_assert_cmpint (g_remove (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static gboolean
is_gone (gpointer document)
{
  return *(gpointer *) document == NULL;
}

/* Who closes a document ends following: the file is looked at once more at most. */
static void
test_ends (void)
{
  g_autofree char *log = adj_test_data_path ("graphs/torch-trace");
  g_autoptr (GFile) file = g_file_new_for_path (log);
  AdjDocument *document = adj_document_new ();

  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_object_add_weak_pointer (G_OBJECT (document), (gpointer *) &document);
  g_object_unref (document);
  g_assert_true (adj_wait_until (is_gone, &document, 20));
  adj_wait_for_threads ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/follow/grows", test_grows);
  g_test_add_func ("/ui/follow/console", test_console);
  g_test_add_func ("/ui/follow/waits", test_waits);
  g_test_add_func ("/ui/follow/waits-not", test_waits_not);
  g_test_add_func ("/ui/follow/ends", test_ends);
  return g_test_run ();
}
