/* SPDX-License-Identifier: MIT */

/* Static facts about rules, without evaluating them. */

#include <glib.h>

#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "ops/adj-packet.h"
#include "rules/adj-rule.h"

static const AdjRuleEntry *
grad_entry (const char *target, guint entry)
{
  const AdjRule *rule = adj_rule_find (adj_op_find (target), ADJ_RULE_GRAD, NULL);

  g_assert_nonnull (rule);
  g_assert_cmpuint (entry, <, rule->n_entries);
  return &rule->entries[entry];
}

/* mul(self, other): the gradient of self reads other, and vice versa. */
static void
entry_reads_the_other_factor (void)
{
  g_assert_cmpuint (grad_entry ("torch.ops.aten.mul.Tensor", 0)->use.args, ==, 1 << 1);
  g_assert_cmpuint (grad_entry ("torch.ops.aten.mul.Tensor", 1)->use.args, ==, 1 << 0);
}

static void
entry_reads_only_sizes (void)
{
  const AdjRuleUse *use = &grad_entry ("torch.ops.aten.view.default", 0)->use;

  g_assert_cmpuint (use->args, ==, 0);
  g_assert_cmpuint (use->described_args, ==, 1 << 0);
}

static void
entry_reads_the_result (void)
{
  const AdjRuleUse *use = &grad_entry ("torch.ops.aten.exp.default", 0)->use;

  g_assert_cmpuint (use->results, ==, 1 << 0);
  g_assert_cmpuint (use->args, ==, 0);
}

/* x.mul_ (y) has the gradient of x.mul (y); mul.out has none. */
static void
variant_has_the_gradient_of_its_record (void)
{
  const AdjRule *rule = adj_rule_find (adj_op (ADJ_OP_mul_Tensor), ADJ_RULE_GRAD, NULL);

  g_assert_true (adj_rule_find (adj_op_find ("torch.ops.aten.mul_.Tensor"), ADJ_RULE_GRAD, NULL) ==
                 rule);
  g_assert_null (adj_rule_find (adj_op_find ("torch.ops.aten.mul.out"), ADJ_RULE_GRAD, NULL));
}

/* Rules are parsed on demand; this parses all of them. */
static void
every_rule_is_read (void)
{
  guint n_ops = adj_ops_get_n (), n_rules = 0;

  for (guint i = 0; i < n_ops + adj_functions_get_n (); i++)
    {
      const AdjOp *op = i < n_ops ? adj_ops_get (i) : adj_functions_get (i - n_ops);

      for (guint kind = 0; kind < ADJ_N_RULE_KINDS; kind++)
        n_rules += adj_rule_find (op, (AdjRuleKind) kind, NULL) != NULL;
      if (op->decompose != NULL)
        g_assert_nonnull (adj_rule_find (op, ADJ_RULE_DECOMPOSE, NULL));
    }
  g_assert_cmpuint (n_rules, >, n_ops / 2);
}

static void
note_op (const AdjOp *op, gpointer called)
{
  g_ptr_array_add (called, (gpointer) op);
}

/* dropout calls native_dropout in training, and a product otherwise. */
static void
rule_lists_what_it_calls (void)
{
  g_autoptr (GPtrArray) called = g_ptr_array_new ();
  const AdjOp *op = adj_op_find ("torch.ops.aten.dropout.default");

  adj_rule_foreach_op (adj_rule_find (op, ADJ_RULE_DECOMPOSE, NULL), note_op, called);
  g_assert_true (
      g_ptr_array_find (called, adj_op_find ("torch.ops.aten.native_dropout.default"), NULL));
  g_assert_false (
      g_ptr_array_find (called, adj_op_find ("torch.ops.aten.bernoulli.default"), NULL));
}

/* A rule that differs in 2.15, and one that is the same as in 2.6. */
static void
releases_have_rules_of_their_own (void)
{
  const AdjOp *log10 = adj_op (ADJ_OP_log10), *mul = adj_op (ADJ_OP_mul_Tensor);

  g_assert_true (adj_rule_find (log10, ADJ_RULE_GRAD, "2.15") !=
                 adj_rule_find (log10, ADJ_RULE_GRAD, NULL));
  g_assert_true (adj_rule_find (log10, ADJ_RULE_GRAD, "2.6") ==
                 adj_rule_find (log10, ADJ_RULE_GRAD, NULL));
  g_assert_true (adj_rule_find (mul, ADJ_RULE_GRAD, "2.15") ==
                 adj_rule_find (mul, ADJ_RULE_GRAD, NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/rules/rule/reads-the-other-factor", entry_reads_the_other_factor);
  g_test_add_func ("/rules/rule/reads-only-sizes", entry_reads_only_sizes);
  g_test_add_func ("/rules/rule/reads-the-result", entry_reads_the_result);
  g_test_add_func ("/rules/rule/variant-has-the-gradient", variant_has_the_gradient_of_its_record);

  g_test_add_func ("/rules/rule/every-rule-is-read", every_rule_is_read);
  g_test_add_func ("/rules/rule/lists-what-it-calls", rule_lists_what_it_calls);
  g_test_add_func ("/rules/rule/releases-have-rules-of-their-own",
                   releases_have_rules_of_their_own);
  return g_test_run ();
}
