/* SPDX-License-Identifier: MIT */

/* Canonical text: the fewest parentheses, one space around operators, none inside brackets. */

#include <math.h>
#include <string.h>

#include "base/adj-expr-private.h"
#include "base/adj-expr.h"

static void print_at (const AdjExpr *expr, AdjExprLevel level, GString *out);

static AdjExprLevel
level_of (const AdjExpr *expr)
{
  switch (expr->kind)
    {
    case ADJ_EXPR_LET:
      return ADJ_LEVEL_LET;
    case ADJ_EXPR_CHOICE:
      return ADJ_LEVEL_CHOICE;
    case ADJ_EXPR_BINARY:
      return adj_expr_binary_level (expr->name, strlen (expr->name));
    case ADJ_EXPR_UNARY:
      return strcmp (expr->name, "not") == 0 ? ADJ_LEVEL_NOT : ADJ_LEVEL_UNARY;
    case ADJ_EXPR_INT:
      return expr->int_value < 0 ? ADJ_LEVEL_UNARY : ADJ_LEVEL_ATOM;
    case ADJ_EXPR_FLOAT:
      return signbit (expr->float_value) ? ADJ_LEVEL_UNARY : ADJ_LEVEL_ATOM;
    case ADJ_EXPR_STRING:
    case ADJ_EXPR_NAME:
    case ADJ_EXPR_CALL:
    case ADJ_EXPR_INDEX:
    case ADJ_EXPR_LIST:
    case ADJ_EXPR_TUPLE:
    default:
      return ADJ_LEVEL_ATOM;
    }
}

static void
print_args (const AdjExpr *expr, guint from, GString *out)
{
  for (guint i = from; i < expr->n_args; i++)
    {
      if (i > from)
        g_string_append (out, ", ");
      if (expr->arg_names != NULL && expr->arg_names[i] != NULL)
        g_string_append_printf (out, "%s = ", expr->arg_names[i]);
      print_at (expr->args[i], ADJ_LEVEL_CHOICE, out);
    }
}

static void
print_binary (const AdjExpr *expr, GString *out)
{
  AdjExprLevel level = level_of (expr);
  AdjExprLevel left = level + 1;
  AdjExprLevel right = level + 1;

  if (level == ADJ_LEVEL_POWER)
    right = ADJ_LEVEL_UNARY;
  else if (level != ADJ_LEVEL_COMPARISON)
    left = level;

  print_at (expr->args[0], left, out);
  g_string_append_printf (out, " %s ", expr->name);
  print_at (expr->args[1], right, out);
}

static void
print_unary (const AdjExpr *expr, GString *out)
{
  g_string_append (out, expr->name);
  if (g_ascii_isalpha (expr->name[0]))
    g_string_append_c (out, ' ');
  print_at (expr->args[0], level_of (expr), out);
}

static void
print_let (const AdjExpr *expr, GString *out)
{
  g_string_append (out, "let ");
  for (guint i = 0; i + 1 < expr->n_args; i++)
    {
      g_string_append_printf (out, "%s%s = ", i > 0 ? ", " : "", expr->arg_names[i]);
      print_at (expr->args[i], ADJ_LEVEL_CHOICE, out);
    }
  g_string_append (out, ": ");
  print_at (expr->args[expr->n_args - 1], ADJ_LEVEL_LET, out);
}

static void
print_choice (const AdjExpr *expr, GString *out)
{
  print_at (expr->args[0], ADJ_LEVEL_OR, out);
  g_string_append (out, " ? ");
  print_at (expr->args[1], ADJ_LEVEL_CHOICE, out);
  g_string_append (out, " : ");
  print_at (expr->args[2], ADJ_LEVEL_CHOICE, out);
}

static void
print_bare (const AdjExpr *expr, GString *out)
{
  switch (expr->kind)
    {
    case ADJ_EXPR_INT:
      g_string_append_printf (out, "%" G_GINT64_FORMAT, expr->int_value);
      break;
    case ADJ_EXPR_FLOAT:
      adj_print_float (out, expr->float_value);
      break;
    case ADJ_EXPR_STRING:
      adj_print_string (out, expr->name);
      break;
    case ADJ_EXPR_NAME:
      g_string_append (out, expr->name);
      break;
    case ADJ_EXPR_UNARY:
      print_unary (expr, out);
      break;
    case ADJ_EXPR_BINARY:
      print_binary (expr, out);
      break;
    case ADJ_EXPR_CHOICE:
      print_choice (expr, out);
      break;
    case ADJ_EXPR_CALL:
      g_string_append_printf (out, "%s(", expr->name);
      print_args (expr, 0, out);
      g_string_append_c (out, ')');
      break;
    case ADJ_EXPR_INDEX:
      print_at (expr->args[0], ADJ_LEVEL_ATOM, out);
      g_string_append_c (out, '[');
      print_args (expr, 1, out);
      g_string_append_c (out, ']');
      break;
    case ADJ_EXPR_LET:
      print_let (expr, out);
      break;
    case ADJ_EXPR_LIST:
      g_string_append_c (out, '[');
      print_args (expr, 0, out);
      g_string_append_c (out, ']');
      break;
    case ADJ_EXPR_TUPLE:
      g_string_append_c (out, '(');
      print_args (expr, 0, out);
      g_string_append (out, expr->n_args == 1 ? ",)" : ")");
      break;
    default:
      g_assert_not_reached ();
    }
}

/* In parentheses when @expr binds more loosely than @level. */
static void
print_at (const AdjExpr *expr, AdjExprLevel level, GString *out)
{
  gboolean parenthesise = level_of (expr) < level;

  if (parenthesise)
    g_string_append_c (out, '(');
  print_bare (expr, out);
  if (parenthesise)
    g_string_append_c (out, ')');
}

void
adj_expr_print (const AdjExpr *expr, GString *out)
{
  g_return_if_fail (expr != NULL && out != NULL);

  print_at (expr, ADJ_LEVEL_LET, out);
}

static gboolean
same_name (const AdjExpr *a, const AdjExpr *b, guint index)
{
  return g_strcmp0 (a->arg_names != NULL ? a->arg_names[index] : NULL,
                    b->arg_names != NULL ? b->arg_names[index] : NULL) == 0;
}

gboolean
adj_expr_equal (const AdjExpr *a, const AdjExpr *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a->kind != b->kind || a->n_args != b->n_args || g_strcmp0 (a->name, b->name) != 0 ||
      a->int_value != b->int_value ||
      memcmp (&a->float_value, &b->float_value, sizeof a->float_value) != 0)
    return FALSE;

  for (guint i = 0; i < a->n_args; i++)
    if (!same_name (a, b, i) || !adj_expr_equal (a->args[i], b->args[i]))
      return FALSE;
  return TRUE;
}
