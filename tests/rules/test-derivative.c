/* SPDX-License-Identifier: MIT */

/* Gradient rules as mathematical text. */

#include <string.h>

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
    { "torch.ops.aten.tanh.default", "self", "g · (1 − y²)" },
    { "torch.ops.aten.erf.default", "self", "exp(−self²) · (2/√π) · g" },
    { "torch.ops.aten.asin.default", "self", "g / √(1 − self²)" },
    { "torch.ops.aten.acos.default", "self", "−g / √(1 − self²)" },
    { "torch.ops.aten.reciprocal.default", "self", "−g · y²" },
    { "torch.ops.aten.log2.default", "self", "g / (self · ln 2)" },
    { "torch.ops.aten.div.Tensor", "other", "−g · (self / other / other)" },
    { "torch.ops.aten.addmm.default", "self", "g if beta = 1, else g · beta" },
    { "torch.ops.aten.addmm.default", "mat1", "alpha · g @ mat2ᵀ" },
    { "torch.ops.aten.mm.default", "mat2", "selfᵀ @ g" },
    { "torch.ops.aten.where.self", "self", "g if condition, else 0" },
    { "torch.ops.aten.relu.default", "self", "0 if y ≤ 0, else g" },
    { "torch.ops.aten.bmm.default", "mat2", "selfᵀ @ g" },
    { "torch.ops.aten._softmax.default", "self", "y · (g − Σ[dim](g · y))" },
    { "torch.ops.aten._log_softmax.default", "self", "g − exp(y) · Σ[dim](g)" },
    { "torch.ops.aten.native_layer_norm.default", "input",
      "y2 · (h − (mean of h over normalized_shape) − z · (mean of (h · z) over normalized_shape)) "
      "where h = g · weight, z = (input − y1) · y2" },
    { "torch.ops.aten.native_layer_norm.default", "bias", "Σ(g) over the rows" },
    { "torch.ops.aten._native_batch_norm_legit_no_training.default", "input",
      "g · weight / (running_var + eps)^0.5" },
    { "torch.ops.aten.cudnn_batch_norm.default", "bias", "Σ(g) per channel" },
    { "torch.ops.aten.convolution.default", "weight", "g ⋆ input if transposed, else input ⋆ g" },
    { "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default", "value",
      "Pᵀ @ g where P = softmax(scale · (query @ keyᵀ) + attn_mask)" },
    { "torch.ops.aten._prelu_kernel.default", "weight", "0 if self > 0, else self · g" },
    { "torch.ops.aten.elu.default", "self",
      "g · scale if self > 0, else g · input_scale · scale · alpha · exp(self · input_scale)" },
    { "torch.ops.aten.max.dim", "self", "g at y1 along dim, else 0" },
    { "torch.ops.aten.mean.dim", "self", "(g all along dim) / n(self, dim)" },
    { "torch.ops.aten.index.Tensor", "self", "Σ of g by indices" },
    { "torch.ops.aten.embedding.default", "weight", "Σ of g by indices" },
    { "torch.ops.aten.view.default", "self", "g in the shape of self" },
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

/* Whether @name is a mathematical function or a word. */
static gboolean
is_mathematics (const char *name, gsize length)
{
  static const char *const known[] = {
    "exp",       "log",    "log1p", "log2",    "sin",         "cos",     "tan",      "sinh",
    "cosh",      "tanh",   "erf",   "erfinv",  "sgn",         "sigmoid", "softplus", "digamma",
    "polygamma", "lgamma", "xlogy", "softmax", "log_sigmoid", "logit",   "max",      "min",
    "n",         "conv",   "imag",  "cumprod", "expm1",       "exp2",    "sqrt",     "i0",
    "if",        "else",   "and",   "or",      "not",         "where",
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strlen (known[i]) == length && strncmp (known[i], name, length) == 0)
      return TRUE;
  return length == 0;
}

/* Whether @text contains no calls of program functions. */
static gboolean
reads_as_mathematics (const char *text)
{
  for (const char *at = strchr (text, '('); at != NULL; at = strchr (at + 1, '('))
    {
      const char *start = at;

      while (start > text && (g_ascii_isalnum (start[-1]) || start[-1] == '_'))
        start--;
      if (!is_mathematics (start, (gsize) (at - start)))
        return FALSE;
    }
  return TRUE;
}

/* Most rules are written without the name of a backward operator or builtin. */
static void
test_mathematics (void)
{
  guint n = 0, n_read = 0;

  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      g_autoptr (GPtrArray) list = adj_derivative_list (adj_ops_get (i));

      n += list->len;
      for (guint k = 0; k < list->len; k++)
        n_read += reads_as_mathematics (((AdjDerivative *) list->pdata[k])->text);
    }
  g_test_message ("%u of %u rules", n_read, n);
  g_assert_cmpuint (n_read * 100, >=, n * 80);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rules/derivative/rows", test_rows);
  g_test_add_func ("/rules/derivative/all", test_all);
  g_test_add_func ("/rules/derivative/mathematics", test_mathematics);
  return g_test_run ();
}
