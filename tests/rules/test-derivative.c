/* SPDX-License-Identifier: MIT */

/* Rules of gradients as mathematics. */

#include "ops/adj-op-table.h"
#include "rules/adj-derivative.h"

static void
test_rows (void)
{
  static const struct
  {
    const char *target, *argument, *text;
  } rows[] = {
    { "torch.ops.aten.mul.Tensor", "self", "g · other" },
    { "torch.ops.aten.exp.default", "self", "g · y" },
    { "torch.ops.aten.tanh.default", "self", "g · (1 − y · y)" },
    { "torch.ops.aten.div.Tensor", "other", "−g · (self / other / other)" },
    { "torch.ops.aten.addmm.default", "self", "g if beta = 1, else g · beta" },
    { "torch.ops.aten.addmm.default", "mat1", "alpha · g @ mat2ᵀ" },
    { "torch.ops.aten.mm.default", "mat2", "selfᵀ @ g" },
    { "torch.ops.aten.where.self", "self", "g if condition, else 0" },
    { "torch.ops.aten.relu.default", "self", "0 if y ≤ 0, else g" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GPtrArray) list = adj_derivative_list (adj_op_find (rows[i].target));
      const AdjDerivative *found = NULL;

      for (guint k = 0; k < list->len; k++)
        if (g_str_equal (((AdjDerivative *) list->pdata[k])->argument, rows[i].argument))
          found = list->pdata[k];
      g_assert_nonnull (found);
      g_assert_cmpstr (found->text, ==, rows[i].text);
    }
}

/* Every operator with a rule has a text for each of its arguments. */
static void
test_all (void)
{
  guint n = 0;

  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      g_autoptr (GPtrArray) list = adj_derivative_list (op);

      g_assert_cmpint (list->len > 0, ==, op->grad != NULL && *op->grad != '\0');
      n += list->len;
      for (guint k = 0; k < list->len; k++)
        g_assert_cmpstr (((AdjDerivative *) list->pdata[k])->text, !=, "");
    }
  g_assert_cmpuint (n, >, 300);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rules/derivative/rows", test_rows);
  g_test_add_func ("/rules/derivative/all", test_all);
  return g_test_run ();
}
