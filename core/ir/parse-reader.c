/* SPDX-License-Identifier: MIT */

/* The tokens of a line and the values among them; what is no known value is kept as text. */

#include <string.h>

#include "ir/statement-private.h"

void
adj_reader_init (AdjReader *reader, const char *text, gsize length, guint line)
{
  *reader = (AdjReader){ .symbols = NULL };
  adj_lexer_init (&reader->lexer, text, length, line);
  reader->lexer.keep_newlines = TRUE;
  reader->token = adj_lexer_next (&reader->lexer);
}

static gint
count_bracket (const AdjToken *token)
{
  if (token->kind != ADJ_TOKEN_PUNCT || token->length != 1)
    return 0;

  return strchr ("([{", *token->text) ? 1 : strchr (")]}", *token->text) ? -1 : 0;
}

void
adj_reader_advance (AdjReader *reader)
{
  gint bracket = count_bracket (&reader->token);

  if (bracket > 0 || reader->brackets > 0)
    reader->brackets += bracket;
  do
    reader->token = adj_lexer_next (&reader->lexer);
  while (reader->brackets > 0 &&
         (reader->token.kind == ADJ_TOKEN_NEWLINE || reader->token.kind == ADJ_TOKEN_COMMENT));
}

gboolean
adj_reader_at (const AdjReader *reader, const char *punct)
{
  return reader->token.kind == ADJ_TOKEN_PUNCT && reader->token.text[0] == punct[0] &&
         adj_token_is (&reader->token, punct);
}

gboolean
adj_reader_take (AdjReader *reader, const char *punct)
{
  if (!adj_reader_at (reader, punct))
    return FALSE;

  adj_reader_advance (reader);

  return TRUE;
}

gboolean
adj_reader_at_end (const AdjReader *reader)
{
  return reader->token.kind == ADJ_TOKEN_END || reader->token.kind == ADJ_TOKEN_COMMENT ||
         reader->token.kind == ADJ_TOKEN_NEWLINE;
}

gboolean
adj_reader_at_end_of_statement (const AdjReader *reader)
{
  return adj_reader_at_end (reader) || adj_reader_at (reader, ";");
}

gboolean
adj_reader_is_before (const AdjReader *reader, const char *punct)
{
  AdjToken next = adj_lexer_peek (&reader->lexer);

  return next.kind == ADJ_TOKEN_PUNCT && adj_token_is (&next, punct);
}

gboolean
adj_token_is_keyword (const AdjToken *token)
{
  static const char *const keywords[] = {
    "False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
    "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
    "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
    "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield",
  };

  for (guint i = 0; token->kind == ADJ_TOKEN_NAME && i < G_N_ELEMENTS (keywords); i++)
    if (adj_token_is (token, keywords[i]))
      return TRUE;

  return FALSE;
}

gboolean
adj_reader_at_name (const AdjReader *reader, const char *name)
{
  return reader->token.kind == ADJ_TOKEN_NAME && adj_token_is (&reader->token, name);
}

static gboolean
at_end_of_value (const AdjReader *reader)
{
  static const char *const ends[] = { ",", ")", "]", "}", ":", ";" };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    if (adj_reader_at (reader, ends[i]))
      return TRUE;

  return adj_reader_at_end (reader);
}

/* Notes a mention of a name, unless it is a member after a dot. */
static void
note_mention (AdjReader *reader, const char *start)
{
  g_autofree char *name = adj_token_dup (&reader->token);
  g_auto (AdjValue) value = ADJ_NONE;

  if (reader->token.text > start && reader->token.text[-1] == '.')
    return;
  if (reader->resolve && reader->resolve (name, &value, reader->data))
    reader->raw_mentions_node = TRUE;
}

/* Reads balanced text up to the next comma or closing bracket outside of it. */
static gboolean
read_raw (AdjReader *reader, AdjValue *out)
{
  const char *start = reader->token.text, *end = start;
  guint depth = 0;

  while (!adj_reader_at_end (reader))
    {
      gboolean opens =
          adj_reader_at (reader, "(") || adj_reader_at (reader, "[") || adj_reader_at (reader, "{");
      gboolean closes =
          adj_reader_at (reader, ")") || adj_reader_at (reader, "]") || adj_reader_at (reader, "}");

      if (depth == 0 && (closes || at_end_of_value (reader)))
        break;
      /* A string without end has swallowed the rest. */
      if (reader->token.kind == ADJ_TOKEN_BAD && strchr ("'\"bB", reader->token.text[0]))
        {
          reader->is_open = TRUE;
          return FALSE;
        }
      if (reader->token.kind == ADJ_TOKEN_NAME)
        note_mention (reader, start);
      depth += opens;
      depth -= closes;
      end = reader->token.text + reader->token.length;
      adj_reader_advance (reader);
    }
  reader->is_open = depth > 0;
  reader->raw_mentions_node |= reader->quotes_raw;
  if (depth > 0 || end == start)
    return FALSE;

  *out = (AdjValue){ .kind = ADJ_VALUE_RAW, .n = end - start };
  out->text = g_strndup (start, end - start);

  return TRUE;
}

gboolean
adj_reader_read (AdjReader *reader, AdjValue *out)
{
  AdjReader start = *reader;

  if (reader->statement ? adj_expression_read_item (reader, out)
                        : adj_reader_read_operand (reader, out))
    {
      if (at_end_of_value (reader))
        return TRUE;
      adj_value_clear (out);
    }
  if (reader->is_open)
    return FALSE;

  start.raw_mentions_node = reader->raw_mentions_node;
  *reader = start;

  return read_raw (reader, out);
}

gboolean
adj_value_parse (const char *text,
                 gssize length,
                 AdjNameFunc resolve,
                 gpointer data,
                 AdjValue *out,
                 GError **error)
{
  g_auto (AdjValue) value = ADJ_NONE;
  AdjReader reader;

  adj_reader_init (&reader, text, length < 0 ? strlen (text) : (gsize) length, 1);
  reader.resolve = resolve;
  reader.data = data;
  if (!adj_reader_read (&reader, &value) || !adj_reader_at_end (&reader))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%u:%u: this is no value",
                   reader.token.span.line, reader.token.span.column);
      return FALSE;
    }

  *out = adj_value_steal (&value);

  return TRUE;
}
