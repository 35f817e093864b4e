/* SPDX-License-Identifier: MIT */
/* G25: budgets on programs of matrix products, counted in units of 32x32 floats and in products.
 * The expected numbers are those of PyTorch's own tests. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "golden.h"
#include "ir/adj-graph.h"
#include "partition-test.h"

#define SIDE 32
#define UNIT (SIDE * SIDE * 4)
#define PRODUCT (2.0 * SIDE * SIDE * SIDE)

static char *
numbered (const char *stem, guint n)
{
  return n == 0 ? g_strdup (stem) : g_strdup_printf ("%s_%u", stem, n);
}

/* x = cos(x), then n times x = cos(x @ w). */
static AdjGraph *
make_chain (guint n)
{
  g_autoptr (GString) inputs = g_string_new ("p1:32x32");
  g_autoptr (GString) program = g_string_new ("cos = cos.default(p1);");
  g_autoptr (GString) outputs = g_string_new (NULL);
  g_autofree char *last = numbered ("cos", n);
  guint n_mm = n, n_t = 0;
  g_autofree char *grad = g_strdup ("t1");

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *mm = numbered ("mm", i);
      g_autofree char *before = numbered ("cos", i);

      g_string_append_printf (inputs, " p%u:32x32", i + 2);
      g_string_append_printf (program, "%s = mm.default(%s, p%u); cos_%u = cos.default(%s);", mm,
                              before, i + 2, i + 1, mm);
    }
  g_string_append (inputs, " t1:32x32");
  for (guint i = n; i-- > 0;)
    {
      g_autofree char *mm = numbered ("mm", i);
      g_autofree char *before = numbered ("cos", i);
      g_autofree char *sin = numbered ("sin", n - 1 - i);
      g_autofree char *neg = numbered ("neg", n - 1 - i);
      g_autofree char *mul = numbered ("mul", n - 1 - i);
      g_autofree char *t = numbered ("t", n_t++);
      g_autofree char *weight = numbered ("mm", n_mm++);
      g_autofree char *t_weight = numbered ("t", n_t++);
      g_autofree char *next = numbered ("mm", n_mm++);

      g_string_append_printf (program,
                              "%s = sin.default(%s); %s = neg.default(%s); %s = mul.Tensor(%s, %s);"
                              "%s = t.default(%s); %s = mm.default(%s, %s);"
                              "%s = t.default(p%u); %s = mm.default(%s, %s);",
                              sin, mm, neg, sin, mul, grad, neg, t, before, weight, t, mul,
                              t_weight, i + 2, next, mul, t_weight);
      g_string_prepend (outputs, weight);
      g_string_prepend (outputs, ", ");
      g_free (grad);
      grad = g_steal_pointer (&next);
    }
  g_string_append_printf (program,
                          "sin_%u = sin.default(p1); neg_%u = neg.default(sin_%u);"
                          "mul_%u = mul.Tensor(%s, neg_%u); return [%s, mul_%u%s]",
                          n, n, n, n, grad, n, last, n, outputs->str);
  return golden_parse (inputs->str, program->str);
}

static AdjPartition *
at_budget (AdjGraph *joint, guint n_outputs, double budget)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.num_fwd_outputs = (gint) n_outputs;
  options.compat = TRUE;
  options.budget = budget;
  return partition_run ("min-cut", joint, &options);
}

static void
test_chain (void)
{
  g_autoptr (AdjGraph) joint = make_chain (5);

  for (guint k = 0; k <= 10; k++)
    {
      g_autoptr (AdjPartition) partition = at_budget (joint, 1, k / 10.0);

      g_assert_cmpuint (partition->saved_bytes, ==, (k == 10 ? 10 : MIN (k, 5)) * UNIT);
      g_assert_cmpfloat (partition->cost.recompute_flops, ==, (k < 5 ? 5 - k : 0) * PRODUCT);
    }
}

/* The usual budget applies if none is given. */
static void
test_usual (void)
{
  g_autoptr (AdjGraph) joint = make_chain (5);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.num_fwd_outputs = 1;
  options.usual_budget = 0.2;
  for (guint asked = 0; asked < 2; asked++)
    {
      g_autoptr (AdjPartition) partition = partition_run ("min-cut", joint, &options);

      g_assert_cmpuint (partition->saved_bytes, ==, (asked ? 4 : 2) * UNIT);
      options.budget = 0.4;
    }
}

/* cos(x @ w_i) for weights of several widths, in units. */
static AdjGraph *
make_independent (const guint *widths, guint n)
{
  g_autoptr (GString) inputs = g_string_new ("p1:32x32");
  g_autoptr (GString) tangents = g_string_new (NULL);
  g_autoptr (GString) program = g_string_new (NULL);
  g_autoptr (GString) backward = g_string_new (NULL);
  g_autoptr (GString) outputs = g_string_new (NULL);
  g_autoptr (GString) gradients = g_string_new (NULL);
  g_autofree char *sum = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *mm = numbered ("mm", i);
      g_autofree char *cos = numbered ("cos", i);
      g_autofree char *sin = numbered ("sin", i);
      g_autofree char *neg = numbered ("neg", i);
      g_autofree char *mul = numbered ("mul", i);
      g_autofree char *t = numbered ("t", 2 * i);
      g_autofree char *weight = numbered ("mm", n + 2 * i);
      g_autofree char *t_weight = numbered ("t", 2 * i + 1);
      g_autofree char *part = numbered ("mm", n + 2 * i + 1);

      g_string_append_printf (inputs, " p%u:32x%u", i + 2, widths[i] * SIDE);
      g_string_append_printf (tangents, " t%u:32x%u", i + 1, widths[i] * SIDE);
      g_string_append_printf (program, "%s = mm.default(p1, p%u); %s = cos.default(%s);", mm, i + 2,
                              cos, mm);
      g_string_append_printf (backward,
                              "%s = sin.default(%s); %s = neg.default(%s); %s = mul.Tensor(t%u, "
                              "%s); %s = t.default(p1); %s = mm.default(%s, %s);"
                              "%s = t.default(p%u); %s = mm.default(%s, %s);",
                              sin, mm, neg, sin, mul, i + 1, neg, t, weight, t, mul, t_weight,
                              i + 2, part, mul, t_weight);
      g_string_append_printf (outputs, "%s, ", cos);
      g_string_append_printf (gradients, ", %s", weight);
      if (sum != NULL)
        {
          g_autofree char *add = numbered ("add", i - 1);

          g_string_append_printf (backward, "%s = add.Tensor(%s, %s);", add, sum, part);
          g_free (g_steal_pointer (&sum));
          sum = g_steal_pointer (&add);
        }
      else
        sum = g_steal_pointer (&part);
    }
  g_string_append (inputs, tangents->str);
  g_string_append_printf (program, "%sreturn [%s%s%s]", backward->str, outputs->str, sum,
                          gradients->str);
  return golden_parse (inputs->str, program->str);
}

static void
check_independent (const guint *widths, guint n, const guint *wanted, guint n_wanted, double of)
{
  g_autoptr (AdjGraph) joint = make_independent (widths, n);

  for (guint i = 0; i < n_wanted; i++)
    {
      g_autoptr (AdjPartition) partition = at_budget (joint, n, wanted[i] / of);

      g_assert_cmpuint (partition->saved_bytes, ==, wanted[i] * UNIT);
    }
}

static void
test_independent (void)
{
  const guint widths[] = { 11, 3, 4, 2 };
  const guint wanted[] = { 18, 17, 16, 15, 14, 13, 11, 7, 6, 5 };
  const guint more_widths[] = { 3, 5, 11, 17, 14 };
  const guint more_wanted[] = { 42, 30, 19, 8, 3 };

  check_independent (widths, 4, wanted, G_N_ELEMENTS (wanted), 20);
  check_independent (more_widths, 5, more_wanted, G_N_ELEMENTS (more_wanted), 50);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/budget/G25-chain", test_chain);
  g_test_add_func ("/partition/budget/usual", test_usual);
  g_test_add_func ("/partition/budget/G25-independent", test_independent);
  return g_test_run ();
}
