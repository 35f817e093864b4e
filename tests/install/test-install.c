/* SPDX-License-Identifier: MIT */
/* The installed library: its files, its exported symbols, and that programs and the README's
 * examples compile against it. */

#include <dlfcn.h>
#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include "support/adj-test.h"

/* The build, installed into a separate folder; set by main(). */
static const char *installed;

static char *
run_program (const char *const *argv)
{
  g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, NULL);
  g_autofree char *command = g_strjoinv (" ", (char **) argv);

  if (process->status != 0)
    g_error ("%s: status %d\n%s%s", command, process->status, process->out, process->err);
  return g_strchomp (g_steal_pointer (&process->out));
}

/* Returns the first file below @folder whose path matches @pattern; %NULL: none. */
static char *
find_file (const char *folder, const char *pattern)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      char *found;

      if (g_regex_match_simple (pattern, path, 0, 0))
        return g_steal_pointer (&path);
      found = g_file_test (path, G_FILE_TEST_IS_SYMLINK) ? NULL : find_file (path, pattern);
      if (found != NULL)
        return found;
    }
  return NULL;
}

static void
test_files (void)
{
  static const char *const patterns[] = {
    "/bin/adjoint$",
    "/libexec/adjoint-layout$",
    "/lib.*/libadjoint\\.so$",
    "/lib.*/pkgconfig/adjoint\\.pc$",
    "/include/adjoint/adjoint\\.h$",
  };

  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    {
      g_autofree char *found = find_file (installed, patterns[i]);

      if (found == NULL)
        g_error ("nothing installed matches %s", patterns[i]);
    }
}

/* Compiles with pkg-config like a user of the library, although the tree is not at its
 * configured prefix. @sources: quoted, may contain options; @wanted: "--cflags --libs". */
static void
compile (const char *sources, const char *wanted, const char *program)
{
  g_autofree char *pc = find_file (installed, "/pkgconfig/adjoint\\.pc$");
  g_autofree char *pc_folder = g_path_get_dirname (pc);
  g_autofree char *library_folder = g_path_get_dirname (pc_folder);
  g_autofree char *adjoint = find_file (installed, "/bin/adjoint$");
  g_autofree char *bin = g_path_get_dirname (adjoint);
  g_autofree char *prefix = g_path_get_dirname (bin);
  g_autofree char *command =
      g_strdup_printf ("sed -i 's|^prefix=.*|prefix=%s|' '%s' && "
                       "cc -std=gnu17 -Wall -Wextra -Werror -Wno-unused-parameter -o '%s' %s "
                       "$(PKG_CONFIG_PATH='%s' pkg-config %s adjoint) -Wl,-rpath,'%s'",
                       prefix, pc, program, sources, pc_folder, wanted, library_folder);
  const char *shell[] = { "sh", "-c", command, NULL };
  g_autofree char *out = run_program (shell);
}

static void
test_program (void)
{
  g_autofree char *source = g_test_build_filename (G_TEST_DIST, "install", "loss.c", NULL);
  g_autofree char *quoted = g_shell_quote (source);
  g_autofree char *program = g_build_filename (installed, "loss", NULL);
  g_autofree char *data = adj_test_data_path ("graphs/mlp.adjoint");
  const char *run[] = { program, data, NULL };
  g_autofree char *printed = NULL;
  g_auto (GStrv) numbers = NULL;
  double loss, recorded;

  compile (quoted, "--cflags --libs", program);
  printed = run_program (run);
  numbers = g_strsplit (printed, " ", -1);
  g_assert_cmpuint (g_strv_length (numbers), ==, 2);
  loss = g_ascii_strtod (numbers[0], NULL);
  recorded = g_ascii_strtod (numbers[1], NULL);
  g_test_message ("loss %g, recorded %g", loss, recorded);
  g_assert_cmpfloat (recorded, >, 0);
  g_assert_cmpfloat_with_epsilon (loss, recorded, 1e-5 * fabs (recorded));
}

/* Returns the indented block of @text after @mark, which may be its first line, without
 * indentation and trailing empty lines. */
static char *
read_block (const char *text, const char *mark)
{
  GString *block = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;
  const char *at = strstr (text, mark);

  if (at == NULL)
    g_error ("README.md has no '%s'", mark);
  lines = g_strsplit (at, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "    "))
      g_string_append_printf (block, "%s\n", lines[i] + 4);
    else if (*lines[i] != '\0' && block->len > 0)
      break;
    else if (block->len > 0)
      g_string_append_c (block, '\n');
  g_strchomp (block->str);
  return g_string_free (block, FALSE);
}

/* The example in the README does what the README says. */
static void
test_readme (void)
{
  g_autofree char *readme = g_test_build_filename (G_TEST_DIST, "..", "README.md", NULL);
  g_autofree char *source = g_build_filename (installed, "wave.c", NULL);
  g_autofree char *quoted = g_shell_quote (source);
  g_autofree char *program = g_build_filename (installed, "wave", NULL);
  g_autofree char *text = adj_test_read_file (readme, NULL);
  g_autofree char *code = read_block (text, "    #include <adjoint.h>");
  g_autofree char *expected = read_block (text, "./a.out` prints:");
  const char *run[] = { program, NULL };
  g_autofree char *printed = NULL;

  g_assert_true (g_file_set_contents (source, code, -1, NULL));
  compile (quoted, "--cflags --libs", program);
  printed = run_program (run);
  g_assert_cmpstr (printed, ==, expected);
}

/* Lessons compiled as a user's plugin behave like the built-in ones. */
static void
test_lessons (void)
{
  g_autofree char *folder = adj_test_data_path ("programs");
  g_autofree char *plugin = g_build_filename (installed, "lessons.so", NULL);
  g_autofree char *adjoint = find_file (installed, "/bin/adjoint$");
  g_autoptr (GString) sources = g_string_new (NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *file;

  while ((file = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (file, ".c") && !g_str_equal (file, "programs.c"))
      {
        g_string_append_printf (sources, " '%s/%s'", folder, file);
        g_ptr_array_add (names, g_strndup (file, strlen (file) - 2));
      }
  g_string_prepend (sources, "-shared -fPIC");
  compile (sources->str, "--cflags", plugin);

  g_assert_cmpuint (names->len, >, 10);
  for (guint i = 0; i < names->len; i++)
    {
      const char *name = g_ptr_array_index (names, i);
      g_autofree char *function = g_strdelimit (g_strdup (name), "-", '_');
      g_autofree char *entry = g_strdup_printf ("%s:adj_program_%s", plugin, function);
      const char *compiled[] = { adjoint, "run", entry, NULL };
      const char *built_in[] = { adjoint, "run", name, NULL };
      g_autofree char *printed = run_program (compiled);
      g_autofree char *expected = run_program (built_in);

      g_test_message ("%s", name);
      g_assert_cmpstr (printed, ==, expected);
    }
}

#define MAX_EXAMPLE_LINES 60

static guint
count_lines (const char *text)
{
  guint n = 0;

  for (const char *at = text; (at = strchr (at, '\n')) != NULL; at++)
    n++;
  return n;
}

/* One use of the library per example: it compiles against the installed headers and prints the
 * text in tests/install/examples. */
static void
test_examples (void)
{
  g_autofree char *folder = adj_test_data_path ("programs/examples");
  g_autofree char *data = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *file;
  guint n = 0;

  for (; (file = g_dir_read_name (dir)) != NULL; n++)
    {
      g_autofree char *name = g_strndup (file, strlen (file) - strlen (".c"));
      g_autofree char *source = g_build_filename (folder, file, NULL);
      g_autofree char *quoted = g_shell_quote (source);
      g_autofree char *program = g_build_filename (installed, name, NULL);
      g_autofree char *golden = g_strdup_printf ("install/examples/%s.txt", name);
      g_autofree char *text = adj_test_read_file (source, NULL);
      const char *run[] = { program, data, NULL };
      g_autofree char *printed = NULL;
      g_autofree char *line = NULL;

      g_test_message ("%s", name);
      g_assert_cmpuint (count_lines (text), <=, MAX_EXAMPLE_LINES);
      compile (quoted, "--cflags --libs", program);
      printed = run_program (run);
      line = g_strconcat (printed, "\n", NULL);
      adj_test_check_golden (golden, line);
    }
  g_assert_cmpuint (n, ==, 9);
}

static guint
check_exports (gpointer library, const char *header)
{
  g_autofree char *text = adj_test_read_file (header, NULL);
  g_autoptr (GRegex) regex = g_regex_new ("ADJ_PUBLIC[^;(]*?\\b(adj_\\w+) \\(", G_REGEX_DEFAULT,
                                          G_REGEX_MATCH_DEFAULT, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  guint n = 0;

  g_regex_match (regex, text, G_REGEX_MATCH_DEFAULT, &match);
  for (; g_match_info_matches (match); g_match_info_next (match, NULL), n++)
    {
      g_autofree char *name = g_match_info_fetch (match, 1);

      if (dlsym (library, name) == NULL)
        g_error ("%s: %s is not in the library", header, name);
    }
  return n;
}

static guint
check_folder (gpointer library, const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      n += g_str_has_suffix (path, ".h") ? check_exports (library, path)
                                         : check_folder (library, path);
    }
  return n;
}

static void
test_exports (void)
{
  g_autofree char *path = find_file (installed, "/libadjoint\\.so$");
  g_autofree char *header = find_file (installed, "/include/adjoint/adjoint\\.h$");
  g_autofree char *folder = g_path_get_dirname (header);
  gpointer library = dlopen (path, RTLD_NOW | RTLD_LOCAL);

  if (library == NULL)
    g_error ("%s", dlerror ());
  g_assert_cmpuint (check_folder (library, folder), >, 100);
  dlclose (library);
}

int
main (int argc, char **argv)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  const char *install[] = { "meson",     "install", "-C", argv[argc - 1], "--no-rebuild", "--quiet",
                            "--destdir", NULL,      NULL };
  g_autofree char *out = NULL;

  install[7] = installed = folder->path;
  g_test_init (&argc, &argv, NULL);
  out = run_program (install);
  g_test_add_func ("/install/files", test_files);
  g_test_add_func ("/install/a-program-compiles-and-runs", test_program);
  g_test_add_func ("/install/the-page-of-the-readme", test_readme);
  g_test_add_func ("/install/examples", test_examples);
  g_test_add_func ("/install/lessons-are-plugins", test_lessons);
  g_test_add_func ("/install/exports-what-it-declares", test_exports);
  return g_test_run ();
}
