/* SPDX-License-Identifier: MIT */
/* Fuzzes rule expressions. */

#include "base/adj-expr.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A parsed expression prints as text that parses to an equal tree. */
static gboolean
check_rule (const char *name, const AdjExpr *expr, gpointer arena, GError **error)
{
  g_autoptr (GString) printed = g_string_new (NULL);
  g_autoptr (GError) refusal = NULL;
  const AdjExpr *again;

  adj_expr_print (expr, printed);
  again = adj_expr_parse (arena, printed->str, (gssize) printed->len, &refusal);
  g_assert_no_error (refusal);
  g_assert_true (adj_expr_equal (expr, again));
  return TRUE;
}

/* Parses the text as one expression and as a list of rules. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GError) rules_error = NULL;
  const AdjExpr *expr = adj_expr_parse (arena, text, -1, &error);

  if (expr != NULL)
    check_rule (NULL, expr, arena, NULL);
  else
    g_assert_nonnull (error);
  if (!adj_rules_parse (arena, text, check_rule, arena, &rules_error))
    g_assert_nonnull (rules_error);
  return 0;
}
