/* SPDX-License-Identifier: MIT */
/* Which arguments of each operator are differentiable, against PyTorch's list. */

#include <string.h>

#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-rule.h"
#include "support/adj-test.h"
#include "support/tape.h"

/* data/derivatives.txt lists which arguments of each record PyTorch 2.6 differentiates, or why
 * none (make-derivatives.py).  The operator table has a gradient for exactly the same ones. */

/* PyTorch handles these below autograd or by a formula of their forward; here they are recorded
 * and have a gradient. */
static const char *const ours[] = {
  "aten::bernoulli.p",
  "aten::copy",
  "aten::hardsigmoid_backward",
  "aten::native_group_norm_backward",
  "aten::normal_functional",
  "prims::convert_element_type",
  "prims::fma",
};

static gboolean
is_one_of (const char *name, const char *const *names, guint n)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (name, names[i]))
      return TRUE;
  return FALSE;
}

static char *
name_of (const AdjOp *op)
{
  return g_strndup (op->schema, strcspn (op->schema, "("));
}

static gboolean
has_entry (const AdjRule *rule, const char *argument)
{
  for (guint i = 0; rule != NULL && i < rule->n_entries; i++)
    if (g_str_equal (rule->schema->arguments[rule->entries[i].arg].name, argument))
      return TRUE;
  return FALSE;
}

static gboolean
is_lacking_any (const AdjOp *op, const char *const *arguments)
{
  for (guint i = 0; arguments[i] != NULL; i++)
    if (!has_entry (adj_rule_find (op, ADJ_RULE_GRAD, NULL), arguments[i]))
      {
        g_test_message ("%s: PyTorch has a gradient of %s", op->schema, arguments[i]);
        return TRUE;
      }
  return FALSE;
}

/* Returns a map of each name to the rest of its line. */
static GHashTable *
read_derivatives (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "autograd", "data", "derivatives.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GHashTable *table = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (guint i = 0; lines[i] != NULL; i++)
    {
      gsize stem = strcspn (lines[i], " ");

      if (*lines[i] != '\0')
        g_hash_table_insert (table, g_strndup (lines[i], stem), g_strdup (lines[i] + stem + 1));
    }
  return table;
}

static void
are_pytorchs (void)
{
  g_autoptr (GHashTable) derivatives = read_derivatives ();
  guint n_same = 0, n_none = 0, n_taken_apart = 0, n_bad = 0;

  for (guint i = 0; i < ADJ_N_OPS; i++)
    {
      const AdjOp *op = adj_op (i);
      g_autofree char *name = name_of (op);
      const char *line = g_hash_table_lookup (derivatives, name);
      gboolean bad = FALSE;

      if (line == NULL)
        g_error ("make-derivatives.py was not run with %s", name);
      if ((op->flags & ADJ_OP_COMPOSITE) != 0)
        n_taken_apart++;
      else if (*line != '-')
        {
          g_auto (GStrv) arguments = g_strsplit (line, ",", -1);

          bad = is_lacking_any (op, (const char *const *) arguments);
          n_same++;
        }
      else if ((adj_rule_find (op, ADJ_RULE_GRAD, NULL) != NULL) ==
               (g_str_equal (line, "- composite") || is_one_of (name, ours, G_N_ELEMENTS (ours))))
        n_none += adj_rule_find (op, ADJ_RULE_GRAD, NULL) == NULL;
      else
        {
          g_test_message ("%s has %s gradient; PyTorch: %s", name,
                          adj_rule_find (op, ADJ_RULE_GRAD, NULL) != NULL ? "a" : "no", line + 2);
          bad = TRUE;
        }
      n_bad += bad;
    }
  g_test_message ("%u operators have PyTorch's derivatives, %u have none in PyTorch, %u are taken "
                  "apart before",
                  n_same, n_none, n_taken_apart);
  g_assert_cmpuint (n_bad, ==, 0);
  g_assert_cmpuint (n_same, >, 270);
}

/* An operator without a derivative in PyTorch gives no silent zero: backward names it in an
 * error. */
static void
missing_ones_are_named (void)
{
  g_autoptr (AdjContext) cx = tape_new ();
  const double values[] = { 5, 7 };
  AdjTensor *x = tape_leaf (cx, 2, values);
  AdjTensor *y = CALL (cx, "floor_divide", T (x), T (tape_tensor (cx, 2, values)));

  g_assert_true (adj_tensor_get_requires_grad (y));
  y = CALL (cx, "sum", T (y));
  g_assert_false (adj_backward (cx, &(AdjGradRoots){ .tensors = &y, .n = 1 }, NULL, 0, 0));
  tape_assert_error (cx, ADJ_ERROR_UNSUPPORTED,
                     "torch.ops.aten.floor_divide.default has no derivative, in PyTorch neither");
}

/* The gradient of an in-place activation is computed from its result; nothing else is saved. */
static void
activations_in_place (void)
{
  static const char *const names[] = { "leaky_relu_", "elu_", "celu_" };
  const double values[] = { -1.5, -0.5, 2 };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autoptr (AdjContext) cx = tape_new ();
      g_autofree char *plain = g_strndup (names[i], strlen (names[i]) - 1);
      g_autofree char *target = NULL;
      const AdjRule *rule;
      AdjTensor *x = tape_leaf (cx, 3, values), *other = tape_leaf (cx, 3, values);
      AdjTensor *y = CALL (cx, "mul.Scalar", T (x), ADJ_INT (1));

      CALL (cx, names[i], T (y), ADJ_FLOAT (0.25));
      tape_backward (cx, CALL (cx, "sum", T (y)), 0);
      tape_backward (cx, CALL (cx, "sum", T (CALL (cx, plain, T (other), ADJ_FLOAT (0.25)))), 0);
      for (guint k = 0; k < 3; k++)
        g_assert_cmpfloat_with_epsilon (tape_at (adj_tensor_get_grad (x), k),
                                        tape_at (adj_tensor_get_grad (other), k), 1e-12);
      target = g_strdup_printf ("torch.ops.aten.%s.default", names[i]);
      rule = adj_rule_find (adj_op_find (target), ADJ_RULE_GRAD, NULL);
      g_assert_cmpuint (rule->entries[0].use.args & 1, ==, 0);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/autograd/derivatives/are-pytorchs", are_pytorchs);
  g_test_add_func ("/autograd/derivatives/missing-ones-are-named", missing_ones_are_named);
  g_test_add_func ("/autograd/derivatives/activations-in-place", activations_in_place);

  return g_test_run ();
}
