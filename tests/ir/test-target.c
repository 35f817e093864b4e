/* SPDX-License-Identifier: MIT */
/* Stems of node names, and spellings of targets. */

#include "ir/adj-target-internal.h"
#include "ir/adj-target.h"

/* The node names of PyTorch 2.6 and the printed forms of their targets. */
static void
test_stem (void)
{
  static const char *const rows[][2] = {
    { "torch.ops.aten.add.Tensor", "add" },
    { "torch.ops.aten._to_copy.default", "_to_copy" },
    { "torch.ops.aten.add", "add" },
    { "torch.ops.higher_order.run_and_save_rng_state", "run_and_save_rng_state" },
    { "operator.getitem", "getitem" },
    { "torch.nn.functional.gelu", "gelu" },
    { "len", "len" },
    { "my.module.fooBar", "foo_bar" },
    { "my.HTTPServer", "httpserver" },
    { "x.__add__", "add" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *stem = adj_target_get_stem (rows[i][0]);

      g_assert_cmpstr (stem, ==, rows[i][1]);
    }
}

static void
test_printed (void)
{
  static const char *const rows[][2] = {
    { "torch.ops.aten.add.Tensor", "torch.ops.aten.add.Tensor" },
    { "torch._C._nn.gelu", "torch._C._nn.gelu" },
    { "torch._dynamo.external_utils.call_hook", "torch__dynamo_external_utils_call_hook" },
    { "torch._dynamo.compiled_autograd.ops.validate_outputs",
      "torch__dynamo_compiled_autograd_ops_validate_outputs" },
    { "operator.not_", "_operator_not_" },
    { "math.sqrt", "math_sqrt" },
    { "len", "len" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *printed = adj_target_get_printed (rows[i][0]);

      g_assert_cmpstr (printed, ==, rows[i][1]);
    }
}

static void
test_symbols (void)
{
  static const struct
  {
    const char *target, *symbol;
    AdjFixity fixity;
  } rows[] = {
    { "operator.add", "+", ADJ_FIXITY_INFIX },       { "operator.pos", "+", ADJ_FIXITY_PREFIX },
    { "operator.iadd", "+=", ADJ_FIXITY_INPLACE },   { "operator.truediv", "/", ADJ_FIXITY_INFIX },
    { "operator.floordiv", "//", ADJ_FIXITY_INFIX }, { "operator.matmul", "@", ADJ_FIXITY_INFIX },
    { "operator.invert", "~", ADJ_FIXITY_PREFIX },   { "operator.ge", ">=", ADJ_FIXITY_INFIX },
  };
  AdjFixity fixity;

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_assert_cmpstr (adj_target_get_symbol (rows[i].target, &fixity), ==, rows[i].symbol);
      g_assert_cmpint (fixity, ==, rows[i].fixity);
      g_assert_cmpstr (adj_target_from_symbol (rows[i].symbol, rows[i].fixity), ==, rows[i].target);
    }
  g_assert_null (adj_target_get_symbol ("operator.getitem", &fixity));
  g_assert_null (adj_target_get_symbol ("torch.add", &fixity));
  g_assert_null (adj_target_from_symbol ("?", ADJ_FIXITY_INFIX));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ir/target/stem", test_stem);
  g_test_add_func ("/ir/target/printed", test_printed);
  g_test_add_func ("/ir/target/symbols", test_symbols);

  return g_test_run ();
}
