/* SPDX-License-Identifier: MIT */
/* The smallest fault the comparison promises to find at one node, and that it never reports
 * rounding as a fault. */

#include <math.h>

#include "interpreter/adj-numeric-internal.h"
#include "ir/adj-graph.h"
#include "power.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static const AdjDType dtypes[] = { ADJ_DTYPE_F32, ADJ_DTYPE_F16, ADJ_DTYPE_BF16 };

/* Of 1 + k u the k: 8 in 16 bits, the tolerance of the class in f32, or what the row says. */
static double
promised_factor (const PowerCase *row, AdjDType dtype)
{
  double u = adj_dtype_unit_roundoff (dtype);

  if (u > 0x1p-24)
    return row->narrow_factor > 0 ? row->narrow_factor : 8;
  return row->factor > 0 ? row->factor
                         : MAX (adj_band_limit (row->band, dtype, row->reduction) / u, 1);
}

static void
finds (const Power *power, PowerSide side, double factor, gint64 index, double units)
{
  double u = adj_dtype_unit_roundoff (power->dtype);
  double error = index >= 0 ? units * u * fabs (power->terms[index]) : 0;
  g_autoptr (AdjTensorData) planted = power_plant (power, factor, MAX (index, 0), error);

  if (power_judge (power, side, planted) != ADJ_VERDICT_DIFFERS)
    g_error ("%s in %s: a factor of %.9g and %.3g u at element %" G_GINT64_FORMAT
             " of the %s were not found",
             power->row->name, adj_dtype_info (power->dtype)->code, factor, units, index,
             side == POWER_PEER ? "peer" : "candidate");
}

/* Returns the first element from @index on whose terms are not zero. */
static gint64
find_element (const Power *power, gint64 index)
{
  while (power->terms[index] == 0)
    index = (index + 1) % power->n;
  return index;
}

static void
test_finds (void)
{
  for (guint i = 0; i < power_get_n_cases (); i++)
    for (guint d = 0; d < G_N_ELEMENTS (dtypes) && power_has (power_get_case (i), dtypes[d]); d++)
      {
        const PowerCase *row = power_get_case (i);
        g_auto (Power) power = { 0 };
        double factor;

        power_init (&power, row, dtypes[d], 7 + i);
        factor = 1 + promised_factor (row, dtypes[d]) * adj_dtype_unit_roundoff (dtypes[d]);
        finds (&power, POWER_CANDIDATE, factor, -1, 0);
        finds (&power, POWER_PEER, factor, -1, 0);
        finds (&power, POWER_CANDIDATE, 1.4, -1, 0);
        for (gint64 k = 0; k < 3; k++)
          finds (&power, k % 2 == 0 ? POWER_PEER : POWER_CANDIDATE, 1,
                 find_element (&power, k * power.n / 3), row->units > 0 ? row->units : 80);
      }
}

/* -- what is right -- */

#define N_HONEST 60

static const char *const honest[] = {
  "sum.dim_IntList(x, [1])",
  "mean.dim(x, [1])",
  "mm.default(x, w)",
  "addmm.default(b, x, w)",
  "var.correction(x, [1])",
  "linalg_vector_norm.default(x, 2, [1])",
  "_softmax.default(x, 1, False)",
  "_log_softmax.default(x, 1, False)",
  "logsumexp.default(x, [1])",
  "cumsum.default(x, 1)",
};

/* Draws numbers whose rounding errors differ from those of normally distributed ones. */
static double
draw_number (GRand *rand, guint kind)
{
  double number = g_rand_double_range (rand, -1, 1);

  switch (kind)
    {
    case 0:
      return number;
    case 1:
      return 0.1; /* all round in the same direction */
    case 2:
      return fabs (number);
    case 3:
      return number * 1e-3 + 1; /* sums without their mean cancel */
    case 4:
      return ldexp (number, g_rand_int_range (rand, -12, 3));
    default:
      return number * 1e-4; /* near the smallest numbers of f16 */
    }
}

static AdjTensorData *
draw_tensor (GRand *rand, gint64 rows, gint64 columns, guint kind, AdjDType dtype)
{
  const gint64 sizes[] = { rows, columns };
  g_autofree double *values = g_new (double, rows *columns);
  g_autoptr (AdjTensorData) wide = NULL;
  g_autoptr (GError) error = NULL;

  for (gint64 i = 0; i < rows * columns; i++)
    values[i] = draw_number (rand, kind);
  wide = adj_tensor_data_new_from_array (ADJ_DTYPE_F64, sizes, 2, values, &error);
  g_assert_no_error (error);
  return adj_tensor_data_cast (wide, dtype);
}

typedef struct
{
  AdjGraph *graph;
  AdjNodeId node;
  AdjTensorData *peer;
} Honest;

static AdjTensorData *
recorded (AdjNodeId id, gboolean float64, gpointer data)
{
  const Honest *peer = data;

  return !float64 && id.index == peer->node.index ? peer->peer : NULL;
}

/* (transfer full): the result of @graph, in float64 or as it is, rounded to @dtype;
 * ADJ_DTYPE_NONE: not rounded. */
static AdjTensorData *
run (AdjGraph *graph, const AdjValue *inputs, guint n, gboolean float64, AdjDType dtype)
{
  AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = n, .float64 = float64 };
  AdjRunResult result = { 0 };
  g_autoptr (GError) error = NULL;
  AdjTensorData *given;

  adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
  g_assert_no_error (error);
  given = result.output.items[0].data;
  given =
      dtype != ADJ_DTYPE_NONE ? adj_tensor_data_cast (given, dtype) : adj_tensor_data_ref (given);
  adj_run_result_clear (&result);
  return given;
}

/* @call on x [n, k], w [k, 5] and b [n, 5]; @turned: sums in the opposite order. */
static AdjGraph *
parse_honest (const char *call, gint64 n, gint64 k, const char *code, gboolean turned)
{
  gboolean turned_back = turned && strstr (call, "softmax") != NULL;
  g_autofree char *text = g_strdup_printf (
      "class G(torch.nn.Module):\n"
      "    def forward(self, x_1: \"%s[%d, %d][%d, 1]cpu\", w_1: \"%s[%d, 5][5, 1]cpu\", "
      "b: \"%s[%d, 5][5, 1]cpu\"):\n"
      "        x = torch.ops.aten.%s\n"
      "        w = torch.ops.aten.%s\n"
      "        a = torch.ops.aten.%s\n"
      "%s"
      "        return (%s,)\n",
      code, (int) n, (int) k, (int) k, code, (int) k, code, (int) n,
      turned ? "flip.default(x_1, [1])" : "clone.default(x_1)",
      turned ? "flip.default(w_1, [0])" : "clone.default(w_1)", call,
      turned_back ? "        r = torch.ops.aten.flip.default(a, [1])\n" : "",
      turned_back ? "r" : "a");

  return adj_test_parse_graph (text);
}

static void
judge_honest (GRand *rand, const char *call, AdjDType dtype)
{
  const char *code = adj_dtype_info (dtype)->code;
  gint64 n = g_rand_int_range (rand, 1, 40), k = g_rand_int_range (rand, 1, 600);
  guint kind = (guint) g_rand_int_range (rand, 0, 6);
  gboolean turned = g_rand_boolean (rand) && strstr (call, "cumsum") == NULL;
  g_autoptr (AdjGraph) graph = parse_honest (call, n, k, code, FALSE);
  g_autoptr (AdjGraph) other = parse_honest (call, n, k, code, turned);
  g_autoptr (AdjTensorData) x = draw_tensor (rand, n, k, kind, dtype);
  g_autoptr (AdjTensorData) w = draw_tensor (rand, k, 5, kind, dtype);
  g_autoptr (AdjTensorData) b = draw_tensor (rand, n, 5, kind, dtype);
  AdjValue inputs[] = { ADJ_DATA (x), ADJ_DATA (w), ADJ_DATA (b) };
  g_autoptr (AdjTensorData) peer = run (other, inputs, 3, !turned, dtype);
  Honest of_peer = { graph, adj_graph_find_node (graph, "a"), peer };
  AdjComparisonRequest request = { .graph = graph,
                                   .inputs = inputs,
                                   .n_inputs = 3,
                                   .expected_node = recorded,
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN,
                                   .data = &of_peer };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = adj_comparison_run (&request, NULL, &error);

  g_assert_no_error (error);
  if (comparison->verdict == ADJ_VERDICT_DIFFERS)
    g_error ("%s of %s, %d rows of %d numbers of kind %u%s, differs: %s", call, code, (int) n,
             (int) k, kind, turned ? ", turned" : "",
             adj_cause_describe (comparison->nodes[comparison->first].cause));
}

static void
test_honest (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (14);

  for (guint i = 0; i < G_N_ELEMENTS (honest); i++)
    for (guint d = 0; d < G_N_ELEMENTS (dtypes); d++)
      for (guint k = 0; k < N_HONEST; k++)
        judge_honest (rand, honest[i], dtypes[d]);
}

/* -- one node -- */

/* (transfer full) */
static AdjTensorData *
multiply (AdjTensorData *data, double factor)
{
  g_autoptr (AdjTensorData) wide = adj_tensor_data_cast (data, ADJ_DTYPE_F64);
  gsize size;
  const void *numbers = g_bytes_get_data (adj_tensor_data_get_bytes (wide), &size);
  double *multiplied = g_memdup2 (numbers, size);
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjTensorData) product = NULL;

  for (gsize i = 0; i < size / sizeof (double); i++)
    multiplied[i] *= factor;
  bytes = g_bytes_new_take (multiplied, size);
  product = adj_tensor_data_new (adj_tensor_data_get_meta (wide), bytes, NULL);
  return adj_tensor_data_cast (product, adj_tensor_data_get_meta (data)->dtype);
}

static AdjVerdict
judge_text (const char *body, const char *type, AdjTensorData *x, AdjTensorData *peer)
{
  g_autofree char *text = g_strdup_printf ("class G(torch.nn.Module):\n"
                                           "    def forward(self, x: \"%s\"):\n%s",
                                           type, body);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  Honest of_peer = { graph, adj_graph_find_node (graph, "a"), peer };
  AdjValue input = ADJ_DATA (x);
  AdjComparisonRequest request = { .graph = graph,
                                   .inputs = &input,
                                   .n_inputs = 1,
                                   .expected_node = recorded,
                                   .nodes = TRUE,
                                   .rtol = NAN,
                                   .atol = NAN,
                                   .data = &of_peer };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = adj_comparison_run (&request, NULL, &error);

  g_assert_no_error (error);
  return comparison->verdict;
}

static AdjTensorData *
make_integers (const gint64 *values, gint64 n)
{
  return adj_tensor_data_new_from_array (ADJ_DTYPE_I64, &n, 1, values, NULL);
}

/* An error of one in an integer that is not representable as a double. */
static void
test_integers (void)
{
  const gint64 given[] = { G_GINT64_CONSTANT (1) << 60, 5, 7 };
  const gint64 wrong[] = { (G_GINT64_CONSTANT (1) << 60) + 2, 6, 8 };
  const gint64 right[] = { (G_GINT64_CONSTANT (1) << 60) + 1, 6, 8 };
  g_autoptr (AdjTensorData) x = make_integers (given, 3);
  g_autoptr (AdjTensorData) other = make_integers (wrong, 3);
  g_autoptr (AdjTensorData) same = make_integers (right, 3);
  const char *body = "        a = torch.ops.aten.add.Tensor(x, 1)\n        return (a,)\n";

  g_assert_cmpint (judge_text (body, "i64[3][1]cpu", x, same), ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (judge_text (body, "i64[3][1]cpu", x, other), ==, ADJ_VERDICT_DIFFERS);
}

/* One wrong element of an integer or bool tensor, on either side. */
static void
test_whole_numbers (void)
{
  static const char *const calls[] = {
    "add.Tensor(x, x)",         "cumsum.default(x, 0)",
    "bitwise_xor.Tensor(x, 5)", "gt.Scalar(x, 3)",
    "logical_not.default(x)",   "floor_divide.default(x, 2)",
    "index.Tensor(x, [x])",     "index_put.default(x, [x], x, True)",
    "sum.dim_IntList(m, [1])",  "mul.Tensor(x, x)",
    "isfinite.default(x)",
  };
  const gint64 given[] = { 5, 0, 3, 7, 2, 6, 1, 4 };
  g_autoptr (AdjTensorData) x = make_integers (given, 8);
  AdjValue input = ADJ_DATA (x);

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autofree char *body =
          g_strdup_printf ("        m = torch.ops.aten.view.default(x, [8, 1])\n"
                           "        a = torch.ops.aten.%s\n"
                           "        return (a,)\n",
                           calls[i]);
      g_autofree char *text = g_strdup_printf ("class G(torch.nn.Module):\n"
                                               "    def forward(self, x: \"i64[8][1]cpu\"):\n%s",
                                               body);
      g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
      g_autoptr (AdjTensorData) wide = run (graph, &input, 1, FALSE, ADJ_DTYPE_I64);
      g_autoptr (AdjTensorData) right = run (graph, &input, 1, FALSE, ADJ_DTYPE_NONE);
      gint64 numbers[8];
      g_autoptr (AdjTensorData) moved = NULL;
      g_autoptr (AdjTensorData) wrong = NULL;

      memcpy (numbers, g_bytes_get_data (adj_tensor_data_get_bytes (wide), NULL), sizeof numbers);
      numbers[3] ^= 1;
      moved = make_integers (numbers, 8);
      wrong = adj_tensor_data_cast (moved, adj_tensor_data_get_meta (right)->dtype);
      g_assert_cmpint (judge_text (body, "i64[8][1]cpu", x, right), ==, ADJ_VERDICT_EQUAL);
      g_assert_cmpint (judge_text (body, "i64[8][1]cpu", x, wrong), ==, ADJ_VERDICT_DIFFERS);
    }
}

/* The variance of integers is a float and not truncated to an integer. */
static void
test_variance_of_integers (void)
{
  const gint64 given[] = { 3, 1, 3, 2 }, none = 0;
  const double variance = 11.0 / 12;
  g_autoptr (AdjTensorData) x = make_integers (given, 4);
  g_autoptr (AdjTensorData) wide =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F64, &none, 0, &variance, NULL);
  g_autoptr (AdjTensorData) found = adj_tensor_data_cast (wide, ADJ_DTYPE_F32);

  g_assert_cmpint (judge_text ("        a = torch.masked._ops.var(x, mask = None)\n"
                               "        return (a,)\n",
                               "i64[4][1]cpu", x, found),
                   <=, ADJ_VERDICT_WITHIN);
}

/* Equal elements may be returned in any order, but none twice. */
static void
test_ties (void)
{
  const float given[] = { 3, 1, 3, 2 };
  const gint64 four = 4;
  static const struct
  {
    gint64 places[4];
    AdjVerdict verdict;
  } rows[] = {
    { { 1, 3, 0, 2 }, ADJ_VERDICT_EQUAL },
    { { 1, 3, 2, 0 }, ADJ_VERDICT_WITHIN },
    { { 1, 3, 0, 0 }, ADJ_VERDICT_DIFFERS },
    { { 3, 1, 0, 2 }, ADJ_VERDICT_DIFFERS },
  };
  static const char *const bodies[] = {
    "        sort = torch.ops.aten.sort.default(x)\n"
    "        a = sort[1]\n"
    "        b = sort[0]\n"
    "        return (a,)\n",
    "        a = torch.argsort(x)\n        return (a,)\n",
    "        a = x.argsort(dim = 0)\n        return (a,)\n",
  };
  g_autoptr (AdjTensorData) x =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &four, 1, given, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjTensorData) peer = make_integers (rows[i].places, 4);

      for (guint k = 0; k < G_N_ELEMENTS (bodies); k++)
        g_assert_cmpint (judge_text (bodies[k], "f32[4][1]cpu", x, peer), ==, rows[i].verdict);
    }
}

/* A running extreme stands at any equal element that was met, as often as it lasts. */
static void
test_running_ties (void)
{
  const float given[] = { 3, 1, 3, 2 };
  const gint64 four = 4;
  static const struct
  {
    gint64 places[4];
    AdjVerdict verdict;
  } rows[] = {
    { { 0, 0, 2, 2 }, ADJ_VERDICT_EQUAL },   { { 0, 0, 0, 0 }, ADJ_VERDICT_WITHIN },
    { { 0, 0, 2, 0 }, ADJ_VERDICT_WITHIN },  { { 0, 1, 2, 2 }, ADJ_VERDICT_DIFFERS },
    { { 0, 2, 2, 2 }, ADJ_VERDICT_DIFFERS },
  };
  g_autoptr (AdjTensorData) x =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, &four, 1, given, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (AdjTensorData) peer = make_integers (rows[i].places, 4);

      g_assert_cmpint (judge_text ("        cummax = torch.ops.aten.cummax.default(x, 0)\n"
                                   "        a = cummax[1]\n"
                                   "        return (a,)\n",
                                   "f32[4][1]cpu", x, peer),
                       ==, rows[i].verdict);
    }
}

/* An operator that draws is repeated from the recorded generator state, so that a wrong factor
 * is found at it. */
static void
test_drawn (void)
{
  static const char *const bodies[] = {
    "        d = torch.ops.aten.native_dropout.default(x, 0.3, True)\n"
    "        a = d[0]\n"
    "        return (a,)\n",
    "        a = torch.ops.aten.randn_like.default(x)\n        return (a,)\n",
    "        a = torch.nn.functional.dropout(x, 0.3, True)\n        return (a,)\n",
  };
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);

  for (guint i = 0; i < G_N_ELEMENTS (bodies); i++)
    for (guint d = 0; d < G_N_ELEMENTS (dtypes); d++)
      {
        double u = adj_dtype_unit_roundoff (dtypes[d]);
        g_autofree char *type =
            g_strdup_printf ("%s[30, 40][40, 1]cpu", adj_dtype_info (dtypes[d])->code);
        g_autofree char *text = g_strdup_printf ("class G(torch.nn.Module):\n"
                                                 "    def forward(self, x: \"%s\"):\n%s",
                                                 type, bodies[i]);
        g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
        g_autoptr (AdjTensorData) x = draw_tensor (rand, 30, 40, 0, dtypes[d]);
        AdjValue input = ADJ_DATA (x);
        g_autoptr (AdjTensorData) right = run (graph, &input, 1, FALSE, dtypes[d]);
        g_autoptr (AdjTensorData) wrong = multiply (right, 1 + 8 * u);

        g_assert_cmpint (judge_text (bodies[i], type, x, right), ==, ADJ_VERDICT_EQUAL);
        g_assert_cmpint (judge_text (bodies[i], type, x, wrong), ==, ADJ_VERDICT_DIFFERS);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/power/finds", test_finds);
  g_test_add_func ("/exec/power/rounding-is-no-fault", test_honest);
  g_test_add_func ("/exec/power/integers", test_integers);
  g_test_add_func ("/exec/power/whole-numbers", test_whole_numbers);
  g_test_add_func ("/exec/power/variance-of-integers", test_variance_of_integers);
  g_test_add_func ("/exec/power/ties", test_ties);
  g_test_add_func ("/exec/power/running-ties", test_running_ties);
  g_test_add_func ("/exec/power/drawn", test_drawn);
  return g_test_run ();
}
