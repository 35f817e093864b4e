/* SPDX-License-Identifier: MIT */

/* Documents with the classes and operators of a plugin, and the option of the workbench. */

#include <gio/gio.h>
#include <string.h>

#include "model/adj-opening.h"
#include "session/adj-program.h"
#include "support/adj-test.h"
#include "ui/adj-wait.h"

const AdjProgram *own_values (void);

static char *workbench;

/* (transfer full) */
static AdjDocument *
open_capture (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "objects", "captures", "2.15-constant-aot.txt", NULL);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  AdjDocument *document = adj_document_new ();

  adj_document_open (document, file, NULL);
  adj_wait_for (document);
  g_assert_no_error (adj_document_get_error (document));
  adj_document_run (document, FALSE);
  adj_wait_for (document);
  return document;
}

/* Documents opened earlier do not get a plugin's classes. */
static void
test_documents (void)
{
  g_autoptr (AdjExtensions) extensions = adj_extensions_new ();
  g_autoptr (AdjDocument) without = open_capture ();
  g_autoptr (AdjDocument) with = NULL;

  g_assert_true (adj_program_extend (own_values (), extensions, NULL, NULL));
  adj_opening_set_extensions (extensions);
  with = open_capture ();
  g_assert_null (adj_document_get_evaluation (without));
  g_assert_nonnull (adj_document_get_evaluation (with));
  adj_opening_set_extensions (NULL);
  g_clear_object (&with);
  adj_wait_for_threads ();
}

/* An error in the option ends the program before a window opens. */
static void
test_option (void)
{
  const char *argv[] = { workbench, "--plugin", "./nowhere.so:it", NULL };
  g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, NULL);

  g_assert_cmpint (process->status, ==, 2);
  g_assert_nonnull (strstr (process->err, "nowhere.so"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  workbench = argv[1];
  g_test_add_func ("/ui/plugins/documents", test_documents);
  g_test_add_func ("/ui/plugins/option", test_option);
  return g_test_run ();
}
