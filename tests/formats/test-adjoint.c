/* SPDX-License-Identifier: MIT */
/* .adjoint: what the capture wrote is read, written back the same, and refused when damaged. */
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
#include "support/large-bundle.h"

static AdjBundle *
load (const char *path)
{
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

static AdjBundle *
load_data (const char *name)
{
  g_autofree char *path = adj_test_data_path (name);

  return load (path);
}

static void
save (AdjBundle *bundle, const char *path)
{
  g_autoptr (GError) error = NULL;

  adj_format_for_path (path, &error)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
}

/* -- what PyTorch recorded -- */

/* The file keeps the text that PyTorch printed of each graph: what we read must print the same. */
static void
test_prints_as_pytorch (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = load_data (name);
  guint n_texts = 0;

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, i);
      GBytes *text = adj_bundle_get_text (bundle, graph->id);
      g_autofree char *printed = adj_graph_print (graph->graph, ADJ_PRINT_NO_METADATA, NULL);
      g_autofree char *expected = NULL;
      gsize length;
      const char *data;

      if (adj_graph_get_n_subgraphs (graph->graph) > 0)
        continue; /* PyTorch prints each of them after the graph, we inside it */
      data = g_bytes_get_data (text, &length);
      expected = g_strndup (data, length);
      g_assert_cmpstr (g_strchomp (printed), ==, g_strchomp (expected));
      n_texts++;
    }
  g_assert_cmpuint (n_texts, >=, adj_bundle_get_region (bundle, 0)->capture != NULL ? 2 : 3);
}

static gboolean
same_values (AdjTensorData *a, AdjTensorData *b)
{
  if (adj_tensor_data_get_numel (a) != adj_tensor_data_get_numel (b))
    return FALSE;
  for (gint64 i = 0; i < adj_tensor_data_get_numel (a); i++)
    if (adj_tensor_data_get_double (a, i) != adj_tensor_data_get_double (b, i))
      return FALSE;
  return TRUE;
}

/* Taps come from a second run of the graph in PyTorch, outputs from the first. */
static void
test_taps_agree_with_outputs (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = load_data (name);
  guint n_compared = 0;

  for (guint i = 0; i < adj_bundle_get_n_calls (bundle); i++)
    {
      const AdjRecordedCall *call = adj_bundle_get_call (bundle, i);
      AdjGraph *graph = call->graph->graph;
      const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);
      const AdjValue *items = output->args.items[0].items;

      g_assert_cmpuint (output->args.items[0].n, ==, call->n_outputs);
      for (guint k = 0; k < call->n_outputs; k++)
        {
          AdjTensorData *tap = NULL;

          if (items[k].kind == ADJ_VALUE_NODE)
            tap = adj_bundle_get_tap (bundle, call,
                                      adj_graph_get_node (graph, items[k].node.index)->name, FALSE);
          if (tap == NULL)
            continue;
          g_assert_cmpint (call->outputs[k].kind, ==, ADJ_VALUE_DATA);
          g_assert_true (same_values (tap, call->outputs[k].data));
          n_compared++;
        }
    }
  g_assert_cmpuint (n_compared, >, 5);
}

static gboolean
same_values_of (const AdjValue *a, const AdjValue *b)
{
  if (a->kind == ADJ_VALUE_DATA && b->kind == ADJ_VALUE_DATA)
    return same_values (a->data, b->data);
  return a->kind == ADJ_VALUE_NONE && b->kind == ADJ_VALUE_NONE;
}

/* The gradients of the Dynamo call belong to its inputs; those that the joint graph returned are
 * for the same tensors. */
static void
test_dynamo_call_has_gradients (gconstpointer name)
{
  g_autoptr (AdjBundle) bundle = load_data (name);
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", &error);
  const AdjRecordedCall *call =
      adj_bundle_find_call (bundle, adj_bundle_find_graph (bundle, "dynamo", &error), 0);
  const AdjRecordedCall *derived = adj_bundle_find_call (bundle, joint, 0);
  guint first = derived->n_outputs - call->n_inputs, n_gradients = 0;

  g_assert_no_error (error);
  g_assert_nonnull (call->gradients);
  g_assert_cmpuint (call->n_outputs, ==, 1);
  g_assert_cmpfloat (adj_tensor_data_get_double (call->tangents[0].data, 0), ==, 1);
  for (guint i = 0; i < call->n_inputs; i++)
    {
      g_assert_true (same_values_of (&call->gradients[i], &derived->outputs[first + i]));
      g_assert_true (same_values_of (&call->inputs[i], &derived->inputs[i]));
      n_gradients += call->gradients[i].kind == ADJ_VALUE_DATA;
    }
  g_assert_cmpuint (n_gradients, >, 3);
}

static void
test_finds_graphs (void)
{
  g_autoptr (AdjBundle) bundle = load_data ("graphs/mlp.adjoint");
  g_autoptr (GError) error = NULL;
  const AdjRegion *region = adj_bundle_get_region (bundle, 0);

  g_assert_cmpstr (adj_bundle_find_graph (bundle, NULL, NULL)->id, ==, "0-0-joint");
  g_assert_cmpstr (adj_bundle_find_graph (bundle, "backward", NULL)->id, ==, "0-0-backward");
  g_assert_cmpstr (adj_bundle_find_graph (bundle, "0-0-dynamo", NULL)->role, ==, "dynamo");
  g_assert_null (adj_bundle_find_graph (bundle, "inference", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, "0-0-joint"));
  g_assert_cmpuint (adj_bundle_get_n_regions (bundle), ==, 1);
  g_assert_cmpint (region->num_fwd_outputs, ==, 1);
  g_assert_cmpuint (region->n_graphs, ==, 4);
  g_assert_cmpstr (region->graphs[1]->role, ==, "joint");
  g_assert_true (adj_bundle_find_region (bundle, region->graphs[1]) == region);
  g_assert_cmpint (region->metadata->kind, ==, ADJ_VALUE_DICT);
}

/* -- round trips -- */

static gboolean
same_value (const AdjValue *a, const AdjValue *b)
{
  if (a->kind != b->kind)
    return FALSE;
  if (a->kind == ADJ_VALUE_DATA)
    return same_values (a->data, b->data) &&
           adj_tensor_meta_equal (adj_tensor_data_get_meta (a->data),
                                  adj_tensor_data_get_meta (b->data));
  if (!adj_value_is_container (a))
    return adj_value_equal (a, b);
  if (a->n != b->n)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (!same_value (&a->items[i], &b->items[i]))
      return FALSE;
  return TRUE;
}

static gboolean
same_fact (const AdjValue *a, const AdjValue *b)
{
  return a == b || (a != NULL && b != NULL && same_value (a, b));
}

static void
assert_same_call (AdjBundle *a, AdjBundle *b, guint index)
{
  const AdjRecordedCall *first = adj_bundle_get_call (a, index);
  const AdjRecordedCall *second = adj_bundle_get_call (b, index);
  AdjGraph *graph = first->graph->graph;

  g_assert_cmpstr (first->graph->id, ==, second->graph->id);
  g_assert_cmpuint (first->n, ==, second->n);
  g_assert_cmpint (first->derived, ==, second->derived);
  g_assert_cmpuint (first->n_inputs, ==, second->n_inputs);
  g_assert_cmpuint (first->n_outputs, ==, second->n_outputs);
  for (guint i = 0; i < first->n_inputs; i++)
    g_assert_true (same_value (&first->inputs[i], &second->inputs[i]));
  for (guint i = 0; i < first->n_outputs; i++)
    g_assert_true (same_value (&first->outputs[i], &second->outputs[i]));
  g_assert_true ((first->gradients == NULL) == (second->gradients == NULL));
  for (guint i = 0; first->gradients != NULL && i < first->n_inputs; i++)
    g_assert_true (same_value (&first->gradients[i], &second->gradients[i]));
  for (guint i = 0; first->tangents != NULL && i < first->n_outputs; i++)
    g_assert_true (same_value (&first->tangents[i], &second->tangents[i]));
  g_assert_true (same_fact (first->rng, second->rng));
  g_assert_true (same_fact (first->backward, second->backward));
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    for (guint wide = 0; wide < 2; wide++)
      {
        const char *name = adj_graph_get_node (graph, i)->name;
        AdjTensorData *one = adj_bundle_get_tap (a, first, name, wide);
        AdjTensorData *two = adj_bundle_get_tap (b, second, name, wide);

        g_assert_true (one == NULL ? two == NULL : two != NULL && same_values (one, two));
      }
}

static void
assert_same_bundle (AdjBundle *a, AdjBundle *b)
{
  g_assert_cmpstr (adj_bundle_get_description (a), ==, adj_bundle_get_description (b));
  g_assert_cmpuint (adj_bundle_get_n_graphs (a), ==, adj_bundle_get_n_graphs (b));
  g_assert_cmpuint (adj_bundle_get_n_regions (a), ==, adj_bundle_get_n_regions (b));
  g_assert_cmpuint (adj_bundle_get_n_calls (a), ==, adj_bundle_get_n_calls (b));
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (b)), ==, 0);
  for (guint i = 0; i < adj_bundle_get_n_graphs (a); i++)
    {
      const AdjBundleGraph *one = adj_bundle_get_graph (a, i), *two = adj_bundle_get_graph (b, i);
      g_autofree char *first = adj_graph_print (one->graph, ADJ_PRINT_DEFAULT, NULL);
      g_autofree char *second = adj_graph_print (two->graph, ADJ_PRINT_DEFAULT, NULL);
      GBytes *text = adj_bundle_get_text (a, one->id);

      g_assert_cmpstr (one->id, ==, two->id);
      g_assert_cmpstr (one->title, ==, two->title);
      g_assert_cmpstr (one->compile_id, ==, two->compile_id);
      g_assert_true (adj_graph_equal_structure (one->graph, two->graph));
      g_assert_cmpstr (first, ==, second);
      g_assert_true (text == NULL || g_bytes_equal (text, adj_bundle_get_text (b, one->id)));
    }
  for (guint i = 0; i < adj_bundle_get_n_regions (a); i++)
    {
      const AdjRegion *one = adj_bundle_get_region (a, i), *two = adj_bundle_get_region (b, i);

      g_assert_cmpstr (one->id, ==, two->id);
      g_assert_cmpint (one->num_fwd_outputs, ==, two->num_fwd_outputs);
      g_assert_cmpuint (one->n_graphs, ==, two->n_graphs);
      g_assert_true (same_fact (one->metadata, two->metadata) &&
                     same_fact (one->capture, two->capture));
    }
  for (guint i = 0; i < adj_bundle_get_n_calls (a); i++)
    assert_same_call (a, b, i);
}

static void
assert_same_file (const char *first, const char *second)
{
  gsize n, m;
  g_autofree char *a = adj_test_read_file (first, &n);
  g_autofree char *b = adj_test_read_file (second, &m);

  g_assert_cmpmem (a, n, b, m);
}

static void
test_round_trip (gconstpointer name)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *first = g_build_filename (folder->path, "first.adjoint", NULL);
  g_autofree char *second = g_build_filename (folder->path, "second.adjoint", NULL);
  g_autofree char *third = g_build_filename (folder->path, "third.adjoint", NULL);
  g_autofree char *as_folder = g_build_filename (folder->path, "folder/", NULL);
  g_autoptr (AdjBundle) bundle = load_data (name);
  g_autoptr (AdjBundle) again = NULL;
  g_autoptr (AdjBundle) from_folder = NULL;

  save (bundle, first);
  again = load (first);
  assert_same_bundle (bundle, again);
  save (again, second);
  assert_same_file (first, second);

  save (again, as_folder);
  from_folder = load (as_folder);
  assert_same_bundle (bundle, from_folder);
  save (from_folder, third);
  assert_same_file (first, third);
}

/* The file of a graph is written as the capture module writes it, but for the numbers of texts. */
static void
test_writes_as_capture (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (GRegex) numbers = g_regex_new ("\\{\"\\$str\": \\d+\\}", 0, 0, NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *copy = g_build_filename (folder->path, "copy.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = load (path);
  const char *paths[] = { path, copy };
  char *texts[2];
  guint n_entries[2];

  save (bundle, copy);
  for (guint i = 0; i < 2; i++)
    {
      gsize length;
      g_autofree char *data = adj_test_read_file (paths[i], &length);
      g_autoptr (GBytes) bytes = g_bytes_new_static (data, length);
      g_autoptr (AdjFilePart) part = adj_file_part_new_for_bytes (bytes);
      g_autoptr (ZipArchive) archive = zip_open (part, "", NULL);
      g_autoptr (GBytes) entry = NULL;
      guint index;

      g_assert_true (zip_find (archive, "graphs/0-0-joint.json", &index));
      entry = zip_read (archive, index, G_MAXUINT64, NULL, NULL);
      n_entries[i] = zip_get_n (archive);
      texts[i] = g_regex_replace (numbers, g_bytes_get_data (entry, NULL), g_bytes_get_size (entry),
                                  0, "{\"$str\": _}", 0, NULL);
    }
  g_assert_cmpstr (texts[0], ==, texts[1]);
  g_assert_cmpuint (n_entries[0], ==, n_entries[1]);
  g_free (texts[0]);
  g_free (texts[1]);
}

static void
test_readable_by_python (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "copy.adjoint", NULL);
  g_autofree char *python = g_find_program_in_path ("python3");
  g_autoptr (AdjBundle) bundle = load_data ("graphs/mlp.adjoint");
  g_autoptr (AdjTestProcess) process = NULL;
  const char *argv[] = { python, "-m", "zipfile", "-t", path, NULL };

  if (python == NULL)
    {
      g_test_skip ("no python3");
      return;
    }
  save (bundle, path);
  process = adj_test_spawn (argv, NULL, NULL);
  g_assert_cmpint (process->status, ==, 0);
  g_assert_cmpstr (process->out, ==, "Done testing\n");
}

/* -- small files made here -- */

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
  const char *message; /* after the path of the folder */
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

/* A long way down: refused, not followed. */
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

/* Links in a folder that somebody sent must not make us read elsewhere. */
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

/* Every kind of argument that the format has, and things that it does not have yet. */
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
  bundle = load (folder->path);
  save (bundle, copy);

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

/* Values of one key share memory, and still do after saving. */
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
  bundle = load (folder->path);
  for (guint pass = 0; pass < 2; pass++)
    {
      const AdjRecordedCall *call = adj_bundle_get_call (bundle, 0);
      AdjTensorData *whole = call->inputs[0].data, *view = call->inputs[1].data;
      static const double expected[] = { 1, 3, 2, 4 };

      g_assert_true (adj_tensor_data_get_bytes (whole) == adj_tensor_data_get_bytes (view));
      for (guint i = 0; i < 4; i++)
        g_assert_cmpfloat (adj_tensor_data_get_double (view, i), ==, expected[i]);
      g_assert_cmpfloat (adj_tensor_data_get_double (whole, 5), ==, 5);
      save (bundle, copy);
      adj_bundle_unref (bundle);
      bundle = load (copy);
    }
  adj_bundle_unref (bundle);
}

/* Tensors of a large file stay in it: they point into its one mapping. */
/* safetensors has no complex128 and no complex32: they go as pairs of numbers. */
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
  meta.shape.stride[0] = ADJ_SIZE (1); /* transposed, behind one element */
  meta.shape.stride[1] = ADJ_SIZE (2);
  meta.shape.offset = ADJ_SIZE (1);
  data = adj_tensor_data_new (&meta, bytes, &error);
  g_assert_no_error (error);
  input = ADJ_DATA (data);
  call.inputs = &input;
  g_assert_true (adj_bundle_builder_add_graph (builder, &entry, NULL));
  g_assert_true (adj_bundle_builder_add_call (builder, &call, "g", NULL));
  bundle = adj_bundle_builder_end (builder, NULL);
  save (bundle, path);
  again = load (path);
  input = adj_bundle_get_call (again, 0)->inputs[0];
  g_assert_cmpint (input.kind, ==, ADJ_VALUE_DATA);
  g_assert_cmpint (adj_tensor_data_get_meta (input.data)->dtype, ==, meta.dtype);
  before = adj_tensor_data_print (data, 100);
  after = adj_tensor_data_print (input.data, 100);
  g_assert_cmpstr (after, ==, before);
  g_assert_nonnull (strchr (after, 'j'));
}

static void
test_large (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "large.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = adj_test_large_bundle (20 << 20);
  AdjRecordedCall call;

  save (bundle, path);
  adj_bundle_unref (bundle);
  bundle = load (path);
  call = *adj_bundle_get_call (bundle, 0);
  g_assert_cmpint (adj_tensor_data_get_numel (call.inputs[0].data), ==, 5 << 20);
  g_assert_cmpuint (
      (guintptr) g_bytes_get_data (adj_tensor_data_get_bytes (call.inputs[0].data), NULL) % 64, ==,
      0);
  /* Over the file that was read, and then somebody cuts it short: what was looked at is kept. */
  save (bundle, path);
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
  bundle = load (folder->path);
  diags = adj_bundle_get_diags (bundle);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 2);
  g_assert_cmpint (adj_diags_get (diags, 0)->severity, ==, ADJ_SEVERITY_WARNING);
  g_assert_true (g_str_has_prefix (adj_diags_get (diags, 0)->message, "graphs/g.json: edited"));
  g_assert_cmpint (adj_diags_get (diags, 1)->severity, ==, ADJ_SEVERITY_ERROR);
}

/* A subgraph that is no graph of the bundle gets an id of its own. */
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
  save (bundle, path);
  again = load (path);
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
  bundle = load (folder->path);
  save (bundle, path);
  data = adj_test_read_file (path, &length);
  bytes = g_bytes_new_take (data, length);
  damage_each (bytes, read_damaged, folder);
}

static void
add_row (const char *what, const char *name, gconstpointer data, GTestDataFunc test)
{
  g_autofree char *path = g_strconcat ("/formats/adjoint/", what, "/", name, NULL);

  g_test_add_data_func (path, data, test);
}

static void
add_rows (void)
{
  static const char *const captures[] = {
    "graphs/mlp.adjoint",          "graphs/gpt2.adjoint",    "graphs/gpt2-inductor.adjoint",
    "graphs/resnet-block.adjoint", "graphs/llama.adjoint",   "graphs/lstm.adjoint",
    "graphs/sac.adjoint",          "graphs/dropout.adjoint", "graphs/unet.adjoint",
  };
  static const char *const hooked[] = { "graphs/gpt2-hooks.adjoint", "graphs/mlp-ddp.adjoint" };

  for (guint i = 0; i < G_N_ELEMENTS (captures); i++)
    {
      add_row ("prints", captures[i], captures[i], test_prints_as_pytorch);
      add_row ("taps", captures[i], captures[i], test_taps_agree_with_outputs);
      add_row ("round-trip", captures[i], captures[i], test_round_trip);
      add_row ("gradients", captures[i], captures[i], test_dynamo_call_has_gradients);
    }
  for (guint i = 0; i < G_N_ELEMENTS (hooked); i++)
    {
      add_row ("prints", hooked[i], hooked[i], test_prints_as_pytorch);
      add_row ("round-trip", hooked[i], hooked[i], test_round_trip);
    }
  for (guint i = 0; i < G_N_ELEMENTS (bads); i++)
    add_row ("rejects", bads[i].name, &bads[i], test_error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_rows ();
  g_test_add_func ("/formats/adjoint/finds-graphs", test_finds_graphs);
  g_test_add_func ("/formats/adjoint/writes-as-capture", test_writes_as_capture);
  g_test_add_func ("/formats/adjoint/readable-by-python", test_readable_by_python);
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
