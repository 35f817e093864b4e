/* SPDX-License-Identifier: MIT */
/* Facts that only the capture module writes: about a region, beside its graphs and calls. */

#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "support/adj-test.h"

#define GRAPHS "\"graphs\": [{\"id\": \"g\", \"role\": \"user\"}]"
#define GRAPH                                                                                      \
  "{\"graph\": {\"class\": \"G\", \"nodes\": [\n"                                                  \
  "{\"name\": \"x\", \"op\": \"placeholder\", \"target\": \"x\"},\n"                               \
  "{\"name\": \"output\", \"op\": \"output\", \"args\": [[{\"$n\": \"x\"}]]}]}}\n"

/* Writes a capture of one graph with @members in its manifest to a folder. */
static char *
write_capture (const AdjTestFolder *folder, const char *members)
{
  g_autofree char *graphs = g_build_filename (folder->path, "graphs", NULL);
  g_autofree char *graph = g_build_filename (graphs, "g.json", NULL);
  g_autofree char *manifest = g_build_filename (folder->path, "adjoint.json", NULL);
  g_autofree char *text = g_strdup_printf (
      "{\"format\": \"adjoint\", \"version\": [1, 2], \"requires\": [],\n%s}", members);
  g_autoptr (GError) error = NULL;

  g_mkdir_with_parents (graphs, 0700);
  g_file_set_contents (graph, GRAPH, -1, &error);
  g_assert_no_error (error);
  g_file_set_contents (manifest, text, -1, &error);
  g_assert_no_error (error);
  return g_strdup (folder->path);
}

static AdjBundle *
load (const char *path)
{
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

/* -- how a region was partitioned -- */

#define PARTITIONED(what)                                                                          \
  GRAPHS ",\n\"regions\": [{\"id\": \"r\", \"graphs\": {\"user\": \"g\"},\n\"partition\": " what   \
         "}]"

static void
test_partition (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_capture (
      folder, "\"source\": {\"kind\": \"capture\", \"torch_version\": \"2.8.0+cpu\"},\n" //
      PARTITIONED ("{\"partitioner\": \"min-cut\", \"activation_memory_budget\": 0.5, "
                   "\"options\": {\"recompute_views\": true, \"max_dist_from_bw\": 1000}}"));
  g_autofree char *copy = g_build_filename (folder->path, "copy.adjoint", NULL);
  g_autoptr (AdjBundle) first = load (path);
  g_autoptr (AdjBundle) again = NULL;
  g_autoptr (GError) error = NULL;
  const AdjValue *partition;

  adj_format_for_path (copy, &error)->save (first, copy, NULL, NULL, &error);
  g_assert_no_error (error);
  again = load (copy);
  partition = adj_bundle_get_region (again, 0)->partition;
  g_assert_true (adj_value_equal (adj_bundle_get_region (first, 0)->partition, partition));
  g_assert_cmpint (partition->kind, ==, ADJ_VALUE_DICT);
  g_assert_cmpuint (partition->n, ==, 6);
  g_assert_cmpstr (adj_bundle_get_torch_version (again), ==, "2.8.0+cpu");
}

/* Remarks for people may have any form: malformed ones are ignored. */
static void
test_malformed_remarks (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_capture (
      folder,
      GRAPHS ", \"frames\": \"many\", \"notes\": [3, \"a note\"],\n"
             "\"breaks\": [1, null, {\"what\": 2}, {\"what\": \"skipped\", \"why\": \"w\"}]");
  g_autoptr (AdjBundle) bundle = load (path);
  const AdjDiags *diags = adj_bundle_get_diags (bundle);

  g_assert_cmpuint (adj_diags_get_n (diags), ==, 2);
  g_assert_cmpstr (adj_diags_get (diags, 0)->message, ==, "skipped: w");
  g_assert_cmpstr (adj_diags_get (diags, 1)->message, ==, "a note");
}

/* -- what make-captures.py recorded -- */

static AdjBundle *
load_data (const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "formats", "data", name, NULL);

  return load (path);
}

/* Saves @bundle and returns what is read back. */
static AdjBundle *
save_and_load (AdjBundle *bundle, const AdjTestFolder *folder)
{
  g_autofree char *path = g_build_filename (folder->path, "copy.adjoint", NULL);
  g_autoptr (GError) error = NULL;

  adj_format_for_path (path, &error)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  return load (path);
}

static const AdjRecordedCall *
get_call (AdjBundle *bundle, const char *role)
{
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *graph = adj_bundle_find_graph (bundle, role, &error);
  const AdjRecordedCall *call;

  g_assert_no_error (error);
  call = adj_bundle_find_call (bundle, graph, 0);
  g_assert_nonnull (call);
  return call;
}

static void
assert_same_complex (AdjTensorData *narrow, AdjTensorData *wide)
{
  const float *a = g_bytes_get_data (adj_tensor_data_get_bytes (narrow), NULL);
  const double *b = g_bytes_get_data (adj_tensor_data_get_bytes (wide), NULL);

  g_assert_cmpint (adj_tensor_data_get_meta (wide)->dtype, ==, ADJ_DTYPE_C128);
  g_assert_cmpint (adj_tensor_data_get_numel (wide), ==, 3);
  for (guint i = 0; i < 6; i++)
    g_assert_cmpfloat_with_epsilon (a[i], b[i], 1e-6);
}

/* In float64 runs all values are complex numbers of a dtype that safetensors lacks. */
static void
test_complex_taps (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (AdjBundle) first = load_data ("complex-taps.adjoint");
  g_autoptr (AdjBundle) again = save_and_load (first, folder);
  AdjBundle *bundles[] = { first, again };

  for (guint i = 0; i < G_N_ELEMENTS (bundles); i++)
    {
      const AdjRecordedCall *call = get_call (bundles[i], "inference");
      AdjTensorData *wide = adj_bundle_get_tap (bundles[i], call, "mul", TRUE);

      g_assert_nonnull (wide);
      assert_same_complex (adj_bundle_get_tap (bundles[i], call, "mul", FALSE), wide);
    }
}

/* A view of two elements among twenty; the graph reads the others. */
static void
test_strided_input (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (AdjBundle) first = load_data ("strided-input.adjoint");
  g_autoptr (AdjBundle) again = save_and_load (first, folder);
  AdjBundle *bundles[] = { first, again };

  for (guint i = 0; i < G_N_ELEMENTS (bundles); i++)
    {
      const AdjRecordedCall *call = get_call (bundles[i], "inference");
      AdjTensorData *input = call->inputs[0].data;

      g_assert_cmpint (call->inputs[0].kind, ==, ADJ_VALUE_DATA);
      g_assert_cmpint (adj_tensor_data_get_meta (input)->shape.offset.word, ==, 7);
      g_assert_cmpint (adj_tensor_data_get_numel (input), ==, 2);
      g_assert_cmpuint (g_bytes_get_size (adj_tensor_data_get_bytes (input)), ==, 80);
      g_assert_cmpfloat (adj_tensor_data_get_double (input, 1), ==, 8);
    }
}

/* A tensor whose memory is unreadable is known by its metadata. */
static void
test_unreadable (void)
{
  g_autoptr (AdjBundle) bundle = load_data ("unreadable.adjoint");
  const AdjRecordedCall *call = get_call (bundle, "dynamo");

  g_assert_cmpint (call->inputs[0].kind, ==, ADJ_VALUE_RAW);
  g_assert_cmpstr (call->inputs[0].text, ==,
                   "<TwoTensor f32[3][1]cpu: not recorded, its class computes in its own way>");
  g_assert_cmpint (get_call (bundle, "inference")->inputs[0].kind, ==, ADJ_VALUE_DATA);
}

/* A tensor without memory whose elements are known to be zero, which PyTorch uses as a gradient. */
static void
test_zero_tensor (void)
{
  g_autoptr (AdjBundle) bundle = load_data ("zero-tensor.adjoint");
  const AdjRecordedCall *call = get_call (bundle, "backward");

  g_assert_cmpint (call->outputs[0].kind, ==, ADJ_VALUE_DATA);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (adj_tensor_data_get_double (call->outputs[0].data, i), ==, 0);
}

static void
test_nothing_compiled (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "nothing-compiled.adjoint", NULL);
  g_autofree char *expected = g_strconcat (
      path,
      ": adjoint.json:12:11: the file holds no graph: nothing was compiled: "
      "loop (make-captures.py:33): skipped: nothing of it was compiled; graph break: skip "
      "function graph_break in file torch/_dynamo/decorators.py",
      NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_bundle_load (path, NULL, &error));
  g_assert_cmpstr (error->message, ==, expected);
}

static void
test_graph_break (void)
{
  g_autoptr (AdjBundle) bundle = load_data ("graph-break.adjoint");
  const AdjDiags *diags = adj_bundle_get_diags (bundle);

  g_assert_cmpuint (adj_diags_get_n (diags), ==, 1);
  g_assert_cmpint (adj_diags_get (diags, 0)->severity, ==, ADJ_SEVERITY_NOTE);
  g_assert_cmpstr (adj_diags_get (diags, 0)->message, ==,
                   "broken (make-captures.py:39): graph break: skip function graph_break in file "
                   "torch/_dynamo/decorators.py");
}

/* The answers of a stateful policy are in Dynamo's graph, and the policies in the joint graph
 * are at the matrix products. */
static void
test_counting_policy (void)
{
  g_autoptr (AdjBundle) bundle = load_data ("counting-policy.adjoint");
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *joint = adj_bundle_find_graph (bundle, "joint", &error);
  const AdjBundleGraph *dynamo = adj_bundle_find_graph (bundle, "dynamo", &error);
  g_autofree char *text = adj_graph_print (dynamo->graph, ADJ_PRINT_NO_METADATA, NULL);

  g_assert_no_error (error);
  g_assert_nonnull (strstr (text, "context_fn = {torch.ops.aten.mm.default: "
                                  "['MUST_SAVE', 'PREFER_RECOMPUTE']}"));
  for (guint i = 0; i < 2; i++)
    {
      const char *name = i == 0 ? "mm" : "mm_1";
      const AdjNodeId id = adj_graph_find_node (joint->graph, name);

      g_assert_cmpint (adj_graph_get_node (joint->graph, id.index)->meta.recompute, ==,
                       i == 0 ? ADJ_RECOMPUTE_MUST_SAVE : ADJ_RECOMPUTE_PREFER_RECOMPUTE);
    }
  g_assert_cmpint (adj_bundle_get_region (bundle, 0)->partition->kind, ==, ADJ_VALUE_DICT);
}

/* -- what compiled autograd captured -- */

static const AdjValue *
get_member (const AdjValue *dict, const char *key)
{
  g_assert_cmpint (dict->kind, ==, ADJ_VALUE_DICT);
  for (guint i = 0; i < dict->n; i += 2)
    if (g_str_equal (dict->items[i].text, key))
      return &dict->items[i + 1];
  g_assert_not_reached ();
}

static const AdjValue *
get_entry (const AdjValue *dict, const char *list, guint i)
{
  const AdjValue *entries = get_member (dict, list);

  g_assert_cmpuint (i, <, entries->n);
  return &entries->items[i];
}

/* Checks the second step: sources of inputs, hook names and results. */
static void
check_second_step (AdjBundle *bundle)
{
  const AdjRecordedCall *call = get_call (bundle, "ca1-compiled_autograd");
  const AdjValue *input = get_entry (call->backward, "inputs", 3);
  const AdjValue *results = get_member (call->backward, "results");
  const AdjValue *hook = get_entry (call->backward, "hooks", 0);
  const AdjValue *updated = get_member (results, "call_hook_1");

  g_assert_cmpuint (call->n_inputs, ==, 4);
  g_assert_cmpstr (get_member (input, "from")->text, ==, "leaf");
  g_assert_cmpstr (get_member (input, "name")->text, ==, "second.weight");
  input = get_entry (call->backward, "inputs", 4);
  g_assert_cmpstr (get_member (input, "from")->text, ==, "grad");
  g_assert_cmpint (get_member (input, "of")->integer, ==, 3);
  g_assert_cmpstr (get_member (hook, "name")->text, ==, "__main__.clamp");
  g_assert_cmpstr (get_member (hook, "type")->text, ==, "tensor_pre_hook");
  g_assert_cmpstr (get_member (hook, "call")->text, ==, "call_hook");
  g_assert_true (g_str_has_prefix (get_member (hook, "where")->text, "make-captures.py:"));
  g_assert_cmpint (get_member (results, "call_hook")->kind, ==, ADJ_VALUE_DATA);
  g_assert_cmpint (get_member (updated, "grad")->kind, ==, ADJ_VALUE_NONE);
  g_assert_cmpint (get_member (updated, "leaf")->kind, ==, ADJ_VALUE_DATA);
  g_assert_cmpint (get_member (get_entry (call->backward, "gradients", 0), "grad")->kind, ==,
                   ADJ_VALUE_DATA);
  g_assert_nonnull (adj_bundle_get_tap (bundle, call, "mm", FALSE));
}

static void
test_compiled_autograd (void)
{
  static const char reason[] = "Cache miss due to new autograd node: "
                               "torch::autograd::AccumulateGrad (NodeCall 4) with key size 32, "
                               "previous key sizes=[21]";
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (AdjBundle) first = load_data ("compiled-autograd.adjoint");
  g_autoptr (AdjBundle) again = save_and_load (first, folder);
  AdjBundle *bundles[] = { first, again };

  for (guint i = 0; i < G_N_ELEMENTS (bundles); i++)
    {
      const AdjValue *capture = adj_bundle_get_region (bundles[i], 1)->capture;

      g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundles[i])), ==, 0);
      g_assert_cmpstr (adj_bundle_find_graph (bundles[i], NULL, NULL)->id, ==,
                       "ca0-compiled_autograd");
      g_assert_cmpstr (get_entry (capture, "nodes", 0)->text, ==, "torch::autograd::GraphRoot");
      g_assert_cmpstr (get_entry (capture, "reasons", 0)->text, ==, reason);
      check_second_step (bundles[i]);
    }
}

/* -- what is malformed -- */

#define CAPTURED(what)                                                                             \
  GRAPHS ",\n\"regions\": [{\"id\": \"r\", \"graphs\": {\"user\": \"g\"},\n\"capture\": " what "}" \
         "]"
#define CALLED(what) GRAPHS ",\n\"calls\": [{\"graph\": \"g\", \"n\": 0,\n\"backward\": " what "}]"

typedef struct
{
  const char *name, *members;
  const char *message; /* follows the path of the folder */
} Bad;

static const Bad bads[] = {
  { "partition-no-object", PARTITIONED ("0.5"),
    ": adjoint.json:4:14: \"partition\" must be an object" },
  { "partitioner-no-text", PARTITIONED ("{\"partitioner\": 1}"),
    ": adjoint.json:4:30: \"partitioner\" must be a text" },
  { "budget-negative", PARTITIONED ("{\"activation_memory_budget\": -0.5}"),
    ": adjoint.json:4:43: \"activation_memory_budget\" must be a number from 0 on" },
  { "option-is-list", PARTITIONED ("{\"options\": {\"cse\": []}}"),
    ": adjoint.json:4:34: an option is a number, a text or a bool" },
  { "capture-no-object", CAPTURED ("[]"), ": adjoint.json:4:12: \"capture\" must be an object" },
  { "capture-nodes-no-texts", CAPTURED ("{\"nodes\": [1]}"),
    ": adjoint.json:4:22: \"nodes\" must be an array of texts" },
  { "backward-no-object", CALLED ("3"), ": adjoint.json:4:13: \"backward\" must be an object" },
  { "backward-input-of-nowhere", CALLED ("{\"inputs\": [{\"node\": 1}]}"),
    ": adjoint.json:4:25: each of \"inputs\" must have \"from\"" },
  { "backward-gradient-of-text", CALLED ("{\"gradients\": [{\"of\": \"x\"}]}"),
    ": adjoint.json:4:28: each of \"gradients\" must have \"of\"" },
  { "backward-hooks-no-array", CALLED ("{\"hooks\": {}}"),
    ": adjoint.json:4:23: \"hooks\" must be an array" },
  { "backward-results-no-object", CALLED ("{\"results\": []}"),
    ": adjoint.json:4:25: \"results\" must be an object" },
};

static void
test_error (gconstpointer data)
{
  const Bad *bad = data;
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = write_capture (folder, bad->members);
  g_autofree char *expected = g_strconcat (path, bad->message, NULL);
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_bundle_load (path, NULL, &error));
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, expected);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/capture/partition", test_partition);
  g_test_add_func ("/formats/capture/malformed-remarks", test_malformed_remarks);
  g_test_add_func ("/formats/capture/complex-taps", test_complex_taps);
  g_test_add_func ("/formats/capture/strided-input", test_strided_input);
  g_test_add_func ("/formats/capture/unreadable", test_unreadable);
  g_test_add_func ("/formats/capture/zero-tensor", test_zero_tensor);
  g_test_add_func ("/formats/capture/nothing-compiled", test_nothing_compiled);
  g_test_add_func ("/formats/capture/graph-break", test_graph_break);
  g_test_add_func ("/formats/capture/counting-policy", test_counting_policy);
  g_test_add_func ("/formats/capture/compiled-autograd", test_compiled_autograd);
  for (guint i = 0; i < G_N_ELEMENTS (bads); i++)
    {
      g_autofree char *path = g_strconcat ("/formats/capture/bad/", bads[i].name, NULL);

      g_test_add_data_func (path, &bads[i], test_error);
    }
  return g_test_run ();
}
