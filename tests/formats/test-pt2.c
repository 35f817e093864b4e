/* SPDX-License-Identifier: MIT */
/* Programs exported by PyTorch in both archive layouts: their contents, and that they compute
 * PyTorch's results. */

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "session/adj-session.h"
#include "support/adj-test.h"

static const char *const releases[] = { "2.6", "2.10", "2.15" };
static const char *const models[] = {
  "arguments", "attention", "branch", "buffers", "conv",   "counter", "dtypes",    "dynamic",
  "history",   "loop",      "lstm",   "mlp",     "nograd", "outputs", "recurrent",
};

static AdjBundle *
load (const char *release, const char *model)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *file = g_strconcat (model, ".pt2", NULL);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "pt2", release, file, NULL);
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

/* Compares every output with those PyTorch saved. */
static void
check_outputs (const char *release, const char *model)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load (release, model);
  g_autofree char *file = g_strconcat (model, ".outputs.pt", NULL);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", "pt2", release, file, NULL);
  AdjSessionRun run = { .bundle = bundle, .graph = adj_bundle_get_graph (bundle, 0) };
  g_autoptr (GHashTable) values = adj_session_read_values (&run, path, &error);
  g_autoptr (AdjComparison) comparison = NULL;
  AdjComparisonCounts counts;

  g_assert_no_error (error);
  comparison = adj_session_compare_values (&run, values, FALSE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  counts = adj_comparison_count (comparison->outputs, comparison->n_outputs);
  g_test_message ("%s %s: %u outputs", release, model, comparison->n_outputs);
  g_assert_cmpuint (comparison->n_outputs, >, 0);
  g_assert_cmpuint (counts.equal + counts.within, ==, comparison->n_outputs);
}

static void
test_computes_what_torch_did (gconstpointer release)
{
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    check_outputs (release, models[i]);
}

static const AdjNode *
find (const AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);

  g_assert_true (adj_node_id_is_valid (id));
  return adj_graph_get_node (graph, id.index);
}

static void
test_names_parameters (gconstpointer release)
{
  g_autoptr (AdjBundle) bundle = load (release, "mlp");
  const AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  const AdjNode *linear = find (graph, "linear");

  g_assert_cmpstr (find (graph, "p_fc1_weight")->meta.parameter, ==, "fc1.weight");
  g_assert_cmpstr (linear->target, ==, "torch.ops.aten.linear.default");
  g_assert_cmpuint (linear->meta.n_modules, ==, 1);
  g_assert_cmpstr (linear->meta.modules[0].path, ==, "fc1");
  g_assert_cmpstr (linear->meta.modules[0].class_name, ==, "Linear");
  g_assert_cmpstr (linear->meta.frames[linear->meta.n_frames - 1].function, ==, "forward");
}

static void
test_reads_ranges (gconstpointer release)
{
  g_autoptr (AdjBundle) bundle = load (release, "dynamic");
  const AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  AdjSymbols *symbols = adj_graph_get_symbols (graph);
  g_autoptr (GString) cat = g_string_new (NULL);

  g_assert_cmpuint (adj_symbols_get_n (symbols), ==, 2);
  g_assert_cmpint (adj_symbols_get (symbols, 0)->hint, ==, 3);
  g_assert_cmpint (adj_symbols_get (symbols, 1)->hint, ==, 5);
  g_assert_cmpint (adj_symbols_get (symbols, 1)->max, ==, 99);
  adj_value_print (&find (graph, "new_zeros")->val, graph, cat);
  g_test_message ("%s", cat->str);
  g_assert_nonnull (strstr (cat->str, "2*"));
}

/* Unused results have no node; subgraphs are those of the calls. */
static void
test_takes_results_apart (gconstpointer release)
{
  g_autoptr (AdjBundle) bundle = load (release, "outputs");
  const AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;
  g_autoptr (AdjBundle) branching = load (release, "branch");

  g_assert_cmpuint (find (graph, "topk")->val.n, ==, 2);
  g_assert_cmpuint (adj_graph_get_n_subgraphs (adj_bundle_get_graph (branching, 0)->graph), ==, 2);
}

/* Views of one storage share it after loading. */
static void
test_shares_storages (gconstpointer release)
{
  g_autoptr (AdjBundle) bundle = load (release, "dtypes");
  const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, 0);
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, entry, 0);
  GBytes *base = NULL, *turned = NULL;

  g_assert_nonnull (call);
  for (guint i = 0; i < call->n_inputs; i++)
    {
      const char *name = find (entry->graph, "b_base")->name;
      const AdjNode *node =
          adj_graph_get_node (entry->graph, adj_graph_get_input (entry->graph, i).index);

      if (g_str_equal (node->name, name))
        base = adj_tensor_data_get_bytes (call->inputs[i].data);
      else if (g_str_equal (node->name, "b_turned"))
        turned = adj_tensor_data_get_bytes (call->inputs[i].data);
    }
  g_assert_nonnull (base);
  g_assert_true (base == turned);
}

/* A program says of a tensor that it writes whether that requires grad afterwards. */
static void
test_takes_gradients_from_values (gconstpointer release)
{
  static const struct
  {
    const char *name;
    gboolean requires_grad;
  } inputs[] = {
    { "p_weight", TRUE },  { "p_frozen", FALSE }, { "b_state", FALSE }, { "b_scratch", FALSE },
    { "b_learned", TRUE }, { "x", TRUE },         { "cache", FALSE },
  };
  g_autoptr (AdjBundle) bundle = load (release, "history");
  const AdjGraph *graph = adj_bundle_get_graph (bundle, 0)->graph;

  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    {
      const AdjNode *node = find (graph, inputs[i].name);

      g_assert_cmpint (node->val.kind, ==, ADJ_VALUE_META);
      if (node->val.meta->requires_grad != inputs[i].requires_grad)
        g_error ("%s", inputs[i].name);
    }
}

/* How modules are called is a fact; only that of one of them was kept. */
static void
test_tells_calls_of_modules (gconstpointer release)
{
  g_autoptr (AdjBundle) bundle = load (release, "called");
  const AdjBundleFact *fact;
  g_autofree char *text = NULL;

  g_assert_cmpuint (adj_bundle_get_n_facts (bundle), >=, 1);
  fact = adj_bundle_get_fact (bundle, 0);
  g_assert_cmpstr (fact->name, ==, "module_call_graph");
  g_assert_nonnull (fact->region);
  text = g_strndup (g_bytes_get_data (fact->text, NULL), g_bytes_get_size (fact->text));
  g_test_message ("%s", text);
  g_assert_true (g_str_has_prefix (text, "the program\n    forward x\n    in_spec [1, {"));
  g_assert_nonnull (strstr (text, "\nfirst (x, as_float) -> (mul, add)\n    in_spec [1, {"));
  g_assert_true (g_str_has_suffix (text, "\nsecond"));
}

/* The comparisons of dynamic sizes that an export relies on; 2.6 has none. */
static void
test_tells_guards (gconstpointer release)
{
  g_autoptr (AdjBundle) bundle = load (release, "guarded");
  const AdjBundleFact *fact = adj_bundle_get_fact (bundle, adj_bundle_get_n_facts (bundle) - 1);
  g_autofree char *text =
      g_strndup (g_bytes_get_data (fact->text, NULL), g_bytes_get_size (fact->text));

  g_assert_cmpstr (fact->name, ==, "guards_code");
  g_assert_nonnull (fact->region);
  g_assert_cmpstr (text, ==,
                   "(2*L['x'].size()[0]) == L['y'].size()[0]\n(L['x'].size()[1] % 2) == 0");
}

/* Without sample inputs there is no call; a seed draws the missing inputs and keeps the file's
 * weights. */
static void
check_weights (AdjBundle *bundle)
{
  g_autoptr (GError) error = NULL;
  AdjSessionRun run = { .bundle = bundle, .graph = adj_bundle_get_graph (bundle, 0) };
  AdjSessionRun planned;
  AdjRunResult result = { 0 };
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);
  g_autoptr (AdjComparison) comparison = NULL;
  g_autofree char *from = NULL;
  AdjTensorData *scale;

  g_assert_cmpuint (adj_bundle_get_n_calls (bundle), ==, 0);
  g_assert_false (adj_session_run (&run, &result, NULL, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED);
  g_assert_nonnull (strstr (error->message, "has the weights of graph"));
  g_clear_error (&error);

  run.random = TRUE;
  run.seed = 3;
  g_assert_true (adj_session_run (&run, &result, values, NULL, &error));
  g_assert_no_error (error);
  adj_run_result_clear (&result);
  scale = g_hash_table_lookup (values, "b_scale");
  g_assert_nonnull (scale);
  for (guint i = 0; i < 3; i++)
    g_assert_cmpfloat (adj_tensor_data_get_double (scale, i), ==, i + 1);
  from = adj_session_describe_inputs (&run);
  g_assert_cmpstr (from, ==, "weights of the file, else random numbers of seed 3");

  planned = run;
  planned.executor = adj_executor_find ("planned", NULL);
  comparison = adj_session_compare (&planned, &run, TRUE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, !=, ADJ_VERDICT_DIFFERS);
}

static void
test_keeps_weights (gconstpointer release)
{
  g_autoptr (AdjBundle) bundle = load (release, "unsampled");

  check_weights (bundle);
}

/* An .adjoint file of the program has the weights too. */
static void
test_saves_weights (gconstpointer release)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) program = load (release, "unsampled");
  g_autoptr (AdjBundle) saved = NULL;
  g_autofree char *folder = g_dir_make_tmp ("adjoint-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "saved.adjoint", NULL);

  g_assert_no_error (error);
  g_assert_true (adj_format_find ("adjoint", NULL)->save (program, path, NULL, NULL, &error));
  g_assert_no_error (error);
  saved = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  check_weights (saved);
  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    GTestDataFunc run;
  } tests[] = {
    { "computes-what-torch-did", test_computes_what_torch_did },
    { "names-parameters", test_names_parameters },
    { "reads-ranges", test_reads_ranges },
    { "takes-results-apart", test_takes_results_apart },
    { "shares-storages", test_shares_storages },
    { "takes-gradients-from-values", test_takes_gradients_from_values },
    { "tells-calls-of-modules", test_tells_calls_of_modules },
    { "keeps-weights", test_keeps_weights },
    { "saves-weights", test_saves_weights },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint r = 0; r < G_N_ELEMENTS (releases); r++)
    for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
      {
        g_autofree char *path = g_strdup_printf ("/formats/pt2/%s/%s", releases[r], tests[i].name);

        g_test_add_data_func (path, releases[r], tests[i].run);
      }
  g_test_add_data_func ("/formats/pt2/2.10/tells-guards", "2.10", test_tells_guards);
  g_test_add_data_func ("/formats/pt2/2.15/tells-guards", "2.15", test_tells_guards);
  return g_test_run ();
}
