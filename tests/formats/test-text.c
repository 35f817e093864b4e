/* SPDX-License-Identifier: MIT */
/* The text format: guessed roles, files with several graphs, failures to save. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"

#define TEXT                                                                                       \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, primals_1: \"f32[2][1]cpu\"):\n"                                          \
  "        mul: \"f32[2][1]cpu\" = torch.ops.aten.mul.Tensor(primals_1, 2);  primals_1 = None\n"   \
  "        return (mul,)\n"                                                                        \
  "        \n"

static char *
write_file (const AdjTestFolder *folder, const char *name, const char *text, gssize length)
{
  char *path = g_build_filename (folder->path, name, NULL);
  g_autoptr (GError) error = NULL;

  g_file_set_contents (path, text, length, &error);
  g_assert_no_error (error);
  return path;
}

static void
test_loads (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_file (folder, "graph", TEXT, -1);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  const AdjBundleGraph *graph;
  GBytes *text;

  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 1);
  graph = adj_bundle_find_graph (bundle, NULL, NULL);
  g_assert_cmpstr (graph->id, ==, "0-0-forward");
  g_assert_cmpstr (graph->title, ==, "graph");
  g_assert_cmpuint (adj_graph_get_n_nodes (graph->graph), ==, 3);
  text = adj_bundle_get_text (bundle, graph->id);
  g_assert_cmpmem (g_bytes_get_data (text, NULL), g_bytes_get_size (text), TEXT, strlen (TEXT));
}

/* Graphs of the same role belong to different regions. */
static void
test_several (void)
{
  static const char *const ids[] = { "0-0-forward", "0-0-user", "1-0-forward" };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle =
      adj_bundle_load_text ("hello\n" TEXT "class Mine(torch.nn.Module):\n"
                            "    def forward(self, x):\n"
                            "        return (x,)\n"
                            "bye\n" TEXT,
                            -1, "clipboard", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, G_N_ELEMENTS (ids));
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    g_assert_cmpstr (adj_bundle_get_graph (bundle, i)->id, ==, ids[i]);
  g_assert_cmpuint (adj_bundle_get_n_regions (bundle), ==, 2);
  g_assert_cmpstr (adj_bundle_get_description (bundle), ==, "text of 3 graphs, clipboard");
}

/* Pasted text may be a log. */
static void
test_pasted (void)
{
  static const struct
  {
    const char *text, *id;
  } rows[] = {
    { TEXT, "0-0-forward" },
    { "def forward(self, x):\n    relu = torch.relu(x);  x = None\n    return relu\n    ",
      "0-0-user" },
    { "warning: \xff\n"
      "I1120 10:34:57.280000 27 a.py:4] [2/1] [__aot_graphs]  ===== Forward graph 0 =====\n"
      "I1120 10:34:57.280000 27 a.py:4] [2/1] [__aot_graphs]  f.py class G(torch.nn.Module):\n"
      "I1120 10:34:57.280000 27 a.py:4] [2/1] [__aot_graphs]     def forward(self, x):\n"
      "I1120 10:34:57.280000 27 a.py:4] [2/1] [__aot_graphs]         return (x,)\n",
      "2-1-forward" },
    { "V0302 09:15:01.004000 4711 a/b.py:27] {\"aot_joint_graph\": {}, \"frame_id\": 2, "
      "\"frame_compile_id\": 0, \"has_payload\": \"f1b8ad07d3\"}\n"
      "\tclass GraphModule(torch.nn.Module):\n\t    def forward(self, x):\n\t        return (x,)\n",
      "2-0-joint" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjBundle) bundle = adj_bundle_load_text (rows[i].text, -1, "clipboard", &error);

      g_assert_no_error (error);
      g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 1);
      g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->id, ==, rows[i].id);
    }
}

static void
test_pasted_nothing (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_bundle_load_text ("hello\n", -1, "clipboard", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_true (g_str_has_prefix (error->message, "clipboard:2:1: there is no graph"));
}

/* Roles are guessed from PyTorch's names of placeholders and classes. */
static void
test_guesses_role (void)
{
  static const struct
  {
    const char *class, *parameters, *role;
  } rows[] = {
    { "GraphModule", "primals_1, primals_2", "forward" },
    { "GraphModule", "primals_1, tangents_1", "backward" },
    { "<lambda>", "arg0_1", "inference" },
    { "GraphModule", "L_x_ : torch.Tensor", "dynamo" },
    { "CompiledAutograd0", "inputs", "compiled_autograd" },
    { "Mine", "x", "user" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autofree char *text = g_strdup_printf ("class %s(torch.nn.Module):\n"
                                               "    def forward(self, %s):\n"
                                               "        return (None,)\n",
                                               rows[i].class, rows[i].parameters);
      g_autofree char *path = write_file (folder, "graph.txt", text, -1);
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);

      g_assert_no_error (error);
      g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->role, ==, rows[i].role);
    }
}

static void
assert_load_error (const char *name, const char *text, gssize length, const char *message)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_file (folder, name, text, length);
  g_autofree char *expected = g_strconcat (path, message, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_bundle_load (path, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  if (!g_str_has_prefix (error->message, expected))
    g_assert_cmpstr (error->message, ==, expected);
}

/* load_args() of a runnable script gives the placeholders their annotations. */
static void
test_runnable (void)
{
  static const char script[] =
      "import torch\n"
      "class Repro(torch.nn.Module):\n"
      "    def __init__(self) -> None:\n"
      "        super().__init__()\n"
      "\n"
      "    def forward(self, arg0_1, arg1_1, arg2_1, arg3_1, arg4_1, arg5_1):\n"
      "        mul = torch.ops.aten.mul.Tensor(arg0_1, 2);  arg0_1 = None\n"
      "        return (mul,)\n"
      "        \n"
      "def load_args(reader):\n"
      "    buf0 = reader.storage('h,', 320, device=device(type='cuda', index=1), "
      "dtype_hint=torch.float16)\n"
      "    reader.tensor(buf0, (4, s7), (s7, 1), dtype=torch.float16, is_leaf=True)  # arg0_1\n"
      "    reader.tensor(buf0, (2,), dtype=torch.float16, storage_offset=3, requires_grad=True)  # "
      "arg1_1\n"
      "    reader.symint(8, expr='s7')  # arg2_1\n"
      "    buf1 = reader.storage(None, 4)\n"
      "    reader.tensor(buf1, ())  # arg3_1\n"
      "    reader.const('arg4_1')  # arg4_1, filtered out during compilation\n"
      "    reader.tensor(buf1, (0, 3), dtype=torch.odd)  # arg5_1\n"
      "load_args._version = 0\n"
      "    reader.tensor(buf1, (7,))  # arg4_1\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load_text (script, -1, "repro.py", &error);
  g_autofree char *printed = NULL;

  g_assert_no_error (error);
  printed = adj_graph_print (adj_bundle_get_graph (bundle, 0)->graph, ADJ_PRINT_DEFAULT, NULL);
  g_assert_nonnull (strstr (
      printed, "(self, arg0_1: \"f16[4, s7][s7, 1]cuda:1\", arg1_1: \"f16[2][1]cuda:1\", arg2_1: "
               "\"Sym(s7)\", arg3_1: \"f32[][]cpu\", arg4_1, arg5_1):\n"));
  g_assert_nonnull (strstr (printed, "# adj: symbol s7 {hint: 8}\n"));
  g_assert_nonnull (strstr (printed, "# adj: arg0_1 {alias: 0}\n"));
  g_assert_nonnull (strstr (printed, "# adj: arg1_1 {alias: 0, offset: 3, requires_grad: True}\n"));
}

static void
test_rejects (void)
{
  assert_load_error ("x.bin", "\x89PNG\r\n", -1, ": not a file that we read");
  assert_load_error ("x", "", -1, ": the file is empty");
  assert_load_error ("x.json", "{}", -1, ": not a file that we read");
  assert_load_error ("x.txt", "class A(torch.nn.Module):\n\xff", -1,
                     ": not UTF-8 text (at byte 26)");
  assert_load_error ("x.txt", "hello\n", -1, ":2:1: there is no graph");
}

static void
test_missing (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_bundle_load ("/nowhere/at-all.txt", NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_cmpstr (error->message, ==, "/nowhere/at-all.txt: No such file or directory");
}

static void
test_saves (void)
{
  g_autofree char *mlp = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "joint.txt", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (mlp, NULL, &error);
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", NULL);
  g_autofree char *printed = adj_graph_print (joint->graph, ADJ_PRINT_DEFAULT, NULL);
  g_autofree char *saved = NULL;
  const AdjFormat *format = adj_format_for_path (path, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (format->name, ==, "text");
  g_assert_true (format->save (bundle, path, &(AdjSaveOptions){ .graph = joint }, NULL, &error));
  saved = adj_test_read_file (path, NULL);
  g_assert_cmpstr (saved, ==, printed);
  g_assert_false (format->save (bundle, path, NULL, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
}

/* A failed save leaves no file behind. */
static void
test_save_fails (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *in = write_file (folder, "graph.txt", TEXT, -1);
  g_autofree char *out = g_build_filename (folder->path, "no-such-folder", "x.adjoint", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (in, NULL, &error);
  g_autoptr (GDir) dir = NULL;

  g_assert_no_error (error);
  g_assert_false (adj_format_find ("adjoint", NULL)->save (bundle, out, NULL, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
  g_assert_true (g_str_has_prefix (error->message, out));
  dir = g_dir_open (folder->path, 0, NULL);
  g_assert_cmpstr (g_dir_read_name (dir), ==, "graph.txt");
  g_assert_null (g_dir_read_name (dir));
}

static void
test_exports (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (TEXT, -1, adj_op_find, NULL, &error);
  g_autofree char *dot = NULL;
  g_autofree char *json = NULL;

  g_assert_no_error (error);
  dot = adj_graph_print_dot (graph);
  g_assert_nonnull (strstr (dot, "\"mul\" [shape=box, label=\"mul\\ntorch.ops.aten.mul.Tensor"));
  g_assert_nonnull (strstr (dot, "\"primals_1\" -> \"mul\";"));
  g_assert_nonnull (strstr (dot, "\"mul\" -> \"output\";"));
  json = adj_graph_print_json (graph);
  g_assert_nonnull (strstr (json,
                            "{\"name\": \"mul\", \"op\": \"call_function\", \"target\": "
                            "\"torch.ops.aten.mul.Tensor\", \"args\": [{\"$n\": \"primals_1\"}, "
                            "2], \"val\": \"f32[2][1]cpu\"}"));
}

static void
test_finds_formats (void)
{
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < adj_formats_get_n (); i++)
    {
      const AdjFormat *format = adj_formats_get (i);

      g_assert_true (adj_format_find (format->name, NULL) == format);
      g_assert_true (format->load != NULL || format->save != NULL);
    }
  g_assert_cmpstr (adj_format_find ("dot", NULL)->extensions, ==, ".dot .gv");
  g_assert_null (adj_format_find ("onnx", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_clear_error (&error);
  g_assert_null (adj_format_for_path ("x.onnx", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_assert_cmpstr (adj_format_for_path ("x.py", NULL)->name, ==, "text");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/text/loads", test_loads);
  g_test_add_func ("/formats/text/several", test_several);
  g_test_add_func ("/formats/text/pasted", test_pasted);
  g_test_add_func ("/formats/text/pasted-nothing", test_pasted_nothing);
  g_test_add_func ("/formats/text/guesses-role", test_guesses_role);
  g_test_add_func ("/formats/text/runnable", test_runnable);
  g_test_add_func ("/formats/text/rejects", test_rejects);
  g_test_add_func ("/formats/text/missing", test_missing);
  g_test_add_func ("/formats/text/saves", test_saves);
  g_test_add_func ("/formats/text/save-fails", test_save_fails);
  g_test_add_func ("/formats/text/exports", test_exports);
  g_test_add_func ("/formats/text/finds-formats", test_finds_formats);
  return g_test_run ();
}
