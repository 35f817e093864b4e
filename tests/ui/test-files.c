/* SPDX-License-Identifier: MIT */

/* What somebody else does to a file that is open in a window. */

#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

#include "formats/adj-format.h"
#include "model/adj-log.h"
#include "support/adj-test.h"
#include "support/large-bundle.h"
#include "ui/adj-walk.h"

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
  TEST ("saved-again", test_saved_again);
  TEST ("not-saved", test_not_saved);
  TEST ("met-while-saving", test_met);
  return g_test_run ();
}
