/* SPDX-License-Identifier: MIT */
/* Cases that measure the smallest planted fault that the comparison detects. */

#include "power.h"

#include <math.h>
#include <stdlib.h>

#include "ir/adj-graph.h"
#include "support/graphs.h"

#define MOST 0x1p24

#define LINE(text) "        " text "\n"
#define ATEN "torch.ops.aten."

/* A well-conditioned lower triangular matrix. */
static const char triangle[] = LINE ("m = " ATEN "mm.default(x, w)")
    LINE ("t = " ATEN "tril.default(m)") LINE ("small = " ATEN "mul.Tensor(t, 0.01)")
        LINE ("ones = " ATEN "ones_like.default(small)") LINE ("low = " ATEN "tril.default(ones)")
            LINE ("one = " ATEN "triu.default(low)") LINE ("l = " ATEN "add.Tensor(small, one)");

static const char spectrum[] = LINE ("pairs = " ATEN "view.default(x, [64, 96, 2])")
    LINE ("c = " ATEN "view_as_complex.default(pairs)") LINE ("size = " ATEN "abs.default(c)")
        LINE ("total = " ATEN "sum.dim_IntList(size, [1], True)");

static const char picture[] =
    LINE ("v = " ATEN "view.default(x, [1, 1, 64, 192])") LINE ("abs_v = " ATEN "abs.default(v)");

/* The largest of the pixels that a cubic reads. */
static const char neighbours[] =
    LINE ("v = " ATEN "view.default(x, [1, 1, 64, 192])") LINE ("abs_v = " ATEN "abs.default(v)")
        LINE ("pool = " ATEN "max_pool2d_with_indices.default(abs_v, [5, 5], [1, 1], [2, 2])")
            LINE ("most = pool[0]");

static const char images[] = LINE ("v = " ATEN "view.default(x, [4, 8, 16, 24])")
    LINE ("abs_v = " ATEN "abs.default(v)") LINE ("g = " ATEN "view.default(y, [4, 8, 16, 24])")
        LINE ("abs_g = " ATEN "abs.default(g)") LINE ("k = " ATEN "slice.Tensor(w, 0, 0, 9)")
            LINE ("filter = " ATEN "view.default(k, [8, 8, 3, 3])")
                LINE ("abs_filter = " ATEN "abs.default(filter)");

static const char heads[] = LINE ("q = " ATEN "view.default(x, [2, 4, 32, 48])")
    LINE ("key = " ATEN "view.default(y, [2, 4, 32, 48])")
        LINE ("v = " ATEN "view.default(w, [2, 4, 32, 48])") LINE ("abs_v = " ATEN "abs.default(v)")
            LINE ("both = " ATEN "_scaled_dot_product_flash_attention_for_cpu.default(q, key, v)")
                LINE ("out = both[0]") LINE ("lse = both[1]");

static const char normed[] = LINE ("gamma = " ATEN "select.int(y, 0, 0)")
    LINE ("n = " ATEN "native_layer_norm.default(x, [192], gamma, None, 1e-05)")
        LINE ("mean = n[1]") LINE ("rstd = n[2]") LINE ("abs_y = " ATEN "abs.default(y)")
            LINE ("c = " ATEN "sub.Tensor(x, mean)") LINE ("abs_c = " ATEN "abs.default(c)")
                LINE ("above = " ATEN "add.Tensor(mean, abs_c)");

static const char batch[] = LINE ("gamma = " ATEN "select.int(y, 0, 0)")
    LINE ("n = " ATEN "_native_batch_norm_legit.no_stats(x, gamma, None, True, 0.1, 1e-05)")
        LINE ("mean = n[1]") LINE ("rstd = n[2]");

static const char indices[] = LINE ("large = " ATEN "mul.Tensor(x, 7)")
    LINE ("wide = " ATEN "_to_copy.default(large, dtype = torch.int64)")
        LINE ("size = " ATEN "abs.default(wide)") LINE ("i = " ATEN "select.int(size, 1, 0)")
            LINE ("zeros = " ATEN "new_zeros.default(x, [32, 192])")
                LINE ("abs_y = " ATEN "abs.default(y)");

static const char pairs[] = LINE ("a_2 = " ATEN "view.default(x, [64, 96, 2])")
    LINE ("c = " ATEN "view_as_complex.default(a_2)")
        LINE ("b_2 = " ATEN "view.default(w, [96, 64, 2])")
            LINE ("d = " ATEN "view_as_complex.default(b_2)")
                LINE ("abs_c = " ATEN "abs.default(c)") LINE ("abs_d = " ATEN "abs.default(d)");

/* The second moment of an optimiser and the divisor made from it. */
static const char moments[] = LINE ("v = " ATEN "mul.Tensor(x, x)")
    LINE ("s = " ATEN "sqrt.default(v)") LINE ("root = " ATEN "add.Tensor(s, 1e-08)");

#define CONVOLVED ", None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)"
#define FILTERED ", [0], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True])"

static const PowerCase cases[] = {
  { "relu", ADJ_BAND_EXACT, 1, "relu.default(x)", .units = 1 },
  { "mul", ADJ_BAND_ROUNDED, 1, "mul.Tensor(x, y)" },
  { "tanh", ADJ_BAND_SMOOTH, 1, "tanh.default(x)" },
  { "gelu", ADJ_BAND_SMOOTH, 1, "gelu.default(x)", .units = 160 },
  { "gelu_backward", ADJ_BAND_SMOOTH, 1, "gelu_backward.default(y, x)", .units = 160 },
  { "softmax", ADJ_BAND_SMOOTH, 1, "_softmax.default(x, 1, False)",
    .units = 140 /* error relative to the maximal element: e^x is as accurate as x */ },
  { "softmax_backward", ADJ_BAND_SMOOTH, 1, "_softmax_backward_data.default(y, p, 1, torch.@)",
    .before = LINE ("p = " ATEN "_softmax.default(x, 1, False)"), .units = 140 },
  { "sum", ADJ_BAND_SUM, 192, "sum.dim_IntList(x, [1])", "sum.dim_IntList(abs, [1])" },
  { "mean", ADJ_BAND_SUM, 192, "mean.dim(x, [1])", "mean.dim(abs, [1])" },
  { "cumsum", ADJ_BAND_SUM, 192, "cumsum.default(x, 1)", "cumsum.default(abs, 1)" },
  { "mm", ADJ_BAND_PRODUCT, 192, "mm.default(x, w)", "mm.default(abs, abs_2)" },
  { "convolution", ADJ_BAND_PRODUCT, 72, "convolution.default(v, filter" CONVOLVED,
    "convolution.default(abs_v, abs_filter" CONVOLVED, images, .units = 96 },
  { "convolution_backward, input", ADJ_BAND_PRODUCT, 72,
    "convolution_backward.default(g, v, filter" FILTERED,
    "convolution_backward.default(abs_g, abs_v, abs_filter" FILTERED, images, 3, 0, .units = 96 },
  { "convolution_backward, filter", ADJ_BAND_PRODUCT, 1536,
    "convolution_backward.default(g, v, filter" FILTERED,
    "convolution_backward.default(abs_g, abs_v, abs_filter" FILTERED, images, 3, 1, .units = 96 },
  { "attention", ADJ_BAND_PRODUCT, 48,
    "_scaled_dot_product_flash_attention_for_cpu.default(q, key, v)",
    "_scaled_dot_product_flash_attention_for_cpu.default(q, key, abs_v)", heads, 2, 0,
    .units = 96 },
  { "layer_norm", ADJ_BAND_SMOOTH, 1, "native_layer_norm.default(x, [192], gamma, None, 1e-05)",
    NULL, normed, 3, 0, .units = 140 },
  { "layer_norm_backward, input", ADJ_BAND_SUM, 192,
    "native_layer_norm_backward.default(y, x, [192], mean, rstd, gamma, None, [True, True, False])",
    NULL, normed, 3, 0, .units = 140 },
  { "layer_norm_backward, weight", ADJ_BAND_SUM, 64,
    "native_layer_norm_backward.default(y, x, [192], mean, rstd, gamma, None, [True, True, False])",
    "native_layer_norm_backward.default(abs_y, above, [192], mean, rstd, gamma, None, [True, True, "
    "False])",
    normed, 3, 1, .factor = 20, .narrow_factor = 16, .units = 96 },
  { "batch_norm_backward, input", ADJ_BAND_SUM, 64,
    "native_batch_norm_backward.default(y, x, gamma, None, None, mean, rstd, True, 1e-05, [True, "
    "True, True])",
    NULL, batch, 3, 0, .units = 140 },
  { "embedding_backward", ADJ_BAND_SUM, 16, "embedding_dense_backward.default(y, i, 32, -1, False)",
    "embedding_dense_backward.default(abs_y, i, 32, -1, False)", indices, .units = 96 },
  { "index_put, added", ADJ_BAND_SUM, 16, "index_put.default(zeros, [i], y, True)",
    "index_put.default(zeros, [i], abs_y, True)", indices, .factor = 16, .narrow_factor = 16,
    .units = 96 },
  { "addcdiv", ADJ_BAND_ROUNDED, 1, "addcdiv.default(y, x, root, value = -0.001)", NULL, moments,
    .units = 96 },
  { "complex mul", ADJ_BAND_ROUNDED, 1, "mul.Tensor(c, c)", "mul.Tensor(abs_c, abs_c)", pairs,
    .factor = 6, .wide = TRUE },
  { "complex mm", ADJ_BAND_PRODUCT, 96, "mm.default(c, d)", "mm.default(abs_c, abs_d)", pairs,
    .wide = TRUE },
  { "complex exp", ADJ_BAND_SMOOTH, 1, "exp.default(c)", NULL, pairs, .wide = TRUE, .units = 192 },
  { "solve_triangular", ADJ_BAND_LINALG, 64, "linalg_solve_triangular.default(l, y, upper = False)",
    NULL, triangle, .wide = TRUE, .units = 192 },
  { "fft_c2r", ADJ_BAND_LINALG, 190, "_fft_c2r.default(c, [1], 0, 190)",
    "expand.default(total, [64, 190])", spectrum, .wide = TRUE },
  { "upsample", ADJ_BAND_PLACES, 4, "upsample_bilinear2d.default(v, [100, 300], False)",
    "upsample_bilinear2d.default(abs_v, [100, 300], False)", picture, .units = 320 },
  { "upsample_bicubic", ADJ_BAND_PLACES, 4, "upsample_bicubic2d.default(v, [100, 300], False)",
    "upsample_nearest2d.default(most, [100, 300])", neighbours, .units = 320 },
  { "upsample_backward", ADJ_BAND_PLACES, 25,
    "upsample_bilinear2d_backward.default(v, [64, 192], [1, 1, 24, 80], False)",
    "upsample_bilinear2d_backward.default(abs_v, [64, 192], [1, 1, 24, 80], False)", picture,
    .units = 320 },
};

guint
power_get_n_cases (void)
{
  return G_N_ELEMENTS (cases);
}

const PowerCase *
power_get_case (guint index)
{
  return &cases[index];
}

gboolean
power_has (const PowerCase *row, AdjDType dtype)
{
  return !row->wide || adj_dtype_unit_roundoff (dtype) <= 0x1p-24;
}

static AdjGraph *
parse (const PowerCase *row, const char *call, AdjDType dtype)
{
  const char *code = adj_dtype_info (dtype)->code;
  g_auto (GStrv) parts = g_strsplit (call, "@", -1);
  g_autofree char *typed = g_strjoinv (adj_dtype_info (dtype)->torch_name, parts);
  g_autofree char *item =
      row->n_results > 0 ? g_strdup_printf (LINE ("result = a[%u]"), row->item) : NULL;
  g_autofree char *text = g_strdup_printf (
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"%s[64, 192][192, 1]cpu\", y: \"%s[64, 192][192, 1]cpu\", "
      "w: \"%s[192, 64][64, 1]cpu\"):\n"
      "        abs = torch.ops.aten.abs.default(x)\n"
      "        abs_2 = torch.ops.aten.abs.default(w)\n"
      "%s"
      "        a = torch.ops.aten.%s\n"
      "%s"
      "        return (%s,)\n",
      code, code, code, row->before != NULL ? row->before : "", typed, item != NULL ? item : "",
      item != NULL ? "result" : "a");

  return adj_test_parse_graph (text);
}

/* Box-Muller transform. */
static double
draw (GRand *rand)
{
  return sqrt (-2 * log (1 - g_rand_double (rand))) * cos (2 * G_PI * g_rand_double (rand));
}

static AdjTensorData *
draw_tensor (GRand *rand, gint64 rows, gint64 columns, AdjDType dtype)
{
  const gint64 sizes[] = { rows, columns };
  g_autofree double *values = g_new (double, rows *columns);
  g_autoptr (AdjTensorData) wide = NULL;
  g_autoptr (GError) error = NULL;

  for (gint64 i = 0; i < rows * columns; i++)
    values[i] = draw (rand);
  wide = adj_tensor_data_new_from_array (ADJ_DTYPE_F64, sizes, 2, values, &error);
  return adj_tensor_data_cast (wide, dtype);
}

static gboolean
keep (AdjNodeId id, const AdjValue *value, gpointer data)
{
  AdjValue *values = data;

  values[id.index] = adj_value_copy (value);
  return TRUE;
}

/* (transfer full): the result of @graph for the inputs of @power; @values: (nullable): gets the
 * value of each node. */
static AdjTensorData *
run (const Power *power, AdjGraph *graph, gboolean float64, AdjValue *values)
{
  AdjValue inputs[3];
  AdjRunRequest request = {
    .graph = graph, .inputs = inputs, .n_inputs = 3, .float64 = float64, .data = values
  };
  AdjRunResult result = { 0 };
  g_autoptr (GError) error = NULL;
  AdjTensorData *given;

  request.tap = values != NULL ? keep : NULL;
  for (guint i = 0; i < 3; i++)
    inputs[i] = ADJ_DATA (power->inputs[i]);
  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  g_assert_no_error (error);
  given = adj_tensor_data_ref (result.output.items[0].data);
  adj_run_result_clear (&result);
  return given;
}

static gboolean
is_complex (const AdjTensorData *data)
{
  return adj_dtype_info (adj_tensor_data_get_meta (data)->dtype)->category == ADJ_CATEGORY_COMPLEX;
}

/* Sets the sum of absolute terms of each number of the clean result. */
static void
fill_terms (Power *power, const AdjTensorData *sums)
{
  guint parts = is_complex (power->clean) ? 2 : 1;
  g_autofree double *found = g_new (double, power->n);

  power->terms = g_new (double, power->n);
  adj_tensor_data_read_parts (sums, found);
  for (gint64 i = 0; i < power->n; i++)
    power->terms[i] =
        is_complex (sums) ? hypot (found[i & ~(gint64) 1], found[i | 1]) : found[i / parts];
}

void
power_init (Power *power, const PowerCase *row, AdjDType dtype, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (AdjGraph) terms = parse (row, row->terms != NULL ? row->terms : row->call, dtype);
  g_autoptr (AdjTensorData) sums = NULL;

  *power = (Power){ .row = row, .dtype = dtype, .graph = parse (row, row->call, dtype) };
  power->inputs[0] = draw_tensor (rand, 64, 192, dtype);
  power->inputs[1] = draw_tensor (rand, 64, 192, dtype);
  power->inputs[2] = draw_tensor (rand, 192, 64, dtype);
  power->values = g_new0 (AdjValue, adj_graph_get_n_nodes (power->graph));
  power->clean = run (power, power->graph, FALSE, power->values);
  power->n = adj_tensor_data_get_numel (power->clean) * (is_complex (power->clean) ? 2 : 1);
  sums = run (power, terms, TRUE, NULL);
  fill_terms (power, sums);
}

void
power_clear (Power *power)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (power->graph); i++)
    adj_value_clear (&power->values[i]);
  g_free (power->values);
  adj_graph_unref (power->graph);
  for (guint i = 0; i < 3; i++)
    adj_tensor_data_unref (power->inputs[i]);
  adj_tensor_data_unref (power->clean);
  g_free (power->terms);
}

/* (transfer full): @numbers in the dtype and sizes of @like. */
static AdjTensorData *
make_like (AdjTensorData *like, const double *numbers)
{
  AdjDType dtype = adj_tensor_data_get_meta (like)->dtype;
  const AdjShape *shape = &adj_tensor_data_get_meta (like)->shape;
  gint64 sizes[ADJ_MAX_RANK];
  g_autoptr (AdjTensorData) wide = NULL;

  for (guint i = 0; i < shape->rank; i++)
    sizes[i] = shape->size[i].word;
  wide = adj_tensor_data_new_from_array (is_complex (like) ? ADJ_DTYPE_C128 : ADJ_DTYPE_F64, sizes,
                                         shape->rank, numbers, NULL);
  return adj_tensor_data_cast (wide, dtype);
}

AdjTensorData *
power_plant (const Power *power, double factor, gint64 index, double error)
{
  g_autofree double *values = g_new (double, power->n);

  adj_tensor_data_read_parts (power->clean, values);
  for (gint64 i = 0; i < power->n; i++)
    values[i] *= factor;
  values[index] += error;
  return make_like (power->clean, values);
}

typedef struct
{
  const Power *power;
  AdjNodeId node;    /* the operator under test */
  AdjNodeId planted; /* node whose value is changed */
  AdjTensorData *candidate, *peer;
} Planting;

static gboolean
replace (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  const Planting *planting = data;
  const PowerCase *row = planting->power->row;

  if (id.index != planting->node.index)
    return FALSE;
  if (row->n_results == 0)
    {
      *out = ADJ_DATA (adj_tensor_data_ref (planting->candidate));
      return TRUE;
    }
  *out = adj_value_copy (value);
  adj_value_clear (&out->items[row->item]);
  out->items[row->item] = ADJ_DATA (adj_tensor_data_ref (planting->candidate));
  return TRUE;
}

static AdjTensorData *
recorded (AdjNodeId id, gboolean float64, gpointer data)
{
  const Planting *planting = data;
  const AdjValue *value = &planting->power->values[id.index];

  if (float64)
    return NULL;
  if (id.index == planting->planted.index)
    return planting->peer;
  return value->kind == ADJ_VALUE_DATA ? value->data : NULL;
}

AdjVerdict
power_judge (const Power *power, PowerSide side, AdjTensorData *planted)
{
  AdjValue inputs[3];
  const char *shown = power->row->n_results > 0 ? "result" : "a";
  Planting planting = { power, adj_graph_find_node (power->graph, "a"),
                        adj_graph_find_node (power->graph, shown),
                        side == POWER_CANDIDATE ? planted : power->clean,
                        side == POWER_PEER ? planted : power->clean };
  AdjComparisonRequest request = { .graph = power->graph,
                                   .inputs = inputs,
                                   .n_inputs = 3,
                                   .expected_node = recorded,
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN,
                                   .replace = replace,
                                   .data = &planting };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = NULL;

  for (guint i = 0; i < 3; i++)
    inputs[i] = ADJ_DATA (power->inputs[i]);
  comparison = adj_comparison_run (&request, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < comparison->n_nodes; i++)
    if (comparison->nodes[i].node.index == planting.node.index)
      return comparison->nodes[i].verdict;
  g_assert_not_reached ();
}

static gint64
middle_element (const Power *power)
{
  gint64 middle = 0;
  g_autofree double *values = g_new (double, power->n);
  double mean = 0;

  adj_tensor_data_read_parts (power->clean, values);
  for (gint64 i = 0; i < power->n; i++)
    mean += fabs (values[i]) / (double) power->n;
  for (gint64 i = 0; i < power->n; i++)
    if (fabs (fabs (values[i]) - mean / 2) < fabs (fabs (values[middle]) - mean / 2))
      middle = i;
  return middle;
}

static gboolean
differs (const Power *power, PowerSide side, gint64 index, double k)
{
  double u = adj_dtype_unit_roundoff (power->dtype);
  g_autoptr (AdjTensorData) planted =
      index < 0 ? power_plant (power, 1 + k * u, 0, 0)
                : power_plant (power, 1, index, k * u * fabs (power->terms[index]));

  return power_judge (power, side, planted) == ADJ_VERDICT_DIFFERS;
}

/* Finds the smallest power of two that differs, then refines it to an eighth. */
static double
find (const Power *power, PowerSide side, gint64 index)
{
  double k = 0.25, step;

  while (k <= MOST && !differs (power, side, index, k))
    k *= 2;
  if (k > MOST)
    return INFINITY;
  for (step = k / 4; step >= k / 16; step /= 2)
    if (differs (power, side, index, k - step))
      k -= step;
  return k;
}

double
power_find_factor (const Power *power, PowerSide side)
{
  return find (power, side, -1);
}

double
power_find_element (const Power *power, PowerSide side)
{
  return find (power, side, middle_element (power));
}
