/* SPDX-License-Identifier: MIT */
/* The examples of tensor/SPEC.md §1 to 3, one test each; data/rules.txt holds PyTorch 2.6's
 * results of the calls among them. */

#include <string.h>

#include "adjoint.h"
#include "support/graphs.h"
#include "tensor/table.h"
#include "wrappers/adj-wrappers.h"

/* @data: a line "name\tparameters\tcall\texpected". */
static void
check_call (gconstpointer data)
{
  g_auto (GStrv) fields = g_strsplit (data, "\t", 4);
  g_autofree char *text = g_strdup_printf ("class GraphModule(torch.nn.Module):\n"
                                           "    def forward(self, %s):\n"
                                           "        out = %s\n"
                                           "        return (out,)\n",
                                           fields[1], fields[2]);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjGraph) traced = NULL;
  g_autoptr (GString) got = g_string_new (NULL);
  const AdjTensorMeta *meta;

  traced = adj_retrace (graph, NULL, &error);
  if (strcmp (fields[3], "error") == 0)
    {
      g_assert_null (traced);
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
      g_assert_nonnull (strstr (error->message, "node 'out'"));
      return;
    }
  g_assert_no_error (error);
  meta = adj_graph_get_node (traced, adj_graph_get_n_nodes (traced) - 2)->val.meta;
  adj_tensor_meta_print (meta, NULL, got);
  if (meta->shape.offset.word != 0)
    g_string_append_printf (got, " @%" G_GINT64_FORMAT, meta->shape.offset.word);
  g_assert_cmpstr (got->str, ==, fields[3]);
}

/* i8 tensor + 300 wraps: 1 + 300 = 301 = 45 modulo 256. */
static void
test_wraps (void)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  static const gint8 numbers[] = { 1, 100 };
  g_autoptr (GBytes) bytes = g_bytes_new_static (numbers, sizeof numbers);
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_I8, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (AdjTensorData) sums = NULL;
  AdjTensor *x, *sum;

  adj_shape_init_ints (&meta.shape, 1, (gint64[]){ 2 });
  data = adj_tensor_data_new (&meta, bytes, NULL);
  x = adj_scope_add (cx, adj_tensor_new_from_data (data));
  sum = adj_add_scalar (cx, x, ADJ_INT (300), ADJ_INT (1));
  g_assert_nonnull (sum);
  sums = adj_tensor_snapshot (sum);
  g_assert_cmpfloat (adj_tensor_data_get_double (sums, 0), ==, 45);
  g_assert_cmpfloat (adj_tensor_data_get_double (sums, 1), ==, -112);
}

/* Results of torch.Tensor.is_contiguous and suggest_memory_format in 2.6. */
typedef struct
{
  const char *name;
  const char *meta;
  gboolean contiguous, channels_last, dense;
  AdjMemoryFormat suggested;
} Layout;

static const Layout layouts[] = {
  { "less-than-2-elements", "f32[1, 1][7, 9]", TRUE, FALSE, TRUE, ADJ_MEMORY_FORMAT_CONTIGUOUS },
  { "size-1-is-skipped", "f32[2, 1, 3][3, 99, 1]", TRUE, FALSE, TRUE,
    ADJ_MEMORY_FORMAT_CONTIGUOUS },
  { "transposed", "f32[2, 3][1, 2]", FALSE, FALSE, TRUE, ADJ_MEMORY_FORMAT_CONTIGUOUS },
  { "gaps", "f32[4, 3][1, 8]", FALSE, FALSE, FALSE, ADJ_MEMORY_FORMAT_CONTIGUOUS },
  { "channels_last", "f32[2, 3, 4, 5][60, 1, 15, 3]", FALSE, TRUE, TRUE,
    ADJ_MEMORY_FORMAT_CHANNELS_LAST },
  { "N111-is-ambiguous", "f32[2, 1, 1, 1][1, 1, 1, 1]", TRUE, TRUE, TRUE,
    ADJ_MEMORY_FORMAT_CONTIGUOUS },
  { "1C11-is-ambiguous", "f32[1, 3, 1, 1][3, 1, 1, 1]", TRUE, TRUE, TRUE,
    ADJ_MEMORY_FORMAT_CONTIGUOUS },
  { "1C11-as-channels_last", "f32[1, 3, 1, 1][3, 1, 3, 3]", TRUE, TRUE, TRUE,
    ADJ_MEMORY_FORMAT_CHANNELS_LAST },
  { "no-elements", "f32[2, 0, 4, 5][0, 1, 0, 0]", TRUE, TRUE, TRUE, ADJ_MEMORY_FORMAT_CONTIGUOUS },
};

static void
check_layout (gconstpointer data)
{
  const Layout *row = data;
  g_autoptr (GError) error = NULL;
  AdjTensorMeta meta;

  adj_tensor_meta_parse (row->meta, -1, NULL, &meta, &error);
  g_assert_no_error (error);
  g_assert_cmpint (adj_shape_is_contiguous (&meta.shape, NULL), ==, row->contiguous);
  g_assert_cmpint (adj_shape_is_channels_last (&meta.shape, NULL), ==, row->channels_last);
  g_assert_cmpint (adj_shape_is_dense (&meta.shape, NULL), ==, row->dense);
  g_assert_cmpint (adj_shape_suggest_format (&meta.shape, NULL), ==, row->suggested);
}

/* stride[i] = product of max (size, 1) to the right. */
static void
test_contiguous_strides (void)
{
  AdjShape shape;

  adj_shape_init_ints (&shape, 3, (gint64[]){ 2, 0, 3 });
  g_assert_cmpint (shape.stride[0].word, ==, 3);
  g_assert_cmpint (shape.stride[1].word, ==, 3);
  g_assert_cmpint (shape.stride[2].word, ==, 1);
}

int
main (int argc, char **argv)
{
  g_auto (GStrv) lines = NULL;

  g_test_init (&argc, &argv, NULL);
  lines = table_read_lines ("rules.txt");
  for (guint i = 0; lines[i] != NULL; i++)
    if (lines[i][0] != '\0')
      {
        g_autofree char *path =
            g_strdup_printf ("/tensor/%.*s", (int) strcspn (lines[i], "\t"), lines[i]);

        g_test_add_data_func (path, lines[i], check_call);
      }
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    {
      g_autofree char *path = g_strdup_printf ("/tensor/3/layout/%s", layouts[i].name);

      g_test_add_data_func (path, &layouts[i], check_layout);
    }
  g_test_add_func ("/tensor/2/i8-300-wraps", test_wraps);
  g_test_add_func ("/tensor/3/contiguous-strides", test_contiguous_strides);
  return g_test_run ();
}
