/* SPDX-License-Identifier: MIT */
/* What an operator may be off is measured by the terms that it adds up, element by element. */

#include <glib.h>
#include <math.h>

#include "adjoint.h"
#include "support/graphs.h"

#define MAX_INPUTS 6

/* A graph whose inputs are given, and what the peer has for node "a". */
typedef struct
{
  AdjGraph *graph;
  AdjValue inputs[MAX_INPUTS];
  guint n_inputs;
  AdjTensorData *peer;
  const char *release; /* (nullable) */
} Case;

/* @arguments: "x: \"f32[3][1]cpu\""; @body: lines without their indentation. */
static void
case_init (Case *c, const char *arguments, const char *const *body)
{
  g_autoptr (GString) text = g_string_new ("class G(torch.nn.Module):\n");

  g_string_append_printf (text, "    def forward(self, %s):\n", arguments);
  for (; *body != NULL; body++)
    g_string_append_printf (text, "        %s\n", *body);
  *c = (Case){ .graph = adj_test_parse_graph (text->str) };
}

static void
case_clear (Case *c)
{
  for (guint i = 0; i < c->n_inputs; i++)
    adj_value_clear (&c->inputs[i]);
  g_clear_pointer (&c->peer, adj_tensor_data_unref);
  adj_graph_unref (c->graph);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Case, case_clear)

static AdjTensorData *
make (AdjDType dtype, guint rank, const gint64 *sizes, const double *values)
{
  g_autoptr (AdjTensorData) wide =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F64, sizes, rank, values, NULL);

  return adj_tensor_data_cast (wide, dtype);
}

static void
add_input (Case *c, AdjDType dtype, guint rank, const gint64 *sizes, const double *values)
{
  c->inputs[c->n_inputs++] = ADJ_DATA (make (dtype, rank, sizes, values));
}

static AdjTensorData *
recorded (AdjNodeId id, gboolean float64, gpointer data)
{
  const Case *c = data;

  return !float64 && id.index == adj_graph_find_node (c->graph, "a").index ? c->peer : NULL;
}

/* @expected: (nullable): what the peer returned. */
static AdjComparison *
compare (Case *c, const AdjValue *expected)
{
  AdjComparisonRequest request = {
    .graph = c->graph,
    .inputs = c->inputs,
    .n_inputs = c->n_inputs,
    .release = c->release,
    .expected = expected,
    .expected_node = recorded,
    .nodes = TRUE,
    .rtol = NAN,
    .atol = NAN,
    .data = c,
  };
  g_autoptr (GError) error = NULL;
  AdjComparison *comparison = adj_comparison_run (&request, NULL, &error);

  g_assert_no_error (error);
  return comparison;
}

/* With @peer, which is taken, as what was recorded of node "a"; %NULL: nothing was. */
static AdjVerdict
judge (Case *c, AdjTensorData *peer)
{
  g_autoptr (AdjComparison) comparison = NULL;

  g_clear_pointer (&c->peer, adj_tensor_data_unref);
  c->peer = peer;
  comparison = compare (c, NULL);
  return comparison->verdict;
}

/* -- sums -- */

/* One sum at a time, of what cancels, by a peer that adds up in four sums: a sample of one rounding
 * says little of what all of them may do. */
static void
test_lone_sums (void)
{
  static const char *const body[] = { "a = torch.ops.aten.sum.dim_IntList(x, [0])", "return (a,)",
                                      NULL };
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  const gint64 n = 250, one = 1;

  for (guint i = 0; i < 100; i++)
    {
      g_auto (Case) c = { 0 };
      double values[250];
      float sums[4] = { 0 };
      double given, exact = 0;

      case_init (&c, "x: \"f32[250][1]cpu\"", body);
      for (gint64 k = 0; k < n; k++)
        {
          values[k] = (float) g_rand_double_range (rand, -1, 1);
          exact += k + 1 < n ? values[k] : 0;
        }
      values[n - 1] = (float) (1e-4 - exact);
      for (gint64 k = 0; k < n; k++)
        sums[k % 4] += (float) values[k];
      add_input (&c, ADJ_DTYPE_F32, 1, &n, values);
      given = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 0, &one, &given)), !=, ADJ_VERDICT_DIFFERS);
      given += 1e-4;
      g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 0, &one, &given)), ==, ADJ_VERDICT_DIFFERS);
    }
}

/* Places are what the operator weighs the map with, and some are negative: where it cancels with
 * them it does not with their absolute values, and the other way round. */
static void
test_own_weights (void)
{
  static const char *const body[] = {
    "a = torch.ops.aten.affine_grid_generator.default(x, [1, 1, 10, 12], False)", "return (a,)",
    NULL
  };
  const gint64 of_map[] = { 1, 2, 3 }, of_grid[] = { 1, 10, 12, 2 };
  const double map[] = { 0.555, 0.063, 0.112, 0x1.c4197p-3, 0x1.3ff15ep-1, 0x1.3b5d52p-1 };
  g_auto (Case) c = { 0 };
  double grid[10 * 12 * 2];

  case_init (&c, "x: \"f32[1, 2, 3][6, 3, 1]cpu\"", body);
  add_input (&c, ADJ_DTYPE_F32, 3, of_map, map);
  for (guint i = 0; i < G_N_ELEMENTS (grid); i++)
    {
      double x = (2.0 * (i / 2 % 12) + 1) / 12 - 1, y = (2.0 * (i / 24) + 1) / 10 - 1;
      const double *row = &map[i % 2 * 3];

      grid[i] = (float) row[0] * x + (float) row[1] * y + (float) row[2];
    }
  grid[9] += 1.5 * 0x1p-24;
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 4, of_grid, grid)), ==, ADJ_VERDICT_WITHIN);
  grid[9] += 200 * 0x1p-24;
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 4, of_grid, grid)), ==, ADJ_VERDICT_DIFFERS);
}

/* PyTorch rounds the sum, its logarithm and the result to 16 bits, and these cancel. */
static void
test_logarithm_of_sum (void)
{
  static const char text[] = "class G(torch.nn.Module):\n"
                             "    def forward(self, x: \"bf16[32, 6][6, 1]cpu\"):\n"
                             "        a = torch.ops.aten.logsumexp.default(x, [1])\n"
                             "        return (a,)\n";
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  const gint64 sizes[] = { 32, 6 };

  for (guint k = 0; k < 8; k++)
    {
      g_auto (Case) c = { .graph = adj_test_parse_graph (text) };
      double values[32 * 6];

      for (guint n = 0; n < G_N_ELEMENTS (values); n++)
        values[n] = g_rand_double_range (rand, -3, -1);
      add_input (&c, ADJ_DTYPE_BF16, 2, sizes, values);
      g_assert_cmpint (judge (&c, NULL), !=, ADJ_VERDICT_DIFFERS);
    }
}

/* Of several operators the last one stops at zero, and those before it round to 16 bits: where they
 * end beside it, one side may stop and the other not. */
static void
test_edges (void)
{
  static const char text[] =
      "class G(torch.nn.Module):\n"
      "    def forward(self, x: \"bf16[128, 128][128, 1]cpu\", y: \"bf16[128, 128][128, 1]cpu\"):\n"
      "        body = self.body\n"
      "        region = torch.ops.higher_order.tag_activation_checkpoint(body, x, y)\n"
      "        a = region[0]\n"
      "        return (a,)\n"
      "    class body(torch.nn.Module):\n"
      "        def forward(self, x: \"bf16[128, 128][128, 1]cpu\", y: \"bf16[128, 128][128, "
      "1]cpu\"):\n"
      "            one = torch.ops.aten.mm.default(x, y)\n"
      "            other = torch.ops.aten.mm.default(y, x)\n"
      "            apart = torch.ops.aten.sub.Tensor(one, other)\n"
      "            rows = torch.ops.aten.view.default(apart, [2048, 8])\n"
      "            sum_1 = torch.ops.aten.sum.dim_IntList(rows, [1])\n"
      "            a = torch.ops.aten.relu.default(sum_1)\n"
      "            return (a,)\n";
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  const gint64 sizes[] = { 128, 128 };

  for (guint k = 0; k < 2; k++)
    {
      g_auto (Case) c = { .graph = adj_test_parse_graph (text) };
      double values[128 * 128];

      for (guint i = 0; i < 2; i++)
        {
          for (guint n = 0; n < G_N_ELEMENTS (values); n++)
            values[n] = g_rand_double_range (rand, -1, 1);
          add_input (&c, ADJ_DTYPE_BF16, 2, sizes, values);
        }
      g_assert_cmpint (judge (&c, NULL), !=, ADJ_VERDICT_DIFFERS);
    }
}

/* What a product is taken away from is one of its terms: a factor of -1 makes none of them less. */
static void
test_difference (void)
{
  static const char *const body[] = { "a = torch.ops.aten.addmm.default(x, y, w, alpha = -1)",
                                      "return (a,)", NULL };
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  const gint64 row[] = { 1, 512 }, column[] = { 512, 1 }, one[] = { 1, 1 };
  double values[512], others[512], exact = 0, whole, given;
  float sum = 0;
  g_auto (Case) c = { 0 };

  case_init (
      &c, "x: \"f32[1, 1][1, 1]cpu\", y: \"f32[1, 512][512, 1]cpu\", w: \"f32[512, 1][1, 1]cpu\"",
      body);
  for (guint k = 0; k < 512; k++)
    {
      values[k] = (float) g_rand_double_range (rand, 1, 2);
      others[k] = (float) g_rand_double_range (rand, 1, 2);
      exact += values[k] * others[k];
      sum += (float) values[k] * (float) others[k];
    }
  whole = (float) (exact * 1.0001);
  add_input (&c, ADJ_DTYPE_F32, 2, one, &whole);
  add_input (&c, ADJ_DTYPE_F32, 2, row, values);
  add_input (&c, ADJ_DTYPE_F32, 2, column, others);
  given = (float) whole - sum;
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 2, one, &given)), !=, ADJ_VERDICT_DIFFERS);
  given += 4e-2;
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 2, one, &given)), ==, ADJ_VERDICT_DIFFERS);
}

/* The products of numbers near the root of the least one are none; their sum, and its root, are. */
static void
test_underflow (void)
{
  static const char *const products[] = { "a = torch.ops.aten.mm.default(x, w)", "return (a,)",
                                          NULL };
  static const char *const norm[] = { "a = torch.ops.aten.linalg_vector_norm.default(x, 2, [1])",
                                      "return (a,)", NULL };
  const gint64 row[] = { 1, 192 }, column[] = { 192, 1 }, one[] = { 1, 1 };
  const double none = 0, exact = 192 * 3e-46, wrong = 1e-40;
  const double norm_of_all = 1.3856406e-22, large = 1e-20;
  double values[192], others[192];
  g_auto (Case) of_products = { 0 };
  g_auto (Case) of_norm = { 0 };

  for (guint i = 0; i < 192; i++)
    {
      values[i] = 1e-23;
      others[i] = 3e-23;
    }
  case_init (&of_products, "x: \"f32[1, 192][192, 1]cpu\", w: \"f32[192, 1][1, 1]cpu\"", products);
  add_input (&of_products, ADJ_DTYPE_F32, 2, row, values);
  add_input (&of_products, ADJ_DTYPE_F32, 2, column, others);
  g_assert_cmpint (judge (&of_products, make (ADJ_DTYPE_F32, 2, one, &none)), !=,
                   ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge (&of_products, make (ADJ_DTYPE_F32, 2, one, &exact)), !=,
                   ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge (&of_products, make (ADJ_DTYPE_F32, 2, one, &wrong)), ==,
                   ADJ_VERDICT_DIFFERS);
  case_init (&of_norm, "x: \"f32[1, 192][192, 1]cpu\"", norm);
  add_input (&of_norm, ADJ_DTYPE_F32, 2, row, values);
  g_assert_cmpint (judge (&of_norm, make (ADJ_DTYPE_F32, 1, one, &none)), !=, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge (&of_norm, make (ADJ_DTYPE_F32, 1, one, &norm_of_all)), !=,
                   ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge (&of_norm, make (ADJ_DTYPE_F32, 1, one, &large)), ==, ADJ_VERDICT_DIFFERS);
}

/* -- what is done in steps -- */

/* Of one number nothing is left without its mean: the gradient is the rounding of what cancels. */
static void
test_layer_of_one (void)
{
  static const char *const body[] = {
    "b = torch.ops.aten.native_layer_norm_backward.default(g, x, [1], mean, rstd, w, w, [True, "
    "True, True])",
    "a = b[0]", "return (a,)", NULL
  };
  const gint64 sizes[] = { 2, 1 }, one = 1;
  const double g[] = { 1.1, 0.7 }, x[] = { 0.3, 5.9 }, w = 1.3, rstd[] = { 316.2278, 316.2278 };
  const double rounding[] = { 4e-5, -2e-5 }, wrong[] = { 0.5, 0 };
  g_auto (Case) c = { 0 };

  case_init (&c,
             "g: \"f32[2, 1][1, 1]cpu\", x: \"f32[2, 1][1, 1]cpu\", mean: \"f32[2, 1][1, 1]cpu\", "
             "rstd: \"f32[2, 1][1, 1]cpu\", w: \"f32[1][1]cpu\"",
             body);
  add_input (&c, ADJ_DTYPE_F32, 2, sizes, g);
  add_input (&c, ADJ_DTYPE_F32, 2, sizes, x);
  add_input (&c, ADJ_DTYPE_F32, 2, sizes, x);
  add_input (&c, ADJ_DTYPE_F32, 2, sizes, rstd);
  add_input (&c, ADJ_DTYPE_F32, 1, &one, &w);
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 2, sizes, rounding)), ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 2, sizes, wrong)), ==, ADJ_VERDICT_DIFFERS);
}

static double
round_to (double x, AdjDType dtype)
{
  const gint64 one = 1;
  g_autoptr (AdjTensorData) data = make (dtype, 1, &one, &x);
  double rounded;

  adj_tensor_data_read_doubles (data, &rounded);
  return rounded;
}

/* The terms are added in f32: one of four results, near 0, is wrong by 64 u of 1. */
static void
test_wrong_logarithm_of_sum (void)
{
  static const char *const body[] = { "a = torch.ops.aten.logsumexp.default(x, [1])", "return (a,)",
                                      NULL };
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  const gint64 sizes[] = { 4, 1024 }, n = 4;
  double values[4 * 1024], results[4] = { 0 };
  g_auto (Case) c = { 0 };

  case_init (&c, "x: \"bf16[4, 1024][1024, 1]cpu\"", body);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    {
      values[i] = round_to (g_rand_double_range (rand, -7.4, -6.4), ADJ_DTYPE_BF16);
      results[i / 1024] += exp (values[i]);
    }
  for (guint i = 0; i < 4; i++)
    results[i] = log (results[i]);
  add_input (&c, ADJ_DTYPE_BF16, 2, sizes, values);
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_BF16, 1, &n, results)), !=, ADJ_VERDICT_DIFFERS);
  results[2] += 64 * 0x1p-8;
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_BF16, 1, &n, results)), ==, ADJ_VERDICT_DIFFERS);
}

/* PyTorch adds the gradient of the bias up row by row, in the bf16 of the input, under autocast,
 * too, where weights and their gradients are of f32. */
static void
judge_layer (const char *arguments, AdjDType of_weights)
{
  static const char *const body[] = {
    "b = torch.ops.aten.native_layer_norm_backward.default(g, x, [4], mean, rstd, w, w, [True, "
    "True, True])",
    "a = b[2]", "return (a,)", NULL
  };
  const gint64 sizes[] = { 256, 4 }, rows[] = { 256, 1 }, n = 4;
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);
  double g[1024], x[1024], mean[256], rstd[256], w[4], sums[4] = { 0 };
  g_auto (Case) c = { 0 };

  for (guint i = 0; i < 256; i++)
    {
      mean[i] = 0;
      rstd[i] = 1;
      for (guint k = 0; k < 4; k++)
        {
          g[4 * i + k] = round_to (g_rand_double_range (rand, -0.7, 1), ADJ_DTYPE_BF16);
          x[4 * i + k] = g_rand_double_range (rand, -1, 1);
          w[k] = 1;
          sums[k] = round_to (sums[k] + g[4 * i + k], ADJ_DTYPE_BF16);
        }
    }
  case_init (&c, arguments, body);
  add_input (&c, ADJ_DTYPE_BF16, 2, sizes, g);
  add_input (&c, ADJ_DTYPE_BF16, 2, sizes, x);
  add_input (&c, of_weights, 2, rows, mean);
  add_input (&c, of_weights, 2, rows, rstd);
  add_input (&c, of_weights, 1, &n, w);
  g_assert_cmpint (judge (&c, make (of_weights, 1, &n, sums)), ==, ADJ_VERDICT_WITHIN);
  for (guint k = 0; k < 4; k++)
    sums[k] *= 1.4;
  g_assert_cmpint (judge (&c, make (of_weights, 1, &n, sums)), ==, ADJ_VERDICT_DIFFERS);
}

static void
test_layer_in_bf16 (void)
{
  judge_layer (
      "g: \"bf16[256, 4][4, 1]cpu\", x: \"bf16[256, 4][4, 1]cpu\", mean: \"bf16[256, 1][1, "
      "1]cpu\", rstd: \"bf16[256, 1][1, 1]cpu\", w: \"bf16[4][1]cpu\"",
      ADJ_DTYPE_BF16);
}

static void
test_layer_under_autocast (void)
{
  judge_layer ("g: \"bf16[256, 4][4, 1]cpu\", x: \"bf16[256, 4][4, 1]cpu\", mean: \"f32[256, 1][1, "
               "1]cpu\", rstd: \"f32[256, 1][1, 1]cpu\", w: \"f32[4][1]cpu\"",
               ADJ_DTYPE_F32);
}

/* Products of complex numbers round by the size of the number: where one part cancels, it is as far
 * off as the other. */
static void
test_parts_of_products (void)
{
  static const char *const body[] = { "a = torch.ops.aten.mul.Tensor(x, y)", "return (a,)", NULL };
  const gint64 one = 1;
  const float x[] = { 1.0000001f, 0.7f }, y[] = { 0.7f, 1.0f };
  const float near[] = { x[0] * y[0] - x[1] * y[1] + 0x1p-24f, x[0] * y[1] + x[1] * y[0] };
  const float far[] = { near[0] + 1e-3f, near[1] };
  g_auto (Case) c = { 0 };

  case_init (&c, "x: \"c64[1][1]cpu\", y: \"c64[1][1]cpu\"", body);
  c.inputs[c.n_inputs++] =
      ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_C64, &one, 1, x, NULL));
  c.inputs[c.n_inputs++] =
      ADJ_DATA (adj_tensor_data_new_from_array (ADJ_DTYPE_C64, &one, 1, y, NULL));
  g_assert_cmpint (judge (&c, adj_tensor_data_new_from_array (ADJ_DTYPE_C64, &one, 1, near, NULL)),
                   ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge (&c, adj_tensor_data_new_from_array (ADJ_DTYPE_C64, &one, 1, far, NULL)),
                   ==, ADJ_VERDICT_DIFFERS);
}

/* What Python calls an operator has its terms: e^(3 x) is as sure as 3 x is. */
static void
test_names_of_python (void)
{
  static const char *const body[] = { "a = torch._C._nn.softplus(x, 3)", "return (a,)", NULL };
  const gint64 one = 1;

  for (double x = -9; x < -3; x += 0.03)
    {
      g_auto (Case) c = { 0 };

      case_init (&c, "x: \"f32[1][1]cpu\"", body);
      add_input (&c, ADJ_DTYPE_F32, 1, &one, &x);
      g_assert_cmpint (judge (&c, NULL), !=, ADJ_VERDICT_DIFFERS);
    }
}

/* Transforms of truths, which no rounding moves: what cancels is rounded as the sum is. */
static void
test_transform_of_truths (void)
{
  static const char *const body[] = { "a = torch._C._fft.fft_fft(x)", "return (a,)", NULL };
  const gint64 n = 5;
  const double ones[] = { 1, 1, 1, 1, 1 };
  float near[] = { 5, 0, 0x1p-23f, -0x1p-23f, 0, 0, 0, 0, 0, 0 };
  g_auto (Case) c = { 0 };

  case_init (&c, "x: \"b8[5][1]cpu\"", body);
  add_input (&c, ADJ_DTYPE_BOOL, 1, &n, ones);
  g_assert_cmpint (judge (&c, adj_tensor_data_new_from_array (ADJ_DTYPE_C64, &n, 1, near, NULL)),
                   ==, ADJ_VERDICT_WITHIN);
  near[4] = 1e-3f;
  g_assert_cmpint (judge (&c, adj_tensor_data_new_from_array (ADJ_DTYPE_C64, &n, 1, near, NULL)),
                   ==, ADJ_VERDICT_DIFFERS);
}

/* A small element beside a large one. */
static void
test_own_scale (void)
{
  static const struct
  {
    const char *call;
    double values[4];
    guint element;
  } rows[] = {
    { "a = torch.ops.aten._softmax.default(x, 0, False)", { 5, 0, 1, -4 }, 3 },
    { "a = torch.ops.aten._log_softmax.default(x, 0, False)", { 0, 90, 100, 99 }, 2 },
    { "a = torch.ops.aten.gelu.default(x)", { 1000, 0.5, -1, 3 }, 2 },
    { "a = torch.ops.aten.gelu_backward.default(x, x)", { 1000, 0.5, -1, 3 }, 1 },
  };
  const gint64 n = 4;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const char *const body[] = { rows[i].call, "return (a,)", NULL };
      g_auto (Case) c = { 0 };
      AdjRunRequest request = { 0 };
      AdjRunResult result = { 0 };
      g_autoptr (GError) error = NULL;
      double values[4];

      case_init (&c, "x: \"f32[4][1]cpu\"", body);
      add_input (&c, ADJ_DTYPE_F32, 1, &n, rows[i].values);
      request = (AdjRunRequest){ .graph = c.graph, .inputs = c.inputs, .n_inputs = 1 };
      adj_executor_run (adj_executor_find ("interpreter", NULL), &request, &result, NULL, &error);
      g_assert_no_error (error);
      adj_tensor_data_read_doubles (result.output.items[0].data, values);
      adj_run_result_clear (&result);
      g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 1, &n, values)), ==, ADJ_VERDICT_EQUAL);
      values[rows[i].element] *= 1 + 0x1p-12;
      g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 1, &n, values)), ==, ADJ_VERDICT_DIFFERS);
    }
}

/* -- what jumps -- */

/* The gradient of a place that lies on an edge of two elements is that of either side. */
static void
test_edge (void)
{
  static const char *const body[] = {
    "b = torch.ops.aten.grid_sampler_2d_backward.default(g, x, grid, 0, 1, True, [True, True])",
    "a = b[1]", "return (a,)", NULL
  };
  const gint64 image[] = { 1, 1, 1, 6 }, places[] = { 1, 1, 1, 2 }, one[] = { 1, 1, 1, 1 };
  const double x[] = { 1, 2, 4, 8, 16, 32 }, g = 1, rounding = 1e-8;
  /* 0.2 of f32 is above a fifth, and (0.2 + 1) / 2 · 5 is 3 in f32. */
  const double grid[] = { 0.2, 0 };
  const double left[] = { 4 * 2.5, 0 }, right[] = { 8 * 2.5, 0 }, wrong[] = { 6 * 2.5, 0 };
  const double near[] = { 8 * 2.5, rounding };
  g_auto (Case) c = { 0 };

  case_init (&c,
             "g: \"f32[1, 1, 1, 1][1, 1, 1, 1]cpu\", x: \"f32[1, 1, 1, 6][6, 6, 6, 1]cpu\", grid: "
             "\"f32[1, 1, 1, 2][2, 2, 2, 1]cpu\"",
             body);
  add_input (&c, ADJ_DTYPE_F32, 4, one, &g);
  add_input (&c, ADJ_DTYPE_F32, 4, image, x);
  add_input (&c, ADJ_DTYPE_F32, 4, places, grid);
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 4, places, left)), !=, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 4, places, right)), !=, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 4, places, near)), !=, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 4, places, wrong)), ==, ADJ_VERDICT_DIFFERS);
}

/* At an edge the kernel and the decomposition of an operator may give different numbers, and
 * PyTorch uses both; nothing between them is right.  At -3 those of 2.15 give 0. */
static void
test_two_definitions (void)
{
  static const char *const body[] = { "a = torch.ops.aten.hardswish_backward.default(g, x)",
                                      "return (a,)", NULL };
  static const double x[] = { 3, 1, 3, -4, -3 }, g[] = { 2, 6, 4, 8, 2 };
  static const struct
  {
    double given[5];
    gboolean right, right_of_2_15;
  } rows[] = {
    { { 2, 5, 4, 0, -1 }, TRUE, FALSE },    { { 3, 5, 4, 0, -1 }, TRUE, FALSE },
    { { 2.5, 5, 4, 0, -1 }, FALSE, FALSE }, { { 2, 5, 4, 0, 0 }, TRUE, TRUE },
    { { 2, 5, 4, 0, -0.5 }, FALSE, FALSE }, { { 2.25, 5.625, 4.5, 0, -1.125 }, FALSE, FALSE },
  };
  static const AdjDType dtypes[] = { ADJ_DTYPE_F32, ADJ_DTYPE_BF16 };
  const gint64 n = G_N_ELEMENTS (x);

  for (guint i = 0; i < G_N_ELEMENTS (rows) * G_N_ELEMENTS (dtypes) * 2; i++)
    {
      AdjDType dtype = dtypes[i % 2];
      gboolean newer = i / 2 % 2;
      const char *code = adj_dtype_info (dtype)->code;
      g_autofree char *arguments =
          g_strdup_printf ("g: \"%s[5][1]cpu\", x: \"%s[5][1]cpu\"", code, code);
      g_auto (Case) c = { 0 };

      case_init (&c, arguments, body);
      c.release = newer ? "2.15" : "2.6";
      add_input (&c, dtype, 1, &n, g);
      add_input (&c, dtype, 1, &n, x);
      g_assert_cmpint (judge (&c, make (dtype, 1, &n, rows[i / 4].given)) != ADJ_VERDICT_DIFFERS,
                       ==, newer ? rows[i / 4].right_of_2_15 : rows[i / 4].right);
    }
}

/* PyTorch 2.15 computes exponentials of 16-bit scores by a cubic polynomial, which the logarithm of
 * their sum shows: it is a float32. */
static void
test_rough_exponentials (void)
{
  static const char *const body[] = {
    "both = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(q, q, q)",
    "a = both[1]", "return (a,)", NULL
  };
  static const double zeros[8];
  static const struct
  {
    const char *release;
    AdjDType dtype;
    double off;
    gboolean right;
  } rows[] = {
    { "2.15", ADJ_DTYPE_BF16, 9e-5, TRUE },  { "2.15", ADJ_DTYPE_F16, 9e-5, TRUE },
    { "2.15", ADJ_DTYPE_BF16, 3e-4, FALSE }, { "2.15", ADJ_DTYPE_F32, 9e-5, FALSE },
    { "2.6", ADJ_DTYPE_BF16, 9e-5, FALSE },
  };
  const gint64 sizes[] = { 1, 1, 4, 2 };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      double logs[4];
      g_autofree char *arguments = g_strdup_printf ("q: \"%s[1, 1, 4, 2][8, 8, 2, 1]cpu\"",
                                                    adj_dtype_info (rows[i].dtype)->code);
      g_auto (Case) c = { 0 };

      for (guint k = 0; k < 4; k++)
        logs[k] = log (4) + rows[i].off;
      case_init (&c, arguments, body);
      c.release = rows[i].release;
      add_input (&c, rows[i].dtype, 4, sizes, zeros);
      g_assert_cmpint (judge (&c, make (ADJ_DTYPE_F32, 3, sizes, logs)) != ADJ_VERDICT_DIFFERS, ==,
                       rows[i].right);
    }
}

/* -- what was returned -- */

static AdjVerdict
judge_returned (double x, double returned)
{
  static const char *const body[] = { "e = torch.ops.aten.exp.default(x)", "return (e,)", NULL };
  const gint64 one = 1;
  g_auto (Case) c = { 0 };
  g_auto (AdjValue) expected = ADJ_NONE;
  g_autoptr (AdjComparison) comparison = NULL;
  g_autoptr (AdjTensorData) leaf = make (ADJ_DTYPE_F32, 1, &one, &returned);
  AdjValue items[] = { ADJ_DATA (leaf) };

  case_init (&c, "x: \"f32[1][1]cpu\"", body);
  add_input (&c, ADJ_DTYPE_F32, 1, &one, &x);
  expected = adj_value_copy (&(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = items });
  comparison = compare (&c, &expected);
  g_assert_cmpint (comparison->outputs[0].verdict, ==, comparison->verdict);
  return comparison->verdict;
}

/* What a graph returns was recorded, although its nodes were not: the operator decides, and e^x is
 * as sure as x is. */
static void
test_returned (void)
{
  for (double x = 60; x < 80; x++)
    {
      g_assert_cmpint (judge_returned (x, exp (x) * (1 + 3 * x * 0x1p-24)), ==, ADJ_VERDICT_WITHIN);
      g_assert_cmpint (judge_returned (x, exp (x) * (1 + 9 * x * 0x1p-24)), ==,
                       ADJ_VERDICT_DIFFERS);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/terms/lone-sums", test_lone_sums);
  g_test_add_func ("/exec/terms/own-weights", test_own_weights);
  g_test_add_func ("/exec/terms/difference", test_difference);
  g_test_add_func ("/exec/terms/underflow", test_underflow);
  g_test_add_func ("/exec/terms/layer-of-one", test_layer_of_one);
  g_test_add_func ("/exec/terms/layer-in-bf16", test_layer_in_bf16);
  g_test_add_func ("/exec/terms/layer-under-autocast", test_layer_under_autocast);
  g_test_add_func ("/exec/terms/names-of-python", test_names_of_python);
  g_test_add_func ("/exec/terms/parts-of-products", test_parts_of_products);
  g_test_add_func ("/exec/terms/transform-of-truths", test_transform_of_truths);
  g_test_add_func ("/exec/terms/own-scale", test_own_scale);
  g_test_add_func ("/exec/terms/edge", test_edge);
  g_test_add_func ("/exec/terms/two-definitions", test_two_definitions);
  g_test_add_func ("/exec/terms/rough-exponentials", test_rough_exponentials);
  g_test_add_func ("/exec/terms/returned", test_returned);
  g_test_add_func ("/exec/terms/logarithm-of-sum", test_logarithm_of_sum);
  g_test_add_func ("/exec/terms/wrong-logarithm-of-sum", test_wrong_logarithm_of_sum);
  g_test_add_func ("/exec/terms/edges", test_edges);
  return g_test_run ();
}
