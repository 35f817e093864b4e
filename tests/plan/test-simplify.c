/* SPDX-License-Identifier: MIT */
/* Fused programs have no redundant steps, and give the interpreter's bits. */

#include "ir/adj-graph.h"
#include "plan-check.h"
#include "plan/plan-private.h"
#include "support/graphs.h"

typedef struct
{
  const char *name, *body;
  gint n_steps; /* number of steps for each tile */
  gint n_fixed;
} Case;

#define X "f32[300][1]cpu"
#define H "bf16[300][1]cpu"
#define CALL(to, type, call) "    " to ": \"" type "\" = torch.ops.aten." call "\n"

static const Case cases[] = {
  /* Two loads, sub, mul, add, store; the weight. */
  { "lerp-near", CALL ("a", X, "lerp.Scalar(x, y, 0.1)") "    return (a,)\n", 6, 1 },
  { "lerp-far", CALL ("a", X, "lerp.Scalar(x, y, 0.9)") "    return (a,)\n", 6, 1 },
  /* alpha is 1: two loads, add, store. */
  { "add", CALL ("a", X, "add.Tensor(x, y)") "    return (a,)\n", 4, 0 },
  { "add-twice", CALL ("a", X, "add.Tensor(x, y, alpha=2)") "    return (a,)\n", 5, 1 },
  /* The power equals x: a load, a copy of its own, neg, store. */
  { "pow",
    CALL ("a", X, "pow.Tensor_Scalar(x, 1)") CALL ("b", X, "neg.default(a)") "    return (b,)\n", 4,
    0 },
  /* A store rounds; a value that is also read later is rounded before. */
  { "rounded-once", CALL ("a", H, "mul.Tensor(h, h)") "    return (a,)\n", 3, 0 },
  { "rounded-twice",
    CALL ("a", H, "mul.Tensor(h, h)") CALL ("b", H, "neg.default(a)") "    return (a, b)\n", 6, 0 },
  /* The value written by copy_ is stored directly, unless it already has its place. */
  { "written",
    CALL ("a", X, "mul.Tensor(x, y)") CALL ("b", X, "copy_.default(x, a)") "    return (y,)\n", 4,
    0 },
  { "written-twice",
    CALL ("a", X, "mul.Tensor(x, y)") CALL ("b", X, "copy_.default(x, a)") "    return (a,)\n", 6,
    0 },
};

static AdjGraph *
graph_of (const Case *c)
{
  g_autofree char *text =
      g_strdup_printf ("def forward(self, x: \"" X "\", y: \"" X "\", h: \"" H "\"):\n%s", c->body);

  return adj_test_parse_graph (text);
}

static void
check_bits (AdjGraph *graph)
{
  AdjBundleGraph bundled = { .id = "simplify", .graph = graph };
  AdjSessionRun run = { .graph = &bundled, .random = TRUE, .seed = 3 };

  plan_check_session (&run, "simplify");
}

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (AdjGraph) graph = graph_of (c);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjPlan) plan = adj_plan_new_annotated (graph, 0, &error);
  const AdjKFused *program;

  g_assert_no_error (error);
  g_assert_cmpuint (adj_plan_get_n_regions (plan), ==, 1);
  program = &plan_region (plan, 0)->fused->program;
  g_assert_cmpint (program->n_fixed, ==, c->n_fixed);
  g_assert_cmpint (program->n_steps - program->n_fixed, ==, c->n_steps);
  check_bits (graph);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/plan/simplify/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }

  return g_test_run ();
}
