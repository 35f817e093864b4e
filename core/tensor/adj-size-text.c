/* SPDX-License-Identifier: MIT */

/* Sizes as text, as sympy writes them.  True divisions and unknown functions are not computed with
 * but kept verbatim. */

#include <string.h>

#include "tensor/adj-symbols-private.h"

/* -- Printing ------------------------------------------------------------------------------ */

typedef enum
{
  LEVEL_COMPARISON,
  LEVEL_OR,
  LEVEL_AND,
  LEVEL_SUM,
  LEVEL_PRODUCT,
  LEVEL_POWER,
  LEVEL_ATOM,
} Level;

static const struct
{
  const char *text;     /* infix operator, or function */
  Level level;          /* as in sympy, which prints "2*((s0//2))" */
  const char *synonyms; /* (nullable): other names of the function, with spaces around each */
} operations[ADJ_N_SIZE_OPS] = {
  [ADJ_SIZE_ADD] = { " + ", LEVEL_SUM, NULL },
  [ADJ_SIZE_SUB] = { " - ", LEVEL_SUM, NULL },
  [ADJ_SIZE_MUL] = { "*", LEVEL_PRODUCT, NULL },
  [ADJ_SIZE_FLOORDIV] = { "//", LEVEL_COMPARISON, " FloorDiv CleanDiv " },
  [ADJ_SIZE_MOD] = { "Mod", LEVEL_COMPARISON, " Mod PythonMod " },
  [ADJ_SIZE_POW] = { "**", LEVEL_POWER, " Pow PowByNatural " },
  [ADJ_SIZE_MIN] = { "Min", LEVEL_ATOM, " Min " },
  [ADJ_SIZE_MAX] = { "Max", LEVEL_ATOM, " Max " },
  [ADJ_SIZE_EQ] = { "Eq", LEVEL_ATOM, " Eq " },
  [ADJ_SIZE_NE] = { "Ne", LEVEL_ATOM, " Ne " },
  [ADJ_SIZE_LT] = { " < ", LEVEL_COMPARISON, " Lt " },
  [ADJ_SIZE_LE] = { " <= ", LEVEL_COMPARISON, " Le " },
  [ADJ_SIZE_GT] = { " > ", LEVEL_COMPARISON, " Gt " },
  [ADJ_SIZE_GE] = { " >= ", LEVEL_COMPARISON, " Ge " },
  [ADJ_SIZE_AND] = { " & ", LEVEL_AND, " And " },
  [ADJ_SIZE_OR] = { " | ", LEVEL_OR, " Or " },
  [ADJ_SIZE_NOT] = { "~", LEVEL_ATOM, " Not " },
  [ADJ_SIZE_NEG] = { "-", LEVEL_SUM, NULL },
  [ADJ_SIZE_OPAQUE] = { NULL, LEVEL_ATOM, NULL },
};

static void print_at (const AdjSymbols *symbols, AdjSize size, Level level, GString *out);

/* A name, or a name and one pair of parentheses with all that follows. */
static gboolean
is_atom (const char *text)
{
  guint depth = 0;

  while (g_ascii_isalnum (*text) || *text == '_' || *text == '.')
    text++;
  if (*text == '\0')
    return TRUE;
  for (; *text != '\0'; text++)
    {
      if (*text == '(')
        depth++;
      else if (*text == ')' && depth > 0)
        depth--;
      if (depth == 0)
        return *text == ')' && text[1] == '\0';
    }
  return FALSE;
}

static Level
level_of (const AdjSymbols *symbols, AdjSize size)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);

  if (node == NULL)
    return size.word < 0 ? LEVEL_SUM : LEVEL_ATOM;
  if (node->op == ADJ_SIZE_SYMBOL)
    return LEVEL_ATOM;
  if (node->op == ADJ_SIZE_OPAQUE)
    return is_atom (node->text) ? LEVEL_ATOM : LEVEL_COMPARISON;
  if (node->op == ADJ_SIZE_MUL && adj_size_is_int (node->a) && node->a.word < 0)
    return LEVEL_SUM;
  return operations[node->op].level;
}

static void
print_infix (const AdjSymbols *symbols, const AdjSizeNode *node, GString *out)
{
  Level level = operations[node->op].level;
  gboolean chains = level == LEVEL_SUM || level == LEVEL_PRODUCT;

  print_at (symbols, node->a, chains ? level : level + 1, out);
  g_string_append (out, operations[node->op].text);
  print_at (symbols, node->b, level + 1, out);
}

/* Max (Max (a, b), c) is Max(a, b, c). */
static void
print_arguments (const AdjSymbols *symbols, const AdjSizeNode *node, GString *out)
{
  const AdjSizeNode *first = adj_symbols_node (symbols, node->a);
  gboolean chains = node->op == ADJ_SIZE_MIN || node->op == ADJ_SIZE_MAX;

  if (chains && first != NULL && first->op == node->op)
    print_arguments (symbols, first, out);
  else
    print_at (symbols, node->a, LEVEL_COMPARISON, out);
  g_string_append (out, ", ");
  print_at (symbols, node->b, LEVEL_COMPARISON, out);
}

static void
print_function (const AdjSymbols *symbols, const AdjSizeNode *node, GString *out)
{
  g_string_append_printf (out, "%s(", operations[node->op].text);
  print_arguments (symbols, node, out);
  g_string_append_c (out, ')');
}

static void
print_product (const AdjSymbols *symbols, const AdjSizeNode *node, GString *out)
{
  if (!adj_size_is_int (node->a) || adj_size_is_int (node->b))
    {
      print_infix (symbols, node, out);
      return;
    }
  if (node->a.word == -1)
    g_string_append_c (out, '-');
  else
    g_string_append_printf (out, "%" G_GINT64_FORMAT "*", node->a.word);
  print_at (symbols, node->b, LEVEL_PRODUCT, out);
}

/* An integer, or an integer times something, that is below zero. */
static gboolean
is_negative (const AdjSymbols *symbols, AdjSize size)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);

  if (node == NULL)
    return size.word < 0;
  return node->op == ADJ_SIZE_MUL && adj_size_is_int (node->a) && node->a.word < 0;
}

/* A negative integer times something that is no product. */
static gboolean
is_negative_factor (const AdjSymbols *symbols, AdjSize size)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);
  const AdjSizeNode *factor;

  if (node == NULL || !is_negative (symbols, size))
    return FALSE;
  factor = adj_symbols_node (symbols, node->b);
  return factor != NULL && factor->op != ADJ_SIZE_MUL;
}

static void
append_summand (const AdjSymbols *symbols, AdjSize size, GString *out)
{
  g_autoptr (GString) text = NULL;

  if (!is_negative (symbols, size))
    {
      g_string_append (out, " + ");
      print_at (symbols, size, LEVEL_PRODUCT, out);
      return;
    }
  text = g_string_new (NULL);
  print_at (symbols, size, LEVEL_SUM, text);
  g_string_append_printf (out, " - %s", text->str + 1);
}

static void
print_sum (const AdjSymbols *symbols, const AdjSizeNode *node, GString *out)
{
  /* sympy writes "1 - 2*s0", yet "-s0 + s1" and "-s0*s1 + 1". */
  if (adj_size_is_int (node->b) && node->b.word > 0 && is_negative_factor (symbols, node->a))
    {
      print_at (symbols, node->b, LEVEL_SUM, out);
      append_summand (symbols, node->a, out);
      return;
    }
  print_at (symbols, node->a, LEVEL_SUM, out);
  append_summand (symbols, node->b, out);
}

static void
print_floordiv (const AdjSymbols *symbols, const AdjSizeNode *node, GString *out)
{
  g_string_append_c (out, '(');
  print_at (symbols, node->a, LEVEL_ATOM, out);
  g_string_append (out, "//");
  print_at (symbols, node->b, LEVEL_ATOM, out);
  g_string_append_c (out, ')');
}

static void
print_bare (const AdjSymbols *symbols, AdjSize size, GString *out)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);

  if (node == NULL)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, size.word);
  else if (node->op == ADJ_SIZE_SYMBOL)
    g_string_append (out, adj_symbols_get (symbols, node->symbol)->name);
  else if (node->op == ADJ_SIZE_OPAQUE)
    g_string_append (out, node->text);
  else if (node->op == ADJ_SIZE_ADD)
    print_sum (symbols, node, out);
  else if (node->op == ADJ_SIZE_MUL)
    print_product (symbols, node, out);
  else if (node->op == ADJ_SIZE_FLOORDIV)
    print_floordiv (symbols, node, out);
  else if (node->op == ADJ_SIZE_NEG || node->op == ADJ_SIZE_NOT)
    {
      g_string_append (out, operations[node->op].text);
      print_at (symbols, node->a, LEVEL_ATOM, out);
    }
  else if (g_ascii_isalpha (operations[node->op].text[0]))
    print_function (symbols, node, out);
  else
    print_infix (symbols, node, out);
}

static void
print_at (const AdjSymbols *symbols, AdjSize size, Level level, GString *out)
{
  gboolean parenthesise = level_of (symbols, size) < level;

  if (parenthesise)
    g_string_append_c (out, '(');
  print_bare (symbols, size, out);
  if (parenthesise)
    g_string_append_c (out, ')');
}

void
adj_size_print (const AdjSymbols *symbols, AdjSize size, GString *out)
{
  const AdjSizeNode *node = adj_symbols_node (symbols, size);

  if (node != NULL && node->text != NULL)
    g_string_append (out, node->text);
  else
    print_at (symbols, size, LEVEL_COMPARISON, out);
}

/* -- Parsing ------------------------------------------------------------------------------- */

static const struct
{
  const char *text;
  AdjSizeOp op;
} infix[] = {
  { "+", ADJ_SIZE_ADD },       { "-", ADJ_SIZE_SUB },   { "*", ADJ_SIZE_MUL },
  { "//", ADJ_SIZE_FLOORDIV }, { "%", ADJ_SIZE_MOD },   { "**", ADJ_SIZE_POW },
  { "==", ADJ_SIZE_EQ },       { "!=", ADJ_SIZE_NE },   { "<", ADJ_SIZE_LT },
  { "<=", ADJ_SIZE_LE },       { ">", ADJ_SIZE_GT },    { ">=", ADJ_SIZE_GE },
  { "&", ADJ_SIZE_AND },       { "and", ADJ_SIZE_AND }, { "|", ADJ_SIZE_OR },
  { "or", ADJ_SIZE_OR },
};

static AdjSizeOp
find_infix (const char *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (infix); i++)
    if (strcmp (infix[i].text, text) == 0)
      return infix[i].op;
  return ADJ_SIZE_OPAQUE;
}

static AdjSizeOp
find_function (const char *name)
{
  g_autofree char *word = g_strdup_printf (" %s ", name);

  for (guint i = 0; i < ADJ_N_SIZE_OPS; i++)
    if (operations[i].synonyms != NULL && strstr (operations[i].synonyms, word) != NULL)
      return (AdjSizeOp) i;
  return ADJ_SIZE_OPAQUE;
}

/* These fail when @expr is no arithmetic on integers and symbols. */
static gboolean convert (AdjSymbols *symbols, const AdjExpr *expr, AdjSize *out);

static gboolean
convert_fold (AdjSymbols *symbols, AdjSizeOp op, const AdjExpr *expr, AdjSize *out)
{
  AdjSize a;
  AdjSize b = { 0 };

  if (op == ADJ_SIZE_OPAQUE || expr->n_args == 0 || !convert (symbols, expr->args[0], &a))
    return FALSE;
  if (op == ADJ_SIZE_NOT || op == ADJ_SIZE_NEG)
    {
      *out = adj_size_apply (symbols, op, a, b);
      return expr->n_args == 1;
    }
  for (guint i = 1; i < expr->n_args; i++)
    {
      if (!convert (symbols, expr->args[i], &b))
        return FALSE;
      a = adj_size_apply (symbols, op, a, b);
    }
  *out = a;
  return expr->n_args == 2 || op == ADJ_SIZE_MIN || op == ADJ_SIZE_MAX || op == ADJ_SIZE_AND ||
         op == ADJ_SIZE_OR;
}

/* Multiplies the integers of a product last: 2*(s0 + 1)*s1 is 2 times (s0 + 1)*s1, and not (2*s0 +
 * 2)*s1. */
static gboolean
convert_factors (AdjSymbols *symbols, const AdjExpr *expr, AdjSize *number, AdjSize *rest)
{
  AdjSize factor;

  if (expr->kind == ADJ_EXPR_BINARY && strcmp (expr->name, "*") == 0)
    return convert_factors (symbols, expr->args[0], number, rest) &&
           convert_factors (symbols, expr->args[1], number, rest);
  if (!convert (symbols, expr, &factor))
    return FALSE;
  if (adj_size_is_int (factor))
    *number = adj_size_mul (symbols, *number, factor);
  else
    *rest = adj_size_mul (symbols, *rest, factor);
  return TRUE;
}

static gboolean
convert_product (AdjSymbols *symbols, const AdjExpr *expr, AdjSize *out)
{
  AdjSize number = ADJ_SIZE (1), rest = ADJ_SIZE (1);

  if (!convert_factors (symbols, expr, &number, &rest))
    return FALSE;
  *out = adj_size_mul (symbols, number, rest);
  return TRUE;
}

static gboolean
convert_call (AdjSymbols *symbols, const AdjExpr *expr, AdjSize *out)
{
  AdjSizeOp op = find_function (expr->name);
  g_autoptr (GString) text = NULL;

  if (expr->arg_names != NULL)
    return FALSE;
  if (op != ADJ_SIZE_OPAQUE)
    return convert_fold (symbols, op, expr, out);

  text = g_string_new (NULL);
  adj_expr_print (expr, text);
  *out = adj_symbols_intern_opaque (symbols, text->str, text->len);
  return TRUE;
}

static gboolean
convert_unary (AdjSymbols *symbols, const AdjExpr *expr, AdjSize *out)
{
  if (strcmp (expr->name, "+") == 0)
    return convert (symbols, expr->args[0], out);
  return convert_fold (symbols, expr->name[0] == '-' ? ADJ_SIZE_NEG : ADJ_SIZE_NOT, expr, out);
}

static gboolean
convert (AdjSymbols *symbols, const AdjExpr *expr, AdjSize *out)
{
  if (expr->kind == ADJ_EXPR_INT && adj_size_is_int (ADJ_SIZE (expr->int_value)))
    {
      *out = ADJ_SIZE (expr->int_value);
      return TRUE;
    }
  if (expr->kind == ADJ_EXPR_NAME)
    {
      if (strcmp (expr->name, "True") == 0 || strcmp (expr->name, "False") == 0)
        return FALSE;
      *out = adj_symbols_get_or_define (symbols, expr->name);
      return TRUE;
    }
  if (expr->kind == ADJ_EXPR_UNARY)
    return convert_unary (symbols, expr, out);
  if (expr->kind == ADJ_EXPR_BINARY && strcmp (expr->name, "*") == 0)
    return convert_product (symbols, expr, out);
  if (expr->kind == ADJ_EXPR_BINARY)
    return convert_fold (symbols, find_infix (expr->name), expr, out);
  if (expr->kind == ADJ_EXPR_CALL)
    return convert_call (symbols, expr, out);
  return FALSE;
}

static gboolean
parse_int (const char *text, gsize length, AdjSize *out)
{
  char digits[24];
  gint64 value;

  if (length == 0 || length >= sizeof digits || text[0] == '+')
    return FALSE;
  memcpy (digits, text, length);
  digits[length] = '\0';
  if (!g_ascii_string_to_signed (digits, 10, G_MININT64, G_MAXINT64, &value, NULL) ||
      !adj_size_is_int (ADJ_SIZE (value)))
    return FALSE;
  *out = ADJ_SIZE (value);
  return TRUE;
}

gboolean
adj_size_parse (AdjSymbols *symbols, const char *text, gssize length, AdjSize *out, GError **error)
{
  g_autoptr (AdjArena) arena = NULL;
  g_autofree char *quoted = NULL;
  gsize n = length < 0 ? strlen (text) : (gsize) length;
  const AdjExpr *expr;
  AdjSize size;

  while (n > 0 && text[0] == ' ')
    {
      text++;
      n--;
    }
  while (n > 0 && text[n - 1] == ' ')
    n--;
  if (parse_int (text, n, out))
    return TRUE;

  quoted = g_utf8_make_valid (text, (gssize) MIN (n, (gsize) 60));
  if (symbols == NULL || memchr (text, '\0', n) != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                   symbols == NULL ? "“%s” is not an integer" : "“%s” holds a NUL", quoted);
      return FALSE;
    }

  arena = adj_arena_new ();
  expr = adj_expr_parse (arena, text, (gssize) n, error);
  if (expr == NULL)
    {
      g_prefix_error (error, "size “%s”: ", quoted);
      return FALSE;
    }

  if (!convert (symbols, expr, &size))
    *out = adj_symbols_intern_opaque (symbols, text, n);
  else
    *out = adj_symbols_spell (symbols, size, text, n);
  return TRUE;
}
