/* SPDX-License-Identifier: MIT */

/* Expressions, with Python's precedence.  Operations become nodes. */

#include <string.h>

#include "ir/statement-private.h"

/* How tightly the infix operators bind; comparisons do not chain. */
enum
{
  LEVEL_COMPARISON,
  LEVEL_PREFIX = 7,
};

static const struct
{
  const char *symbols; /* each with a blank behind it */
  guint level;
} levels[] = {
  { "== != < > <= >= ", LEVEL_COMPARISON },
  { "| ", 1 },
  { "^ ", 2 },
  { "& ", 3 },
  { "<< >> ", 4 },
  { "+ - ", 5 },
  { "* / // % @ ", 6 },
};

static gboolean read_unary (AdjReader *r, AdjValue *out);

const char *
adj_reader_find_operator (const AdjReader *r, AdjFixity fixity)
{
  g_autofree char *symbol = NULL;

  if (r->token.kind != ADJ_TOKEN_PUNCT)
    return NULL;
  symbol = adj_token_dup (&r->token);

  return adj_target_from_symbol (symbol, fixity);
}

/* %FALSE when no infix operator is next. */
static gboolean
find_level (const AdjReader *r, guint *level)
{
  char symbol[4];

  if (r->token.kind != ADJ_TOKEN_PUNCT || r->token.length > 2)
    return FALSE;
  g_snprintf (symbol, sizeof symbol, "%.*s ", (int) r->token.length, r->token.text);
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      const char *found = strstr (levels[i].symbols, symbol);

      if (found && (found == levels[i].symbols || found[-1] == ' '))
        {
          *level = levels[i].level;
          return TRUE;
        }
    }

  return FALSE;
}

/* @target of one or two operands, which are taken. */
static AdjValue
operate (AdjReader *r, const char *target, AdjValue *a, AdjValue *b, AdjSpan span)
{
  GArray *args = adj_value_array_new ();

  g_array_append_val (args, *a);
  if (b)
    g_array_append_val (args, *b);

  return adj_statement_add_parsed (r->statement, ADJ_OPCODE_CALL_FUNCTION, target, args, NULL,
                                   span);
}

/* Whether the right side begins at the next token with a number that has a sign: PyTorch prints
 * `-1 ** x` for the power of -1, which Python would not read so. */
static gboolean
begins_with_signed (const AdjReader *r)
{
  return r->token.text == r->statement->right;
}

/* `-1`, `-inf`: the sign belongs to the number, unless `**` or an index follows. */
static gboolean
read_signed (AdjReader *r, AdjValue *out)
{
  gboolean is_first = begins_with_signed (r);

  return adj_reader_at (r, "-") && adj_reader_read_signed (r, out) &&
         (is_first || !adj_reader_at (r, "**")) && (is_first || !adj_reader_at (r, "["));
}

/* `-x`; of the whole right side also `-1`. */
static gboolean
read_prefixed (AdjReader *r, const char *target, AdjValue *out)
{
  AdjReader start = *r;
  AdjValue value = ADJ_NONE;
  gboolean is_first = begins_with_signed (r);

  if (read_signed (r, &value) && !(is_first && adj_reader_at_end_of_statement (r)))
    {
      *out = value;
      return TRUE;
    }
  adj_value_clear (&value);
  *r = start;
  adj_reader_advance (r);
  if (!read_unary (r, &value))
    return FALSE;

  *out = operate (r, target, &value, NULL, start.token.span);

  return TRUE;
}

static gboolean
read_power (AdjReader *r, AdjValue *out)
{
  AdjSpan span = r->token.span;
  g_auto (AdjValue) base = ADJ_NONE;
  AdjValue exponent = ADJ_NONE;
  const char *prefix = adj_reader_find_operator (r, ADJ_FIXITY_PREFIX);

  if (prefix ? !read_prefixed (r, prefix, &base) : !adj_expression_read_primary (r, &base))
    return FALSE;
  if (!adj_reader_take (r, "**"))
    {
      *out = adj_value_steal (&base);
      return TRUE;
    }
  if (!read_unary (r, &exponent))
    return FALSE;

  *out = operate (r, "operator.pow", &base, &exponent, span);
  base = ADJ_NONE;

  return TRUE;
}

static gboolean
read_unary (AdjReader *r, AdjValue *out)
{
  gboolean ok;

  if (r->depth >= ADJ_MAX_DEPTH - 3)
    return FALSE;

  r->depth++;
  ok = read_power (r, out);
  r->depth--;

  return ok;
}

/* Operands with operators that bind as tightly as @least or more between them. */
static gboolean
read_infix (AdjReader *r, guint least, AdjValue *out)
{
  AdjSpan span = r->token.span;
  g_auto (AdjValue) left = ADJ_NONE;
  gboolean is_compared = FALSE;
  guint level;

  if (!read_unary (r, &left))
    return FALSE;
  while (find_level (r, &level) && level >= least)
    {
      const char *target = adj_reader_find_operator (r, ADJ_FIXITY_INFIX);
      AdjValue right = ADJ_NONE;

      if (is_compared && level == LEVEL_COMPARISON)
        return FALSE;
      is_compared = level == LEVEL_COMPARISON;
      adj_reader_advance (r);
      if (!read_infix (r, level + 1, &right))
        return FALSE;
      left = operate (r, target, &left, &right, span);
    }
  *out = adj_value_steal (&left);

  return TRUE;
}

gboolean
adj_expression_read (AdjReader *r, AdjValue *out)
{
  AdjSpan span = r->token.span;
  AdjValue value = ADJ_NONE;

  if (!adj_reader_at_name (r, "not"))
    return read_infix (r, LEVEL_COMPARISON, out);

  adj_reader_advance (r);
  if (!read_infix (r, LEVEL_COMPARISON, &value))
    return FALSE;

  *out = operate (r, "operator.not_", &value, NULL, span);

  return TRUE;
}

static gboolean
ends_item (const AdjReader *r)
{
  return adj_reader_at (r, ",") || adj_reader_at (r, ")") || adj_reader_at (r, "]") ||
         adj_reader_at (r, "}") || adj_reader_at (r, ":") || adj_reader_at_end_of_statement (r);
}

gboolean
adj_expression_read_item (AdjReader *r, AdjValue *out)
{
  guint n_parsed = r->statement->parsed_nodes->len;

  if (adj_expression_read (r, out))
    {
      if (ends_item (r))
        return TRUE;
      adj_value_clear (out);
    }
  g_array_set_size (r->statement->parsed_nodes, n_parsed);

  return FALSE;
}

/* -- Right sides ---- */

/* Whether the next bracket holds one item and closes at the end of the statement: formatters wrap
 * long lines so. */
static gboolean
is_wrapped (const AdjReader *r)
{
  AdjReader ahead = *r;
  guint outside = r->brackets;

  if (!adj_reader_at (r, "("))
    return FALSE;
  adj_reader_advance (&ahead);
  if (adj_reader_at (&ahead, ")"))
    return FALSE;
  for (; ahead.brackets > outside && ahead.token.kind != ADJ_TOKEN_END; adj_reader_advance (&ahead))
    if (ahead.brackets == outside + 1 && adj_reader_at (&ahead, ","))
      return FALSE;

  return ahead.brackets == outside && adj_reader_at_end_of_statement (&ahead);
}

/* The rest of a tuple without brackets, of which @first, which is taken, is the first item. */
static gboolean
read_rest (AdjReader *r, AdjValue *first, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();

  g_array_append_val (items, *first);
  while (!adj_reader_at_end_of_statement (r))
    {
      AdjValue item = ADJ_NONE;

      if (!adj_reader_read (r, &item))
        return FALSE;
      g_array_append_val (items, item);
      if (!adj_reader_take (r, ",") && !adj_reader_at_end_of_statement (r))
        return FALSE;
    }
  *out = adj_value_array_end (items, ADJ_VALUE_TUPLE);

  return TRUE;
}

/* A tuple, or one value up to the end of the statement. */
static gboolean
read_values (AdjReader *r, AdjValue *out)
{
  AdjValue value = ADJ_NONE;

  if (!adj_expression_read (r, &value))
    return FALSE;
  if (adj_reader_take (r, ","))
    return read_rest (r, &value, out);

  *out = value;

  return TRUE;
}

gboolean
adj_statement_read_right (AdjStatement *s, gboolean is_operation, AdjValue *out)
{
  AdjReader *r = &s->reader;
  AdjReader start = *r;
  guint n_parsed = s->parsed_nodes->len;

  if (is_wrapped (r))
    {
      adj_reader_advance (r);
      s->right = is_operation ? r->token.text : NULL;
      if (adj_expression_read (r, out) && adj_reader_take (r, ")") &&
          adj_reader_at_end_of_statement (r) && !r->raw_mentions_node)
        return TRUE;
      adj_value_clear (out);
      g_array_set_size (s->parsed_nodes, n_parsed);
      *r = start;
    }

  s->right = is_operation ? r->token.text : NULL;
  if (read_values (r, out) && adj_reader_at_end_of_statement (r) && !r->raw_mentions_node)
    return TRUE;
  adj_value_clear (out);

  return FALSE;
}
