/* SPDX-License-Identifier: MIT */
/* Lower bounds on GPU time: by memory, arithmetic or tensor cores. */

#include "adjoint.h"
#include "support/adj-test.h"
#include "support/graphs.h"

static AdjDeviceBound
bound_of (const char *dtype, const char *call)
{
  g_autofree char *text = g_strdup_printf (
      "def forward(self, a: \"%s[1024, 1024][1024, 1]cpu\", b: \"%s[1024, 1024][1024, 1]cpu\"):\n"
      "    c: \"%s[1024, 1024][1024, 1]cpu\" = torch.ops.aten.%s(a, b)\n"
      "    return (c,)\n",
      dtype, dtype, dtype, call);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  g_autoptr (AdjPlan) plan = NULL;
  const AdjDeviceModel *model = adj_device_model_find ("H200", &error);

  g_assert_no_error (error);
  plan = adj_plan_new_annotated (graph, 0, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_plan_get_n_regions (plan), ==, 1);
  return adj_device_model_bound (model, plan, 0);
}

#define NEAR(a, b) g_assert_cmpfloat_with_epsilon ((a) / (b), 1, 1e-9)

static void
test_memory (void)
{
  AdjDeviceBound bound = bound_of ("f32", "add.Tensor");

  NEAR (bound.memory, 3 * 4 * 1048576.0 / 4800e9);
  NEAR (bound.arithmetic, 2 * 1048576.0 / 67e12); /* add also multiplies b by alpha = 1 */
}

static void
test_arithmetic (void)
{
  AdjDeviceBound bound = bound_of ("f32", "mm.default");

  NEAR (bound.memory, 3 * 4 * 1048576.0 / 4800e9);
  NEAR (bound.arithmetic, 2 * 1024 * 1048576.0 / 67e12);
}

static void
test_tensor_cores (void)
{
  NEAR (bound_of ("bf16", "mm.default").arithmetic, 2 * 1024 * 1048576.0 / 989e12);
  NEAR (bound_of ("bf16", "add.Tensor").arithmetic, 2 * 1048576.0 / 67e12);
}

static void
test_unknown (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_device_model_find ("h2000", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND);
  g_assert_nonnull (strstr (error->message, "h200"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/device-model/memory", test_memory);
  g_test_add_func ("/plan/device-model/arithmetic", test_arithmetic);
  g_test_add_func ("/plan/device-model/tensor-cores", test_tensor_cores);
  g_test_add_func ("/plan/device-model/unknown", test_unknown);
  return g_test_run ();
}
