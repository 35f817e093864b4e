/* SPDX-License-Identifier: MIT */
/* Rule expressions: precedence, forms, error positions, depth. */

#include <string.h>

#include "base/adj-expr.h"

static void
assert_prints (const char *text, const char *expected)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  const AdjExpr *expr = adj_expr_parse (arena, text, -1, &error);

  g_assert_no_error (error);
  adj_expr_print (expr, out);
  g_assert_cmpstr (out->str, ==, expected);
}

/* Parentheses stay only where Python's precedence needs them. */
static void
test_precedence (void)
{
  assert_prints ("((a+b))*c", "(a + b) * c");
  assert_prints ("a+(b*c)", "a + b * c");
  assert_prints ("(a-b)-c", "a - b - c");
  assert_prints ("a-(b-c)", "a - (b - c)");
  assert_prints ("-(a**b)", "-a ** b");
  assert_prints ("(-a)**b", "(-a) ** b");
  assert_prints ("a**-b**c", "a ** -b ** c");
  assert_prints ("(a**b)**c", "(a ** b) ** c");
  assert_prints ("a**(b**c)", "a ** b ** c");
  assert_prints ("not (a == b) and c or d", "not a == b and c or d");
  assert_prints ("not (a and b)", "not (a and b)");
  assert_prints ("(a < b) == c", "(a < b) == c");
  assert_prints ("a | b ^ c & d << e + f", "a | b ^ c & d << e + f");
  assert_prints ("(((a | b) ^ c) & d) << e", "(((a | b) ^ c) & d) << e");
  assert_prints ("a ? b : c ? d : e", "a ? b : c ? d : e");
  assert_prints ("(a ? b : c) ? d : e", "(a ? b : c) ? d : e");
  assert_prints ("--a", "--a");
  assert_prints ("~(-a)", "~-a");
}

static void
test_forms (void)
{
  assert_prints ("mul.Tensor (g, y)", "mul.Tensor(g, y)");
  assert_prints ("f()", "f()");
  assert_prints ("f(a, b = 2,)", "f(a, b = 2)");
  assert_prints ("x[ i ][0]", "x[i][0]");
  assert_prints ("[a,b,]", "[a, b]");
  assert_prints ("(a,)", "(a,)");
  assert_prints ("()", "()");
  assert_prints ("(a)", "a");
  assert_prints ("1e-5 + .5 + 1e16", "1e-05 + 0.5 + 1e+16");
  assert_prints ("f(\"x\", 'it\\'s')", "f('x', \"it's\")");
  assert_prints ("let a = b, c = d: a + c", "let a = b, c = d: a + c");
  assert_prints ("let a = (let b = 1: b): (let c = 2: c)", "let a = (let b = 1: b): let c = 2: c");
  assert_prints ("f(let a = 1: a)", "f((let a = 1: a))");
}

static void
test_tree (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const AdjExpr *expr = adj_expr_parse (arena, "aten.mul (x, 2, k = y)", -1, NULL);

  g_assert_cmpint (expr->kind, ==, ADJ_EXPR_CALL);
  g_assert_cmpstr (expr->name, ==, "aten.mul");
  g_assert_cmpuint (expr->n_args, ==, 3);
  g_assert_null (expr->arg_names[0]);
  g_assert_cmpstr (expr->arg_names[2], ==, "k");
  g_assert_cmpint (expr->args[1]->int_value, ==, 2);
  g_assert_cmpuint (expr->args[1]->span.column, ==, 14);

  expr = adj_expr_parse (arena, "let t = a: t", -1, NULL);
  g_assert_cmpint (expr->kind, ==, ADJ_EXPR_LET);
  g_assert_cmpuint (expr->n_args, ==, 2);
  g_assert_cmpstr (expr->arg_names[0], ==, "t");
  g_assert_null (expr->arg_names[1]);
}

static void
test_refuses (void)
{
  static const char *const bad[] = {
    "",
    "a +",
    "(a",
    "a)",
    "f(a",
    "f(a = 1, b)",
    "f(x)(y)",
    "f(x).y",
    "a b",
    "a < b < c",
    "let a: b",
    "let = 1: b",
    "let a = 1",
    "a ? b",
    "a[1, 2]",
    "a[]",
    "1.b",
    "'abc",
    "99999999999999999999",
    "1e999",
    "not",
    "and a",
    "a..b",
    "a.",
    "“a”",
    "2j",
    "x = 1",
    "a if b else c",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr (AdjArena) arena = adj_arena_new ();
      g_autoptr (GError) error = NULL;
      const AdjExpr *expr = adj_expr_parse (arena, bad[i], -1, &error);

      g_assert_null (expr);
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
    }
}

static void
test_error_place (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_expr_parse (arena, "a +\n  * b", -1, &error));
  g_assert_true (g_str_has_prefix (error->message, "2:3: "));
}

static char *
repeat (const char *text, guint n, const char *rest)
{
  GString *out = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append (out, text);
  g_string_append (out, rest);
  return g_string_free (out, FALSE);
}

static void
test_depth (void)
{
  static const char *const openers[] = { "(",  "[",  "f(",       "-",        "not ", "a**",
                                         "a?", "a[", "let a = ", "a ? b : ", "a + " };

  for (guint i = 0; i < G_N_ELEMENTS (openers); i++)
    {
      g_autoptr (AdjArena) arena = adj_arena_new ();
      g_autoptr (GError) error = NULL;
      g_autofree char *deep = repeat (openers[i], 100000, "a");

      g_assert_null (adj_expr_parse (arena, deep, -1, &error));
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
    }
}

static void
test_depth_allows (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (GError) error = NULL;
  g_autofree char *chain = repeat ("a + ", 500, "a");
  g_autofree char *nested = repeat ("(", 60, "a");
  GString *closed = g_string_new (nested);

  for (guint i = 0; i < 60; i++)
    g_string_append_c (closed, ')');
  g_assert_nonnull (adj_expr_parse (arena, chain, -1, &error));
  g_assert_no_error (error);
  g_assert_nonnull (adj_expr_parse (arena, closed->str, -1, &error));
  g_assert_no_error (error);
  g_string_free (closed, TRUE);
}

/* -- Random trees -------------------------------------------------------------------------- */

static const AdjExpr *random_expr (AdjArena *arena, guint depth);

static const char *
random_name (void)
{
  static const char *const names[] = { "a", "b1", "_c", "x.y", "aten.mul.Tensor" };

  return names[g_test_rand_int_range (0, G_N_ELEMENTS (names))];
}

static void
fill_args (AdjArena *arena, AdjExpr *expr, guint n, guint depth)
{
  expr->n_args = n;
  expr->args = adj_arena_new0 (arena, const AdjExpr *, n);
  for (guint i = 0; i < n; i++)
    expr->args[i] = random_expr (arena, depth - 1);
}

static void
fill_operator (AdjArena *arena, AdjExpr *expr, guint depth)
{
  static const char *const unary[] = { "-", "+", "~", "not" };
  static const char *const binary[] = { "or", "and", "==", "<", ">=", "|", "^", "&",
                                        "<<", "+",   "-",  "*", "//", "%", "**" };

  if (expr->kind == ADJ_EXPR_UNARY)
    expr->name = unary[g_test_rand_int_range (0, G_N_ELEMENTS (unary))];
  else
    expr->name = binary[g_test_rand_int_range (0, G_N_ELEMENTS (binary))];
  fill_args (arena, expr, expr->kind == ADJ_EXPR_UNARY ? 1 : 2, depth);
}

static void
fill_names (AdjArena *arena, AdjExpr *expr)
{
  guint first = expr->kind == ADJ_EXPR_LET ? 0 : (guint) g_test_rand_int_range (0, 3);

  if (first >= expr->n_args)
    return;
  expr->arg_names = adj_arena_new0 (arena, const char *, expr->n_args);
  for (guint i = first; i + (expr->kind == ADJ_EXPR_LET) < expr->n_args; i++)
    expr->arg_names[i] = "k";
}

static void
fill_leaf (AdjExpr *expr)
{
  static const char *const strings[] = { "", "it's", "\"\\\n", "é" };

  if (expr->kind == ADJ_EXPR_INT)
    expr->int_value = g_test_rand_int_range (0, 1000);
  else if (expr->kind == ADJ_EXPR_FLOAT)
    expr->float_value = g_test_rand_double () * (g_test_rand_bit () ? 1e20 : 1e-3);
  else if (expr->kind == ADJ_EXPR_STRING)
    expr->name = strings[g_test_rand_int_range (0, G_N_ELEMENTS (strings))];
  else
    expr->name = random_name ();
}

static const AdjExpr *
random_expr (AdjArena *arena, guint depth)
{
  AdjExpr *expr = adj_arena_new0 (arena, AdjExpr, 1);

  expr->kind =
      (AdjExprKind) g_test_rand_int_range (0, depth > 0 ? ADJ_EXPR_TUPLE + 1 : ADJ_EXPR_UNARY);
  if (expr->kind <= ADJ_EXPR_NAME)
    fill_leaf (expr);
  else if (expr->kind == ADJ_EXPR_UNARY || expr->kind == ADJ_EXPR_BINARY)
    fill_operator (arena, expr, depth);
  else if (expr->kind == ADJ_EXPR_CHOICE)
    fill_args (arena, expr, 3, depth);
  else if (expr->kind == ADJ_EXPR_INDEX)
    fill_args (arena, expr, 2, depth);
  else
    fill_args (arena, expr, (guint) g_test_rand_int_range (expr->kind == ADJ_EXPR_LET ? 2 : 0, 4),
               depth);

  if (expr->kind == ADJ_EXPR_CALL)
    expr->name = random_name ();
  if (expr->kind == ADJ_EXPR_CALL || expr->kind == ADJ_EXPR_LET)
    fill_names (arena, expr);
  return expr;
}

static void
test_round_trip (void)
{
  for (guint round = 0; round < 3000; round++)
    {
      g_autoptr (AdjArena) arena = adj_arena_new ();
      g_autoptr (GError) error = NULL;
      g_autoptr (GString) text = g_string_new (NULL);
      const AdjExpr *expr = random_expr (arena, round % 7);
      const AdjExpr *again;

      adj_expr_print (expr, text);
      again = adj_expr_parse (arena, text->str, -1, &error);
      g_test_message ("%s", text->str);
      g_assert_no_error (error);
      g_assert_true (adj_expr_equal (expr, again));
    }
}

static void
test_equal (void)
{
  static const char *const texts[] = { "a",     "b",     "1",    "1.0",     "'a'",      "a + b",
                                       "b + a", "a - b", "f(a)", "f(a, a)", "f(k = a)", "f(j = a)",
                                       "(a,)",  "[a]",   "-a",   "x[a]" };
  g_autoptr (AdjArena) arena = adj_arena_new ();

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    for (guint k = 0; k < G_N_ELEMENTS (texts); k++)
      g_assert_cmpint (adj_expr_equal (adj_expr_parse (arena, texts[i], -1, NULL),
                                       adj_expr_parse (arena, texts[k], -1, NULL)),
                       ==, i == k);
}

/* -- Rules --------------------------------------------------------------------------------- */

static gboolean
append_rule (const char *name, const AdjExpr *expr, gpointer data, GError **error)
{
  GString *out = data;

  g_string_append_printf (out, "<%s>", name);
  adj_expr_print (expr, out);
  if (strcmp (name, "stop") != 0)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "stopped");
  return FALSE;
}

static void
test_rules (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (GString) out = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_rules_parse (arena,
                                  "self: let t = g: a ? t : b;\n other: mul.Tensor (g, self);",
                                  append_rule, out, &error));
  g_assert_no_error (error);
  g_assert_cmpstr (out->str, ==, "<self>let t = g: a ? t : b<other>mul.Tensor(g, self)");

  g_assert_true (adj_rules_parse (arena, "", append_rule, out, &error));
  g_assert_false (adj_rules_parse (arena, "a: b c: d", append_rule, out, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_clear_error (&error);
  g_assert_false (adj_rules_parse (arena, "stop: b; c: d", append_rule, out, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/expr/precedence", test_precedence);
  g_test_add_func ("/base/expr/forms", test_forms);
  g_test_add_func ("/base/expr/tree", test_tree);
  g_test_add_func ("/base/expr/refuses", test_refuses);
  g_test_add_func ("/base/expr/error-place", test_error_place);
  g_test_add_func ("/base/expr/depth-is-bounded", test_depth);
  g_test_add_func ("/base/expr/depth-allows", test_depth_allows);
  g_test_add_func ("/base/expr/round-trip", test_round_trip);
  g_test_add_func ("/base/expr/equal", test_equal);
  g_test_add_func ("/base/rules/entries", test_rules);
  return g_test_run ();
}
