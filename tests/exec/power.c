/* SPDX-License-Identifier: MIT */
/* Cases that measure how small a planted fault the comparison still finds. */

#include "power.h"

#include <math.h>
#include <stdlib.h>

#include "ir/adj-graph.h"
#include "support/graphs.h"

#define MOST 0x1p24

#define LINE(text) "        " text "\n"
#define ATEN "torch.ops.aten."

/* A lower triangle far from singular. */
static const char triangle[] = LINE ("m = " ATEN "mm.default(x, w)")
    LINE ("t = " ATEN "tril.default(m)") LINE ("small = " ATEN "mul.Tensor(t, 0.01)")
        LINE ("ones = " ATEN "ones_like.default(small)") LINE ("low = " ATEN "tril.default(ones)")
            LINE ("one = " ATEN "triu.default(low)") LINE ("l = " ATEN "add.Tensor(small, one)");

static const char spectrum[] = LINE ("pairs = " ATEN "view.default(x, [64, 96, 2])")
    LINE ("c = " ATEN "view_as_complex.default(pairs)") LINE ("size = " ATEN "abs.default(c)")
        LINE ("total = " ATEN "sum.dim_IntList(size, [1], True)");

static const char picture[] =
    LINE ("v = " ATEN "view.default(x, [1, 1, 64, 192])") LINE ("abs_v = " ATEN "abs.default(v)");

static const PowerCase cases[] = {
  { "relu", ADJ_BAND_EXACT, 1, "relu.default(x)", NULL, NULL, FALSE, 0, 0, 0 },
  { "mul", ADJ_BAND_ROUNDED, 1, "mul.Tensor(x, y)", NULL, NULL, FALSE, 0, 0, 0 },
  { "tanh", ADJ_BAND_SMOOTH, 1, "tanh.default(x)", NULL, NULL, FALSE, 0, 0, 0 },
  { "softmax", ADJ_BAND_SMOOTH, 1, "_softmax.default(x, 1, False)", NULL, NULL, FALSE, 0,
    80 * 7 /* by how far it is from the largest: e^x is as sure as x is */, 0 },
  { "sum", ADJ_BAND_SUM, 192, "sum.dim_IntList(x, [1])", "sum.dim_IntList(abs, [1])", NULL, FALSE,
    0, 0 },
  { "mean", ADJ_BAND_SUM, 192, "mean.dim(x, [1])", "mean.dim(abs, [1])", NULL, FALSE, 0, 0, 0 },
  { "mm", ADJ_BAND_PRODUCT, 192, "mm.default(x, w)", "mm.default(abs, abs_2)", NULL, FALSE, 0, 0,
    0 },
  { "solve_triangular", ADJ_BAND_LINALG, 64, "linalg_solve_triangular.default(l, y, upper = False)",
    NULL, triangle, TRUE, 640, 0x1p22, 0 },
  { "fft_c2r", ADJ_BAND_LINALG, 190, "_fft_c2r.default(c, [1], 0, 190)",
    "expand.default(total, [64, 190])", spectrum, TRUE, 0, 0, 0 },
  { "upsample", ADJ_BAND_PLACES, 4, "upsample_bilinear2d.default(v, [100, 300], False)",
    "upsample_bilinear2d.default(abs_v, [100, 300], False)", picture, FALSE, 32, 18432, 18432 },
  { "upsample_backward", ADJ_BAND_PLACES, 25,
    "upsample_bilinear2d_backward.default(v, [64, 192], [1, 1, 24, 80], False)",
    "upsample_bilinear2d_backward.default(abs_v, [64, 192], [1, 1, 24, 80], False)", picture, FALSE,
    48, 18432, 18432 },
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
  g_autofree char *text = g_strdup_printf (
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"%s[64, 192][192, 1]cpu\", y: \"%s[64, 192][192, 1]cpu\", "
      "w: \"%s[192, 64][64, 1]cpu\"):\n"
      "        abs = torch.ops.aten.abs.default(x)\n"
      "        abs_2 = torch.ops.aten.abs.default(w)\n"
      "%s"
      "        a = torch.ops.aten.%s\n"
      "        return (a,)\n",
      code, code, code, row->before != NULL ? row->before : "", call);

  return adj_test_parse_graph (text);
}

/* Box and Muller. */
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

/* (transfer full): what @graph gives for the inputs of @power. */
static AdjTensorData *
run (const Power *power, AdjGraph *graph, gboolean float64)
{
  AdjValue inputs[3];
  AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = 3, .float64 = float64 };
  AdjRunResult result = { 0 };
  g_autoptr (GError) error = NULL;
  AdjTensorData *given;

  for (guint i = 0; i < 3; i++)
    inputs[i] = ADJ_DATA (power->inputs[i]);
  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  g_assert_no_error (error);
  given = adj_tensor_data_ref (result.output.items[0].data);
  adj_run_result_clear (&result);
  return given;
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
  power->clean = run (power, power->graph, FALSE);
  sums = run (power, terms, TRUE);
  power->terms = g_new (double, adj_tensor_data_get_numel (sums));
  adj_tensor_data_read_doubles (sums, power->terms);
}

void
power_clear (Power *power)
{
  adj_graph_unref (power->graph);
  for (guint i = 0; i < 3; i++)
    adj_tensor_data_unref (power->inputs[i]);
  adj_tensor_data_unref (power->clean);
  g_free (power->terms);
}

AdjTensorData *
power_plant (const Power *power, double factor, gint64 index, double error)
{
  const AdjShape *shape = &adj_tensor_data_get_meta (power->clean)->shape;
  gint64 n = adj_tensor_data_get_numel (power->clean), sizes[ADJ_MAX_RANK];
  g_autofree double *values = g_new (double, n);
  g_autoptr (AdjTensorData) wide = NULL;
  g_autoptr (GError) failure = NULL;

  for (guint i = 0; i < shape->rank; i++)
    sizes[i] = shape->size[i].word;
  adj_tensor_data_read_doubles (power->clean, values);
  for (gint64 i = 0; i < n; i++)
    values[i] *= factor;
  values[index] += error;
  wide = adj_tensor_data_new_from_array (ADJ_DTYPE_F64, sizes, shape->rank, values, &failure);
  return adj_tensor_data_cast (wide, power->dtype);
}

typedef struct
{
  const Power *power;
  AdjNodeId node;
  AdjTensorData *candidate, *peer;
} Planting;

static gboolean
replace (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  const Planting *planting = data;

  if (id.index != planting->node.index)
    return FALSE;
  *out = ADJ_DATA (adj_tensor_data_ref (planting->candidate));
  return TRUE;
}

static AdjTensorData *
recorded (AdjNodeId id, gboolean float64, gpointer data)
{
  const Planting *planting = data;

  return !float64 && id.index == planting->node.index ? planting->peer : NULL;
}

AdjVerdict
power_judge (const Power *power, PowerSide side, AdjTensorData *planted)
{
  AdjValue inputs[3];
  Planting planting = { power, adj_graph_find_node (power->graph, "a"),
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
  gint64 n = adj_tensor_data_get_numel (power->clean), middle = 0;
  g_autofree double *values = g_new (double, n);
  double mean = 0;

  adj_tensor_data_read_doubles (power->clean, values);
  for (gint64 i = 0; i < n; i++)
    mean += fabs (values[i]) / (double) n;
  for (gint64 i = 0; i < n; i++)
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

/* The least power of two that differs, and then the least eighth of it. */
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
