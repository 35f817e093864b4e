/* SPDX-License-Identifier: MIT */
/* Values that are numbers or not by how something was rounded. */

#include <math.h>

#include "adjoint.h"
#include "exec/perturbation-private.h"
#include "support/graphs.h"

#define N 6

/* What a backward does that computes exp (x) again, and was given what forward computed: it looks
 * for equal bits, as the gradient of a maximum does, and divides by how many there are. */
static const char text[] =
    "class G(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[6][1]cpu\", saved: \"f32[1, 6][6, 1]cpu\"):\n"
    "        exp = torch.ops.aten.exp.default(x)\n"
    "        mask = torch.ops.aten.eq.Tensor(saved, exp)\n"
    "        flat = torch.ops.aten.view.default(mask, [6])\n"
    "        count = torch.ops.aten._to_copy.default(flat, dtype = torch.float32)\n"
    "        div = torch.ops.aten.div.Tensor(x, count)\n"
    "        mul = torch.ops.aten.mul.Tensor(flat, div)\n"
    "        slice_1 = torch.ops.aten.slice.Tensor(mul, 0, 0, 3)\n"
    "        slice_2 = torch.ops.aten.slice.Tensor(x, 0, 3, 6)\n"
    "        cat = torch.ops.aten.cat.default([slice_1, slice_2])\n"
    "        return (cat,)\n";

/* The verdict on one tensor that PyTorch gave for a graph of tensors. */
static AdjVerdict
judge_given (const char *code, AdjTensorData *const *inputs, guint n_inputs, AdjTensorData *given)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (code);
  AdjValue arguments[2], item = ADJ_DATA (given);
  AdjValue expected = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &item };
  const AdjComparisonRequest request = { .graph = graph,
                                         .inputs = arguments,
                                         .n_inputs = n_inputs,
                                         .expected = &expected,
                                         .nodes = TRUE,
                                         .rtol = NAN,
                                         .atol = NAN };
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjComparison) comparison = NULL;

  for (guint i = 0; i < n_inputs; i++)
    arguments[i] = ADJ_DATA (inputs[i]);
  comparison = adj_comparison_run (&request, NULL, &error);
  g_assert_no_error (error);
  return comparison->verdict;
}

/* (transfer full): @n numbers as a vector of @type */
static AdjTensorData *
new_vector (AdjDType type, const double *numbers, gint64 n)
{
  g_autoptr (AdjTensorData) wide =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F64, &n, 1, numbers, NULL);

  return adj_tensor_data_cast (wide, type);
}

/* The verdict where the first @n_away elements of forward's exp (x) were @away times 2 u from what
 * they are, so that the gradient is x, and PyTorch gave @second and @last for these elements. */
static AdjVerdict
judge (double away, guint n_away, double second, double last)
{
  const float x[N] = { 1, 2, 3, 4, 5, 6 };
  const gint64 sizes[] = { 1, N };
  float saved[N], given[N];
  g_autoptr (AdjTensorData) input = NULL;
  g_autoptr (AdjTensorData) kept = NULL;
  g_autoptr (AdjTensorData) result = NULL;

  for (guint i = 0; i < N; i++)
    {
      saved[i] = (float) (exp (x[i]) * (1 + (i < n_away ? away : 0) * 0x1p-23));
      given[i] = i == 1 ? (float) second : i + 1 < N ? x[i] : (float) last;
    }
  input = adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes + 1, 1, x, NULL);
  kept = adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, 2, saved, NULL);
  result = adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes + 1, 1, given, NULL);
  return judge_given (text, (AdjTensorData *[]){ input, kept }, 2, result);
}

static void
test_recomputed (void)
{
  g_assert_cmpint (judge (2, N, 2, 6), ==, ADJ_VERDICT_WITHIN);
}

/* Another number is not a rounding of it. */
static void
test_far (void)
{
  g_assert_cmpint (judge (1e4, N, 2, 6), ==, ADJ_VERDICT_DIFFERS);
}

/* What is beside such values is compared. */
static void
test_beside (void)
{
  g_assert_cmpint (judge (2, N, 2, 6.01), ==, ADJ_VERDICT_DIFFERS);
}

/* Where both sides have a number, it is compared, though rounding might have made it NaN. */
static void
test_number (void)
{
  g_assert_cmpint (judge (2, 1, 2, 6), ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge (2, 1, 77, 6), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge (2, 1, INFINITY, 6), ==, ADJ_VERDICT_DIFFERS);
}

/* An overflow of 16 bits that both sides have, and float64 has not, says nothing of what is beside
 * it. */
static AdjVerdict
judge_beside_overflow (double second)
{
  static const char overflow[] = "class G(torch.nn.Module):\n"
                                 "    def forward(self, x: \"f16[3][1]cpu\"):\n"
                                 "        mul = torch.ops.aten.mul.Tensor(x, 300)\n"
                                 "        add = torch.ops.aten.add.Tensor(mul, 1)\n"
                                 "        return (add,)\n";
  const double x[] = { 1, 2, 300 }, y[] = { 301, second, INFINITY };
  g_autoptr (AdjTensorData) input = new_vector (ADJ_DTYPE_F16, x, 3);
  g_autoptr (AdjTensorData) given = new_vector (ADJ_DTYPE_F16, y, 3);

  return judge_given (overflow, &input, 1, given);
}

static void
test_overflow (void)
{
  g_assert_cmpint (judge_beside_overflow (601), ==, ADJ_VERDICT_EQUAL);
  g_assert_cmpint (judge_beside_overflow (620), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_beside_overflow (77), ==, ADJ_VERDICT_DIFFERS);
}

/* The verdict where log (exp (x)) - x is rounding alone, PyTorch gave @given for all of it, and the
 * last x is @last. */
static AdjVerdict
judge_cancelling (double last, double given)
{
  static const char cancelling[] = "class G(torch.nn.Module):\n"
                                   "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                                   "        exp = torch.ops.aten.exp.default(x)\n"
                                   "        log = torch.ops.aten.log.default(exp)\n"
                                   "        sub = torch.ops.aten.sub.Tensor(log, x)\n"
                                   "        return (sub,)\n";
  const double x[] = { 0.3, 0.7, 1.1, last };
  const double y[] = { given, given, given, isfinite (last) ? given : NAN };
  g_autoptr (AdjTensorData) input = new_vector (ADJ_DTYPE_F32, x, 4);
  g_autoptr (AdjTensorData) result = new_vector (ADJ_DTYPE_F32, y, 4);

  return judge_given (cancelling, &input, 1, result);
}

/* An element that is NaN on both sides and in float64 says nothing of what rounding does beside it.
 */
static void
test_beside_nan (void)
{
  g_assert_cmpint (judge_cancelling (1.3, 0), ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge_cancelling (-INFINITY, 0), ==, ADJ_VERDICT_WITHIN);
  g_assert_cmpint (judge_cancelling (1.3, 1e-3), ==, ADJ_VERDICT_DIFFERS);
  g_assert_cmpint (judge_cancelling (-INFINITY, 1e-3), ==, ADJ_VERDICT_DIFFERS);
}

/* The verdict where PyTorch gave exp (x) times @factor, and the last x is @last. */
static AdjVerdict
judge_factor (double factor, double last)
{
  static const char exponential[] = "class G(torch.nn.Module):\n"
                                    "    def forward(self, x: \"f32[4][1]cpu\"):\n"
                                    "        exp = torch.ops.aten.exp.default(x)\n"
                                    "        return (exp,)\n";
  const double x[] = { 0.3, 0.7, 1.1, last };
  g_autoptr (AdjTensorData) input = new_vector (ADJ_DTYPE_F32, x, 4);
  g_autoptr (AdjTensorData) result = NULL;
  double y[4];

  adj_tensor_data_read_doubles (input, y);
  for (guint i = 0; i < 4; i++)
    y[i] = exp (y[i]) * factor;
  result = new_vector (ADJ_DTYPE_F32, y, 4);
  return judge_given (exponential, &input, 1, result);
}

/* An element that overflows does not lift the limits of those beside it. */
static void
test_factor_beside_overflow (void)
{
  const double lasts[] = { 1, 100 };

  for (guint i = 0; i < G_N_ELEMENTS (lasts); i++)
    {
      g_assert_cmpint (judge_factor (1, lasts[i]), <=, ADJ_VERDICT_WITHIN);
      g_assert_cmpint (judge_factor (1 + 30 * 0x1p-24, lasts[i]), ==, ADJ_VERDICT_DIFFERS);
    }
}

/* An element nearer to zero than roundings of its tensor reach changes sides, whatever is beside
 * it. */
static void
test_crosses_zero (void)
{
  const double lasts[] = { 1, INFINITY, NAN };
  const gint64 size = 3;

  for (guint i = 0; i < G_N_ELEMENTS (lasts); i++)
    {
      const double numbers[] = { 1, 1e-9, lasts[i] };
      double moved[3];
      g_autoptr (AdjTensorData) wide =
          adj_tensor_data_new_from_array (ADJ_DTYPE_F64, &size, 1, numbers, NULL);
      g_autoptr (AdjTensorData) narrow = adj_tensor_data_cast (wide, ADJ_DTYPE_F32);
      g_auto (AdjValue) out = ADJ_NONE;

      perturbation_move ((AdjNodeId){ 0 }, &ADJ_DATA (wide), &ADJ_DATA (narrow), &ADJ_DATA (wide),
                         &out);
      adj_tensor_data_read_doubles (out.data, moved);
      g_assert_cmpfloat (moved[0], >, 0);
      g_assert_cmpfloat (moved[1], <, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/exec/unstable/recomputed", test_recomputed);
  g_test_add_func ("/exec/unstable/far", test_far);
  g_test_add_func ("/exec/unstable/beside", test_beside);
  g_test_add_func ("/exec/unstable/number", test_number);
  g_test_add_func ("/exec/unstable/overflow", test_overflow);
  g_test_add_func ("/exec/unstable/beside-nan", test_beside_nan);
  g_test_add_func ("/exec/unstable/factor-beside-overflow", test_factor_beside_overflow);
  g_test_add_func ("/exec/unstable/crosses-zero", test_crosses_zero);
  return g_test_run ();
}
