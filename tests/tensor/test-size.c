/* SPDX-License-Identifier: MIT */
/* Symbolic sizes, against Python and sympy. */

#include <string.h>

#include "base/adj-expr.h"
#include "tensor/adj-symbols.h"
#include "tensor/table.h"

static AdjSize
define (AdjSymbols *symbols, const char *name, gint64 hint, gint64 min, gint64 max)
{
  AdjSymbol symbol = { name, hint, min, max, NULL };

  return adj_symbols_define (symbols, &symbol);
}

static AdjSize
parse (AdjSymbols *symbols, const char *text)
{
  g_autoptr (GError) error = NULL;
  AdjSize size = { 0 };

  adj_size_parse (symbols, text, -1, &size, &error);
  g_assert_no_error (error);
  return size;
}

static void
assert_prints (AdjSymbols *symbols, AdjSize size, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  adj_size_print (symbols, size, text);
  g_assert_cmpstr (text->str, ==, expected);
}

/* -- Integers ------------------------------------------------------------------------------ */

/* Expected values are Python's. */
static void
test_python_division (void)
{
  static const gint64 rows[][4] = {
    { 7, 2, 3, 1 },   { -7, 2, -4, 1 }, { 7, -2, -4, -1 }, { -7, -2, 3, -1 }, { 6, 3, 2, 0 },
    { -6, 3, -2, 0 }, { 0, 5, 0, 0 },   { 1, 5, 0, 1 },    { -1, 5, -1, 4 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      AdjSize a = ADJ_SIZE (rows[i][0]);
      AdjSize b = ADJ_SIZE (rows[i][1]);

      g_assert_cmpint (adj_size_floordiv (NULL, a, b).word, ==, rows[i][2]);
      g_assert_cmpint (adj_size_apply (NULL, ADJ_SIZE_MOD, a, b).word, ==, rows[i][3]);
    }
}

static void
test_overflow (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize big = ADJ_SIZE (G_MAXINT64);
  AdjSize low = ADJ_SIZE (-G_MAXINT64 + (G_GINT64_CONSTANT (1) << 32));
  gint64 hint;

  g_assert_cmpint (adj_size_add (NULL, big, ADJ_SIZE (1)).word, ==, G_MAXINT64);
  g_assert_cmpint (adj_size_mul (NULL, big, ADJ_SIZE (2)).word, ==, G_MAXINT64);
  g_assert_true (adj_size_is_int (adj_size_mul (NULL, big, ADJ_SIZE (-2))));
  g_assert_cmpint (adj_size_mul (NULL, big, ADJ_SIZE (-2)).word, <, -G_MAXINT64 / 2);
  g_assert_true (adj_size_is_int (adj_size_sub (NULL, low, ADJ_SIZE (3))));
  g_assert_cmpint (adj_size_floordiv (NULL, ADJ_SIZE (3), ADJ_SIZE (0)).word, ==, G_MAXINT64);

  g_assert_false (adj_size_is_int (adj_size_add (symbols, big, ADJ_SIZE (1))));
  g_assert_false (adj_size_get_hint (symbols, adj_size_add (symbols, big, big), &hint));
  g_assert_false (adj_size_is_int (adj_size_floordiv (symbols, ADJ_SIZE (1), ADJ_SIZE (0))));
}

/* -- Expressions --------------------------------------------------------------------------- */

static const struct
{
  const char *text;
  AdjSizeOp op;
} operations[] = {
  { "+", ADJ_SIZE_ADD },   { "-", ADJ_SIZE_SUB },
  { "*", ADJ_SIZE_MUL },   { "**", ADJ_SIZE_POW },
  { "<", ADJ_SIZE_LT },    { ">", ADJ_SIZE_GT },
  { ">=", ADJ_SIZE_GE },   { "FloorDiv", ADJ_SIZE_FLOORDIV },
  { "Mod", ADJ_SIZE_MOD }, { "Max", ADJ_SIZE_MAX },
  { "Min", ADJ_SIZE_MIN }, { "Eq", ADJ_SIZE_EQ },
  { "Ne", ADJ_SIZE_NE },   { "And", ADJ_SIZE_AND },
  { "Or", ADJ_SIZE_OR },
};

/* Computes by size arithmetic instead of the parser, which keeps the written form. */
static AdjSize
compute (AdjSymbols *symbols, const AdjExpr *expr)
{
  if (expr->kind == ADJ_EXPR_INT)
    return ADJ_SIZE (expr->int_value);
  if (expr->kind == ADJ_EXPR_NAME)
    return parse (symbols, expr->name);
  if (expr->kind == ADJ_EXPR_UNARY)
    return adj_size_apply (symbols, ADJ_SIZE_NEG, compute (symbols, expr->args[0]), ADJ_SIZE (0));

  for (guint i = 0; i < G_N_ELEMENTS (operations); i++)
    if (strcmp (operations[i].text, expr->name) == 0)
      return adj_size_apply (symbols, operations[i].op, compute (symbols, expr->args[0]),
                             compute (symbols, expr->args[1]));
  g_assert_not_reached ();
}

static void
check_sympy (char **words, guint n, const char *line)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_auto (GStrv) sides = g_strsplit (line, " => ", 2);
  g_autoptr (GError) error = NULL;
  const AdjExpr *expr = adj_expr_parse (arena, sides[0], -1, &error);
  AdjSize size;

  g_assert_no_error (error);
  g_test_message ("%s", line);
  size = compute (symbols, expr);
  assert_prints (symbols, size, sides[1]);
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_EQ, parse (symbols, sides[1]), size));
}

static void
test_sympy (void)
{
  table_read ("sizes.txt", check_sympy);
}

/* The canonical form has the same value as the expression. */
static void
test_value_is_kept (void)
{
  static const AdjSizeOp ops[] = {
    ADJ_SIZE_ADD, ADJ_SIZE_SUB, ADJ_SIZE_MUL, ADJ_SIZE_FLOORDIV, ADJ_SIZE_MOD,
    ADJ_SIZE_MIN, ADJ_SIZE_MAX, ADJ_SIZE_EQ,  ADJ_SIZE_LT,       ADJ_SIZE_GE,
  };

  for (guint round = 0; round < 400; round++)
    {
      g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
      AdjSize pool[24];
      gint64 values[24];
      guint n = 0;

      for (; n < 3; n++)
        {
          g_autofree char *name = g_strdup_printf ("s%u", n);

          values[n] = g_test_rand_int_range (2, 9);
          pool[n] = define (symbols, name, values[n], 2, G_MAXINT64);
        }
      for (; n < 6; n++)
        {
          values[n] = g_test_rand_int_range (-4, 13);
          pool[n] = ADJ_SIZE (values[n]);
        }
      for (; n < G_N_ELEMENTS (pool); n++)
        {
          AdjSizeOp op = ops[g_test_rand_int_range (0, G_N_ELEMENTS (ops))];
          guint a = (guint) g_test_rand_int_range (0, (gint32) n);
          guint b = (guint) g_test_rand_int_range (0, (gint32) n);
          gint64 hint;

          if (values[b] == 0 && (op == ADJ_SIZE_FLOORDIV || op == ADJ_SIZE_MOD))
            op = ADJ_SIZE_ADD;
          if (ABS (values[a]) > 100000 || ABS (values[b]) > 100000)
            op = ADJ_SIZE_MIN;
          values[n] = adj_size_apply (NULL, op, ADJ_SIZE (values[a]), ADJ_SIZE (values[b])).word;
          pool[n] = adj_size_apply (symbols, op, pool[a], pool[b]);
          g_assert_true (adj_size_get_hint (symbols, pool[n], &hint));
          g_assert_cmpint (hint, ==, values[n]);
        }
    }
}

static void
test_same (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize s0 = parse (symbols, "s0");
  AdjSize s1 = parse (symbols, "s1");
  AdjSize a =
      adj_size_add (symbols, adj_size_mul (symbols, s0, s1), adj_size_mul (symbols, s1, s0));
  AdjSize b = adj_size_mul (symbols, adj_size_mul (symbols, s1, ADJ_SIZE (2)), s0);

  g_assert_true (adj_size_same (a, b));
  g_assert_true (adj_size_same (adj_size_sub (symbols, a, b), ADJ_SIZE (0)));
  g_assert_true (
      adj_size_same (adj_size_floordiv (symbols, a, s0), adj_size_mul (symbols, s1, ADJ_SIZE (2))));
  g_assert_false (adj_size_same (a, adj_size_mul (symbols, s0, s1)));
}

/* -- Text ---------------------------------------------------------------------------------- */

static void
test_verbatim (void)
{
  static const char *const texts[] = {
    "s0",
    "8",
    "-3",
    "2*s0 + 1",
    "1+s0*2",
    "((s77 - 1)//2) + 1",
    "Max(1, s0)",
    "s0 - s0",
    "Mod(2*s0, 2)",
    "True",
    "s0/2",
    "CeilToInt(s0/2)",
    "u0 > 2",
    "Eq(s0, 4)",
    "(s0 > 3) & (u0 < 2)",
    "~(u0 > 1)",
    "zuf0",
    "1.0*zuf0",
    "s2*((s3//2))",
    "f(s0, 1) + 2",
  };
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autoptr (AdjSymbols) other = adj_symbols_new ();

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      AdjSize size = parse (symbols, texts[i]);

      assert_prints (symbols, size, texts[i]);
      assert_prints (other, adj_symbols_import (other, symbols, size), texts[i]);
    }
  g_assert_true (
      adj_size_test (symbols, ADJ_SIZE_EQ, parse (symbols, "1+s0*2"), parse (symbols, "2*s0 + 1")));
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_EQ, parse (symbols, "s0 - s0"), ADJ_SIZE (0)));
}

static void
test_malformed (void)
{
  static const char *const texts[] = { "",    " ",    "s0 +",  "(s0", "s0)",
                                       "1 2", "\xff", "s0 s1", "'",   "9999999999999999999999" };
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_autoptr (GError) error = NULL;
      AdjSize size = { 77 };

      g_assert_false (adj_size_parse (symbols, texts[i], -1, &size, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
      g_assert_cmpint (size.word, ==, 77);
    }
}

static void
test_needs_table (void)
{
  g_autoptr (GError) error = NULL;
  AdjSize size;

  g_assert_true (adj_size_parse (NULL, " 12 ", -1, &size, &error));
  g_assert_cmpint (size.word, ==, 12);
  g_assert_false (adj_size_parse (NULL, "s0", -1, &size, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
}

/* More terms than are collected: canonicalizing the sum would take half a minute. */
static void
test_long_sums (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize sum = ADJ_SIZE (0);
  gint64 expected = 0;
  gint64 hint = 0;

  for (gint64 i = 0; i < 1000; i++)
    {
      g_autofree char *name = g_strdup_printf ("s%d", (int) i);

      sum = adj_size_add (symbols, sum, define (symbols, name, i + 2, 2, G_MAXINT64));
      expected += i + 2;
    }
  g_assert_true (adj_size_get_hint (symbols, sum, &hint));
  g_assert_cmpint (hint, ==, expected);
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_GE, sum, ADJ_SIZE (2000)));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 0);
}

/* y = x // 2 + x // 3, nested n times: 2^n symbols when expanded. */
static void
test_growth_is_bounded (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  AdjSize x = parse (symbols, "u0");

  for (guint i = 0; i < 60; i++)
    x = adj_size_add (symbols, adj_size_floordiv (symbols, x, ADJ_SIZE (2)),
                      adj_size_floordiv (symbols, x, ADJ_SIZE (3)));
  adj_size_print (symbols, x, text);
  g_assert_cmpuint (text->len, <, 1 << 17);
}

/* -- Tests, guards, ranges ----------------------------------------------------------------- */

static void
test_ranges_decide (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize s0 = define (symbols, "s0", ADJ_SYMBOL_UNBACKED, 2, 100);
  AdjSize twice = adj_size_mul (symbols, s0, ADJ_SIZE (2));
  AdjSize u0 = define (symbols, "u0", ADJ_SYMBOL_UNBACKED, 0, G_MAXINT64);

  g_assert_true (adj_size_test (symbols, ADJ_SIZE_GE, s0, ADJ_SIZE (2)));
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_NE, s0, ADJ_SIZE (1)));
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_LE, twice, ADJ_SIZE (200)));
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_GT, twice, s0));
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_GE, u0, ADJ_SIZE (0)));
  g_assert_true (
      adj_size_test (symbols, ADJ_SIZE_GT, adj_size_add (symbols, u0, ADJ_SIZE (1)), u0));
  g_assert_true (adj_size_same (adj_size_apply (symbols, ADJ_SIZE_MAX, s0, ADJ_SIZE (1)), s0));
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_LT,
                                adj_size_apply (symbols, ADJ_SIZE_MOD, u0, ADJ_SIZE (8)),
                                ADJ_SIZE (8)));

  g_assert_false (adj_size_test (symbols, ADJ_SIZE_EQ, u0, ADJ_SIZE (1)));
  g_assert_false (adj_size_test (symbols, ADJ_SIZE_NE, u0, ADJ_SIZE (1)));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 0);
}

static void
test_hints_guard (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize s0 = define (symbols, "s0", 4, 2, G_MAXINT64);
  AdjSize s1 = define (symbols, "s1", 4, 2, G_MAXINT64);
  AdjGuard guard;

  g_assert_true (adj_size_test (symbols, ADJ_SIZE_EQ, s0, s1));
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_EQ, s1, s0));
  g_assert_false (adj_size_test (symbols, ADJ_SIZE_EQ, s0, ADJ_SIZE (5)));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 2);

  guard = adj_symbols_get_guard (symbols, 0);
  assert_prints (symbols, guard.condition, "Eq(s0, s1)");
  g_assert_true (guard.holds);
  guard = adj_symbols_get_guard (symbols, 1);
  assert_prints (symbols, guard.condition, "Eq(s0, 5)");
  g_assert_false (guard.holds);
}

static void
test_redefine (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize size = parse (symbols, "2*s0 + 1");
  AdjSymbol symbol = { "s0", 5, 2, 64, "L['x'].size()[0]" };
  gint64 hint = 0;

  g_assert_false (adj_size_get_hint (symbols, size, &hint));
  adj_symbols_define (symbols, &symbol);
  g_assert_cmpuint (adj_symbols_get_n (symbols), ==, 1);
  g_assert_true (adj_size_get_hint (symbols, size, &hint));
  g_assert_cmpint (hint, ==, 11);
  g_assert_true (adj_size_test (symbols, ADJ_SIZE_LE, size, ADJ_SIZE (129)));
  g_assert_cmpuint (adj_symbols_get_n_guards (symbols), ==, 0);
  g_assert_cmpstr (adj_symbols_find (symbols, "s0")->source, ==, "L['x'].size()[0]");
  g_assert_null (adj_symbols_find (symbols, "s1"));
}

static void
test_operands (void)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  AdjSize s0 = parse (symbols, "s0");
  AdjSize sum = parse (symbols, "2*s0 + 1");
  AdjSize a;
  AdjSize b;
  AdjSizeOp op;

  g_assert_false (adj_symbols_get_operands (symbols, s0, &op, &a, &b));
  g_assert_true (adj_symbols_get_operands (symbols, sum, &op, &a, &b));
  g_assert_cmpint (op, ==, ADJ_SIZE_ADD);
  g_assert_cmpint (b.word, ==, 1);
  g_assert_true (adj_symbols_get_operands (symbols, a, &op, &a, &b));
  g_assert_cmpint (op, ==, ADJ_SIZE_MUL);
  g_assert_cmpint (a.word, ==, 2);
  g_assert_true (adj_size_same (b, s0));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tensor/size/python-division", test_python_division);
  g_test_add_func ("/tensor/size/overflow", test_overflow);
  g_test_add_func ("/tensor/size/prints-as-sympy", test_sympy);
  g_test_add_func ("/tensor/size/value-is-kept", test_value_is_kept);
  g_test_add_func ("/tensor/size/same-when-equal", test_same);
  g_test_add_func ("/tensor/size/verbatim", test_verbatim);
  g_test_add_func ("/tensor/size/refuses-malformed", test_malformed);
  g_test_add_func ("/tensor/size/needs-table", test_needs_table);
  g_test_add_func ("/tensor/size/growth-is-bounded", test_growth_is_bounded);
  g_test_add_func ("/tensor/size/long-sums", test_long_sums);
  g_test_add_func ("/tensor/symbols/ranges-decide", test_ranges_decide);
  g_test_add_func ("/tensor/symbols/hints-guard", test_hints_guard);
  g_test_add_func ("/tensor/symbols/redefine", test_redefine);
  g_test_add_func ("/tensor/symbols/operands", test_operands);
  return g_test_run ();
}
