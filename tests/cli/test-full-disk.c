/* SPDX-License-Identifier: MIT */
/* Every command that writes a file, on a full disk or with a limited file size: it prints one
 * sentence and leaves all files unchanged. */

#include <gio/gio.h>
#include <string.h>

#include "support/adj-test.h"

static const struct
{
  const char *arguments;
  const char *file; /* name of the file that exists before */
} writers[] = {
  { "run m.adjoint#joint --keep it", "m.adjoint" },
  { "run m.adjoint#joint --keep it --into k.adjoint", NULL },
  { "run m.adjoint#joint --outputs o.safetensors", "o.safetensors" },
  { "run m.adjoint#joint --values v.safetensors", "v.safetensors" },
  { "convert m.adjoint n.adjoint", "n.adjoint" },
  { "convert m.adjoint#joint t.txt", "t.txt" },
  { "trace m.adjoint#dynamo -o m.adjoint", "m.adjoint" },
  { "render m.adjoint#joint -o p.svg", "p.svg" },
  { "render m.adjoint#joint -o p.png", "p.png" },
  { "render m.adjoint#joint -o p.pdf", "p.pdf" },
  { "report m.adjoint#joint --no-run -o r.html", "r.html" },
};

typedef struct
{
  AdjTestFolder *folder;
} Fixture;

/* @room: free bytes of the disk, at least 0 */
static AdjTestProcess *
adjoint (const Fixture *fixture, const char *arguments, gint64 room)
{
  g_autofree char *line =
      g_strdup_printf ("env %s%s ADJ_TEST_DISK=%" G_GINT64_FORMAT " %s %s",
                       room >= 0 ? "LD_PRELOAD=" : "UNUSED=", g_getenv ("ADJ_FULL_DISK"), room,
                       g_getenv ("ADJ_PROGRAM"), arguments);
  g_auto (GStrv) argv = g_strsplit (line, " ", -1);

  return adj_test_spawn ((const char *const *) argv, NULL, fixture->folder->path);
}

/* @size: limit of file sizes in KiB; a write beyond it raises SIGXFSZ, which kills a process
 * that does not ignore it */
static AdjTestProcess *
adjoint_limited (const Fixture *fixture, const char *arguments, gint64 size)
{
  g_autofree char *line = g_strdup_printf ("ulimit -f %" G_GINT64_FORMAT "; exec '%s' %s", size,
                                           g_getenv ("ADJ_PROGRAM"), arguments);
  const char *argv[] = { "bash", "-c", line, NULL };

  return adj_test_spawn (argv, NULL, fixture->folder->path);
}

static char *
show_folder (const Fixture *fixture)
{
  g_autoptr (AdjTestProcess) shown = adjoint (fixture, "show folder", -1);

  g_assert_cmpint (shown->status, ==, 0);
  return g_steal_pointer (&shown->out);
}

/* Adds "name checksum" of each file under @path to @out. */
static void
describe (const char *path, GPtrArray *out)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *inside = g_build_filename (path, name, NULL);
      g_autofree char *bytes = NULL;
      g_autofree char *sum = NULL;
      gsize length;

      if (g_file_test (inside, G_FILE_TEST_IS_DIR))
        {
          describe (inside, out);
          continue;
        }
      bytes = adj_test_read_file (inside, &length);
      sum = g_compute_checksum_for_data (G_CHECKSUM_MD5, (const guchar *) bytes, length);
      g_ptr_array_add (out, g_strdup_printf ("%s %s", inside, sum));
    }
}

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

static char *
state_of (const Fixture *fixture)
{
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func (g_free);

  describe (fixture->folder->path, files);
  g_ptr_array_sort (files, by_text);
  g_ptr_array_add (files, NULL);
  return g_strjoinv ("\n", (char **) files->pdata);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjTestProcess) converted = NULL;
  g_autofree char *from = adj_test_data_path ("graphs/mlp.adjoint");
  g_autofree char *bytes = NULL;
  gsize length;

  fixture->folder = adj_test_folder_new ();
  bytes = adj_test_read_file (from, &length);
  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    if (writers[i].file != NULL && !g_str_has_prefix (writers[i].file, "folder"))
      {
        g_autofree char *path = g_build_filename (fixture->folder->path, writers[i].file, NULL);
        gboolean is_read = strcmp (writers[i].file, "m.adjoint") == 0;

        g_assert_true (g_file_set_contents (path, is_read ? bytes : "old",
                                            is_read ? (gssize) length : 3, NULL));
      }
  converted = adjoint (fixture, "convert m.adjoint folder/", -1);
  g_assert_cmpint (converted->status, ==, 0);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_test_folder_free (fixture->folder);
}

typedef AdjTestProcess *(*Run) (const Fixture *fixture, const char *arguments, gint64 room);

/* Runs with more and more space from @least steps on until it suffices; a run with too little
 * prints @why. */
static void
run_with_more (Fixture *fixture, const char *arguments, Run run, gint64 least, const char *why)
{
  g_autofree char *before = state_of (fixture);
  guint n_failed = 0;

  for (gint64 room = 0;; room += room / 2 + least)
    {
      g_autoptr (AdjTestProcess) process = run (fixture, arguments, room);
      g_autofree char *after = NULL;

      if (process->status == 0)
        break;
      n_failed++;
      after = state_of (fixture);
      g_assert_cmpstr (after, ==, before);
      if (process->status < 2 || strstr (process->err, why) == NULL ||
          strchr (process->err, '\n') != process->err + process->err_length - 1)
        g_error ("%s, with room for %" G_GINT64_FORMAT ": %d %s", arguments, room, process->status,
                 process->err);
    }
  g_test_message ("%s: %u times too little room", arguments, n_failed);
  g_assert_cmpuint (n_failed, >, 0);
}

static gsize
size_of (const Fixture *fixture, const char *file)
{
  g_autofree char *path = g_build_filename (fixture->folder->path, file, NULL);
  g_autofree char *bytes = NULL;
  gsize length;

  bytes = adj_test_read_file (path, &length);
  return length;
}

/* The picture that just had enough room is whole. */
static void
assert_whole (const Fixture *fixture, const char *arguments, const char *file)
{
  gsize size = size_of (fixture, file);
  g_autoptr (AdjTestProcess) process = adjoint (fixture, arguments, -1);

  g_assert_cmpint (process->status, ==, 0);
  g_assert_cmpuint (size, ==, size_of (fixture, file));
}

static void
test_writer (Fixture *fixture, gconstpointer data)
{
  const char *arguments = writers[GPOINTER_TO_UINT (data)].arguments;

  run_with_more (fixture, arguments, adjoint, 100, "No space left on device");
  if (g_str_has_prefix (arguments, "render"))
    assert_whole (fixture, arguments, writers[GPOINTER_TO_UINT (data)].file);
}

static void
test_size (Fixture *fixture, gconstpointer data)
{
  run_with_more (fixture, writers[GPOINTER_TO_UINT (data)].arguments, adjoint_limited, 1,
                 "File too large");
}

/* A folder keeps its former content, or all new parts are in place; then the error says so. */
static void
test_folder (Fixture *fixture, gconstpointer arguments)
{
  g_autofree char *before = show_folder (fixture);
  guint n_failed = 0, n_new = 0;

  for (gint64 room = 0;; room += room / 2 + 100)
    {
      g_autoptr (AdjTestProcess) process = adjoint (fixture, arguments, room);
      g_autofree char *after = NULL;

      if (process->status == 0)
        break;
      n_failed++;
      after = show_folder (fixture);
      g_assert_nonnull (strstr (process->err, "No space left on device"));
      if (strcmp (after, before) == 0)
        continue;
      n_new++;
      g_assert_nonnull (strstr (process->err, "all of it stands in "));
      g_assert_nonnull (strstr (after, "kept"));
      tear_down (fixture, NULL);
      set_up (fixture, NULL);
    }
  g_test_message ("%u times too little room, %u times for its parts alone", n_failed, n_new);
  g_assert_cmpuint (n_failed, >, n_new);
  g_assert_cmpuint (n_new, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    {
      g_autofree char *name = g_strdup_printf ("/full-disk/room/%u", i);
      g_autofree char *size = g_strdup_printf ("/full-disk/size/%u", i);

      g_test_add (name, Fixture, GUINT_TO_POINTER (i), set_up, test_writer, tear_down);
      g_test_add (size, Fixture, GUINT_TO_POINTER (i), set_up, test_size, tear_down);
    }
  g_test_add ("/full-disk/folder", Fixture, "run folder#joint --keep kept", set_up, test_folder,
              tear_down);
  return g_test_run ();
}
