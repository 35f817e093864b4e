/* SPDX-License-Identifier: MIT */
/* Inputs that a graph overwrites completely are not copied first, and are written in the
 * caller's memory. */

#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"
#include "support/graphs.h"

enum
{
  N = 1024
};

/* Writes the step p - 2 g to p and -q to q; @end: the statements that follow. */
static AdjPlan *
plan_step (const char *end)
{
  g_autofree char *text = g_strdup_printf (
      "def forward(self, p: \"f32[1024][1]cpu\", g: \"f32[1024][1]cpu\", q: \"f32[512][1]cpu\"):\n"
      "    twice: \"f32[1024][1]cpu\" = torch.ops.aten.mul.Tensor(g, 2.0)\n"
      "    sub: \"f32[1024][1]cpu\" = torch.ops.aten.sub.Tensor(p, twice)\n"
      "    copy_: \"f32[1024][1]cpu\" = torch.ops.aten.copy_.default(p, sub)\n"
      "    neg_1: \"f32[512][1]cpu\" = torch.ops.aten.neg.default(q)\n"
      "    copy__1: \"f32[512][1]cpu\" = torch.ops.aten.copy_.default(q, neg_1)\n"
      "%s",
      end);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  AdjPlan *plan = adj_plan_new_annotated (graph, 0, &error);

  g_assert_no_error (error);
  g_assert_null (adj_plan_get_refusal (plan));
  return plan;
}

/* Runs on the caller's memory; @out gets the graph's result. */
static void
run_into (AdjPlan *plan, float *p, float *g, float *out)
{
  g_autoptr (AdjPlanSpace) space = adj_plan_space_new (plan);
  _Alignas(64) float q[N / 2] = { 3 };
  gpointer inputs[] = { p, g, q }, outputs[] = { out };

  for (int i = 0; i < N; i++)
    {
      p[i] = (float) i;
      g[i] = 1;
    }
  g_assert_true (adj_plan_space_run_into (space, inputs, outputs));
  g_assert_cmpfloat (q[0], ==, -3);
}

static void
test_written_in_place (void)
{
  _Alignas(64) float p[N], g[N], out[N];
  g_autoptr (AdjPlan) plan = plan_step ("    return (twice,)\n");

  g_assert_cmpuint (adj_plan_get_arena_bytes (plan), ==, sizeof p); /* both written values use the
                                                                       same memory in turn */
  run_into (plan, p, g, out);
  for (int i = 0; i < N; i++)
    {
      g_assert_cmpfloat (p[i], ==, (float) i - 2);
      g_assert_cmpfloat (out[i], ==, 2);
    }
}

/* The input itself is returned, with the written values. */
static void
test_returned (void)
{
  _Alignas(64) float p[N], g[N], out[N];
  g_autoptr (AdjPlan) plan = plan_step ("    return (p,)\n");

  run_into (plan, p, g, out);
  for (int i = 0; i < N; i++)
    g_assert_cmpfloat (out[i], ==, (float) i - 2);
}

/* adj_plan_space_run() does not change the caller's bytes. */
static void
test_caller_keeps_its_bytes (void)
{
  float values[3][N] = { 0 }, expected[N];
  g_autoptr (AdjPlan) plan = plan_step ("    return (copy_,)\n");
  g_autoptr (AdjPlanSpace) space = adj_plan_space_new (plan);
  AdjValue inputs[3], output = ADJ_NONE;

  for (int i = 0; i < N; i++)
    {
      values[0][i] = (float) i;
      values[1][i] = 1;
      expected[i] = (float) i - 2;
    }
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr (GBytes) bytes = g_bytes_new_static (values[i], sizeof values[i]);

      inputs[i] = ADJ_DATA (adj_tensor_data_new (adj_plan_get_input (plan, i), bytes, NULL));
    }
  g_assert_true (adj_plan_space_run (space, inputs, 3, NULL, &output));
  g_assert_cmpmem (g_bytes_get_data (adj_tensor_data_get_bytes (output.items[0].data), NULL),
                   sizeof expected, expected, sizeof expected);
  g_assert_cmpfloat (values[0][7], ==, 7);
  adj_value_clear (&output);
  for (int i = 0; i < 3; i++)
    adj_value_clear (&inputs[i]);
}

/* A view that is read after the write sees the written values: the input is copied as before. */
static void
test_read_afterwards (void)
{
  _Alignas(64) float p[N], g[N], out[N];
  g_autoptr (AdjPlan) plan =
      plan_step ("    view: \"f32[32, 32][32, 1]cpu\" = torch.ops.aten.view.default(p, [32, 32])\n"
                 "    neg: \"f32[32, 32][32, 1]cpu\" = torch.ops.aten.neg.default(view)\n"
                 "    return (neg,)\n");

  run_into (plan, p, g, out);
  for (int i = 0; i < N; i++)
    g_assert_cmpfloat (out[i], ==, 2 - (float) i);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/replaced-inputs/written-in-place", test_written_in_place);
  g_test_add_func ("/plan/replaced-inputs/returned", test_returned);
  g_test_add_func ("/plan/replaced-inputs/caller-keeps-its-bytes", test_caller_keeps_its_bytes);
  g_test_add_func ("/plan/replaced-inputs/read-afterwards", test_read_afterwards);
  return g_test_run ();
}
