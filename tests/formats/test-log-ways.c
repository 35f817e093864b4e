/* SPDX-License-Identifier: MIT */
/* Logs as clusters keep them: behind stamps, in JSON, below folders, packed, and still growing. */

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <utime.h>

#include "formats/adj-follower.h"
#include "ir/adj-graph.h"
#include "support/adj-test.h"

#define HEAD_BYTES 65536 /* of a file whose name does not say what it is */
#define N_NOTES 20

static char *
read_trace (void)
{
  g_autofree char *folder = adj_test_data_path ("graphs/torch-trace");
  g_autofree char *path = g_build_filename (folder, "dedicated_log_torch_trace_training.log", NULL);

  return adj_test_read_file (path, NULL);
}

static char *
read_console (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "console-2.15.txt", NULL);

  return adj_test_read_file (path, NULL);
}

/* @name may have folders before it. */
static char *
write_file (const AdjTestFolder *folder, const char *name, const char *text)
{
  char *path = g_build_filename (folder->path, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);

  g_assert_cmpint (g_mkdir_with_parents (parent, 0700), ==, 0);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return path;
}

static AdjBundle *
load (const char *path)
{
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

/* The same graphs under the same names, of @rank, without a remark. */
static void
check_same (const AdjBundle *bundle, const AdjBundle *wanted, gint rank)
{
  g_autofree char *before = rank >= 0 ? g_strdup_printf ("r%d-", rank) : g_strdup ("");

  if (adj_diags_get_n (adj_bundle_get_diags (bundle)) > 0)
    g_error ("%s", adj_diags_get (adj_bundle_get_diags (bundle), 0)->message);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, adj_bundle_get_n_graphs (wanted));
  for (guint i = 0; i < adj_bundle_get_n_graphs (wanted); i++)
    {
      const AdjBundleGraph *a = adj_bundle_get_graph (bundle, i);
      const AdjBundleGraph *b = adj_bundle_get_graph (wanted, i);
      g_autofree char *id = g_strconcat (before, b->id, NULL);

      g_assert_cmpstr (a->id, ==, id);
      g_assert_cmpuint (adj_graph_get_n_nodes (a->graph), ==, adj_graph_get_n_nodes (b->graph));
    }
}

/* -- what stands around a line -- */

static void
stamp_runner (GString *out, const char *line, guint number)
{
  g_string_append_printf (out, "[default0]:%s\n", line);
}

static void
stamp_kubernetes (GString *out, const char *line, guint number)
{
  g_string_append_printf (out, "2026-03-02T09:%02u:01.%uZ stderr F %s\n", number / 60 % 60,
                          number * 7919, line);
}

/* The runtime splits long lines: all but the last part are marked. */
static void
stamp_parts (GString *out, const char *line, guint number)
{
  static const char time[] = "2026-03-02T09:15:01.004000000+01:00 stderr";
  int half = (int) (strlen (line) / 2);

  g_string_append_printf (out, "%s P %.*s\n%s P:x \n", time, half, line, time);
  g_string_append_printf (out, "%s F%s%s\n", time, line[half] != '\0' ? " " : "", line + half);
}

static void
stamp_logger (GString *out, const char *line, guint number)
{
  g_string_append_printf (out,
                          "2026-03-02 09:15:01.%03u | INFO | train.py:a_worker_with_a_long_name:%u "
                          "- host-0123456789abcdef.zone-1.cluster.example.com [job 123456789, "
                          "attempt 1, group default, a name of a run that nobody shortened]: %s\n",
                          number % 1000, number, line);
}

static void
append_json (GString *out, const char *text)
{
  for (; *text != '\0'; text++)
    if (*text == '"' || *text == '\\')
      g_string_append_printf (out, "\\%c", *text);
    else if ((guchar) *text < ' ')
      g_string_append_printf (out, "\\u%04x", *text);
    else
      g_string_append_c (out, *text);
}

static void
wrap_docker (GString *out, const char *line, guint number)
{
  g_string_append (out, "{\"log\":\"");
  append_json (out, line);
  g_string_append_printf (out, "\\n\",\"stream\":\"stderr\",\"time\":\"%u\"}\n", number);
}

static void
wrap_message (GString *out, const char *line, guint number)
{
  g_string_append_printf (out, "{\"level\": \"info\", \"n\": %u, \"message\": \"", number);
  append_json (out, line);
  g_string_append (out, "\"}\r\n");
}

typedef void (*Way) (GString *out, const char *line, guint number);

static const struct
{
  const char *name;
  Way way;
} ways[] = {
  { "runner", stamp_runner }, { "kubernetes", stamp_kubernetes }, { "logger", stamp_logger },
  { "docker", wrap_docker },  { "message", wrap_message },        { "parts", stamp_parts },
};

static char *
apply (Way way, const char *text)
{
  GString *out = g_string_new (NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (guint i = 0; lines[i] != NULL && (lines[i + 1] != NULL || *lines[i] != '\0'); i++)
    way (out, lines[i], i);
  return g_string_free (out, FALSE);
}

static void
test_ways (gconstpointer data)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = GPOINTER_TO_INT (data) ? read_console () : read_trace ();
  g_autofree char *plain = write_file (folder, "plain.txt", text);
  g_autoptr (AdjBundle) wanted = load (plain);

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *changed = apply (ways[i].way, text);
      g_autofree char *path = write_file (folder, ways[i].name, changed);
      g_autoptr (AdjBundle) bundle = load (path);
      g_autoptr (AdjBundle) pasted = NULL;

      g_test_message ("%s", ways[i].name);
      check_same (bundle, wanted, -1);
      pasted = adj_bundle_load_text (changed, -1, "clipboard", NULL);
      g_assert_nonnull (pasted);
      check_same (pasted, wanted, -1);
    }
}

/* Parts of two streams alternate. */
static void
test_streams (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_console ();
  g_autofree char *plain = write_file (folder, "plain.txt", text);
  g_autoptr (AdjBundle) wanted = load (plain), bundle = NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) all = g_string_new (NULL);
  g_autofree char *path = NULL;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      int half = (int) (strlen (lines[i]) / 2);

      g_string_append_printf (all,
                              "2026-03-02T09:15:01Z stderr P %.*s\n2026-03-02T09:15:01Z stdout P "
                              "step\n2026-03-02T09:15:01Z stderr F %s\n2026-03-02T09:15:01Z stdout "
                              "F  %u\n",
                              half, lines[i], lines[i] + half, i);
    }
  path = write_file (folder, "container.log", all->str);
  bundle = load (path);
  check_same (bundle, wanted, -1);
}

/* A part of a line in Docker's form. */
static void
append_docker (GString *out, const char *text, const char *end, const char *stream)
{
  g_string_append (out, "{\"log\":\"");
  append_json (out, text);
  g_string_append_printf (out, "%s\",\"stream\":\"%s\",\"time\":\"0\"}\n", end, stream);
}

/* Docker cuts long lines, too. */
static void
test_docker_streams (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_console ();
  g_autofree char *plain = write_file (folder, "plain.txt", text);
  g_autoptr (AdjBundle) wanted = load (plain), bundle = NULL;
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) all = g_string_new (NULL);
  g_autofree char *path = NULL;

  for (guint i = 0; lines[i] != NULL; i++)
    {
      g_autofree char *half = g_strndup (lines[i], strlen (lines[i]) / 2);

      append_docker (all, half, "", "stderr");
      append_docker (all, "step", "\\n", "stdout");
      append_docker (all, lines[i] + strlen (half), "\\n", "stderr");
    }
  path = write_file (folder, "container.json", all->str);
  bundle = load (path);
  check_same (bundle, wanted, -1);
}

/* Both streams were cut in the middle of a line, one of them in a long bar of progress. */
static void
test_cut_streams (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_console ();
  g_autofree char *bar = g_strnfill (600, '=');
  char *end = strchr (strstr (text, "         return") + 1, '\n'), *last;
  g_autofree char *plain = NULL, *path = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (AdjBundle) wanted = NULL, bundle = NULL;
  g_autoptr (GString) all = g_string_new (NULL);

  *end = '\0';
  plain = write_file (folder, "plain.txt", text);
  wanted = load (plain);
  last = strrchr (text, '\n') + 1;
  last[-1] = '\0';
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    append_docker (all, lines[i], "\\n", "stderr");
  append_docker (all, bar, "", "stdout");
  append_docker (all, last, "", "stderr");
  path = write_file (folder, "container.json", all->str);
  bundle = load (path);
  check_same (bundle, wanted, -1);
}

/* A program may print for long before it compiles. */
static void
test_long_before (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_console ();
  g_autofree char *path = write_file (folder, "plain.txt", text);
  g_autoptr (AdjBundle) wanted = load (path), bundle = NULL;
  GString *all = g_string_new (NULL);
  g_autofree char *longer = NULL, *later = NULL;

  for (guint i = 0; i < 500; i++)
    g_string_append_printf (all, "loading shard %u of 500 from the store\n", i);
  g_string_append (all, text);
  longer = g_string_free (all, FALSE);
  later = write_file (folder, "later.txt", longer);
  bundle = load (later);
  check_same (bundle, wanted, -1);
}

/* -- folders -- */

static void
test_below (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_trace ();
  g_autofree char *plain = write_file (folder, "plain.txt", text);
  g_autoptr (AdjBundle) wanted = load (plain), bundle = NULL;
  g_autofree char *path =
      write_file (folder, "run/node17/trace/dedicated_log_torch_trace_rank_5_x.log", text);
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);

  g_free (write_file (folder, "run/node17/notes.txt", "nothing\n"));
  bundle = load (run);
  check_same (bundle, wanted, 5);
}

/* Somebody called them otherwise. */
static void
test_renamed (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_trace ();
  g_autofree char *path = write_file (folder, "run/worker.log", text);
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);
  g_autoptr (AdjBundle) wanted = load (path), bundle = NULL;

  bundle = load (run);
  check_same (bundle, wanted, -1);
}

/* torchrun --log-dir: a folder for each rank. */
static void
test_consoles (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_console ();
  g_autofree char *first = write_file (folder, "run/none_x/attempt_0/0/stderr.log", text);
  g_autofree char *second = write_file (folder, "run/none_x/attempt_0/1/stderr.log", text);
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);
  g_autofree char *plain = write_file (folder, "plain.txt", text);
  g_autoptr (AdjBundle) one = load (first), wanted = load (plain), both = NULL;
  guint n = adj_bundle_get_n_graphs (wanted);

  g_free (write_file (folder, "run/none_x/attempt_0/0/stdout.log", "hello\n"));
  check_same (one, wanted, 0);
  both = load (run);
  g_assert_cmpuint (adj_bundle_get_n_graphs (both), ==, 2 * n);
  for (guint i = 0; i < 2 * n; i++)
    g_assert_cmpint (adj_bundle_get_graph (both, i)->rank, ==, i / n);
}

static void
test_nothing (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_file (folder, "run/a.txt", "nothing\n");
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_bundle_load (run, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_nonnull (strstr (error->message, "no logs in this folder"));
}

/* -- growth -- */

static void
append (const char *path, const char *text, gsize length)
{
  FILE *file = g_fopen (path, "a");

  g_assert_nonnull (file);
  g_assert_cmpuint (fwrite (text, 1, length, file), ==, length);
  g_assert_cmpint (fclose (file), ==, 0);
}

/* Graphs of @before, which ended complete, are the same objects in @after. */
static void
check_kept (const AdjBundle *before, const AdjBundle *after)
{
  for (guint i = 0; i < adj_bundle_get_n_graphs (before); i++)
    {
      const AdjBundleGraph *old = adj_bundle_get_graph (before, i);

      g_assert_true (adj_bundle_find_graph (after, old->id, NULL)->graph == old->graph);
    }
}

/* As @file in a folder, in pieces of all sizes, so that lines, characters and what stands around
 * them are cut. */
static void
grow_in_pieces (const char *name, const char *file, const char *text)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *plain = write_file (folder, "plain.log", text);
  g_autoptr (AdjBundle) wanted = load (plain), last = NULL;
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);
  g_autofree char *within = g_build_filename ("run", file, NULL);
  g_autofree char *path = write_file (folder, within, "");
  g_autoptr (AdjFollower) follower = adj_follower_new (run, NULL, NULL);
  gsize length = strlen (text), n;

  g_test_message ("%s", name);
  for (gsize at = 0; at < length; at += n)
    {
      g_autoptr (GError) error = NULL;
      AdjBundle *now;

      n = (gsize) g_test_rand_int_range (1, 9000);
      n = MIN (n, length - at);
      append (path, text + at, n);
      now = adj_follower_next (follower, NULL, &error);
      g_assert_no_error (error);
      if (now == NULL)
        continue;
      if (last != NULL)
        check_kept (last, now);
      adj_bundle_unref (last);
      last = now;
    }
  check_same (last, wanted, -1);
}

static void
test_pieces (gconstpointer data)
{
  g_autofree char *text = GPOINTER_TO_INT (data) ? read_console () : read_trace ();
  const char *file = GPOINTER_TO_INT (data) ? "console.txt" : "dedicated_log_torch_trace_x.log";

  grow_in_pieces ("plain", file, text);
  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *changed = apply (ways[i].way, text);

      grow_in_pieces (ways[i].name, file, changed);
    }
}

/* Two ranks write by turns: their graphs and regions are in the order that they have when all is
 * there. */
static void
test_two_ranks (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_trace ();
  g_autofree char *first = write_file (folder, "run/dedicated_log_torch_trace_rank_0_x.log", "");
  g_autofree char *second = write_file (folder, "run/dedicated_log_torch_trace_rank_1_x.log", "");
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);
  g_autoptr (AdjFollower) follower = adj_follower_new (run, NULL, NULL);
  g_autoptr (AdjBundle) last = NULL, whole = NULL;
  gsize length = strlen (text), n;

  for (gsize at = 0; at < length; at += n)
    {
      n = MIN (20000, length - at);
      append (first, text + at, n);
      append (second, text + at, n);
      adj_bundle_unref (last);
      last = adj_follower_next (follower, NULL, NULL);
    }
  whole = load (run);
  g_assert_cmpuint (adj_bundle_get_n_graphs (last), ==, adj_bundle_get_n_graphs (whole));
  for (guint i = 0; i < adj_bundle_get_n_graphs (whole); i++)
    g_assert_cmpstr (adj_bundle_get_graph (last, i)->id, ==, adj_bundle_get_graph (whole, i)->id);
  g_assert_cmpuint (adj_bundle_get_n_regions (last), ==, adj_bundle_get_n_regions (whole));
  for (guint i = 0; i < adj_bundle_get_n_regions (whole); i++)
    {
      g_assert_cmpint (adj_bundle_get_region (last, i)->rank, ==,
                       adj_bundle_get_region (whole, i)->rank);
      g_assert_cmpstr (adj_bundle_get_region (last, i)->compile_id, ==,
                       adj_bundle_get_region (whole, i)->compile_id);
    }
}

#define NESTED                                                                                     \
  OUTER " ===== Forward graph 0 =====\n" OUTER                                                     \
        " /usr/lib/fx.py class GraphModule(torch.nn.Module):\n" OUTER                              \
        "    def forward(self, primals_1: \"f32[4][1]cpu\"):\n" OUTER                              \
        "        inner_0 = self.inner_0\n" OUTER "        return (primals_1,)\n" OUTER             \
        "        \n"
#define OUTER "I1120 10:34:57.280000 27000 torch/_functorch/x.py:404] [0/0] [__aot_graphs] "
#define INNER                                                                                      \
  OUTER "    class inner_0(torch.nn.Module):\n" OUTER                                              \
        "        def forward(self, arg0_1: \"f32[4][1]cpu\"):\n" OUTER                             \
        "            return (arg0_1,)\n"

static void
check_after_cancelled (AdjFollower *follower, guint n_graphs)
{
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  g_autoptr (AdjBundle) bundle = NULL;

  g_cancellable_cancel (cancelled);
  g_assert_null (adj_follower_next (follower, cancelled, NULL));
  bundle = adj_follower_next (follower, NULL, NULL);
  g_assert_nonnull (bundle);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, n_graphs);
}

/* What a cancelled reading did not get, the next one gets: while the log grows, and what is cut off
 * at its end once nobody writes on. */
static void
test_cancelled (void)
{
  static const char cut[] = OUTER " ===== Forward graph 1 =====\n" OUTER
                                  " /usr/lib/fx.py class GraphModule(torch.nn.Module):\n" OUTER
                                  "    def forward(self, primals_1: \"f32[4][1]cpu\"):\n" OUTER
                                  "        cos = torch.ops.aten.cos.default(primals_1)\n";
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = g_strconcat (NESTED, cut, NULL);
  g_autofree char *path = write_file (folder, "console.txt", text);
  g_autoptr (AdjFollower) follower = adj_follower_new (path, NULL, NULL);
  struct utimbuf past = { .actime = 1000, .modtime = 1000 };

  g_assert_cmpint (g_utime (path, &past), ==, 0);
  check_after_cancelled (follower, 1);
  check_after_cancelled (follower, 2);
}

/* A graph is there once it returns, not before, and is another one when its inner graphs come. */
static void
test_last_message (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_file (folder, "console.txt", OUTER "hello\n");
  g_autoptr (AdjFollower) follower = adj_follower_new (path, NULL, NULL);
  g_autoptr (AdjBundle) early = NULL, whole = NULL;
  gsize half = strlen (NESTED) / 2;

  append (path, NESTED, half);
  g_assert_null (adj_follower_next (follower, NULL, NULL));
  append (path, NESTED + half, strlen (NESTED) - half);
  early = adj_follower_next (follower, NULL, NULL);
  g_assert_nonnull (early);
  g_assert_cmpuint (adj_bundle_get_n_graphs (early), ==, 1);
  append (path, INNER, strlen (INNER));
  whole = adj_follower_next (follower, NULL, NULL);
  g_assert_cmpuint (adj_bundle_get_n_graphs (whole), ==, 1);
  g_assert_cmpuint (adj_graph_get_n_subgraphs (adj_bundle_get_graph (whole, 0)->graph), ==, 1);
}

/* Another message without a graph is no part of the one before. */
static void
test_other_message (void)
{
  static const char text[] = NESTED OUTER "GUARDS:\n" OUTER "    | +- LAMBDA_GUARD: x\n";
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_file (folder, "console.txt", text);
  g_autoptr (AdjFollower) follower = adj_follower_new (path, NULL, NULL);
  g_autoptr (AdjBundle) bundle = adj_follower_next (follower, NULL, NULL);
  GBytes *graph;

  g_assert_nonnull (bundle);
  graph = adj_bundle_get_text (bundle, adj_bundle_get_graph (bundle, 0)->id);
  g_assert_null (
      g_strstr_len (g_bytes_get_data (graph, NULL), (gssize) g_bytes_get_size (graph), "GUARD"));
}

static guint64
bytes_read (void)
{
  g_autofree char *text = adj_test_read_file ("/proc/self/io", NULL);

  g_assert_true (g_str_has_prefix (text, "rchar: "));
  return g_ascii_strtoull (text + strlen ("rchar: "), NULL, 10);
}

/* What has been read is not read again, but for what tells the format. */
static void
test_reads_on (gconstpointer data)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = GPOINTER_TO_INT (data) ? read_console () : read_trace ();
  const char *name =
      GPOINTER_TO_INT (data) ? "run/console.txt" : "run/dedicated_log_torch_trace_x.log";
  g_autofree char *path = write_file (folder, name, "");
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);
  g_autoptr (AdjFollower) follower = adj_follower_new (run, NULL, NULL);
  g_autoptr (AdjBundle) first = NULL, second = NULL;
  guint64 before;
  guint n;

  for (guint i = 0; i < 20; i++)
    append (path, text, strlen (text));
  first = adj_follower_next (follower, NULL, NULL);
  n = adj_bundle_get_n_graphs (first);
  g_assert_null (adj_follower_next (follower, NULL, NULL));
  append (path, text, strlen (text));
  before = bytes_read ();
  second = adj_follower_next (follower, NULL, NULL);
  g_assert_cmpuint (adj_bundle_get_n_graphs (second), ==, n + n / 20);
  g_assert_cmpuint (bytes_read () - before, <, 3 * strlen (text) + 5 * HEAD_BYTES);
}

/* The beginnings of files that are no logs are read once to tell the format, and once to read those
 * that are. */
static void
test_beginnings (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_console ();
  g_autofree char *note = g_strnfill (HEAD_BYTES, 'n');
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);
  g_autoptr (AdjBundle) bundle = NULL;
  guint64 before;

  g_free (write_file (folder, "run/console.txt", text));
  for (guint i = 0; i < N_NOTES; i++)
    {
      g_autofree char *name = g_strdup_printf ("run/%u.txt", i);

      g_free (write_file (folder, name, note));
    }
  before = bytes_read ();
  bundle = load (run);
  g_assert_cmpuint (bytes_read () - before, <, 5 * N_NOTES / 2 * HEAD_BYTES + 3 * strlen (text));
}

/* Another log under the name of the one before is read from its beginning. */
static void
test_rewritten (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_trace ();
  g_autofree char *path = write_file (folder, "dedicated_log_torch_trace_x.log", text);
  g_autoptr (AdjFollower) follower = adj_follower_new (path, NULL, NULL);
  g_autoptr (AdjBundle) first = adj_follower_next (follower, NULL, NULL), second = NULL;
  const char *end = strstr (text, "aot_joint_graph");
  g_autofree char *shorter = NULL, *longer = NULL;

  while (end > text && end[-1] != '\n')
    end--;
  shorter = g_strndup (text, (gsize) (end - text));
  g_assert_true (g_file_set_contents (path, shorter, -1, NULL));
  second = adj_follower_next (follower, NULL, NULL);
  g_assert_nonnull (second);
  g_assert_cmpuint (adj_bundle_get_n_graphs (second), <, adj_bundle_get_n_graphs (first));
  adj_bundle_unref (second);

  longer = g_strconcat (text, text, NULL);
  g_assert_true (g_file_set_contents (path, longer, -1, NULL));
  second = adj_follower_next (follower, NULL, NULL);
  g_assert_cmpuint (adj_bundle_get_n_graphs (second), ==, 2 * adj_bundle_get_n_graphs (first));
}

/* What a file had is gone with it. */
static void
test_removed (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_trace ();
  g_autofree char *path = write_file (folder, "run/dedicated_log_torch_trace_rank_0_x.log", text);
  g_autofree char *other = write_file (folder, "run/dedicated_log_torch_trace_rank_1_x.log", text);
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);
  g_autoptr (AdjBundle) wanted = load (path), both = NULL, one = NULL;
  g_autoptr (AdjFollower) follower = adj_follower_new (run, NULL, NULL);

  both = adj_follower_next (follower, NULL, NULL);
  g_assert_cmpuint (adj_bundle_get_n_graphs (both), ==, 2 * adj_bundle_get_n_graphs (wanted));
  g_assert_cmpint (g_remove (other), ==, 0);
  one = adj_follower_next (follower, NULL, NULL);
  g_assert_nonnull (one);
  g_assert_cmpuint (adj_bundle_get_n_graphs (one), ==, adj_bundle_get_n_graphs (wanted));
  check_kept (one, both);
}

/* What could not be read at first is not said to be passed over once it was. */
static void
test_readable_later (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_trace ();
  g_autofree char *path = write_file (folder, "run/dedicated_log_torch_trace_rank_0_x.log", text);
  g_autofree char *other =
      write_file (folder, "run/dedicated_log_torch_trace_rank_1_x.log", "\x1f\x8b");
  g_autofree char *run = g_build_filename (folder->path, "run", NULL);
  g_autoptr (AdjFollower) follower = adj_follower_new (run, NULL, NULL);
  g_autoptr (AdjBundle) first = adj_follower_next (follower, NULL, NULL), second = NULL;

  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (first)), ==, 1);
  g_assert_true (g_file_set_contents (other, text, -1, NULL));
  second = adj_follower_next (follower, NULL, NULL);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (second)), ==, 0);
}

static void
let_rest (const char *path)
{
  struct utimbuf times = { .actime = time (NULL) - 60, .modtime = time (NULL) - 60 };

  g_assert_cmpint (g_utime (path, &times), ==, 0);
}

/* A record that is not complete is waited for while the log is written, and damage afterwards. */
static void
test_cut_in_the_end (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *text = read_trace ();
  const char *cut = strstr (text, "aot_forward_graph\": {");
  g_autofree char *part = g_strndup (text, (gsize) (strstr (cut, "torch.ops") - text));
  g_autofree char *path = write_file (folder, "dedicated_log_torch_trace_x.log", part);
  g_autoptr (AdjBundle) known = load (path), growing = NULL, rested = NULL;
  g_autoptr (AdjFollower) follower = adj_follower_new (path, known, NULL);

  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (known)), >, 0);
  growing = adj_follower_next (follower, NULL, NULL);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (growing)), ==, 0);
  let_rest (path);
  adj_bundle_unref (adj_follower_next (follower, NULL, NULL));
  rested = adj_follower_next (follower, NULL, NULL);
  g_assert_nonnull (rested);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (rested)), ==,
                    adj_diags_get_n (adj_bundle_get_diags (known)));
  g_assert_null (adj_follower_next (follower, NULL, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/formats/log-ways/trace", GINT_TO_POINTER (FALSE), test_ways);
  g_test_add_data_func ("/formats/log-ways/console", GINT_TO_POINTER (TRUE), test_ways);
  g_test_add_func ("/formats/log-ways/streams", test_streams);
  g_test_add_func ("/formats/log-ways/docker-streams", test_docker_streams);
  g_test_add_func ("/formats/log-ways/cut-streams", test_cut_streams);
  g_test_add_func ("/formats/log-ways/long-before", test_long_before);
  g_test_add_func ("/formats/log-ways/below", test_below);
  g_test_add_func ("/formats/log-ways/renamed", test_renamed);
  g_test_add_func ("/formats/log-ways/consoles", test_consoles);
  g_test_add_func ("/formats/log-ways/nothing", test_nothing);
  g_test_add_data_func ("/formats/log-ways/pieces/trace", GINT_TO_POINTER (FALSE), test_pieces);
  g_test_add_data_func ("/formats/log-ways/pieces/console", GINT_TO_POINTER (TRUE), test_pieces);
  g_test_add_func ("/formats/log-ways/two-ranks", test_two_ranks);
  g_test_add_func ("/formats/log-ways/cancelled", test_cancelled);
  g_test_add_func ("/formats/log-ways/last-message", test_last_message);
  g_test_add_func ("/formats/log-ways/other-message", test_other_message);
  g_test_add_data_func ("/formats/log-ways/reads-on/trace", GINT_TO_POINTER (FALSE), test_reads_on);
  g_test_add_data_func ("/formats/log-ways/reads-on/console", GINT_TO_POINTER (TRUE),
                        test_reads_on);
  g_test_add_func ("/formats/log-ways/beginnings", test_beginnings);
  g_test_add_func ("/formats/log-ways/rewritten", test_rewritten);
  g_test_add_func ("/formats/log-ways/removed", test_removed);
  g_test_add_func ("/formats/log-ways/readable-later", test_readable_later);
  g_test_add_func ("/formats/log-ways/cut-in-the-end", test_cut_in_the_end);
  return g_test_run ();
}
