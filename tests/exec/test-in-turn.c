/* SPDX-License-Identifier: MIT */
/* Sums that PyTorch adds one after the other in the type of their terms. */

#include <glib.h>
#include <math.h>

#include "adjoint.h"
#include "support/graphs.h"

#define N_ADDED 100000

/* What was computed of node "a". */
typedef struct
{
  AdjGraph *graph;
  AdjTensorData *value;
} Peer;

static AdjTensorData *
recorded (AdjNodeId id, gboolean float64, gpointer data)
{
  const Peer *peer = data;

  return !float64 && id.index == adj_graph_find_node (peer->graph, "a").index ? peer->value : NULL;
}

/* @of_graphs: the peer is a graph that was run, not PyTorch. */
static AdjVerdict
judge (AdjGraph *graph,
       const AdjValue *inputs,
       guint n_inputs,
       AdjTensorData *value,
       gboolean of_graphs)
{
  Peer peer = { graph, value };
  AdjComparisonRequest request = { .graph = graph,
                                   .inputs = inputs,
                                   .n_inputs = n_inputs,
                                   .expected_node = recorded,
                                   .of_graphs = of_graphs,
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN,
                                   .data = &peer };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = adj_comparison_run (&request, NULL, &error);

  g_assert_no_error (error);
  return comparison->verdict;
}

static AdjTensorData *
draw (GRand *rand, guint rank, const gint64 *sizes, double least)
{
  gsize n = 1;
  g_autofree float *values = NULL;

  for (guint i = 0; i < rank; i++)
    n *= (gsize) sizes[i];
  values = g_new (float, n);
  for (gsize i = 0; i < n; i++)
    values[i] = (float) g_rand_double_range (rand, least, 1);
  return adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, rank, values, NULL);
}

static const float *
floats (AdjTensorData *data)
{
  return g_bytes_get_data (adj_tensor_data_get_bytes (data), NULL);
}

/* The gradient of a filter of eight weights. */
typedef struct
{
  AdjGraph *graph;
  AdjTensorData *inputs[3];
  double in_turn[8]; /* each a sum of N_ADDED products in f32 */
  double terms[8];   /* the sums of their absolute values */
} Filter;

static void
filter_init (Filter *filter, double least)
{
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, g: \"f32[1, 4, 100000][400000, 100000, 1]cpu\", "
      "x: \"f32[1, 2, 100000][200000, 100000, 1]cpu\", w: \"f32[4, 2, 1][2, 1, 1]cpu\"):\n"
      "        b = torch.ops.aten.convolution_backward.default(g, x, w, [4], [1], [0], [1], False, "
      "[0], 1, [False, True, False])\n"
      "        a = b[1]\n"
      "        return (a,)\n";
  static const gint64 sizes[3][3] = { { 1, 4, N_ADDED }, { 1, 2, N_ADDED }, { 4, 2, 1 } };
  g_autoptr (GRand) rand = g_rand_new_with_seed (14);

  *filter = (Filter){ .graph = adj_test_parse_graph (text) };
  for (guint i = 0; i < 3; i++)
    filter->inputs[i] = draw (rand, 3, sizes[i], i == 0 ? least : 0);
  for (guint i = 0; i < 8; i++)
    {
      const float *g = floats (filter->inputs[0]) + i / 2 * N_ADDED;
      const float *x = floats (filter->inputs[1]) + i % 2 * N_ADDED;
      float sum = 0;

      for (guint k = 0; k < N_ADDED; k++)
        {
          sum += g[k] * x[k];
          filter->terms[i] += fabs ((double) g[k] * x[k]);
        }
      filter->in_turn[i] = sum;
    }
}

static void
filter_clear (Filter *filter)
{
  for (guint i = 0; i < 3; i++)
    adj_tensor_data_unref (filter->inputs[i]);
  adj_graph_unref (filter->graph);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Filter, filter_clear)

/* The verdict on the sums times @factor, one of them off by @units u of its terms. */
static AdjVerdict
judge_filter (const Filter *filter, double factor, double units, gboolean of_graphs)
{
  const gint64 sizes[] = { 4, 2, 1 };
  AdjValue inputs[3];
  float given[8];
  g_autoptr (AdjTensorData) value = NULL;

  for (guint i = 0; i < 3; i++)
    inputs[i] = ADJ_DATA (filter->inputs[i]);
  for (guint i = 0; i < 8; i++)
    given[i] =
        (float) (filter->in_turn[i] * factor + (i == 5 ? units * 0x1p-24 * filter->terms[i] : 0));
  value = adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, 3, given, NULL);
  return judge (filter->graph, inputs, 3, value, of_graphs);
}

/* Of one sign they round like the sum, which is only PyTorch's excuse. */
static void
test_one_sign (void)
{
  g_auto (Filter) filter = { 0 };

  filter_init (&filter, 0);
  g_assert_cmpint (judge_filter (&filter, 1, 0, FALSE), ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge_filter (&filter, 1, 0, TRUE), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_filter (&filter, 1, 640, FALSE), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_filter (&filter, 1 + 400 * 0x1p-24, 0, FALSE), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_filter (&filter, 1 - 400 * 0x1p-24, 0, FALSE), ==, ADJ_VERDICT_DIFFERS);
}

/* Of both signs they round like one of their terms. */
static void
test_both_signs (void)
{
  g_auto (Filter) filter = { 0 };

  filter_init (&filter, -1);
  g_assert_cmpint (judge_filter (&filter, 1, 0, FALSE), ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge_filter (&filter, 1, 80, FALSE), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_filter (&filter, 1, -80, FALSE), ==, ADJ_VERDICT_DIFFERS);
}

/* Pixels of four channels. */
#define WIDTH 400
#define HEIGHT (N_ADDED / WIDTH)

/* (transfer full): numbers in the order pixel, channel; as [1, 4, HEIGHT, WIDTH]. */
static AdjTensorData *
draw_pixels (void)
{
  static const gint64 sizes[] = { 1, HEIGHT, WIDTH, 4 };
  static const guint order[] = { 0, 3, 1, 2 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (15);
  g_autoptr (AdjTensorData) pixels = draw (rand, 4, sizes, -1);
  AdjTensorMeta meta = *adj_tensor_data_get_meta (pixels);
  AdjTensorData *last;

  for (guint i = 0; i < 4; i++)
    {
      const AdjShape *shape = &adj_tensor_data_get_meta (pixels)->shape;

      meta.shape.size[i] = shape->size[order[i]];
      meta.shape.stride[i] = shape->stride[order[i]];
    }
  last = adj_tensor_data_new (&meta, adj_tensor_data_get_bytes (pixels), NULL);
  g_assert_nonnull (last);
  return last;
}

/* 1 / √(var + 1) of each channel, with sums of f32 one after the other. */
static void
scale_in_turn (const float *pixels, float *scale)
{
  for (guint c = 0; c < 4; c++)
    {
      float sum = 0, squares = 0, mean;

      for (guint i = 0; i < N_ADDED; i++)
        sum += pixels[4 * i + c];
      mean = sum / N_ADDED;
      for (guint i = 0; i < N_ADDED; i++)
        squares += (pixels[4 * i + c] - mean) * (pixels[4 * i + c] - mean);
      scale[c] = 1 / sqrtf (squares / N_ADDED + 1);
    }
}

/* The verdict on these scales times @factor, the third of them off by @units u, if the input of the
 * batch norm is @input. */
static AdjVerdict
judge_scale (AdjTensorData *input, const float *scale, double factor, double units)
{
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[1, 4, 250, 400]cpu\"):\n"
                             "        b = torch.ops.aten._native_batch_norm_legit.no_stats(x, "
                             "None, None, True, 0.1, 1.0)\n"
                             "        a = b[2]\n"
                             "        return (a,)\n";
  static const gint64 sizes[] = { 4 };
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjTensorData) value = NULL;
  AdjValue inputs[] = { ADJ_DATA (input) };
  float given[4];

  for (guint c = 0; c < 4; c++)
    given[c] = (float) (scale[c] * factor * (c == 2 ? 1 + units * 0x1p-24 : 1));
  value = adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, 1, given, NULL);
  return judge (graph, inputs, 1, value, FALSE);
}

/* The sums inside a batch norm are PyTorch's in turn where the channels are last. */
static void
test_pixels (void)
{
  g_autoptr (AdjTensorData) last = draw_pixels ();
  g_autoptr (AdjTensorData) rows = adj_tensor_data_contiguous (last);
  float scale[4];

  scale_in_turn (floats (last), scale);
  g_assert_cmpint (judge_scale (last, scale, 1, 0), ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge_scale (rows, scale, 1, 0), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_scale (last, scale, 1, 1000), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_scale (last, scale, 1 + 400 * 0x1p-24, 0), ==, ADJ_VERDICT_DIFFERS);
}

static AdjVerdict
judge_norm (AdjTensorData *x, double norm, gboolean of_graphs)
{
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, x: \"f32[1048576][1]cpu\"):\n"
                             "        a = torch.ops.aten.linalg_vector_norm.default(x)\n"
                             "        return (a,)\n";
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  float given = (float) norm;
  g_autoptr (AdjTensorData) value =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, NULL, 0, &given, NULL);
  AdjValue input = ADJ_DATA (x);

  return judge (graph, &input, 1, value, of_graphs);
}

/* The root of eight sums, of every eighth square. */
static void
test_norm (void)
{
  const gint64 n = 1 << 20;
  g_autoptr (GRand) rand = g_rand_new_with_seed (2);
  g_autoptr (AdjTensorData) x = draw (rand, 1, &n, 0);
  float sums[8] = { 0 }, sum = 0;

  for (gint64 i = 0; i < n; i++)
    sums[i % 8] += floats (x)[i] * floats (x)[i];
  for (guint i = 0; i < 8; i++)
    sum += sums[i];
  g_assert_cmpint (judge_norm (x, sqrt (sum), FALSE), ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge_norm (x, sqrt (sum), TRUE), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_norm (x, sqrt (sum) * (1 + 800 * 0x1p-24), FALSE), ==,
                   ADJ_VERDICT_DIFFERS);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/in-turn/one-sign", test_one_sign);
  g_test_add_func ("/exec/in-turn/both-signs", test_both_signs);
  g_test_add_func ("/exec/in-turn/pixels", test_pixels);
  g_test_add_func ("/exec/in-turn/norm", test_norm);
  return g_test_run ();
}
