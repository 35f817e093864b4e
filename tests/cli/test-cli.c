/* SPDX-License-Identifier: MIT */
/* The command line as a user types it: exit statuses, one-line errors that name the place, and
 * outputs that other commands read back. */

#include <gio/gio.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "ir/adj-graph.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/planted-snapshot.h"

/* Runs "adjoint ARGS…": words split as a shell does, with $DATA the data folder and $TMP a folder
 * of the test. */
static AdjTestProcess *
adjoint (const AdjTestFolder *folder, const char *arguments)
{
  g_autofree char *data = adj_test_data_path ("");
  g_autoptr (GString) line = g_string_new (arguments);
  g_auto (GStrv) words = NULL;
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;

  g_string_replace (line, "$DATA", data, 0);
  g_string_replace (line, "$TMP", folder->path, 0);
  g_shell_parse_argv (line->str, NULL, &words, &error);
  g_assert_no_error (error);
  g_ptr_array_add (argv, (gpointer) g_getenv ("ADJ_PROGRAM"));
  for (guint i = 0; words[i] != NULL; i++)
    g_ptr_array_add (argv, words[i]);
  g_ptr_array_add (argv, NULL);
  return adj_test_spawn ((const char *const *) argv->pdata, NULL, NULL);
}

static void
assert_done (const AdjTestProcess *process, int status)
{
  if (process->status != status)
    g_error ("status %d, not %d: %s", process->status, status, process->err);
}

static void
assert_mentions (const char *text, const char *what)
{
  if (strstr (text, what) == NULL)
    g_error ("'%s' does not mention '%s'", text, what);
}

/* -- what users do -- */

static const struct
{
  const char *arguments;
  int status;
  const char *mentions; /* (nullable): in stdout */
} uses[] = {
  { "show $DATA/graphs/mlp.adjoint", 0, "0-0-joint" },
  { "show $DATA/graphs/gpt2.adjoint", 0, "0-0-dynamo" },
  { "show $DATA/graphs/gpt2.adjoint --json", 0, "\"graphs\"" },
  { "show $DATA/graphs/gpt2.adjoint#joint --as text", 0,
    "torch.ops.aten.native_layer_norm.default" },
  { "show $DATA/graphs/gpt2.adjoint#joint --as tree", 0, "h.1" },
  { "show $DATA/graphs/gpt2.adjoint --graph joint --as stats", 0, "torch.ops.aten.mm.default" },
  { "show $DATA/graphs/gpt2.adjoint#joint --as dot", 0, "digraph" },
  { "show $DATA/graphs/gpt2.adjoint#joint --as json", 0, "\"nodes\"" },
  { "run $DATA/graphs/mlp.adjoint#joint", 0, "nodes in" },
  { "run $DATA/graphs/mlp.adjoint#forward --seed 3", 0, "output 0" },
  { "run $DATA/graphs/mlp.adjoint#forward --profile --json", 0, "\"nanoseconds\"" },
  { "run $DATA/graphs/mlp.adjoint#joint --only tanh,mm_2 --device emulated", 0, "output 1" },
  { "run $DATA/graphs/mlp.adjoint#dynamo --only linear", 0, "output 0" },
  { "run $DATA/graphs/gpt2.adjoint#0-0-joint --only arange", 0, "output 0" },
  { "run $DATA/graphs/mlp.adjoint#forward --float64", 0, "f64" },
  { "compare $DATA/graphs/mlp.adjoint#joint recorded", 0, " within" },
  { "compare $DATA/graphs/mlp.adjoint#forward recorded", 0, " within" },
  { "compare $DATA/graphs/mlp.adjoint#backward recorded", 0, " within" },
  { "compare $DATA/graphs/gpt2.adjoint#joint recorded", 0, " within" },
  { "compare $DATA/graphs/gpt2.adjoint#forward recorded", 0, " within" },
  { "compare $DATA/graphs/gpt2.adjoint#backward recorded", 0, " within" },
  { "compare $DATA/graphs/gpt2.adjoint#joint recorded --nodes --json", 0, "\"verdict\"" },
  { "compare $DATA/graphs/mlp.adjoint#joint $DATA/graphs/mlp.adjoint#joint@interpreter", 0,
    "9 outputs: 9 equal" },
  { "compare $DATA/graphs/gpt2.adjoint#forward+backward recorded --nodes", 0, " within" },
  { "compare $DATA/graphs/gpt2.adjoint#forward+backward $DATA/graphs/gpt2.adjoint#joint", 0,
    "33 outputs: 33 equal\n" },
  { "compare $DATA/graphs/sac.adjoint#forward+backward $DATA/graphs/sac.adjoint#joint --nodes", 0,
    "422 nodes: 418 equal, 4 within\n" },
  { "compare $DATA/graphs/gpt2-inductor.adjoint#joint $DATA/graphs/gpt2.adjoint#joint --nodes", 0,
    "522 nodes: 28 equal, 26 within, 468 without counterpart\n" },
  { "compare $DATA/graphs/gpt2-inductor.adjoint#joint $DATA/graphs/gpt2.adjoint#joint --nodes "
    "--explain iota",
    0, "the other graph has no counterpart of it" },
  { "compare $DATA/graphs/mlp.adjoint#joint recorded --rtol 0 --atol 0", 1, "differs" },
  { "diff $DATA/graphs/mlp.adjoint#joint $DATA/graphs/mlp.adjoint#joint", 0,
    "0 added, 0 removed, 0 changed" },
  { "diff $DATA/graphs/mlp.adjoint#joint $DATA/graphs/mlp.adjoint#forward", 1, "removed" },
  { "ops", 0, "torch.ops.aten.mm.default" },
  { "ops mm.default", 0, "aten::mm(Tensor self, Tensor mat2) -> Tensor" },
  { "ops --json", 0, "\"schema\"" },
  { "formats", 0, ".adjoint" },
  { "classes", 0, "push(Tensor x) -> ()" },
  { "compare $DATA/graphs/mlp.adjoint#joint@planned $DATA/graphs/mlp.adjoint#joint --device cpu", 0,
    "9 outputs: " },
  { "bench $DATA/graphs/mlp.adjoint#joint@planned --device cpu --repeat 1", 0, "1 runs" },
  { "devices", 0, "emulated:0 " },
  { "devices --json", 0, "\"interpreter\"" },
  { "convert $DATA/graphs/mlp.adjoint#joint $TMP/x.txt --json", 0, "\"0-0-joint\"" },
  { "render $DATA/graphs/mlp.adjoint#joint -o $TMP/x.svg --json", 0, "\"written\"" },
  { "report $DATA/graphs/mlp.adjoint#joint -o $TMP/x.html --json", 0, "\"written\"" },
  { "run $DATA/graphs/mlp.adjoint#joint --values $TMP/x.safetensors", 0, "nodes in" },
  { "compare $DATA/graphs/mlp.adjoint#joint $TMP/x.safetensors --nodes", 0,
    "52 nodes: 52 equal\n" },
  { "run $DATA/graphs/mlp.adjoint#joint --seed 3 --values $TMP/x.safetensors", 0, "nodes in" },
  { "compare $DATA/graphs/mlp.adjoint#joint $TMP/x.safetensors --inputs $TMP/x.safetensors", 0,
    "9 equal" },
  { "run $DATA/graphs/mlp.adjoint#joint -o $TMP/y.safetensors", 0, "nodes in" },
  { "compare $DATA/graphs/mlp.adjoint#joint $TMP/y.safetensors --nodes", 0,
    " 38 nothing recorded" },
  { "compare $DATA/graphs/mlp.adjoint#joint $TMP/y.safetensors --nodes --inputs "
    "$TMP/x.safetensors",
    1, "its inputs had no values to be compared with" },
  { "compare $DATA/graphs/mlp.adjoint#joint recorded --explain mm", 0, "u = 5.96e-08 of f32" },
  { "compare $DATA/graphs/mlp.adjoint#joint recorded --json", 0, "\"nothing_recorded\" : 0" },
  { "run $DATA/graphs/mlp.adjoint#joint --keep before --into $TMP/k.adjoint", 0,
    "kept as 'before'" },
  { "run $TMP/k.adjoint#joint --seed 3 --keep 'seed three'", 0, "kept as 'seed three'" },
  { "show $TMP/k.adjoint", 0, "seed three           0-0-joint" },
  { "show $TMP/k.adjoint --json", 0, "\"inputs\" : \"recorded call 1\"" },
  { "compare $TMP/k.adjoint#joint run:before --nodes", 0, "52 nodes: 52 equal" },
  { "compare $TMP/k.adjoint#joint 'run:seed three' --nodes", 0, "52 nodes: 52 equal" },
  { "compare $TMP/k.adjoint#forward+backward run:before", 0, "9 equal" },
  { "compare $TMP/k.adjoint#joint recorded", 0, " within" },
  { "run $TMP/k.adjoint#joint --inputs 'run:seed three'", 0, "nodes in" },
  { "compare $TMP/k.adjoint#joint $TMP/k.adjoint#forward+backward --inputs run:before", 0,
    "9 equal" },
  { "run --help", 0, "Examples:" },
  { "--help", 0, "compare" },
  { "--version", 0, "adjoint" },
};

static void
test_uses (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (uses); i++)
    {
      g_autoptr (AdjTestProcess) process = adjoint (folder, uses[i].arguments);

      g_test_message ("adjoint %s", uses[i].arguments);
      assert_done (process, uses[i].status);
      if (uses[i].mentions != NULL)
        assert_mentions (process->out, uses[i].mentions);
      g_assert_cmpstr (process->err, ==, "");
    }
}

/* Every --json output is one JSON document. */
static void
test_json_parses (void)
{
  static const char *const commands[] = {
    "show $DATA/graphs/gpt2.adjoint --json",
    "run $DATA/graphs/mlp.adjoint#joint --json --profile",
    "plan $DATA/graphs/gpt2-hooks.adjoint#ca0-compiled_autograd --device-model h200 --json",
    "compare $DATA/graphs/mlp.adjoint#joint recorded --nodes --json",
    "diff $DATA/graphs/mlp.adjoint#joint $DATA/graphs/mlp.adjoint#joint --json",
    "ops --json",
    "formats --json",
    "classes --json",
    "devices --json",
    "convert $DATA/graphs/mlp.adjoint $TMP/x.adjoint --json",
    "render $DATA/graphs/mlp.adjoint#joint -o $TMP/x.pdf --json",
    "show $DATA/graphs/mlp.adjoint#joint --json",
  };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    {
      g_autoptr (AdjTestProcess) process = adjoint (folder, commands[i]);
      g_autoptr (JsonParser) parser = json_parser_new ();
      g_autoptr (GError) error = NULL;

      assert_done (process, 0);
      json_parser_load_from_data (parser, process->out, -1, &error);
      g_assert_no_error (error);
    }
}

/* Placeholders and statements counted in the text that PyTorch itself printed of these graphs. */
static const struct
{
  const char *file, *id;
  gint64 placeholders, nodes;
} counts[] = {
  { "mlp", "0-0-dynamo", 8, 7 },      { "mlp", "0-0-joint", 9, 52 },
  { "mlp", "0-0-forward", 8, 19 },    { "mlp", "0-0-backward", 11, 33 },
  { "gpt2", "0-0-dynamo", 32, 41 },   { "gpt2", "0-0-joint", 33, 334 },
  { "gpt2", "0-0-forward", 32, 144 }, { "gpt2", "0-0-backward", 50, 252 },
};

static JsonObject *
find_listed (JsonArray *graphs, const char *id)
{
  for (guint i = 0; i < json_array_get_length (graphs); i++)
    {
      JsonObject *graph = json_array_get_object_element (graphs, i);

      if (g_str_equal (json_object_get_string_member (graph, "id"), id))
        return graph;
    }
  g_error ("'%s' is not listed", id);
}

static void
test_counts (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    {
      g_autofree char *arguments =
          g_strdup_printf ("show $DATA/graphs/%s.adjoint --json", counts[i].file);
      g_autoptr (AdjTestProcess) process = adjoint (folder, arguments);
      g_autoptr (JsonParser) parser = json_parser_new ();
      JsonObject *root, *graph;

      assert_done (process, 0);
      g_assert_true (json_parser_load_from_data (parser, process->out, -1, NULL));
      root = json_node_get_object (json_parser_get_root (parser));
      graph = find_listed (json_object_get_array_member (root, "graphs"), counts[i].id);
      g_assert_cmpint (json_object_get_int_member (graph, "placeholders"), ==,
                       counts[i].placeholders);
      g_assert_cmpint (json_object_get_int_member (graph, "nodes"), ==, counts[i].nodes);
    }
}

/* -- round trips -- */

static void
test_text_prints_back (void)
{
  static const char *const graphs[] = { "mlp.adjoint#joint", "gpt2.adjoint#joint",
                                        "gpt2.adjoint#forward", "gpt2.adjoint#backward",
                                        "gpt2.adjoint#dynamo" };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "graph.txt", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    {
      g_autofree char *first = g_strdup_printf ("show $DATA/graphs/%s --as text", graphs[i]);
      g_autoptr (AdjTestProcess) printed = adjoint (folder, first);
      g_autoptr (AdjTestProcess) again = NULL;

      assert_done (printed, 0);
      g_file_set_contents (path, printed->out, (gssize) printed->out_length, NULL);
      again = adjoint (folder, "show $TMP/graph.txt --as text");
      assert_done (again, 0);
      g_assert_cmpstr (again->out, ==, printed->out);
    }
}

static void
test_convert_keeps_results (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (AdjTestProcess) to_file =
      adjoint (folder, "convert $DATA/graphs/mlp.adjoint $TMP/copy.adjoint");
  g_autoptr (AdjTestProcess) compared =
      adjoint (folder, "compare $TMP/copy.adjoint#joint recorded --nodes");
  g_autoptr (AdjTestProcess) diffed =
      adjoint (folder, "diff $TMP/copy.adjoint#joint $DATA/graphs/mlp.adjoint#joint");

  assert_done (to_file, 0);
  assert_done (compared, 0);
  assert_done (diffed, 0);
}

static void
test_outputs_come_back (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (AdjTestProcess) run =
      adjoint (folder, "run $DATA/graphs/mlp.adjoint#joint -o $TMP/out.safetensors");
  g_autofree char *path = g_build_filename (folder->path, "out.safetensors", NULL);

  assert_done (run, 0);
  g_assert_true (g_file_test (path, G_FILE_TEST_EXISTS));
}

/* What a run that is kept may take: values of nodes are left out with a line, more is refused. */
static void
test_keeps_little (void)
{
  static const char graph[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"f32[1][1]cpu\"):\n"
      "        e: \"f32[4200, 4200][0, 0]cpu\" = torch.ops.aten.expand.default(x, [4200, 4200])\n"
      "        c: \"f32[4200, 4200][4200, 1]cpu\" = torch.ops.aten.neg.default(e)\n"
      "        s: \"f32[][]cpu\" = torch.ops.aten.sum.default(c)\n"
      "        return (%s,)\n";
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "large.txt", NULL);

  for (guint i = 0; i < 2; i++)
    {
      GString *text = g_string_new (graph);
      g_autoptr (AdjTestProcess) kept = NULL;
      g_autoptr (AdjTestProcess) shown = NULL;

      g_string_replace (text, "%s", i == 0 ? "s" : "c", 1);
      g_assert_true (g_file_set_contents (path, text->str, (gssize) text->len, NULL));
      g_string_free (text, TRUE);
      kept = adjoint (folder, "run $TMP/large.txt --seed 1 --keep it --into $TMP/kept.adjoint");
      if (i == 0)
        {
          assert_done (kept, 0);
          assert_mentions (kept->err, "the values of its nodes are not kept: they are 135 MiB");
          shown = adjoint (folder, "show $TMP/kept.adjoint");
          assert_mentions (shown->out, "seed 1                    0  2");
          continue;
        }
      assert_done (kept, 2);
      assert_mentions (kept->err, "its inputs and outputs are 67.3");
    }
}

static void
test_renders (void)
{
  static const struct
  {
    const char *name, *magic;
  } pictures[] = { { "x.svg", "<?xml" }, { "x.png", "\x89PNG" }, { "x.pdf", "%PDF" } };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();

  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++)
    {
      g_autofree char *arguments =
          g_strdup_printf ("render $DATA/graphs/gpt2.adjoint#joint -o $TMP/%s", pictures[i].name);
      g_autofree char *path = g_build_filename (folder->path, pictures[i].name, NULL);
      g_autoptr (AdjTestProcess) process = adjoint (folder, arguments);
      g_autofree char *bytes = NULL;
      gsize length;

      assert_done (process, 0);
      bytes = adj_test_read_file (path, &length);
      g_assert_cmpuint (length, >, 1000);
      g_assert_cmpint (memcmp (bytes, pictures[i].magic, strlen (pictures[i].magic)), ==, 0);
    }
}

/* -- bad input: exit 2, one line that names the place, nothing on stdout, nothing left behind -- */

#define HEAD                                                                                       \
  "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[2, 3][3, 1]cpu\"):\n"

static const struct
{
  const char *name;     /* of the file that is written, or NULL */
  const char *contents; /* of it */
  const char *arguments;
  const char *mentions; /* in stderr */
} refusals[] = {
  { NULL, NULL, "frobnicate", "frobnicate" },
  { NULL, NULL, "show", "usage" },
  { NULL, NULL, "show --frob", "--frob" },
  { NULL, NULL, "show $TMP/missing.adjoint", "missing.adjoint" },
  { NULL, NULL, "show $DATA/graphs/mlp.adjoint#nothing", "0-0-joint" },
  { NULL, NULL, "show $DATA/graphs/mlp.adjoint#joint --as poem", "poem" },
  { NULL, NULL, "run $DATA/graphs/torch-trace#forward+backward", "0-0-forward" },
  { NULL, NULL, "run $DATA/graphs/mlp.adjoint#joint --executor abacus", "abacus" },
  { NULL, NULL, "run $DATA/graphs/mlp.adjoint#joint@abacus", "abacus" },
  { NULL, NULL, "render $DATA/graphs/mlp.adjoint", "-o" },
  { NULL, NULL, "render $DATA/graphs/mlp.adjoint -o $TMP/x.bmp", "bmp" },
  { NULL, NULL, "report $DATA/graphs/mlp.adjoint", "-o" },
  { NULL, NULL, "report $DATA/graphs/mlp.adjoint#joint -o $TMP/none/x.html", "none/x.html: " },
  { NULL, NULL, "report $DATA/graphs/mlp.adjoint#none -o $TMP/x.html", "none" },
  { NULL, NULL, "convert $DATA/graphs/mlp.adjoint $TMP/x.frob", "x.frob" },
  { NULL, NULL, "ops frobnicate", "frobnicate" },
  { "empty.adjoint", "", "show $TMP/empty.adjoint", "empty.adjoint" },
  { "noise.adjoint", "PK\3\4 noise", "show $TMP/noise.adjoint", "noise.adjoint" },
  { "shape.txt", HEAD "        mm_9 = torch.ops.aten.mm.default(x, x)\n        return (mm_9,)\n",
    "run $TMP/shape.txt --seed 1", "mm_9" },
  { "unknown.txt", HEAD "        foo_3 = torch.ops.mine.foo.default(x)\n        return (foo_3,)\n",
    "run $TMP/unknown.txt --seed 1", "foo_3" },
  { "quarters.txt",
    "class G(torch.nn.Module):\n    def forward(self, x: \"f8e5m2[2][1]cpu\"):\n"
    "        twice = torch.ops.aten.add.Tensor(x, x)\n        return (twice,)\n",
    "run $TMP/quarters.txt --seed 1",
    "float8_e5m2; self: f8e5m2[2][1]cpu, other: f8e5m2[2][1]cpu (node 'twice'" },
  { "cut.txt", "class GraphModule(torch.nn.Module):\n", "show $TMP/cut.txt", "cut.txt:" },
  { "inputs.safetensors", "",
    "run $DATA/graphs/mlp.adjoint#forward --inputs $TMP/inputs.safetensors", "inputs.safetensors" },
};

static void
test_refusals (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (refusals); i++)
    {
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autoptr (AdjTestProcess) process = NULL;

      if (refusals[i].name != NULL)
        {
          g_autofree char *path = g_build_filename (folder->path, refusals[i].name, NULL);

          g_file_set_contents (path, refusals[i].contents, -1, NULL);
        }
      process = adjoint (folder, refusals[i].arguments);
      g_test_message ("adjoint %s: %s", refusals[i].arguments, g_strchomp (process->err));
      assert_done (process, 2);
      assert_mentions (process->err, refusals[i].mentions);
      g_assert_cmpstr (process->out, ==, "");
      g_assert_null (strchr (process->err, '\n'));
    }
}

#define TOO_LARGE                                                                                  \
  "class G(torch.nn.Module):\n    def forward(self, x: \"f32[2][1]cpu\"):\n"                       \
  "        full: \"f32[1099511627776][1]cpu\" = torch.ops.aten.full.default([1099511627776], "     \
  "1.0)\n"                                                                                         \
  "        sum_1: \"f32[][]cpu\" = torch.ops.aten.sum.default(full)\n        return (sum_1,)\n"

/* Whoever would compute with it says how much that takes, and does not begin. */
static void
test_says_what_memory_it_needs (void)
{
  static const struct
  {
    const char *arguments, *mentions;
  } rows[] = {
    { "run $TMP/large.txt --seed 1 --executor interpreter", "needs about 4.0 TiB" },
    { "run $TMP/large.txt --seed 1 --executor planned", "needs about 4.0 TiB" },
    { "run $TMP/large.txt --seed 1 --executor fast", "needs about 4.0 TiB" },
    { "run $TMP/large.txt --seed 1 --float64", "needs about 8.0 TiB" },
    { "run $TMP/large.txt --seed 1 --values $TMP/v.safetensors", "needs about 4.0 TiB" },
    { "compare $TMP/large.txt $TMP/large.txt --seed 1", "needs about 4.0 TiB" },
    { "bench $TMP/large.txt", "needs about 4.0 TiB" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autofree char *path = g_build_filename (folder->path, "large.txt", NULL);
      g_autoptr (AdjTestProcess) process = NULL;

      g_file_set_contents (path, TOO_LARGE, -1, NULL);
      process = adjoint (folder, rows[i].arguments);
      assert_done (process, 3);
      assert_mentions (process->err, rows[i].mentions);
      assert_mentions (process->err, "are allowed");
      g_assert_cmpstr (process->out, ==, "");
    }
}

/* What is not understood, and what depends on it, has no value; the rest has. */
static void
test_unread_text (void)
{
  static const char *const refused[] = { "run $TMP/a.txt --seed 1", "trace $TMP/a.txt",
                                         "compare $TMP/a.txt $TMP/a.txt",
                                         "compare $TMP/b.txt $TMP/a.txt --nodes" };
  static const char *const warned[] = { "show $TMP/b.txt --json", "run $TMP/b.txt --seed 1 --json",
                                        "diff $TMP/a.txt $TMP/b.txt --json",
                                        "check $TMP/b.txt --json", "trace $TMP/b.txt --json" };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();

  for (char name = 'a'; name <= 'b'; name++)
    {
      g_autofree char *file = g_strdup_printf ("%s/%c.txt", folder->path, name);
      g_autofree char *text = g_strdup_printf (HEAD "        c = [v for v in (x,)]\n"
                                                    "        d = torch.relu(x)\n"
                                                    "        return (%c,)\n",
                                               name == 'a' ? 'c' : 'd');

      g_assert_true (g_file_set_contents (file, text, -1, NULL));
    }
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    {
      g_autoptr (AdjTestProcess) process = adjoint (folder, refused[i]);

      assert_done (process, 2);
      assert_mentions (process->err, "a.txt:3:9: 'c' has no value");
      g_assert_cmpstr (process->out, ==, "");
    }
  for (guint i = 0; i < G_N_ELEMENTS (warned); i++)
    {
      g_autoptr (AdjTestProcess) process = adjoint (folder, warned[i]);

      g_assert_cmpint (process->status, <=, 1);
      assert_mentions (process->out, "\"warnings\" : [");
      assert_mentions (process->out, "b.txt\",\n      \"line\" : 3,\n      \"column\" : 11,");
    }
}

/* A transposition that is no longer made: the product behind it cannot be computed. */
static void
test_broken_shape_names_node (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path =
      g_build_filename (folder->path, "mlp", "graphs", "0-0-forward.json", NULL);
  g_autoptr (AdjTestProcess) converted =
      adjoint (folder, "convert $DATA/graphs/mlp.adjoint $TMP/mlp/");
  g_autoptr (AdjTestProcess) process = NULL;
  g_autofree char *text = NULL;
  g_autoptr (GString) broken = NULL;

  assert_done (converted, 0);
  text = adj_test_read_file (path, NULL);
  broken = g_string_new (text);
  g_assert_cmpuint (
      g_string_replace (broken, "torch.ops.aten.t.default", "torch.ops.aten.detach.default", 1), ==,
      1);
  g_assert_true (g_file_set_contents (path, broken->str, -1, NULL));
  process = adjoint (folder, "compare $TMP/mlp#forward recorded");
  assert_done (process, 2);
  assert_mentions (process->err, "node 'addmm'");
  assert_mentions (process->err, "models.py:21");
}

/* A name that nothing defines is no reason to refuse the rest of a pasted graph. */
static void
test_warns_with_place (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "early.txt", NULL);
  g_autoptr (AdjTestProcess) process = NULL;

  g_file_set_contents (
      path, HEAD "        relu = torch.ops.aten.relu.default(y)\n        return (relu,)\n", -1,
      NULL);
  process = adjoint (folder, "show $TMP/early.txt");
  assert_done (process, 0);
  assert_mentions (process->err, "early.txt:3:");
  assert_mentions (process->err, "warning");
}

static void
test_failed_write_leaves_nothing (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *kept = g_build_filename (folder->path, "x.svg", NULL);
  g_autoptr (AdjTestProcess) process = NULL;
  g_autofree char *contents = NULL;
  g_autoptr (GDir) listing = NULL;
  guint n = 0;

  g_file_set_contents (kept, "kept", -1, NULL);
  process = adjoint (folder, "render $TMP/missing.adjoint -o $TMP/x.svg");
  assert_done (process, 2);
  contents = adj_test_read_file (kept, NULL);
  g_assert_cmpstr (contents, ==, "kept");
  listing = g_dir_open (folder->path, 0, NULL);
  while (g_dir_read_name (listing) != NULL)
    n++;
  g_assert_cmpuint (n, ==, 1);
}

/* The page says how the graph compared; --no-run leaves that out. */
/* What the allocator of a GPU did, beside what a graph is estimated to hold. */
static void
test_lays_snapshot_over (void)
{
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "0-0-joint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "s.pickle", NULL);
  g_autoptr (GBytes) bytes = planted_snapshot_new (graph, adj_graph_find_node (graph, "mm_2").index,
                                                   G_GUINT64_CONSTANT (3) << 20);
  g_autoptr (AdjTestProcess) good = NULL, foreign = NULL;

  g_assert_true (g_file_set_contents (path, g_bytes_get_data (bytes, NULL),
                                      (gssize) g_bytes_get_size (bytes), NULL));
  good = adjoint (folder, "memory $TMP/s.pickle $DATA/graphs/mlp.adjoint#joint");
  g_assert_cmpint (good->status, ==, 0);
  g_assert_true (g_regex_match_simple ("^ *\\d+ mm_2 +3(\\.0)? MiB .* 3\\.\\d MiB$", good->out,
                                       G_REGEX_MULTILINE, 0));
  g_assert_true (g_regex_match_simple ("^measured peak: 3\\.\\d MiB with inputs, at mm_2$",
                                       good->out, G_REGEX_MULTILINE, 0));
  foreign = adjoint (folder, "memory $TMP/s.pickle $DATA/graphs/gpt2.adjoint#joint");
  g_assert_cmpint (foreign->status, ==, 2);
  g_assert_nonnull (strstr (foreign->err, "s.pickle: the snapshot is of other graphs"));
}

static void
test_reports (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "x.html", NULL);
  g_autoptr (AdjTestProcess) ran =
      adjoint (folder, "report $DATA/graphs/mlp.adjoint#joint -o $TMP/x.html");
  g_autofree char *page = NULL, *quiet = NULL;
  g_autoptr (AdjTestProcess) not_run = NULL;

  assert_done (ran, 0);
  page = adj_test_read_file (path, NULL);
  g_assert_true (g_str_has_prefix (page, "<!DOCTYPE html>"));
  g_assert_nonnull (strstr (page, "agrees with what was recorded"));
  not_run = adjoint (folder, "report $DATA/graphs/mlp.adjoint#joint -o $TMP/x.html --no-run");
  assert_done (not_run, 0);
  quiet = adj_test_read_file (path, NULL);
  g_assert_nonnull (strstr (quiet, "The graph was not run."));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/uses", test_uses);
  g_test_add_func ("/cli/json-parses", test_json_parses);
  g_test_add_func ("/cli/counts-are-pytorchs", test_counts);
  g_test_add_func ("/cli/text-prints-back", test_text_prints_back);
  g_test_add_func ("/cli/convert-keeps-results", test_convert_keeps_results);
  g_test_add_func ("/cli/outputs-come-back", test_outputs_come_back);
  g_test_add_func ("/cli/keeps-little", test_keeps_little);
  g_test_add_func ("/cli/renders", test_renders);
  g_test_add_func ("/cli/reports", test_reports);
  g_test_add_func ("/cli/lays-snapshot-over", test_lays_snapshot_over);
  g_test_add_func ("/cli/refusals", test_refusals);
  g_test_add_func ("/cli/says-what-memory-it-needs", test_says_what_memory_it_needs);
  g_test_add_func ("/cli/unread-text", test_unread_text);
  g_test_add_func ("/cli/broken-shape-names-node", test_broken_shape_names_node);
  g_test_add_func ("/cli/warns-with-place", test_warns_with_place);
  g_test_add_func ("/cli/failed-write-leaves-nothing", test_failed_write_leaves_nothing);
  return g_test_run ();
}
