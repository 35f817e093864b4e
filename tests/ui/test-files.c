/* SPDX-License-Identifier: MIT */

/* What somebody else does to a file that is open in a window. */

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/adj-format.h"
#include "model/adj-log.h"
#include "support/adj-test.h"
#include "support/large-bundle.h"
#include "support/spoiled-file.h"
#include "ui/adj-walk.h"

#define LOG "graphs/torch-trace/dedicated_log_torch_trace_training.log"
#define N_OPENED 6u

static AdjApplication *application;

typedef struct
{
  AdjTestFolder *folder;
  AdjWindow *window;
  AdjDocument *document;
  char *path;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) bundle = adj_test_large_bundle (20 << 20);
  g_autoptr (GError) error = NULL;

  fixture->folder = adj_test_folder_new ();
  fixture->path = g_build_filename (fixture->folder->path, "large.adjoint", NULL);
  adj_format_find ("adjoint", NULL)->save (bundle, fixture->path, NULL, NULL, &error);
  g_assert_no_error (error);
  fixture->window = adj_walk_open_window (application, 1280, 800);
  g_assert_true (adj_walk_open (fixture->window, fixture->path));
  adj_walk_settle (fixture->window);
  fixture->document = adj_window_get_document (fixture->window);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_walk_close (fixture->window);
  adj_test_folder_free (fixture->folder);
  g_free (fixture->path);
}

static gboolean
log_says (AdjDocument *document, const char *text)
{
  GListModel *log = G_LIST_MODEL (adj_document_get_log (document));

  for (guint i = 0; i < g_list_model_get_n_items (log); i++)
    {
      g_autoptr (AdjLogItem) item = g_list_model_get_item (log, i);

      if (strstr (adj_log_item_get_text (item), text) != NULL)
        return TRUE;
    }
  return FALSE;
}

/* What nobody had looked at is not there any more: it is not computed with, and said. */
static void
test_cut_short (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint (truncate (fixture->path, 100), ==, 0);
  adj_document_run (fixture->document, FALSE);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  g_assert_null (adj_document_get_evaluation (fixture->document));
  g_assert_true (log_says (fixture->document, "somebody changed the file since it was opened"));
  g_assert_true (adj_document_is_changed_outside (fixture->document));
}

/* What was looked at stays, whatever becomes of the file. */
static void
test_cut_short_later (Fixture *fixture, gconstpointer data)
{
  adj_document_run (fixture->document, FALSE);
  adj_wait_for (fixture->document);
  g_assert_cmpint (truncate (fixture->path, 100), ==, 0);
  adj_document_run (fixture->document, FALSE);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  g_assert_nonnull (adj_document_get_evaluation (fixture->document));
}

/* Written anew in place, with as many other bytes, before anybody looked. */
static void
test_rewritten (Fixture *fixture, gconstpointer data)
{
  FILE *file = fopen (fixture->path, "r+");
  char other[4096];

  memset (other, 'o', sizeof other);
  for (guint i = 0; i < (20 << 20) / sizeof other; i++)
    g_assert_cmpuint (fwrite (other, 1, sizeof other, file), ==, sizeof other);
  g_assert_cmpint (fclose (file), ==, 0);
  adj_document_run (fixture->document, FALSE);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  g_assert_null (adj_document_get_evaluation (fixture->document));
  g_assert_true (log_says (fixture->document, "somebody changed the file since it was opened"));
}

/* Somebody goes on writing what the window opens and computes with: each time there is a picture or
 * a sentence. */
static void
open_spoiled (Fixture *fixture, const char *path)
{
  g_autoptr (AdjTestSpoiledFile) spoiled = adj_test_spoil_file (path);
  guint n_shown = 0;

  for (guint i = 0; i < N_OPENED; i++)
    {
      AdjDocument *document;

      g_assert_true (adj_walk_open (fixture->window, path));
      adj_walk_settle (fixture->window);
      document = adj_window_get_document (fixture->window);
      g_assert_true ((adj_document_get_scene (document) != NULL) !=
                     (adj_document_get_error (document) != NULL));
      n_shown += adj_document_get_scene (document) != NULL;
      adj_document_run (document, FALSE);
      adj_wait_for (document);
      adj_walk_settle (fixture->window);
    }
  g_test_message ("%s was shown %u of %u times", path, n_shown, N_OPENED);
}

static void
test_opened_while_written (Fixture *fixture, gconstpointer data)
{
  g_autofree char *small = g_build_filename (fixture->folder->path, "small.adjoint", NULL);
  g_autofree char *log = g_build_filename (fixture->folder->path, "a.log", NULL);
  static const char *const captures[] = { "graphs/mlp.adjoint", LOG };
  const char *paths[] = { small, log };

  open_spoiled (fixture, fixture->path);
  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      g_autofree char *from = adj_test_data_path (captures[i]);
      gsize length;
      g_autofree char *bytes = adj_test_read_file (from, &length);

      g_assert_true (g_file_set_contents (paths[i], bytes, (gssize) length, NULL));
      open_spoiled (fixture, paths[i]);
    }
}

/* A graph that does not fit says what it would take, and the window goes on. */
static void
test_too_large (Fixture *fixture, gconstpointer data)
{
  static const char text[] =
      "class G(torch.nn.Module):\n    def forward(self, x: \"f32[2][1]cpu\"):\n"
      "        full: \"f32[1099511627776][1]cpu\" = torch.ops.aten.full.default([1099511627776], "
      "1)\n"
      "        sum_1: \"f32[][]cpu\" = torch.ops.aten.sum.default(full)\n        return (sum_1,)\n";
  g_autofree char *path = g_build_filename (fixture->folder->path, "too-large.txt", NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (adj_walk_open (fixture->window, path));
  adj_walk_settle (fixture->window);
  fixture->document = adj_window_get_document (fixture->window);
  adj_document_run (fixture->document, FALSE);
  adj_wait_for (fixture->document);
  adj_walk_settle (fixture->window);
  g_assert_null (adj_document_get_evaluation (fixture->document));
  g_assert_true (log_says (fixture->document, "needs about 4.0 TiB"));
  adj_walk_keep (fixture->window, "too-large");
}

/* Read, then cut short and gone: saving writes all that was read. */
static void
test_saved_again (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjBundle) again = NULL;

  adj_document_run (fixture->document, FALSE);
  adj_wait_for (fixture->document);
  g_assert_cmpint (truncate (fixture->path, 0), ==, 0);
  g_assert_cmpint (unlink (fixture->path), ==, 0);
  adj_document_save (fixture->document, fixture->path, NULL);
  adj_wait_for (fixture->document);
  again = adj_bundle_load (fixture->path, NULL, NULL);
  g_assert_nonnull (again);
  g_assert_cmpint (adj_tensor_data_get_numel (adj_bundle_get_call (again, 0)->inputs[0].data), ==,
                   5 << 20);
}

/* Gone before anybody looked: nothing is written, and said. */
static void
test_not_saved (Fixture *fixture, gconstpointer data)
{
  g_assert_cmpint (truncate (fixture->path, 0), ==, 0);
  g_assert_cmpint (unlink (fixture->path), ==, 0);
  adj_document_save (fixture->document, fixture->path, NULL);
  adj_wait_for (fixture->document);
  g_assert_false (g_file_test (fixture->path, G_FILE_TEST_EXISTS));
  g_assert_true (log_says (fixture->document, "somebody changed the file since it was opened"));
}

/* Who was writing already is waited for, and what they wrote is not replaced unasked. */
static void
test_met (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjFileWriter) other = adj_bundle_open_writer (fixture->path, NULL, &error);
  g_autofree char *text = NULL;

  g_assert_no_error (error);
  adj_document_save (fixture->document, fixture->path, NULL);
  g_assert_true (adj_file_writer_write (other, "other", 5, &error));
  g_assert_true (adj_file_writer_commit (other, ADJ_FILE_LASTING, NULL, &error));
  g_assert_no_error (error);
  adj_wait_for (fixture->document);
  g_assert_true (log_says (fixture->document, "somebody else has written it meanwhile"));
  text = adj_test_read_file (fixture->path, NULL);
  g_assert_cmpstr (text, ==, "other");
}

int
main (int argc, char *argv[])
{
  application = adj_walk_begin (&argc, &argv);
  if (application == NULL)
    return 0;
#define TEST(name, function)                                                                       \
  g_test_add ("/ui/files/" name, Fixture, NULL, set_up, function, tear_down)
  TEST ("cut-short", test_cut_short);
  TEST ("cut-short-later", test_cut_short_later);
  TEST ("rewritten", test_rewritten);
  TEST ("opened-while-written", test_opened_while_written);
  TEST ("too-large", test_too_large);
  TEST ("saved-again", test_saved_again);
  TEST ("not-saved", test_not_saved);
  TEST ("met-while-saving", test_met);
  return g_test_run ();
}
