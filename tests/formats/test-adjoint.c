/* SPDX-License-Identifier: MIT */
/* .adjoint files: written, read back, and refused when damaged. */
#include <gio/gio.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "damage.h"
#include "formats/adj-format.h"
#include "formats/adj-safetensors.h"
#include "formats/zip-private.h"
#include "ir/adj-builder.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"
#include "support/graphs.h"
#include "support/large-bundle.h"

static void
write_entry (const AdjTestFolder *folder, const char *name, const char *text)
{
  g_autofree char *path = g_build_filename (folder->path, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (parent, 0700);
  g_file_set_contents (path, text, -1, &error);
  g_assert_no_error (error);
}

static void
write_bytes (const AdjTestFolder *folder, const char *name, GBytes *bytes)
{
  g_autofree char *path = g_build_filename (folder->path, name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (parent, 0700);
  g_file_set_contents (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), &error);
  g_assert_no_error (error);
}

static GBytes *
make_tensors (void)
{
  static const float numbers[] = { 0, 1, 2, 3, 4, 5 };
  static const gint64 size[] = { 6 };
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (GBytes) bytes = g_bytes_new (numbers, sizeof numbers);
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (GError) error = NULL;
  const char *names[] = { "six" };
  GBytes *file;

  adj_shape_init_ints (&meta.shape, 1, size);
  data = adj_tensor_data_new (&meta, bytes, &error);
  g_assert_no_error (error);
  file = adj_safetensors_write (names, &data, 1, &error);
  g_assert_no_error (error);
  return file;
}

#define HEAD                                                                                       \
  "{\"format\": \"adjoint\",\n\"version\": [1, 0],\n\"requires\": [],\n"                           \
  "\"strings\": [\"a text\"],\n\"graphs\": [{\"id\": \"g\", \"role\": \"user\"}]"
#define GRAPH(nodes) "{\"graph\": {\"class\": \"G\",\n\"nodes\": [\n" nodes "\n]}}\n"
#define X "{\"name\": \"x\", \"op\": \"placeholder\", \"target\": \"x\"},\n"
#define OUTPUT "{\"name\": \"output\", \"op\": \"output\", \"args\": [[{\"$n\": \"x\"}]]}"

typedef struct
{
  const char *name;
  const char *manifest, *graph;
  const char *message; /* follows the path of the folder */
  AdjError code;
} Bad;

static const Bad bads[] = {
  { "no-manifest", NULL, NULL, ": no logs in this folder", ADJ_ERROR_PARSE },
  { "no-json", "{", NULL, ": adjoint.json:1:2: expected", ADJ_ERROR_PARSE },
  { "other-format", "{\"format\": \"x\"}", NULL, ": adjoint.json:1:1: not the manifest",
    ADJ_ERROR_PARSE },
  { "version-2", "{\"format\": \"adjoint\", \"version\": [2, 0]}", NULL,
    ": version 2 of the format", ADJ_ERROR_UNSUPPORTED },
  { "requires", "{\"format\": \"adjoint\", \"version\": [1, 3], \"requires\": [\"time travel\"]}",
    NULL, ": the file requires 'time travel'", ADJ_ERROR_UNSUPPORTED },
  { "id-is-path",
    "{\"format\": \"adjoint\", \"version\": [1, 0],\n\"graphs\": [{\"id\": \"../x\"}]}", NULL,
    ": adjoint.json:2:12: a graph needs an id of its own", ADJ_ERROR_PARSE },
  { "id-twice",
    "{\"format\": \"adjoint\", \"version\": [1, 0],\n\"graphs\": [{\"id\": \"x\"}, {\"id\": "
    "\"x\"}]}",
    NULL, ": adjoint.json:2:25: a graph needs an id of its own", ADJ_ERROR_PARSE },
  { "key-twice", "{\"format\": \"adjoint\", \"format\": \"adjoint\"}", NULL,
    ": adjoint.json:1:33: the key \"format\" stands twice", ADJ_ERROR_PARSE },
  { "graph-missing", HEAD "}", NULL, ": graphs/g.json is missing", ADJ_ERROR_NOT_FOUND },
  { "graph-no-json", HEAD "}", "nothing", ": graphs/g.json:1:1: expected '{'", ADJ_ERROR_PARSE },
  { "graph-cut", HEAD "}", "{\"graph\": {\"nodes\": [\n",
    ": graphs/g.json:2:1: ", ADJ_ERROR_PARSE },
  { "no-nodes", HEAD "}", "{\"graph\": {}}", ": graphs/g.json:1:14: no \"nodes\"",
    ADJ_ERROR_PARSE },
  { "not-utf8", HEAD "}", "{\"\xff\": 1}", ": graphs/g.json: not UTF-8", ADJ_ERROR_PARSE },
  { "node-no-name", HEAD "}", GRAPH (X "{\"op\": \"output\"}"),
    ": graphs/g.json:4:1: a node without a name", ADJ_ERROR_PARSE },
  { "unknown-op", HEAD "}", GRAPH (X "{\"name\": \"y\", \"op\": \"call\", \"target\": \"t\"}"),
    ": graphs/g.json:4:1: node 'y': unknown op 'call'", ADJ_ERROR_PARSE },
  { "name-twice", HEAD "}", GRAPH (X X OUTPUT),
    ": graphs/g.json:4:1: node 'x': another node has this name", ADJ_ERROR_PARSE },
  { "unknown-node", HEAD "}",
    GRAPH (X "{\"name\": \"output\", \"op\": \"output\", \"args\": [{\"$n\": \"y\"}]}"),
    ": graphs/g.json:4:52: node 'output': no earlier node is named 'y'", ADJ_ERROR_PARSE },
  { "args-no-array", HEAD "}", GRAPH (X "{\"name\": \"output\", \"op\": \"output\", \"args\": 1}"),
    ": graphs/g.json:4:44: node 'output': args must be an array", ADJ_ERROR_PARSE },
  { "no-tag", HEAD "}",
    GRAPH (X "{\"name\": \"output\", \"op\": \"output\", \"args\": [{\"a\": 1}]}"),
    ": graphs/g.json:4:45: node 'output': expected one key that begins with '$'", ADJ_ERROR_PARSE },
  { "bad-slice", HEAD "}",
    GRAPH (X "{\"name\": \"output\", \"op\": \"output\", \"args\": [{\"$slice\": 3}]}"),
    ": graphs/g.json:4:56: node 'output': $slice: expected [start, stop, step]", ADJ_ERROR_PARSE },
  { "no-such-text", HEAD "}",
    GRAPH (X "{\"name\": \"output\", \"op\": \"output\", \"args\": [{\"$str\": 1}]}"),
    ": graphs/g.json:4:54: node 'output': $str: expected the number of a text", ADJ_ERROR_PARSE },
  { "no-such-file", HEAD "}",
    GRAPH (X
           "{\"name\": \"output\", \"op\": \"output\", \"args\": [{\"$tensor\": [\"u\", \"k\"]}]}"),
    ": tensors/u.safetensors is missing", ADJ_ERROR_NOT_FOUND },
  { "tensor-file-is-path", HEAD "}",
    GRAPH (
        X
        "{\"name\": \"output\", \"op\": \"output\", \"args\": [{\"$tensor\": [\"../t\", \"k\"]}]}"),
    ": graphs/g.json:4:58: node 'output': expected the id of a tensor file", ADJ_ERROR_PARSE },
  { "no-such-tensor", HEAD "}",
    GRAPH (X
           "{\"name\": \"output\", \"op\": \"output\", \"args\": [{\"$tensor\": [\"t\", \"k\"]}]}"),
    ": graphs/g.json:4:63: node 'output': t.safetensors: there is no tensor 'k'", ADJ_ERROR_PARSE },
  { "gradients-of-others",
    HEAD ",\n\"calls\": [{\"graph\": \"g\", \"inputs\": [1], \"gradients\": [1, 2]}]}",
    GRAPH (X OUTPUT), ": adjoint.json:6:54: \"gradients\" has 2 values, not 1", ADJ_ERROR_PARSE },
  { "view-outside",
    HEAD ", \"calls\": [{\"graph\": \"g\", \"inputs\": [{\"$tensor\": [\"t\", \"six\","
         " {\"size\": [7], \"stride\": [1], \"offset\": 0}]}]}]}",
    GRAPH (X OUTPUT), ": adjoint.json:5:103: a tensor f32[", ADJ_ERROR_PARSE },
  { "view-wraps",
    HEAD ", \"calls\": [{\"graph\": \"g\", \"inputs\": [{\"$tensor\": [\"t\", \"six\","
         " {\"size\": [4611686018427387904, 4], \"stride\": [4, 1], \"offset\": 0}]}]}]}",
    GRAPH (X OUTPUT), ": adjoint.json:5:103: a tensor f32[", ADJ_ERROR_PARSE },
  { "call-of-nothing", HEAD ", \"calls\": [{\"graph\": \"h\"}]}", GRAPH (X OUTPUT),
    ": adjoint.json:5: there is no graph 'h'", ADJ_ERROR_NOT_FOUND },
  { "subgraph-missing", HEAD "}",
    "{\"graph\": {\"nodes\": [" X OUTPUT "]},\n\"subgraphs\": {\"s\": \"h\"}}",
    ": graphs/g.json:3:20: there is no graph 'h'", ADJ_ERROR_PARSE },
  { "subgraph-of-itself", HEAD "}",
    "{\"graph\": {\"nodes\": [" X OUTPUT "]},\n\"subgraphs\": {\"s\": \"g\"}}",
    ": graphs/g.json:3:20: the graph 'g' contains itself", ADJ_ERROR_PARSE },
  { "placeholder-late", HEAD "}",
    GRAPH (X "{\"name\": \"y\", \"op\": \"call_function\", \"target\": \"f\"},\n"
             "{\"name\": \"z\", \"op\": \"placeholder\", \"target\": \"z\"},\n" OUTPUT),
    ": graphs/g.json: node 'z': ", ADJ_ERROR_VERIFY },
};

static void
test_error (gconstpointer data)
{
  const Bad *bad = data;
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GBytes) tensors = make_tensors ();
  g_autoptr (GError) error = NULL;
  g_autofree char *expected = g_strconcat (folder->path, bad->message, NULL);

  if (bad->manifest != NULL)
    write_entry (folder, "adjoint.json", bad->manifest);
  if (bad->graph != NULL)
    write_entry (folder, "graphs/g.json", bad->graph);
  write_bytes (folder, "tensors/t.safetensors", tensors);
  g_assert_null (adj_bundle_load (folder->path, NULL, &error));
  g_assert_nonnull (error);
  if (!g_str_has_prefix (error->message, expected))
    g_assert_cmpstr (error->message, ==, expected);
  g_assert_error (error, ADJ_ERROR, (gint) bad->code);
}

/* Deep nesting is refused without recursion. */
static void
test_refuses_depth (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GString) graph = g_string_new ("{\"graph\": {\"nodes\": [" X);
  g_autoptr (GError) error = NULL;

  g_string_append (graph, "{\"name\": \"output\", \"op\": \"output\", \"args\": [");
  for (guint i = 0; i < 200000; i++)
    g_string_append_c (graph, '[');
  write_entry (folder, "adjoint.json", HEAD "}");
  write_entry (folder, "graphs/g.json", graph->str);
  g_assert_null (adj_bundle_load (folder->path, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_nonnull (strstr (error->message, "nested deeper than"));
}

/* Links in a folder from elsewhere must not make the reader open files outside of it. */
static void
test_follows_no_link (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *target = g_build_filename (folder->path, "elsewhere.json", NULL);
  g_autofree char *link = g_build_filename (folder->path, "graphs", "g.json", NULL);
  g_autofree char *graphs = g_path_get_dirname (link);
  g_autoptr (GFile) file = g_file_new_for_path (link);
  g_autoptr (GError) error = NULL;

  write_entry (folder, "adjoint.json", HEAD "}");
  write_entry (folder, "elsewhere.json", GRAPH (X OUTPUT));
  g_mkdir (graphs, 0700);
  g_assert_true (g_file_make_symbolic_link (file, target, NULL, NULL));
  g_assert_null (adj_bundle_load (folder->path, NULL, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS);
}

/* Every kind of argument in the format, and kinds that it does not have yet. */
#define ARGS                                                                                       \
  "[null, true, 1, -2.5, 1.0, 1e-05, \"a\\nb\", [], [1, [2]], {\"$tuple\": [1, {\"$n\": "          \
  "\"x\"}]}, "                                                                                     \
  "{\"$dict\": [[\"k\", 1], [2, \"v\"]]}, {\"$slice\": [null, 2, null]}, {\"$range\": [0, 3, "     \
  "1]}, "                                                                                          \
  "{\"$f\": \"nan\"}, {\"$f\": \"-inf\"}, {\"$complex\": [1.0, -0.0]}, {\"$bytes\": \"AAH/\"}, "   \
  "{\"$int\": \"9223372036854775807\"}, {\"$int\": \"123456789012345678901234567890\"}, "          \
  "{\"$dtype\": \"bf16\"}, {\"$dtype\": \"f3\"}, {\"$device\": \"cuda:1\"}, "                      \
  "{\"$layout\": \"strided\"}, {\"$memfmt\": \"channels_last\"}, "                                 \
  "{\"$sym\": {\"expr\": \"s0\", \"hint\": 8}}, {\"$op\": \"torch.ops.aten.add.Tensor\"}, "        \
  "{\"$tensor\": [\"constants\", \"g.y\"]}, {\"$ellipsis\": true}, {\"$raw\": \"<object>\"}, "     \
  "{\"$later\": {\"a\": [1, 2]}}]"
#define ARGS_NODE                                                                                  \
  "{\"name\": \"y\", \"op\": \"call_function\", \"target\": \"my.lib.f\", \"args\": " ARGS         \
  ", \"kwargs\": {\"z\": 1, \"a\": {\"$dtype\": \"f64\"}}, \"type\": \"torch.Tensor\", "           \
  "\"val\": [\"f32[s0, 3][3, 1]cuda:0\", null, \"Sym(s0)\", \"Weird(f32[4])\"], "                  \
  "\"meta\": {\"custom\": {\"a\": [1, {\"b\": 2.0}]}, \"recompute\": \"SOMETHING_NEW\", "          \
  "\"seq_nr\": 4, \"stack\": {\"$str\": 0}}}"

static void
test_keeps_all (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *copy = g_build_filename (folder->path, "copy/", NULL);
  g_autofree char *graph_path = g_build_filename (copy, "graphs", "g.json", NULL);
  g_autofree char *manifest_path = g_build_filename (copy, "adjoint.json", NULL);
  g_autofree char *notes_path = g_build_filename (copy, "notes.json", NULL);
  g_autofree char *notes = NULL;
  g_autoptr (GBytes) tensors = make_tensors ();
  g_autofree char *graph = NULL;
  g_autofree char *manifest = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (AdjBundle) bundle = NULL;
  g_autofree char *node = NULL;
  GString *args = g_string_new (ARGS_NODE);

  g_string_replace (args, "[\"constants\", \"g.y\"]", "[\"t\", \"six\"]", 0);
  node = g_string_free (args, FALSE);
  graph = g_strconcat ("{\"later\": [1],\n\"graph\": {\"class\": \"G\", \"nodes\": [\n", X, node,
                       ",\n", OUTPUT, "]}}", NULL);
  write_entry (folder, "adjoint.json",
               HEAD ",\n\"later\": {\"b\": 1, \"a\": [true]},\n"
                    "\"symbols\": {\"s0\": {\"hint\": 8, \"range\": [2, null], "
                    "\"source\": \"L['x'].size()[0]\"}}}");
  write_entry (folder, "graphs/g.json", graph);
  write_bytes (folder, "tensors/t.safetensors", tensors);
  write_entry (folder, "notes.json", "{\"x\": \"look here\"}\n");
  bundle = adj_test_load_bundle (folder->path);
  adj_test_save_bundle (bundle, copy);

  notes = adj_test_read_file (notes_path, NULL);
  g_assert_cmpstr (notes, ==, "{\"x\": \"look here\"}\n");
  g_clear_pointer (&graph, g_free);
  graph = adj_test_read_file (graph_path, NULL);
  lines = g_strsplit (graph, "\n", -1);
  g_assert_cmpstr (lines[3], ==, ARGS_NODE ",");
  g_assert_nonnull (strstr (graph, "\"later\": [1]"));
  manifest = adj_test_read_file (manifest_path, NULL);
  g_assert_nonnull (strstr (manifest, "\"later\": {\"b\": 1, \"a\": [true]}"));
  g_assert_nonnull (strstr (manifest, "\"s0\": {\"hint\": 8, \"range\": [2, null], "
                                      "\"source\": \"L['x'].size()[0]\"}"));
}

/* Values with the same key share memory, also after saving. */
static void
test_aliases (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *copy = g_build_filename (folder->path, "copy.adjoint", NULL);
  g_autoptr (GBytes) tensors = make_tensors ();
  AdjBundle *bundle;

  write_entry (folder, "adjoint.json",
               HEAD
               ", \"calls\": [{\"graph\": \"g\", \"inputs\": [{\"$tensor\": [\"t\", \"six\"]}, "
               "{\"$tensor\": [\"t\", \"six\", {\"size\": [2, 2], \"stride\": [1, 2], "
               "\"offset\": 1}]}]}]}");
  write_entry (folder, "graphs/g.json", GRAPH (X OUTPUT));
  write_bytes (folder, "tensors/t.safetensors", tensors);
  bundle = adj_test_load_bundle (folder->path);
  for (guint pass = 0; pass < 2; pass++)
    {
      const AdjRecordedCall *call = adj_bundle_get_call (bundle, 0);
      AdjTensorData *whole = call->inputs[0].data, *view = call->inputs[1].data;
      static const double expected[] = { 1, 3, 2, 4 };

      g_assert_true (adj_tensor_data_get_bytes (whole) == adj_tensor_data_get_bytes (view));
      for (guint i = 0; i < 4; i++)
        g_assert_cmpfloat (adj_tensor_data_get_double (view, i), ==, expected[i]);
      g_assert_cmpfloat (adj_tensor_data_get_double (whole, 5), ==, 5);
      adj_test_save_bundle (bundle, copy);
      adj_bundle_unref (bundle);
      bundle = adj_test_load_bundle (copy);
    }
  adj_bundle_unref (bundle);
}

/* safetensors has neither complex128 nor complex32: they are stored as pairs of numbers. */
static void
test_complex_pairs (gconstpointer dtype)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "x.adjoint", NULL);
  AdjTensorMeta meta = {
    .dtype = GPOINTER_TO_INT (dtype), .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  gint64 sizes[2] = { 2, 3 };
  guint8 numbers[7 * 16];
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (AdjBundle) again = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (AdjGraph) graph = adj_graph_parse (
      "class G(torch.nn.Module):\n    def forward(self, x):\n        return (x,)\n", -1,
      adj_op_find, NULL, NULL);
  AdjBundleGraph entry = { .id = "g", .role = "user", .rank = -1, .graph = graph };
  AdjRecordedCall call = { .n_inputs = 1 };
  AdjValue input;

  for (guint i = 0; i < sizeof numbers; i++)
    numbers[i] = (guint8) (i % 60);
  bytes = g_bytes_new (numbers, sizeof numbers);
  adj_shape_init_ints (&meta.shape, 2, sizes);
  meta.shape.stride[0] = ADJ_SIZE (1); /* transposed, with an offset of one element */
  meta.shape.stride[1] = ADJ_SIZE (2);
  meta.shape.offset = ADJ_SIZE (1);
  data = adj_tensor_data_new (&meta, bytes, &error);
  g_assert_no_error (error);
  input = ADJ_DATA (data);
  call.inputs = &input;
  g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
  g_assert_true (adj_bundle_builder_add_call (builder, &call, "g", NULL));
  bundle = adj_bundle_builder_end (builder, NULL);
  adj_test_save_bundle (bundle, path);
  again = adj_test_load_bundle (path);
  input = adj_bundle_get_call (again, 0)->inputs[0];
  g_assert_cmpint (input.kind, ==, ADJ_VALUE_DATA);
  g_assert_cmpint (adj_tensor_data_get_meta (input.data)->dtype, ==, meta.dtype);
  before = adj_tensor_data_print (data, 100);
  after = adj_tensor_data_print (input.data, 100);
  g_assert_cmpstr (after, ==, before);
  g_assert_nonnull (strchr (after, 'j'));
}

/* Tensors of a large file are not copied: they point into its single mapping. */
static void
test_large (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "large.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = adj_test_large_bundle (20 << 20);
  AdjRecordedCall call;

  adj_test_save_bundle (bundle, path);
  adj_bundle_unref (bundle);
  bundle = adj_test_load_bundle (path);
  call = *adj_bundle_get_call (bundle, 0);
  g_assert_cmpint (adj_tensor_data_get_numel (call.inputs[0].data), ==, 5 << 20);
  g_assert_cmpuint (
      (guintptr) g_bytes_get_data (adj_tensor_data_get_bytes (call.inputs[0].data), NULL) % 64, ==,
      0);
  /* The file is saved over itself and then truncated: elements that were read before stay valid. */
  adj_test_save_bundle (bundle, path);
  g_assert_cmpfloat (adj_tensor_data_get_double (call.inputs[0].data, 77), ==, 0);
  g_assert_cmpint (truncate (path, 100), ==, 0);
}

static void
test_notes_edits (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GBytes) tensors = make_tensors ();
  g_autoptr (AdjBundle) bundle = NULL;
  const AdjDiags *diags;

  write_entry (folder, "adjoint.json",
               "{\"format\": \"adjoint\", \"version\": [1, 7],"
               "\"graphs\": [{\"id\": \"g\", \"sha256\": \"00\"}],"
               "\"tensors\": [{\"id\": \"t\", \"sha256\": \"00\"}],"
               "\"calls\": [{\"graph\": \"g\", \"inputs\": [{\"$tensor\": [\"t\", \"six\"]}]}]}");
  write_entry (folder, "graphs/g.json", GRAPH (X OUTPUT));
  write_bytes (folder, "tensors/t.safetensors", tensors);
  bundle = adj_test_load_bundle (folder->path);
  diags = adj_bundle_get_diags (bundle);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 2);
  g_assert_cmpint (adj_diags_get (diags, 0)->severity, ==, ADJ_SEVERITY_WARNING);
  g_assert_true (g_str_has_prefix (adj_diags_get (diags, 0)->message, "graphs/g.json: edited"));
  g_assert_cmpint (adj_diags_get (diags, 1)->severity, ==, ADJ_SEVERITY_ERROR);
}

/* A subgraph that is not a graph of the bundle gets an id. */
static void
test_saves_subgraph (void)
{
  g_autoptr (AdjBuilder) inner = adj_builder_new ("Inner", NULL, adj_op_find);
  g_autoptr (AdjBuilder) outer = adj_builder_new ("Outer", NULL, adj_op_find);
  AdjBundleBuilder *builder = adj_bundle_builder_new ();
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "x.adjoint", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) child = NULL;
  g_autoptr (AdjGraph) parent = NULL;
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (AdjBundle) again = NULL;
  AdjValue value = ADJ_NODE (adj_builder_placeholder (inner, "x", NULL));
  AdjBundleGraph entry = { .id = "0-0-user", .role = "user", .rank = -1 };
  const AdjBundleGraph *found;

  adj_builder_output (inner, &value);
  child = adj_builder_seal (inner, &error);
  g_assert_no_error (error);
  value = ADJ_NODE (adj_builder_placeholder (outer, "y", NULL));
  adj_builder_add_subgraph (outer, "Body.0", child);
  adj_builder_output (outer, &value);
  parent = adj_builder_seal (outer, &error);
  g_assert_no_error (error);

  entry.graph = parent;
  g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
  bundle = adj_bundle_builder_end (builder, NULL);
  adj_test_save_bundle (bundle, path);
  again = adj_test_load_bundle (path);
  found = adj_bundle_find_graph (again, "0-0-user-body_0", &error);
  g_assert_no_error (error);
  g_assert_cmpstr (found->role, ==, "subgraph");
  g_assert_true (found->graph ==
                 adj_graph_find_subgraph (adj_bundle_get_graph (again, 0)->graph, "Body.0"));
}

/* -- damage -- */

static void
read_damaged (GBytes *damaged, gpointer data)
{
  const AdjTestFolder *folder = data;
  g_autofree char *path = g_build_filename (folder->path, "damaged.adjoint", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;

  g_file_set_contents_full (path, g_bytes_get_data (damaged, NULL), g_bytes_get_size (damaged),
                            G_FILE_SET_CONTENTS_NONE, 0600, NULL);
  bundle = adj_bundle_load (path, NULL, &error);
  if (bundle == NULL)
    g_assert_true (error != NULL && g_str_has_prefix (error->message, path));
  else
    g_assert_no_error (error);
}

static void
test_damaged (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "small.adjoint", NULL);
  g_autoptr (GBytes) tensors = make_tensors ();
  g_autoptr (AdjBundle) bundle = NULL;
  g_autoptr (GBytes) bytes = NULL;
  char *data;
  gsize length;

  write_entry (folder, "adjoint.json",
               HEAD
               ", \"calls\": [{\"graph\": \"g\", \"inputs\": [{\"$tensor\": [\"t\", \"six\"]}, "
               "{\"$tensor\": [\"t\", \"six\", {\"size\": [2, 2], \"stride\": [1, 2], "
               "\"offset\": 1}]}]}]}");
  write_entry (folder, "graphs/g.json", GRAPH (X OUTPUT));
  write_bytes (folder, "tensors/t.safetensors", tensors);
  bundle = adj_test_load_bundle (folder->path);
  adj_test_save_bundle (bundle, path);
  data = adj_test_read_file (path, &length);
  bytes = g_bytes_new_take (data, length);
  damage_each (bytes, read_damaged, folder);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (bads); i++)
    {
      g_autofree char *path = g_strconcat ("/formats/adjoint/rejects/", bads[i].name, NULL);

      g_test_add_data_func (path, &bads[i], test_error);
    }
  g_test_add_func ("/formats/adjoint/rejects/depth", test_refuses_depth);
  g_test_add_func ("/formats/adjoint/follows-no-link", test_follows_no_link);
  g_test_add_func ("/formats/adjoint/keeps-all", test_keeps_all);
  g_test_add_func ("/formats/adjoint/aliases", test_aliases);
  g_test_add_func ("/formats/adjoint/large", test_large);
  g_test_add_data_func ("/formats/adjoint/complex32", GINT_TO_POINTER (ADJ_DTYPE_C32),
                        test_complex_pairs);
  g_test_add_data_func ("/formats/adjoint/complex64", GINT_TO_POINTER (ADJ_DTYPE_C64),
                        test_complex_pairs);
  g_test_add_data_func ("/formats/adjoint/complex128", GINT_TO_POINTER (ADJ_DTYPE_C128),
                        test_complex_pairs);
  g_test_add_func ("/formats/adjoint/notes-edits", test_notes_edits);
  g_test_add_func ("/formats/adjoint/saves-subgraph", test_saves_subgraph);
  g_test_add_func ("/formats/adjoint/damaged", test_damaged);
  return g_test_run ();
}
