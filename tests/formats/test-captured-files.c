/* SPDX-License-Identifier: MIT */
/* .adjoint files from the capture module: printed as PyTorch printed their graphs, and written
 * back unchanged. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-format.h"
#include "formats/zip-private.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static AdjBundle *
load_data (const char *name)
{
  g_autofree char *path = adj_test_data_path (name);

  return adj_test_load_bundle (path);
}

/* -- what PyTorch recorded -- */

/* The file contains the text that PyTorch printed of each graph; our print of the graph equals
 * it. */
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
        continue; /* PyTorch prints these after the graph, Adjoint inside it */
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

/* Taps are from a second run of the graph in PyTorch, outputs from the first. */
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

/* The gradients of the Dynamo call belong to its inputs and equal those that the joint graph
 * returned for the same tensors. */
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

  adj_test_save_bundle (bundle, first);
  again = adj_test_load_bundle (first);
  assert_same_bundle (bundle, again);
  adj_test_save_bundle (again, second);
  assert_same_file (first, second);

  adj_test_save_bundle (again, as_folder);
  from_folder = adj_test_load_bundle (as_folder);
  assert_same_bundle (bundle, from_folder);
  adj_test_save_bundle (from_folder, third);
  assert_same_file (first, third);
}

/* The entry of a graph equals the capture module's, except for the numbering of texts. */
static void
test_writes_as_capture (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/mlp.adjoint");
  g_autoptr (GRegex) numbers = g_regex_new ("\\{\"\\$str\": \\d+\\}", 0, 0, NULL);
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *copy = g_build_filename (folder->path, "copy.adjoint", NULL);
  g_autoptr (AdjBundle) bundle = adj_test_load_bundle (path);
  const char *paths[] = { path, copy };
  char *texts[2];
  guint n_entries[2];

  adj_test_save_bundle (bundle, copy);
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
  adj_test_save_bundle (bundle, path);
  process = adj_test_spawn (argv, NULL, NULL);
  g_assert_cmpint (process->status, ==, 0);
  g_assert_cmpstr (process->out, ==, "Done testing\n");
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
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_rows ();
  g_test_add_func ("/formats/adjoint/finds-graphs", test_finds_graphs);
  g_test_add_func ("/formats/adjoint/writes-as-capture", test_writes_as_capture);
  g_test_add_func ("/formats/adjoint/readable-by-python", test_readable_by_python);
  return g_test_run ();
}
