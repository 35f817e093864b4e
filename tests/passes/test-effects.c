/* SPDX-License-Identifier: MIT */

/* Effects and their tokens: broken chains are refused by name, and the pass runner detects a
 * pass that moves or loses an effect. */

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "passes/adj-effects.h"
#include "passes/adj-pass-internal.h"
#include "support/graphs.h"

#define PRINT "torch.ops.higher_order.with_effects("
#define OF "torch.ops.aten._print.default, "

static AdjGraph *
parse (const char *inputs, const char *body)
{
  g_autofree char *text = g_strdup_printf ("class G(torch.nn.Module):\n"
                                           "    def forward(self, %s):\n%s",
                                           inputs, body);

  return adj_test_parse_graph (text);
}

static const char *const whole = "        a = " PRINT "t, " OF "'1')\n"
                                 "        t1 = a[0]\n"
                                 "        b = " PRINT "t1, " OF "'2')\n"
                                 "        t2 = b[0]\n"
                                 "        return (t2, x)\n";

static void
broken_chains_are_refused (void)
{
  static const struct
  {
    const char *inputs, *body, *message;
  } cases[] = {
    { "t, x",
      "        a = " PRINT "t, " OF "'1')\n"
      "        t1 = a[0]\n"
      "        s = torch.ops.aten.sin.default(x)\n"
      "        b = " PRINT "s, " OF "'2')\n"
      "        t2 = b[0]\n"
      "        return (t2, t1)\n",
      "effect 'b': its token 's' is given by no effect" },
    { "t, x",
      "        a = " PRINT "t, " OF "'1')\n"
      "        t1 = a[1]\n"
      "        b = " PRINT "t1, " OF "'2')\n"
      "        t2 = b[0]\n"
      "        return (t2, x)\n",
      "effect 'a': the token that it gives is lost" },
    { "t, x",
      "        a = " PRINT "t, " OF "'1')\n"
      "        t1 = a[0]\n"
      "        b = " PRINT "t, " OF "'2')\n"
      "        t2 = b[0]\n"
      "        return (t1, t2, x)\n",
      "effect 'b': 'a' has taken its token 't' already" },
    { "t, u, x",
      "        a = " PRINT "t, " OF "'1')\n"
      "        t1 = a[0]\n"
      "        b = " PRINT "u, " OF "'2')\n"
      "        t2 = b[0]\n"
      "        return (t1, t2, x)\n",
      "effect 'b': it is of a second chain of tokens, so that nothing orders it and 'a'" },
    { "t, tangents_1",
      "        a = " PRINT "t, " OF "'1')\n"
      "        t1 = a[0]\n"
      "        b = " PRINT "t1, " OF "'2')  # adj: {tag: is_backward}\n"
      "        t2 = b[0]  # adj: {tag: is_backward}\n"
      "        return (t2, tangents_1)\n",
      "effect 'b': it is of the backward, and takes a token of the chain that begins with 'a' in "
      "the forward" },
  };
  g_autoptr (AdjGraph) good = parse ("t, x", whole);
  g_autoptr (GError) none = NULL;

  g_assert_true (adj_graph_verify_tokens (good, &none));
  g_assert_no_error (none);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (AdjGraph) graph = parse (cases[i].inputs, cases[i].body);
      g_autoptr (GError) error = NULL, of_pass = NULL;
      g_autofree char *expected = g_strconcat ("pass 'dce': ", cases[i].message, NULL);
      AdjPassResult result;

      g_assert_false (adj_graph_verify_tokens (graph, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY);
      g_assert_cmpstr (error->message, ==, cases[i].message);
      g_assert_false (adj_pass_run (&adj_pass_dce, NULL, graph, &result, &of_pass));
      g_assert_cmpstr (of_pass->message, ==, expected);
    }
}

/* -- passes that do not keep effects -- */

/* Copies @graph without node @left_out, and with nodes @one and @other exchanged if they differ. */
static AdjGraph *
copy_badly (AdjGraph *graph, guint left_out, guint one, guint other, GError **error)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (graph);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);

  for (guint i = 0; i < n; i++)
    if (i != left_out)
      adj_builder_copy (builder, graph, i == one ? other : i == other ? one : i, map);
  return adj_builder_seal (builder, error);
}

static AdjGraph *
run_loses (AdjGraph *in, AdjPassContext *context, GError **error)
{
  return copy_badly (in, 2, 0, 0, error);
}

static AdjGraph *
run_swaps (AdjGraph *in, AdjPassContext *context, GError **error)
{
  return copy_badly (in, G_MAXUINT, 1, 2, error);
}

static void
the_runner_finds_what_passes_do_to_effects (void)
{
  static const struct
  {
    AdjPass pass;
    const char *message;
  } cases[] = {
    { { .name = "loses", .run = run_loses }, "pass 'loses': the effect of '_print_1' (" },
    { { .name = "swaps", .run = run_swaps },
      "pass 'swaps': effects changed their order: '_print_1' (" },
  };
  g_autoptr (AdjGraph) graph = parse ("x", "        _print = torch.ops.aten._print.default('1')\n"
                                           "        _print_1 = torch.ops.aten._print.default('2')\n"
                                           "        return x\n");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GError) error = NULL;
      AdjPassResult result;

      g_assert_false (adj_pass_run (&cases[i].pass, NULL, graph, &result, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY);
      g_assert_true (g_str_has_prefix (error->message, cases[i].message));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/effects/broken-chains-are-refused", broken_chains_are_refused);
  g_test_add_func ("/passes/effects/the-runner-finds-what-passes-do-to-effects",
                   the_runner_finds_what_passes_do_to_effects);
  return g_test_run ();
}
