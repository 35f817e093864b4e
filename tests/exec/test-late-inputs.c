/* SPDX-License-Identifier: MIT */
/* Inputs that are in a file: each is read when a node uses it, and released after its last use. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "adjoint.h"
#include "support/graphs.h"
#include "tensor/adj-late-bytes-internal.h"

#define WIDTH 64
#define N_LAYERS 24
#define N_INPUTS (N_LAYERS + 1)
#define LAYER_BYTES (WIDTH * WIDTH * sizeof (float))

/* A file: what it gives, and how much of that is in memory. */
typedef struct
{
  guint n_read;
  gint64 held, most;
  int fails;        /* the number of the layer that cannot be read; -1: none */
  guint n_readable; /* after so many reads it was changed; 0: never */
} File;

typedef struct
{
  File *file;
  guint8 *bytes;
  int layer;
} Layer;

static void
release_layer (gpointer data)
{
  Layer *layer = data;

  layer->file->held -= (gint64) LAYER_BYTES;
  g_free (layer->bytes);
  g_free (layer);
}

static GBytes *
read_layer (gpointer data, GError **error)
{
  const Layer *layer = data;
  Layer *held;
  float *values;

  if (layer->layer == layer->file->fails ||
      (layer->file->n_readable > 0 && layer->file->n_read >= layer->file->n_readable))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_STALE, "layer %d: it was changed", layer->layer);
      return NULL;
    }
  values = g_new (float, WIDTH *WIDTH);
  for (guint i = 0; i < WIDTH * WIDTH; i++)
    values[i] = (float) sin (i * 0.37 + layer->layer) / WIDTH * 8;
  held = g_new (Layer, 1);
  *held = (Layer){ layer->file, (guint8 *) values, layer->layer };
  layer->file->n_read++;
  layer->file->held += (gint64) LAYER_BYTES;
  layer->file->most = MAX (layer->file->most, layer->file->held);
  return g_bytes_new_with_free_func (values, LAYER_BYTES, release_layer, held);
}

static AdjValue
new_layer (File *file, int layer)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  const gint64 sizes[] = { WIDTH, WIDTH };
  Layer *made = g_new0 (Layer, 1);
  g_autoptr (AdjLateBytes) bytes = NULL;

  *made = (Layer){ .file = file, .layer = layer };
  bytes = adj_late_bytes_new (LAYER_BYTES, read_layer, made, g_free);
  adj_shape_init_ints (&meta.shape, 2, sizes);
  return ADJ_DATA (adj_tensor_data_new_late (&meta, bytes, NULL));
}

/* x · w0, relu, · w1, …; the first weight is used once more at the end. */
static AdjGraph *
new_layers (void)
{
  g_autoptr (GString) text = g_string_new ("class GraphModule(torch.nn.Module):\n"
                                           "    def forward(self");

  for (guint i = 0; i < N_INPUTS; i++)
    g_string_append_printf (text, ", a%u: \"f32[64, 64][64, 1]cpu\"", i);
  g_string_append (text, "):\n        r0: \"f32[64, 64][64, 1]cpu\" = "
                         "torch.ops.aten.relu.default(a0)\n");
  for (guint i = 1; i < N_INPUTS; i++)
    g_string_append_printf (text,
                            "        m%u: \"f32[64, 64][64, 1]cpu\" = "
                            "torch.ops.aten.mm.default(r%u, a%u)\n"
                            "        r%u: \"f32[64, 64][64, 1]cpu\" = "
                            "torch.ops.aten.relu.default(m%u)\n",
                            i, i - 1, i, i, i);
  g_string_append_printf (text,
                          "        last: \"f32[64, 64][64, 1]cpu\" = "
                          "torch.ops.aten.mm.default(r%u, a1)\n"
                          "        return (last, a2)\n",
                          N_LAYERS);
  return adj_test_parse_graph (text->str);
}

static void
new_inputs (File *file, AdjValue *inputs)
{
  for (guint i = 0; i < N_INPUTS; i++)
    inputs[i] = new_layer (file, (int) i);
}

static void
clear_inputs (AdjValue *inputs)
{
  for (guint i = 0; i < N_INPUTS; i++)
    adj_value_clear (&inputs[i]);
}

static gboolean
see (AdjNodeId id, const AdjValue *value, gpointer data)
{
  (*(guint *) data)++;
  return TRUE;
}

/* Of the inputs, only the one that is returned stays. */
static void
test_run (gconstpointer name)
{
  g_autoptr (AdjGraph) graph = new_layers ();
  g_autoptr (GError) error = NULL;
  const AdjExecutor *executor = adj_executor_find (name, &error);
  AdjValue inputs[N_INPUTS];
  g_autofree char *texts[3] = { NULL };

  for (guint i = 0; i < 3; i++) /* alone, watched, in float64 */
    {
      File file = { .fails = -1 };
      AdjRunResult result = { 0 };
      guint n_seen = 0;
      AdjRunRequest request = { .graph = graph,
                                .inputs = inputs,
                                .n_inputs = N_INPUTS,
                                .tap = i == 1 ? see : NULL,
                                .float64 = i == 2,
                                .data = &n_seen };

      new_inputs (&file, inputs);
      g_assert_true (adj_executor_run (executor, &request, &result, NULL, &error));
      g_assert_no_error (error);
      /* Of a1 it is known that it is used again. */
      g_assert_cmpint (file.most, <=, 3 * (gint64) LAYER_BYTES);
      g_assert_cmpint (file.n_read, <=, N_INPUTS + 1);
      g_assert_cmpint (file.held, ==, i < 2 ? (gint64) LAYER_BYTES : 0);
      g_assert_cmpuint (result.peak_bytes, <, 12 * LAYER_BYTES);
      texts[i] = adj_tensor_data_print (result.output.items[0].data, 6);
      adj_run_result_clear (&result);
      clear_inputs (inputs);
      g_assert_cmpint (file.held, ==, 0);
    }
  g_assert_cmpstr (texts[0], ==, texts[1]);
}

static AdjTensorData *
no_peer (AdjNodeId id, gboolean float64, gpointer data)
{
  return NULL;
}

static void
test_compare (void)
{
  g_autoptr (AdjGraph) graph = new_layers ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  File file = { .fails = -1 };
  AdjValue inputs[N_INPUTS], expected = ADJ_NONE;
  AdjRunResult result = { 0 };
  AdjRunRequest run = { .graph = graph, .inputs = inputs, .n_inputs = N_INPUTS };
  AdjComparisonRequest request = { .graph = graph,
                                   .inputs = inputs,
                                   .n_inputs = N_INPUTS,
                                   .expected = &expected,
                                   .expected_node = no_peer,
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN };

  new_inputs (&file, inputs);
  g_assert_true (
      adj_executor_run (adj_executor_find ("planned", NULL), &run, &result, NULL, &error));
  expected = result.output;
  file.most = 0;
  comparison = adj_comparison_run (&request, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (comparison->verdict, <=, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (file.most, <=, 3 * (gint64) LAYER_BYTES);
  adj_run_result_clear (&result);
  clear_inputs (inputs);
  g_assert_cmpint (file.held, ==, 0);
}

/* Compares all nodes with a file that is changed after @n_readable reads; returns their number. */
static guint
compare_changed (AdjGraph *graph, guint n_readable)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = NULL;
  File file = { .fails = -1, .n_readable = n_readable };
  AdjValue inputs[N_INPUTS];
  AdjComparisonRequest request = { .graph = graph,
                                   .inputs = inputs,
                                   .n_inputs = N_INPUTS,
                                   .expected_node = no_peer,
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN };

  new_inputs (&file, inputs);
  comparison = adj_comparison_run (&request, NULL, &error);
  if (n_readable == 0)
    g_assert_no_error (error);
  else
    g_assert_error (error, ADJ_ERROR, ADJ_ERROR_STALE);
  g_assert_true ((comparison == NULL) == (n_readable > 0));
  clear_inputs (inputs);
  return file.n_read;
}

/* A file that is changed meanwhile gives no verdict. */
static void
test_changed (void)
{
  g_autoptr (AdjGraph) graph = new_layers ();
  guint n = compare_changed (graph, 0);

  for (guint i = 1; i < 8; i++)
    compare_changed (graph, 1 + (n - 2) * i / 7);
}

/* Elements are not read from the file one by one. */
static void
test_elements (void)
{
  File file = { .fails = -1 };
  g_auto (AdjValue) layer = new_layer (&file, 0);

  for (gint64 i = 0; i < 10; i++)
    adj_tensor_data_get_double (layer.data, i);
  g_assert_cmpuint (file.n_read, ==, 1);
}

static gboolean
see_none_after (AdjNodeId id, const AdjValue *value, gpointer data)
{
  guint *last = data;

  *last = id.index;
  return TRUE;
}

/* The run ends at the node that needs it; nothing is computed from zeros. */
static void
test_unreadable (gconstpointer name)
{
  g_autoptr (AdjGraph) graph = new_layers ();
  g_autoptr (GError) error = NULL;
  File file = { .fails = 5 };
  AdjValue inputs[N_INPUTS];
  AdjRunResult result = { 0 };
  guint last = 0;
  AdjRunRequest request = {
    .graph = graph, .inputs = inputs, .n_inputs = N_INPUTS, .tap = see_none_after, .data = &last
  };

  new_inputs (&file, inputs);
  g_assert_false (
      adj_executor_run (adj_executor_find (name, NULL), &request, &result, NULL, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_STALE);
  g_assert_nonnull (strstr (error->message, "layer 5: it was changed"));
  g_assert_cmpuint (last, <, adj_graph_find_node (graph, "m5").index);
  g_assert_cmpint (file.held, ==, 0);
  clear_inputs (inputs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/exec/late-inputs/interpreter", "interpreter", test_run);
  g_test_add_data_func ("/exec/late-inputs/planned", "planned", test_run);
  g_test_add_data_func ("/exec/late-inputs/fast", "fast", test_run);
  g_test_add_func ("/exec/late-inputs/compare", test_compare);
  g_test_add_func ("/exec/late-inputs/changed", test_changed);
  g_test_add_func ("/exec/late-inputs/elements", test_elements);
  g_test_add_data_func ("/exec/late-inputs/unreadable/interpreter", "interpreter", test_unreadable);
  g_test_add_data_func ("/exec/late-inputs/unreadable/planned", "planned", test_unreadable);
  return g_test_run ();
}
