/* SPDX-License-Identifier: MIT */
/* The pass normalise, rule by rule. */

#include <glib.h>

#include "adjoint.h"
#include "passes/adj-pass-internal.h"
#include "support/graphs.h"

#define HEAD                                                                                       \
  "class GraphModule(torch.nn.Module):\n"                                                          \
  "    def forward(self, x: \"f32[4, 3][3, 1]cpu\", y: \"f32[4, 3][3, 1]cpu\", "                   \
  "z: \"f32[s0, s0][s0, 1]cpu\"):\n"

static AdjGraph *
normalise (const char *body)
{
  static const AdjPass *const passes[] = { &adj_pass_normalise, &adj_pass_dce };
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strconcat (HEAD, body, NULL);
  AdjGraph *graph = adj_test_parse_graph (text);

  for (guint i = 0; i < G_N_ELEMENTS (passes); i++)
    {
      AdjPassResult result;

      adj_pass_run (passes[i], NULL, graph, &result, &error);
      g_assert_no_error (error);
      adj_graph_unref (graph);
      graph = adj_graph_ref (result.graph);
      adj_pass_result_clear (&result);
    }
  return graph;
}

/* Expects both graphs to be equal, or not, by the rules of aot/SPEC.md §10. */
static void
check (const char *a, const char *b, gboolean same)
{
  g_autoptr (AdjGraph) graph_a = normalise (a);
  g_autoptr (AdjGraph) graph_b = normalise (b);
  g_autoptr (AdjAlignment) alignment = adj_graph_align (graph_a, graph_b);
  guint n = alignment->n_added + alignment->n_removed + alignment->n_changed;

  g_assert_cmpuint (n == 0, ==, same);
}

static void
test_names (void)
{
  check ("        sin = torch.ops.aten.sin.default(x)\n        return (sin,)\n",
         "        sin_7 = torch.ops.aten.sin.default(x)\n        return (sin_7,)\n", TRUE);
  check ("        sin = torch.ops.aten.sin.default(x)\n        return (sin,)\n",
         "        cos = torch.ops.aten.cos.default(x)\n        return (cos,)\n", FALSE);
}

static void
test_identities (void)
{
  check ("        detach = torch.ops.aten.detach.default(x)\n"
         "        detach_1 = torch.ops.aten.detach.default(detach)\n"
         "        sin = torch.ops.aten.sin.default(detach_1)\n        return (sin,)\n",
         "        alias = torch.ops.aten.alias.default(x)\n"
         "        sin = torch.ops.aten.sin.default(alias)\n        return (sin,)\n",
         TRUE);
  check ("        detach = torch.ops.aten.detach.default(x)\n        return (detach,)\n",
         "        return (x,)\n", FALSE);
}

static void
test_views (void)
{
  check ("        view = torch.ops.aten.view.default(x, [12])\n        return (view,)\n",
         "        reshape = torch.ops.aten._reshape_alias.default(x, [12], [1])\n"
         "        return (reshape,)\n",
         TRUE);
  check ("        view = torch.ops.aten.view.default(x, [12])\n        return (view,)\n",
         "        view = torch.ops.aten.view.default(x, [2, 6])\n        return (view,)\n", FALSE);
}

#define SIZE(name, operator) "        " name ": \"Sym(s0)\" = torch.ops.aten." operator"\n"

/* The place where a size is read, and the expression it is computed from, do not count; its
 * value does. */
static void
test_sizes (void)
{
  const char *read =
      SIZE ("size", "sym_size.int(z, 0)") "        view = torch.ops.aten.expand.default(x, [size, "
                                          "4, 3])\n        return (view,)\n";

  check (
      read,
      SIZE ("stride", "sym_stride.int(z, 0)") SIZE (
          "unused",
          "sym_size.int(z, 1)") "        view = torch.ops.aten.expand.default(x, [stride, 4, 3])\n"
                                "        return (view,)\n",
      TRUE);
  check (read,
         SIZE ("size", "sym_size.int(z, 0)") "        mul: \"Sym(2*s0)\" = size * 2\n"
                                             "        view = torch.ops.aten.expand.default(x, "
                                             "[mul, 4, 3])\n        return (view,)\n",
         FALSE);
  check (SIZE ("size", "sym_size.int(z, 0)") "        return (size,)\n",
         SIZE ("size", "sym_size.int(z, 1)") "        return (size,)\n", FALSE);
}

static void
test_zeros (void)
{
  static const char *const spellings[] = {
    "        z = torch.ops.aten.zeros.default([4, 3], device = device(type='cpu'))\n",
    "        z = torch.ops.aten.full.default([4, 3], 0, dtype = torch.float32)\n",
    "        z = torch.ops.aten.new_zeros.default(x, [4, 3])\n",
    "        new_empty = torch.ops.aten.new_empty.default(x, [4, 3])\n"
    "        z = torch.ops.aten.zero.default(new_empty)\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++)
    {
      const char *tail = "        add = torch.ops.aten.add.Tensor(x, z)\n        return (add,)\n";
      g_autofree char *a = g_strconcat (spellings[0], tail, NULL);
      g_autofree char *b = g_strconcat (spellings[i], tail, NULL);

      check (a, b, TRUE);
    }
  check ("        z = torch.ops.aten.full.default([4, 3], 0)\n        return (z,)\n",
         "        z = torch.ops.aten.full.default([4, 3], 1)\n        return (z,)\n", FALSE);
}

/* Template IV of PyTorch 2.6 and the form recommended in the specification. */
static void
test_view_gradient (void)
{
  check (
      "        r: \"f32[4, 3][3, 1]cpu\" = torch.ops.aten.new_empty_strided.default(x, [4, 3], [3, "
      "1])\n"
      "        c: \"f32[4, 3][3, 1]cpu\" = torch.ops.aten.copy.default(r, x)\n"
      "        s: \"f32[3][1]cpu\" = torch.ops.aten.select.int(c, 0, 0)\n"
      "        k: \"f32[3][1]cpu\" = torch.ops.aten.clone.default(s, memory_format = "
      "torch.contiguous_format)\n"
      "        h: \"f32[3][1]cpu\" = torch.ops.aten.mul.Tensor(k, 2)\n"
      "        c1: \"f32[3][1]cpu\" = torch.ops.aten.copy.default(s, h)\n"
      "        out: \"f32[4, 3][3, 1]cpu\" = torch.ops.aten.select_scatter.default(c, c1, 0, 0)\n"
      "        return (out,)\n",
      "        s: \"f32[3][1]cpu\" = torch.ops.aten.select.int(x, 0, 0)\n"
      "        h: \"f32[3][1]cpu\" = torch.ops.aten.mul.Tensor(s, 2)\n"
      "        out: \"f32[4, 3][3, 1]cpu\" = torch.ops.aten.select_scatter.default(x, h, 0, 0)\n"
      "        return (out,)\n",
      TRUE);
}

static void
test_epilogue (void)
{
  check ("        sin = torch.ops.aten.sin.default(x)\n"
         "        copy_ = torch.ops.aten.copy_.default(x, sin)\n"
         "        cos = torch.ops.aten.cos.default(y)\n        return (cos,)\n",
         "        sin = torch.ops.aten.sin.default(x)\n"
         "        cos = torch.ops.aten.cos.default(y)\n"
         "        copy_ = torch.ops.aten.copy_.default(x, sin)\n        return (cos,)\n",
         TRUE);
}

static void
test_regions (void)
{
  check ("        sin = torch.ops.aten.sin.default(x)  # adj: {ac: 7}\n"
         "        cos = torch.ops.aten.cos.default(sin)  # adj: {ac: 9}\n"
         "        return (cos,)\n",
         "        sin = torch.ops.aten.sin.default(x)  # adj: {ac: 0}\n"
         "        cos = torch.ops.aten.cos.default(sin)  # adj: {ac: 1}\n"
         "        return (cos,)\n",
         TRUE);
  check ("        sin = torch.ops.aten.sin.default(x)  # adj: {ac: 7}\n"
         "        cos = torch.ops.aten.cos.default(sin)  # adj: {ac: 7}\n"
         "        return (cos,)\n",
         "        sin = torch.ops.aten.sin.default(x)  # adj: {ac: 0}\n"
         "        cos = torch.ops.aten.cos.default(sin)  # adj: {ac: 1}\n"
         "        return (cos,)\n",
         FALSE);
}

static void
test_defaults (void)
{
  check ("        e = torch.ops.aten.empty_like.default(x, memory_format = torch.preserve_format)\n"
         "        return (e,)\n",
         "        e = torch.ops.aten.empty_like.default(x)\n        return (e,)\n", TRUE);
  check ("        s = torch.ops.aten.slice.Tensor(x, 0)\n        return (s,)\n",
         "        s = torch.ops.aten.slice.Tensor(x)\n        return (s,)\n", TRUE);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/normalise/N1-names", test_names);
  g_test_add_func ("/passes/normalise/N2-identities", test_identities);
  g_test_add_func ("/passes/normalise/N3-views", test_views);
  g_test_add_func ("/passes/normalise/N4-zeros", test_zeros);
  g_test_add_func ("/passes/normalise/N4-sizes", test_sizes);
  g_test_add_func ("/passes/normalise/N5-gradient-through-view", test_view_gradient);
  g_test_add_func ("/passes/normalise/N6-epilogue", test_epilogue);
  g_test_add_func ("/passes/normalise/regions", test_regions);
  g_test_add_func ("/passes/normalise/defaults", test_defaults);
  return g_test_run ();
}
