/* SPDX-License-Identifier: MIT */

/* Values computed earlier or by another process, as a file of values by node name or as a saved
 * run: compared like recorded values, and refused if they do not belong to the graph. */

#include <math.h>
#include <string.h>

#include "adjoint.h"
#include "formats/adj-safetensors.h"
#include "support/adj-test.h"

typedef struct
{
  AdjTestFolder *folder;
  AdjBundle *bundle;
  AdjSessionRun run;
  GHashTable *values; /* values of a run of the joint graph */
  AdjRunResult result;
} Fixture;

static GHashTable *
make_table (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                (GDestroyNotify) adj_tensor_data_unref);
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (GError) error = NULL;

  fixture->folder = adj_test_folder_new ();
  fixture->bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  fixture->run.bundle = fixture->bundle;
  fixture->run.graph = adj_bundle_find_graph (fixture->bundle, "joint", &error);
  g_assert_no_error (error);
  fixture->values = make_table ();
  adj_session_run (&fixture->run, &fixture->result, fixture->values, NULL, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_run_result_clear (&fixture->result);
  g_hash_table_unref (fixture->values);
  adj_bundle_unref (fixture->bundle);
  adj_test_folder_free (fixture->folder);
}

/* (transfer full): path of a new file with these tensors */
static char *
write_values (Fixture *fixture, GHashTable *values)
{
  char *path = g_build_filename (fixture->folder->path, "values.safetensors", NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) tensors = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  GHashTableIter iter;
  gpointer name, tensor;

  g_hash_table_iter_init (&iter, values);
  while (g_hash_table_iter_next (&iter, &name, &tensor))
    {
      g_ptr_array_add (names, name);
      g_ptr_array_add (tensors, tensor);
    }
  adj_safetensors_save (path, (const char *const *) names->pdata,
                        (AdjTensorData *const *) tensors->pdata, names->len, &error);
  g_assert_no_error (error);
  return path;
}

static AdjComparison *
compare (Fixture *fixture, GHashTable *written, gboolean nodes, GError **error)
{
  g_autofree char *path = write_values (fixture, written);
  g_autoptr (GHashTable) values = adj_session_read_values (&fixture->run, path, error);

  return values != NULL
             ? adj_session_compare_values (&fixture->run, values, nodes, NAN, NAN, NULL, error)
             : NULL;
}

static guint
count_alone (const AdjValueComparison *values, guint n)
{
  guint n_alone = 0;

  for (guint i = 0; i < n; i++)
    n_alone += values[i].alone;
  return n_alone;
}

static void
put (GHashTable *values, const char *name, AdjTensorData *data)
{
  g_hash_table_insert (values, g_strdup (name), data);
}

/* (transfer full): the value of @name times @factor */
static AdjTensorData *
scale (Fixture *fixture, const char *name, double factor)
{
  AdjTensorData *data = g_hash_table_lookup (fixture->values, name);
  g_autoptr (AdjTensorData) wide = adj_tensor_data_cast (data, ADJ_DTYPE_F64);
  gint64 n = adj_tensor_data_get_numel (wide);
  double *numbers = g_new (double, n);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjTensorData) scaled = NULL;

  adj_tensor_data_read_doubles (wide, numbers);
  for (gint64 i = 0; i < n; i++)
    numbers[i] *= factor;
  bytes = g_bytes_new_take (numbers, (gsize) n * sizeof (double));
  scaled = adj_tensor_data_new (adj_tensor_data_get_meta (wide), bytes, NULL);
  g_assert_nonnull (scaled);
  return adj_tensor_data_cast (scaled, adj_tensor_data_get_meta (data)->dtype);
}

static void
test_agrees (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = compare (fixture, fixture->values, TRUE, &error);

  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (comparison->first, ==, -1);
  g_assert_cmpuint (comparison->n_nodes, ==, 52);
  g_assert_cmpuint (count_alone (comparison->nodes, comparison->n_nodes), ==, 0);
  g_assert_cmpuint (count_alone (comparison->outputs, comparison->n_outputs), ==, 0);
}

/* The first node computed differently by the other process is found. */
static void
test_first_difference (Fixture *fixture, gconstpointer data)
{
  const AdjGraph *graph = fixture->run.graph->graph;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  const AdjValueComparison *first;

  put (fixture->values, "gelu", scale (fixture, "gelu", 1.01));
  put (fixture->values, "t_2", scale (fixture, "t_2", 1.01));
  comparison = compare (fixture, fixture->values, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (comparison->first, >=, 0);
  first = &comparison->nodes[comparison->first];
  g_assert_cmpstr (adj_graph_get_node (graph, first->node.index)->name, ==, "gelu");
  g_assert_true (first->inputs_agree);
  g_assert_cmpfloat (first->difference.max_abs, >, 0);
}

/* Nodes without a value are judged on their own and counted, except views of inputs. */
static void
test_some (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GHashTable) few = make_table ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = NULL;

  put (few, "gelu", scale (fixture, "gelu", 1));
  put (few, "mm", scale (fixture, "mm", 1));
  comparison = compare (fixture, few, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, <=, ADJ_VERDICT_WITHIN);
  g_assert_cmpuint (count_alone (comparison->nodes, comparison->n_nodes), ==, 45);
  /* The graph returns seven tensors, and neither of these two. */
  g_assert_cmpuint (count_alone (comparison->outputs, comparison->n_outputs), ==, 7);
}

/* "output_3" is the value of the node returned at index 3. */
static void
test_outputs (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GHashTable) outputs = make_table ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  const AdjValue *returned = &fixture->result.output;
  const AdjValueComparison *first;

  for (guint i = 0; i < returned->n; i++)
    if (returned->items[i].kind == ADJ_VALUE_DATA)
      {
        g_autofree char *name = g_strdup_printf (ADJ_OUTPUT_NAME, i);

        put (outputs, name, adj_tensor_data_ref (returned->items[i].data));
      }
  comparison = compare (fixture, outputs, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->outputs[0].verdict, ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpuint (count_alone (comparison->outputs, comparison->n_outputs), ==, 0);
  g_assert_cmpuint (count_alone (comparison->nodes, comparison->n_nodes), ==, 38);
  put (outputs, "output_1", scale (fixture, "t_13", 1.01));
  adj_comparison_free (g_steal_pointer (&comparison));
  comparison = compare (fixture, outputs, FALSE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->outputs[1].verdict, ==, ADJ_VERDICT_DIFFERS);

  /* The inputs of t_13 have no value to compare with. */
  adj_comparison_free (g_steal_pointer (&comparison));
  comparison = compare (fixture, outputs, TRUE, &error);
  g_assert_no_error (error);
  first = &comparison->nodes[comparison->first];
  g_assert_true (first->inputs_alone);
  g_assert_false (first->inputs_agree);
}

static void
assert_refused (Fixture *fixture, gboolean nodes, AdjError code, const char *mentions)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (compare (fixture, fixture->values, nodes, &error));
  if (error == NULL)
    g_error ("values were taken that should be refused: %s", mentions);
  g_assert_error (error, ADJ_ERROR, (int) code);
  if (strstr (error->message, mentions) == NULL)
    g_error ("“%s” does not say “%s”", error->message, mentions);
}

/* (transfer full): @data with a leading dimension of 1 */
static AdjTensorData *
lengthen (AdjTensorData *data)
{
  const AdjTensorMeta *meta = adj_tensor_data_get_meta (data);
  gint64 sizes[ADJ_MAX_RANK + 1] = { 1 };
  AdjTensorData *longer;

  for (guint i = 0; i < meta->shape.rank; i++)
    sizes[i + 1] = meta->shape.size[i].word;
  longer = adj_tensor_data_new_from_array (
      meta->dtype, sizes, meta->shape.rank + 1,
      g_bytes_get_data (adj_tensor_data_get_bytes (data), NULL), NULL);
  g_assert_nonnull (longer);
  return longer;
}

/* Kernels do not always give the annotated dtype, f32 or a narrower float: values of different
 * dtypes are compared, and differences are found. */
static void
test_types (Fixture *fixture, gconstpointer data)
{
  AdjTensorData *gelu = g_hash_table_lookup (fixture->values, "gelu");
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (GError) error = NULL;

  put (fixture->values, "gelu", adj_tensor_data_cast (gelu, ADJ_DTYPE_BF16));
  comparison = compare (fixture, fixture->values, TRUE, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (comparison->nodes[comparison->first].cause, ==, ADJ_CAUSE_TYPE);
}

static void
test_refuses (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjTensorData) good = scale (fixture, "gelu", 1);

  put (fixture->values, "gelu_77", adj_tensor_data_ref (good));
  assert_refused (fixture, TRUE, ADJ_ERROR_NOT_FOUND, "is named 'gelu_77'");
  g_hash_table_remove (fixture->values, "gelu_77");

  put (fixture->values, "output_9", adj_tensor_data_ref (good));
  assert_refused (fixture, TRUE, ADJ_ERROR_NOT_FOUND, "is named 'output_9'");
  g_hash_table_remove (fixture->values, "output_9");

  put (fixture->values, "gelu", adj_tensor_data_cast (good, ADJ_DTYPE_F64));
  assert_refused (fixture, TRUE, ADJ_ERROR_SHAPE,
                  "'gelu' is f64[8, 32], the node gives f32[8, 32]");
  put (fixture->values, "gelu", scale (fixture, "t_2", 1));
  assert_refused (fixture, TRUE, ADJ_ERROR_SHAPE, "the node gives f32[8, 32]");
  put (fixture->values, "gelu", lengthen (good));
  assert_refused (fixture, TRUE, ADJ_ERROR_SHAPE, "'gelu' is f32[1, 8, 32]");
  put (fixture->values, "gelu", adj_tensor_data_ref (good));

  put (fixture->values, "primals_1", scale (fixture, "primals_1", 1.01));
  assert_refused (fixture, TRUE, ADJ_ERROR_UNSUPPORTED, "other inputs: 'primals_1'");

  g_hash_table_remove_all (fixture->values);
  assert_refused (fixture, TRUE, ADJ_ERROR_NOT_FOUND, "no value to compare with");
  put (fixture->values, "gelu", adj_tensor_data_ref (good));
  assert_refused (fixture, FALSE, ADJ_ERROR_NOT_FOUND, "only of nodes");
}

/* A user's script reads buffers that batch normalisation has written after the write. */
static void
test_written_inputs (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/resnet-block.adjoint");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  AdjSessionRun run = { .bundle = bundle };
  g_autoptr (GHashTable) values = make_table ();
  g_autoptr (AdjComparison) comparison = NULL;
  AdjRunResult result = { 0 };
  AdjTensorData *later;

  g_assert_no_error (error);
  run.graph = adj_bundle_find_graph (bundle, "joint", &error);
  g_assert_no_error (error);
  adj_session_run (&run, &result, values, NULL, &error);
  g_assert_no_error (error);
  adj_run_result_clear (&result);
  later = g_hash_table_lookup (values, "copy__1");
  g_assert_nonnull (later);
  put (values, "primals_4", adj_tensor_data_ref (later));
  comparison = adj_session_compare_values (&run, values, TRUE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_EQUAL);
}

/* -- runs that were kept -- */

/* (transfer full): the result of @run, saved in the bundle as "before" */
static AdjRecordedCall *
keep (Fixture *fixture, const AdjSessionRun *run)
{
  g_autoptr (GHashTable) values = make_table ();
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_run_unref);
  g_autoptr (GError) error = NULL;
  AdjRunResult result = { 0 };
  AdjRecordedCall *kept;

  adj_session_run (run, &result, values, NULL, &error);
  g_assert_no_error (error);
  kept = adj_session_make_run (run, &result, values, "before", NULL, &error);
  g_assert_no_error (error);
  adj_run_result_clear (&result);
  g_ptr_array_add (runs, adj_run_ref (kept));
  adj_bundle_set_runs (fixture->bundle, runs);
  return kept;
}

static void
test_kept (Fixture *fixture, gconstpointer data)
{
  AdjSessionRun drawn = fixture->run, later = fixture->run;
  g_autoptr (AdjRecordedCall) kept = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (GError) error = NULL;
  AdjRunResult result = { 0 };

  drawn.random = TRUE;
  drawn.seed = 3;
  kept = keep (fixture, &drawn);
  g_assert_cmpstr (kept->origin->inputs, ==, "seed 3");
  g_assert_cmpstr (kept->origin->executor, ==, "interpreter");
  g_assert_true (g_str_has_prefix (kept->origin->producer, "adjoint "));
  g_assert_cmpuint (strlen (kept->origin->date), ==, strlen ("2026-11-22T14:09:37Z"));
  g_assert_cmpuint (adj_run_get_n_values (fixture->bundle, kept), ==, 51);

  /* Uses the saved inputs and compares with the saved results. */
  later.kept = kept;
  adj_session_run (&later, &result, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (adj_tensor_data_get_double (result.output.items[0].data, 0), ==,
                     adj_tensor_data_get_double (kept->outputs[0].data, 0));
  g_assert_cmpfloat (adj_tensor_data_get_double (result.output.items[0].data, 0), !=,
                     adj_tensor_data_get_double (fixture->result.output.items[0].data, 0));
  adj_run_result_clear (&result);
  comparison = adj_session_compare_recorded (&later, TRUE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpuint (count_alone (comparison->nodes, comparison->n_nodes), ==, 0);
}

static gboolean
plant (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer graph)
{
  g_autoptr (AdjTensorData) narrow = NULL;

  if (!g_str_equal (adj_graph_get_node (graph, id.index)->name, "gelu"))
    return FALSE;
  narrow = adj_tensor_data_cast (value->data, ADJ_DTYPE_BF16);
  *out = ADJ_DATA (adj_tensor_data_cast (narrow, ADJ_DTYPE_F32));
  return TRUE;
}

/* The first node computed differently than in the saved run is found. */
static void
test_kept_differs (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjRecordedCall) kept = keep (fixture, &fixture->run);
  AdjSessionRun later = fixture->run;
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (GError) error = NULL;

  later.kept = kept;
  later.replace = plant;
  later.data = later.graph->graph;
  comparison = adj_session_compare_recorded (&later, TRUE, NAN, NAN, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpstr (
      adj_graph_get_node (later.graph->graph, comparison->nodes[comparison->first].node.index)
          ->name,
      ==, "gelu");
}

static void
test_kept_in_float64 (Fixture *fixture, gconstpointer data)
{
  AdjSessionRun wide = fixture->run, later = fixture->run;
  g_autoptr (AdjRecordedCall) kept = NULL;
  g_autoptr (GError) error = NULL;

  wide.float64 = TRUE;
  kept = keep (fixture, &wide);
  g_assert_true (kept->origin->float64);
  later.kept = kept;
  g_assert_null (adj_session_compare_recorded (&later, TRUE, NAN, NAN, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
}

/* Recorded inputs are already in the file and add no bytes; values of nodes do. */
static void
test_counts_bytes (Fixture *fixture, gconstpointer data)
{
  g_autoptr (AdjRecordedCall) recorded = keep (fixture, &fixture->run);
  AdjSessionRun drawn = fixture->run;
  guint64 outputs = adj_session_count_kept_bytes (fixture->bundle, recorded, FALSE);
  g_autoptr (AdjRecordedCall) kept = NULL;
  guint64 inputs = 0;

  drawn.random = TRUE;
  kept = keep (fixture, &drawn);
  for (guint i = 0; i < kept->n_inputs; i++)
    inputs += adj_tensor_meta_bytes (adj_tensor_data_get_meta (kept->inputs[i].data), NULL);
  g_assert_cmpuint (outputs, >, 0);
  g_assert_cmpuint (adj_session_count_kept_bytes (fixture->bundle, kept, FALSE), ==,
                    outputs + inputs);
  g_assert_cmpuint (adj_session_count_kept_bytes (fixture->bundle, kept, TRUE), >,
                    outputs + inputs);
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *path;
    void (*test) (Fixture *fixture, gconstpointer data);
  } tests[] = {
    { "/session/values/agrees", test_agrees },
    { "/session/values/first-difference", test_first_difference },
    { "/session/values/some", test_some },
    { "/session/values/outputs", test_outputs },
    { "/session/values/refuses", test_refuses },
    { "/session/values/types", test_types },
    { "/session/values/kept", test_kept },
    { "/session/values/kept-differs", test_kept_differs },
    { "/session/values/kept-in-float64", test_kept_in_float64 },
    { "/session/values/counts-bytes", test_counts_bytes },
  };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, set_up, tests[i].test, tear_down);
  g_test_add_func ("/session/values/written-inputs", test_written_inputs);
  return g_test_run ();
}
