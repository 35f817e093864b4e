/* SPDX-License-Identifier: MIT */
/* If stdout or a file cannot be written, a command prints one line and fails; if the reader of a
 * pipe has closed it, the command prints nothing. */

#include <string.h>

#include "support/adj-test.h"

typedef struct
{
  AdjTestFolder *folder;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = adj_test_folder_new ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_test_folder_free (fixture->folder);
}

/* Runs a shell line in which @ stands for the program and % for a capture. */
static AdjTestProcess *
shell (const Fixture *fixture, const char *line)
{
  g_autofree char *capture = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (GString) text = g_string_new (line);
  const char *argv[] = { "/bin/sh", "-c", NULL, NULL };

  g_string_replace (text, "@", g_getenv ("ADJ_PROGRAM"), 0);
  g_string_replace (text, "%", capture, 0);
  argv[2] = text->str;
  return adj_test_spawn (argv, NULL, fixture->folder->path);
}

static void
assert_one_line (const char *text)
{
  const char *end = strchr (text, '\n');

  g_assert_true (end != NULL && end != text && end[1] == '\0');
}

static guint
count_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static const char *const commands[] = {
  "--help",        "--version",   "show --help",
  "ops",           "formats",     "classes",
  "passes",        "devices",     "show %",
  "show % --json", "check %",     "diff %#joint %#forward",
  "show %#joint",  "run %#joint", "compare %#joint recorded",
};

/* @how: a redirection */
static void
check_all (const Fixture *fixture, const char *how, int status, const char *says)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autofree char *line = g_strdup_printf ("@ %s %s", commands[i], how);
      g_autoptr (AdjTestProcess) process = shell (fixture, line);

      g_test_message ("%s: %d %s", line, process->status, process->err);
      g_assert_cmpint (process->status, ==, status);
      assert_one_line (process->err);
      g_assert_nonnull (strstr (process->err, says));
    }
}

static void
test_full (Fixture *fixture, gconstpointer data)
{
  check_all (fixture, ">/dev/full", 3, "stdout: No space left on device");
}

static void
test_closed (Fixture *fixture, gconstpointer data)
{
  check_all (fixture, ">&-", 3, "stdout: Bad file descriptor");
}

static void
test_limited (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjTestProcess) process = shell (fixture, "ulimit -f 1; @ ops >out");

  g_assert_cmpint (process->status, ==, 3);
  g_assert_cmpstr (process->err, ==, "stdout: File too large\n");
}

/* The exit status still reports the verdict. */
static void
test_reader_gone (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjTestProcess) quiet = shell (fixture, "{ @ ops; echo $? >&2; } | true");
  g_autoptr (AdjTestProcess) differs =
      shell (fixture, "{ sleep 0.1; @ diff %#joint %#forward; echo $? >&2; } | true");

  g_assert_cmpstr (quiet->err, ==, "0\n");
  g_assert_cmpstr (differs->err, ==, "1\n");
}

/* Files are written to their end, and no file takes the descriptor of a closed stream. */
static void
test_files_go_on (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjTestProcess) gone =
      shell (fixture, "{ sleep 0.1; @ run %#joint --outputs gone.safetensors; } | true");
  g_autoptr (AdjTestProcess) closed =
      shell (fixture, "@ run %#joint --outputs closed.safetensors >&- 2>&- <&-");
  g_autoptr (AdjTestProcess) same = shell (fixture, "cmp gone.safetensors closed.safetensors");

  g_assert_cmpint (closed->status, ==, 3);
  g_assert_cmpint (same->status, ==, 0);
}

/* Every command that writes, with a file size limit of 2 KiB. */
static void
test_no_room (Fixture *fixture, gconstpointer data)
{
  static const char *const writers[] = {
    "run m.adjoint#joint --keep a",
    "run m.adjoint#joint --outputs m.adjoint",
    "run m.adjoint#joint --values m.adjoint",
    "convert m.adjoint#joint m.txt",
    "convert m.adjoint n.adjoint",
    "convert m.adjoint m.adjoint",
    "trace m.adjoint#dynamo -o m.adjoint",
    "render m.adjoint#joint -o m.svg",
    "render m.adjoint#joint -o m.png",
    "render m.adjoint#joint -o m.pdf",
    "report m.adjoint#joint -o m.html",
  };
  g_autoptr (AdjTestProcess) copied = shell (fixture, "cp % m.adjoint");

  g_assert_cmpint (copied->status, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    {
      g_autofree char *line = g_strdup_printf ("ulimit -f 4; @ %s >/dev/null", writers[i]);
      g_autoptr (AdjTestProcess) process = shell (fixture, line);
      g_autoptr (AdjTestProcess) same = shell (fixture, "cmp % m.adjoint");

      g_test_message ("%s: %d %s", writers[i], process->status, process->err);
      g_assert_cmpint (process->status, ==, 2);
      assert_one_line (process->err);
      g_assert_nonnull (strstr (process->err, "File too large"));
      g_assert_cmpint (same->status, ==, 0);
      g_assert_cmpuint (count_files (fixture->folder->path), ==, 1);
    }
}

/* A log whose texts try to drive the terminal: by escape sequences, those of one character (CSI is
 * U+009B) too, by backspaces and by carriage returns. */
#define HOSTILE                                                                                    \
  "V0302 09:15:01.004000 4711 a.py:27] {\"dynamo_output_graph\": {}, \"frame_id\": 0, "            \
  "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"x\"}\n"                             \
  "\tclass GraphModule(torch.nn.Module):\n"                                                        \
  "\t    def forward(self, L_x_: \"f32[2]\"):\n"                                                   \
  "\t        # File: /a\033]0;owned\a.py:1 in f, code: y\302\2331A\b\b = \302\251\n"               \
  "\t        sin: \"f32[2]\" = torch.sin(L_x_)\n"                                                  \
  "\t        return (sin,)\n"                                                                      \
  "V0302 09:15:01.004000 4711 a.py:27] {\"artifact\": {\"name\": \"odd\\u001b[2J\\u009b2J\", "     \
  "\"encoding\": \"string\"}, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0, "          \
  "\"has_payload\": \"x\"}\n"                                                                      \
  "\tone\rtwo\n"                                                                                   \
  "V0302 09:15:01.004000 4711 a.py:27] {\"artifact\": {\"name\": \"even\", \"encoding\": "         \
  "\"string\"}, \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": "       \
  "\"x\"}\n"                                                                                       \
  "\t\302\251 \033[31mred\177 \302\233K\n"

static void
test_drives_no_terminal (Fixture *fixture, gconstpointer data)
{
  static const char *const shows[] = {
    "show hostile.log",           "show hostile.log --json",        "show hostile.log --as text",
    "show hostile.log --as tree", "show hostile.log --fact even",   "show hostile.log --as json",
    "show hostile.log --as dot",  "run hostile.log --seed 1 --json"
  };
  g_autofree char *path = g_build_filename (fixture->folder->path, "hostile.log", NULL);
  g_autoptr (AdjTestProcess) fact = NULL;

  g_assert_true (g_file_set_contents (path, HOSTILE, -1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (shows); i++)
    {
      g_autofree char *line = g_strdup_printf ("@ %s", shows[i]);
      g_autoptr (AdjTestProcess) process = shell (fixture, line);

      g_test_message ("%s: %s%s", line, process->out, process->err);
      g_assert_cmpint (process->status, ==, 0);
      for (const char *at = process->out; *at != '\0'; at = g_utf8_next_char (at))
        g_assert_true (*at == '\n' || *at == '\t' || !g_unichar_iscntrl (g_utf8_get_char (at)));
    }
  fact = shell (fixture, "@ show hostile.log --fact even | tail -n 1");
  g_assert_cmpstr (fact->out, ==, "\302\251 \\u001b[31mred\\u007f \\u009bK\n");
}

#define IN_JOINT 19247 /* offset of a byte inside the joint graph of the log */

/* A folder that is being written: every graph is listed once, as soon as it is complete; a graph
 * that is cut off, here the joint graph, is waited for. */
static void
test_watch (Fixture *fixture, gconstpointer data)
{
  g_autofree char *log = adj_test_data_path ("graphs/torch-trace");
  g_autofree char *line =
      g_strdup_printf ("mkdir logs; f=logs/dedicated_log_torch_trace_a.log; all=$(echo %s/*.log); "
                       "head -c %d $all "
                       "> $f; (sleep 1; tail -c +%d $all >> $f) & timeout -s INT 4 @ show logs "
                       "--watch > out; wait; "
                       "@ show logs | grep -E '^[01]-' | sort > want; "
                       "tac out | awk '!seen[$1]++' | grep -E '^[01]-' | sort | cmp - want; "
                       "wc -l < want; grep -c -E '^[01]-' out; cat out",
                       log, IN_JOINT, IN_JOINT + 1);
  g_autoptr (AdjTestProcess) process = shell (fixture, line);
  g_auto (GStrv) lines = g_strsplit (process->out, "\n", -1);

  g_test_message ("%s%s", process->out, process->err);
  g_assert_cmpstr (lines[0], ==, "16");
  g_assert_cmpstr (lines[1], ==, "16");
  g_assert_true (g_str_has_prefix (lines[2], "GRAPH"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function)                                                                       \
  g_test_add ("/cli/streams/" name, Fixture, NULL, set_up, function, tear_down)
  TEST ("full", test_full);
  TEST ("closed", test_closed);
  TEST ("limited", test_limited);
  TEST ("drives-no-terminal", test_drives_no_terminal);
  TEST ("watch", test_watch);
  TEST ("reader-gone", test_reader_gone);
  TEST ("files-go-on", test_files_go_on);
  TEST ("no-room", test_no_room);
  return g_test_run ();
}
