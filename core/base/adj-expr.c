/* SPDX-License-Identifier: MIT */
/* Parses rule expressions and rule files into trees in an arena, by recursive descent over the
 * levels of precedence. */

#include "base/adj-expr.h"

#include <math.h>
#include <string.h>

#include "base/adj-expr-private.h"

/* How deeply brackets and right-binding operators may nest: the parser's recursion. */
#define MAX_NESTING 64
/* How deep the tree may become, which chains like "a + b + c" make deep without nesting. */
#define MAX_DEPTH 1000

typedef struct
{
  AdjArena *arena;
  AdjLexer lexer;
  AdjToken token; /* the one ahead */
  guint nesting;
  GError **error;
} Parser;

/* The allocation of an expression, with the depth of its tree. */
typedef struct
{
  AdjExpr expr;
  guint depth;
} Cell;

static const AdjExpr *parse_let (Parser *p);
static const AdjExpr *parse_level (Parser *p, AdjExprLevel level);
static const AdjExpr *parse_choice (Parser *p);
static const AdjExpr *parse_bindings (Parser *p);

static gpointer fail (const Parser *p, AdjSpan span, const char *format, ...) G_GNUC_PRINTF (3, 4);

static gpointer
fail (const Parser *p, AdjSpan span, const char *format, ...)
{
  g_autofree char *reason = NULL;
  g_autofree char *valid = NULL; /* it may quote any bytes */
  va_list args;

  va_start (args, format);
  reason = g_strdup_vprintf (format, args);
  va_end (args);
  valid = g_utf8_make_valid (reason, -1);
  g_set_error (p->error, ADJ_ERROR, ADJ_ERROR_PARSE, "%u:%u: %s", span.line, span.column, valid);
  return NULL;
}

static gpointer
fail_expecting (const Parser *p, const char *what)
{
  if (p->token.kind == ADJ_TOKEN_END)
    return fail (p, p->token.span, "expected %s, found the end", what);
  return fail (p, p->token.span, "expected %s, found “%.*s”", what,
               (int) MIN (p->token.length, 40u), p->token.text);
}

static AdjToken
advance (Parser *p)
{
  AdjToken token = p->token;

  p->token = adj_lexer_next (&p->lexer);
  return token;
}

static gboolean
at_punct (const Parser *p, const char *text)
{
  return p->token.kind == ADJ_TOKEN_PUNCT && adj_token_is (&p->token, text);
}

static gboolean
at_word (const Parser *p, const char *text)
{
  return p->token.kind == ADJ_TOKEN_NAME && adj_token_is (&p->token, text);
}

static gboolean
accept (Parser *p, const char *text)
{
  if (!at_punct (p, text))
    return FALSE;
  advance (p);
  return TRUE;
}

static gboolean
expect (Parser *p, const char *text)
{
  g_autofree char *what = NULL;

  if (accept (p, text))
    return TRUE;
  what = g_strdup_printf ("“%s”", text);
  fail_expecting (p, what);
  return FALSE;
}

static gboolean
is_reserved (const AdjToken *token)
{
  return adj_token_is (token, "let") || adj_token_is (token, "or") || adj_token_is (token, "and") ||
         adj_token_is (token, "not");
}

static gboolean
at_name (const Parser *p)
{
  return p->token.kind == ADJ_TOKEN_NAME && !is_reserved (&p->token);
}

static const char *
take_name (Parser *p)
{
  AdjToken token;

  if (!at_name (p))
    return fail_expecting (p, "a name");
  token = advance (p);
  return adj_arena_strndup (p->arena, token.text, token.length);
}

static AdjExpr *
new_expr (Parser *p, AdjExprKind kind, AdjSpan span)
{
  Cell *cell = adj_arena_new0 (p->arena, Cell, 1);

  cell->expr.kind = kind;
  cell->expr.span = span;
  cell->depth = 1;
  return &cell->expr;
}

/* Extends the span of @expr to the end of the last token, as far as it is on the same line. */
static const AdjExpr *
finish (Parser *p, AdjExpr *expr, const AdjExpr *const *args, guint n_args)
{
  Cell *cell = (Cell *) expr;

  for (guint i = 0; i < n_args; i++)
    {
      const AdjSpan *last = &args[i]->span;

      cell->depth = MAX (cell->depth, ((const Cell *) args[i])->depth + 1);
      if (last->line == expr->span.line && last->column + last->length > expr->span.column)
        expr->span.length =
            MAX (expr->span.length, last->column + last->length - expr->span.column);
    }
  if (cell->depth > MAX_DEPTH)
    return fail (p, expr->span, "the expression is too long");

  expr->n_args = n_args;
  expr->args = adj_arena_memdup (p->arena, args, sizeof (AdjExpr *) * n_args);
  return expr;
}

static const AdjExpr *
new_operation (Parser *p, AdjExprKind kind, const AdjToken *op, const AdjExpr *a, const AdjExpr *b)
{
  const AdjExpr *args[] = { a, b };
  AdjExpr *expr = new_expr (p, kind, kind == ADJ_EXPR_UNARY ? op->span : a->span);

  expr->name = adj_arena_strndup (p->arena, op->text, op->length);
  return finish (p, expr, args, b != NULL ? 2 : 1);
}

/* -- Lists of arguments -------------------------------------------------------------------- */

typedef struct
{
  GPtrArray *args;
  GPtrArray *names;
  gboolean has_names;
} Args;

static void
args_init (Args *args)
{
  *args = (Args){ g_ptr_array_new (), g_ptr_array_new (), FALSE };
}

static void
args_clear (Args *args)
{
  g_clear_pointer (&args->args, g_ptr_array_unref);
  g_clear_pointer (&args->names, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Args, args_clear)

static void
args_add (Args *args, const char *name, const AdjExpr *expr)
{
  g_ptr_array_add (args->args, (gpointer) expr);
  g_ptr_array_add (args->names, (gpointer) name);
  args->has_names |= name != NULL;
}

static const AdjExpr *
args_finish (Parser *p, Args *args, AdjExpr *expr)
{
  if (args->has_names)
    expr->arg_names =
        adj_arena_memdup (p->arena, args->names->pdata, sizeof (char *) * args->names->len);
  return finish (p, expr, (const AdjExpr *const *) args->args->pdata, args->args->len);
}

/* Elements up to @close; @trailing says whether the last one was followed by a comma. */
static gboolean
parse_elements (Parser *p, Args *args, const char *close, gboolean *trailing)
{
  *trailing = FALSE;
  while (!at_punct (p, close))
    {
      const AdjExpr *element = parse_let (p);

      if (element == NULL)
        return FALSE;
      args_add (args, NULL, element);
      *trailing = accept (p, ",");
      if (!*trailing)
        break;
    }
  return expect (p, close);
}

static gboolean
at_keyword (const Parser *p)
{
  AdjToken next = adj_lexer_peek (&p->lexer);

  return at_name (p) && next.kind == ADJ_TOKEN_PUNCT && adj_token_is (&next, "=");
}

static gboolean
parse_arguments (Parser *p, Args *args)
{
  while (!at_punct (p, ")"))
    {
      const char *name = NULL;
      const AdjExpr *arg;

      if (at_keyword (p))
        {
          name = take_name (p);
          advance (p);
        }
      else if (args->has_names)
        return fail (p, p->token.span, "a positional argument after one with a name") != NULL;

      arg = parse_let (p);
      if (arg == NULL)
        return FALSE;
      args_add (args, name, arg);
      if (!accept (p, ","))
        break;
    }
  return expect (p, ")");
}

/* -- Primaries ----------------------------------------------------------------------------- */

static const AdjExpr *
parse_number (Parser *p)
{
  AdjToken token = advance (p);
  AdjExpr *expr;

  if (token.kind == ADJ_TOKEN_INT)
    {
      expr = new_expr (p, ADJ_EXPR_INT, token.span);
      if (!adj_token_get_int (&token, FALSE, &expr->int_value))
        return fail (p, token.span, "the integer is too large");
      return expr;
    }

  expr = new_expr (p, ADJ_EXPR_FLOAT, token.span);
  expr->float_value = adj_token_get_number (&token);
  if (!isfinite (expr->float_value))
    return fail (p, token.span, "the number is too large");
  return expr;
}

static const AdjExpr *
parse_string (Parser *p)
{
  AdjToken token = advance (p);
  g_autoptr (GError) error = NULL;
  g_autofree char *value = adj_token_unquote (&token, &error);
  AdjExpr *expr;

  if (value == NULL)
    return fail (p, token.span, "%s", error->message);
  expr = new_expr (p, ADJ_EXPR_STRING, token.span);
  expr->name = adj_arena_strdup (p->arena, value);
  return expr;
}

/* NAME, with its dots. */
static const AdjExpr *
parse_name (Parser *p)
{
  g_autoptr (GString) name = g_string_new (NULL);
  AdjToken token = advance (p);
  AdjExpr *expr = new_expr (p, ADJ_EXPR_NAME, token.span);

  g_string_append_len (name, token.text, token.length);
  while (accept (p, "."))
    {
      if (p->token.kind != ADJ_TOKEN_NAME)
        return fail_expecting (p, "a name after “.”");
      token = advance (p);
      g_string_append_c (name, '.');
      g_string_append_len (name, token.text, token.length);
    }
  expr->name = adj_arena_strndup (p->arena, name->str, name->len);
  if (token.span.line == expr->span.line)
    expr->span.length = token.span.column + token.span.length - expr->span.column;
  return expr;
}

static const AdjExpr *
parse_brackets (Parser *p, AdjExprKind kind, const char *close)
{
  g_auto (Args) args = { 0 };
  AdjToken open = advance (p);
  gboolean trailing;

  args_init (&args);
  if (!parse_elements (p, &args, close, &trailing))
    return NULL;
  if (kind == ADJ_EXPR_TUPLE && args.args->len == 1 && !trailing)
    return g_ptr_array_index (args.args, 0);
  return args_finish (p, &args, new_expr (p, kind, open.span));
}

static const AdjExpr *
parse_primary (Parser *p)
{
  if (p->token.kind == ADJ_TOKEN_INT || p->token.kind == ADJ_TOKEN_FLOAT)
    return parse_number (p);
  if (p->token.kind == ADJ_TOKEN_STRING)
    return parse_string (p);
  if (at_name (p))
    return parse_name (p);
  if (at_punct (p, "("))
    return parse_brackets (p, ADJ_EXPR_TUPLE, ")");
  if (at_punct (p, "["))
    return parse_brackets (p, ADJ_EXPR_LIST, "]");
  return fail_expecting (p, "an expression");
}

static const AdjExpr *
parse_call (Parser *p, const AdjExpr *callee)
{
  g_auto (Args) args = { 0 };
  AdjExpr *expr;

  if (callee->kind != ADJ_EXPR_NAME)
    return fail (p, p->token.span, "only a name can be called");

  advance (p);
  args_init (&args);
  if (!parse_arguments (p, &args))
    return NULL;
  expr = new_expr (p, ADJ_EXPR_CALL, callee->span);
  expr->name = callee->name;
  return args_finish (p, &args, expr);
}

static const AdjExpr *
parse_index (Parser *p, const AdjExpr *object)
{
  const AdjExpr *args[] = { object, NULL };

  advance (p);
  args[1] = parse_let (p);
  if (args[1] == NULL || !expect (p, "]"))
    return NULL;
  return finish (p, new_expr (p, ADJ_EXPR_INDEX, object->span), args, 2);
}

static const AdjExpr *
parse_postfix (Parser *p)
{
  const AdjExpr *expr = parse_primary (p);

  while (expr != NULL)
    if (at_punct (p, "("))
      expr = parse_call (p, expr);
    else if (at_punct (p, "["))
      expr = parse_index (p, expr);
    else if (at_punct (p, "."))
      return fail (p, p->token.span, "“.” may only stand in a name");
    else
      break;
  return expr;
}

/* -- Operators ----------------------------------------------------------------------------- */

/* Parses @level one nesting deeper; every recursion of the grammar passes through here. */
static const AdjExpr *
parse_nested (Parser *p, AdjExprLevel level)
{
  const AdjExpr *expr;

  if (p->nesting >= MAX_NESTING)
    return fail (p, p->token.span, "nested too deeply");
  p->nesting++;
  if (level > ADJ_LEVEL_LET)
    expr = parse_level (p, level);
  else
    expr = at_word (p, "let") ? parse_bindings (p) : parse_choice (p);
  p->nesting--;
  return expr;
}

static const AdjExpr *
parse_let (Parser *p)
{
  return parse_nested (p, ADJ_LEVEL_LET);
}

static gboolean
at_unary (const Parser *p)
{
  return at_punct (p, "-") || at_punct (p, "+") || at_punct (p, "~");
}

static const AdjExpr *
parse_unary (Parser *p, AdjExprLevel level)
{
  AdjToken op = advance (p);
  const AdjExpr *operand = parse_nested (p, level);

  return operand != NULL ? new_operation (p, ADJ_EXPR_UNARY, &op, operand, NULL) : NULL;
}

static const AdjExpr *
parse_power (Parser *p)
{
  const AdjExpr *base = parse_postfix (p);
  const AdjExpr *exponent;
  AdjToken op;

  if (base == NULL || !at_punct (p, "**"))
    return base;
  op = advance (p);
  exponent = parse_nested (p, ADJ_LEVEL_UNARY);
  return exponent != NULL ? new_operation (p, ADJ_EXPR_BINARY, &op, base, exponent) : NULL;
}

/* The token ahead is an operator of @level; never so at the levels that are not binary. */
static gboolean
at_binary (const Parser *p, AdjExprLevel level)
{
  return (p->token.kind == ADJ_TOKEN_PUNCT || p->token.kind == ADJ_TOKEN_NAME) &&
         adj_expr_binary_level (p->token.text, p->token.length) == level;
}

static const AdjExpr *
parse_binary (Parser *p, AdjExprLevel level)
{
  const AdjExpr *left = parse_level (p, level + 1);

  while (left != NULL && at_binary (p, level))
    {
      AdjToken op = advance (p);
      const AdjExpr *right = parse_level (p, level + 1);

      if (right == NULL)
        return NULL;
      left = new_operation (p, ADJ_EXPR_BINARY, &op, left, right);
      if (level == ADJ_LEVEL_COMPARISON && at_binary (p, level))
        return fail (p, p->token.span, "comparisons do not chain");
    }
  return left;
}

static const AdjExpr *
parse_level (Parser *p, AdjExprLevel level)
{
  if (level == ADJ_LEVEL_NOT && at_word (p, "not"))
    return parse_unary (p, ADJ_LEVEL_NOT);
  if (level == ADJ_LEVEL_NOT)
    return parse_level (p, ADJ_LEVEL_COMPARISON);
  if (level == ADJ_LEVEL_UNARY)
    return at_unary (p) ? parse_unary (p, ADJ_LEVEL_UNARY) : parse_power (p);
  return parse_binary (p, level);
}

static const AdjExpr *
parse_choice (Parser *p)
{
  const AdjExpr *args[3] = { parse_level (p, ADJ_LEVEL_OR), NULL, NULL };

  if (args[0] == NULL || !accept (p, "?"))
    return args[0];
  args[1] = parse_let (p);
  if (args[1] == NULL || !expect (p, ":"))
    return NULL;
  args[2] = parse_let (p);
  if (args[2] == NULL)
    return NULL;
  return finish (p, new_expr (p, ADJ_EXPR_CHOICE, args[0]->span), args, 3);
}

static const AdjExpr *
parse_bindings (Parser *p)
{
  g_auto (Args) args = { 0 };
  AdjToken let = advance (p);
  const AdjExpr *body;

  args_init (&args);
  do
    {
      const char *name = take_name (p);
      const AdjExpr *value;

      if (name == NULL || !expect (p, "="))
        return NULL;
      value = parse_let (p);
      if (value == NULL)
        return NULL;
      args_add (&args, name, value);
    }
  while (accept (p, ","));

  if (!expect (p, ":"))
    return NULL;
  body = parse_let (p);
  if (body == NULL)
    return NULL;
  args_add (&args, NULL, body);
  return args_finish (p, &args, new_expr (p, ADJ_EXPR_LET, let.span));
}

/* -- Entries ------------------------------------------------------------------------------- */

static void
parser_init (Parser *p, AdjArena *arena, const char *text, gssize length, GError **error)
{
  *p = (Parser){ .arena = arena, .error = error };
  adj_lexer_init (&p->lexer, text, length < 0 ? strlen (text) : (gsize) length, 1);
  advance (p);
}

const AdjExpr *
adj_expr_parse (AdjArena *arena, const char *text, gssize length, GError **error)
{
  const AdjExpr *expr;
  Parser p;

  g_return_val_if_fail (arena != NULL && text != NULL, NULL);

  parser_init (&p, arena, text, length, error);
  expr = parse_let (&p);
  if (expr != NULL && p.token.kind != ADJ_TOKEN_END)
    return fail_expecting (&p, "the end");
  return expr;
}

gboolean
adj_rules_parse (AdjArena *arena, const char *text, AdjRuleFunc each, gpointer data, GError **error)
{
  Parser p;

  g_return_val_if_fail (arena != NULL && text != NULL, FALSE);

  parser_init (&p, arena, text, -1, error);
  while (p.token.kind != ADJ_TOKEN_END)
    {
      const char *name = take_name (&p);
      const AdjExpr *expr;

      if (name == NULL || !expect (&p, ":"))
        return FALSE;
      expr = parse_let (&p);
      if (expr == NULL || !each (name, expr, data, error))
        return FALSE;
      if (p.token.kind != ADJ_TOKEN_END && !expect (&p, ";"))
        return FALSE;
    }
  return TRUE;
}
