/* SPDX-License-Identifier: MIT */
/* The lexer that all text formats share: names, numbers, strings and punctuation in Python's
 * spelling. */

#include "base/adj-lexer.h"

#include <string.h>

/* Longest first, so that the first match is the longest. */
static const char *const long_puncts[] = {
  "**=", "//=", "<<=", ">>=", "...", "**", "//", "<<", ">>", "<=", ">=", "==",
  "!=",  "->",  ":=",  "+=",  "-=",  "*=", "/=", "%=", "@=", "&=", "|=", "^=",
};
static const char second_chars[] = "=*/<>."; /* of the long ones */
static const char short_puncts[] = "()[]{},:;.=+-*/%@&|^~<>?!";

void
adj_lexer_init (AdjLexer *lexer, const char *text, gsize length, guint first_line)
{
  *lexer = (AdjLexer){
    .at = text,
    .end = text + length,
    .line_start = text,
    .line = first_line,
  };
}

static gboolean
is_name_start (char c)
{
  return g_ascii_isalpha (c) || c == '_';
}

static gboolean
is_name_char (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

static char
char_at (const AdjLexer *lexer, gsize offset)
{
  return (gsize) (lexer->end - lexer->at) > offset ? lexer->at[offset] : '\0';
}

static AdjToken
take (AdjLexer *lexer, AdjTokenKind kind, gsize length)
{
  AdjToken token = {
    .kind = kind,
    .text = lexer->at,
    .length = (guint) MIN (length, (gsize) G_MAXUINT),
  };

  token.span = (AdjSpan){
    .line = lexer->line,
    .column = (guint) MIN ((gsize) (lexer->at - lexer->line_start), (gsize) G_MAXUINT - 1) + 1,
    .length = token.length,
  };
  lexer->at += length;
  return token;
}

static void
start_line (AdjLexer *lexer)
{
  lexer->line++;
  lexer->line_start = lexer->at;
}

static AdjToken
take_name (AdjLexer *lexer)
{
  gsize n = 1;

  while (is_name_char (char_at (lexer, n)))
    n++;
  return take (lexer, ADJ_TOKEN_NAME, n);
}

/* Python lets an underscore stand between two digits. */
static gsize
skip_digits (const AdjLexer *lexer, gsize n)
{
  gsize start = n;

  while (g_ascii_isdigit (char_at (lexer, n)) ||
         (n > start && char_at (lexer, n) == '_' && g_ascii_isdigit (char_at (lexer, n + 1))))
    n++;
  return n;
}

/* 0x1f, 0o17, 0b11; 0 when it is none of them. */
static gsize
radix_length (const AdjLexer *lexer)
{
  gsize n = 2;

  if (char_at (lexer, 0) != '0' || char_at (lexer, 1) == '\0' ||
      strchr ("xXoObB", char_at (lexer, 1)) == NULL)
    return 0;
  while (g_ascii_isxdigit (char_at (lexer, n)) || (n > 2 && char_at (lexer, n) == '_'))
    n++;
  return n > 2 && !is_name_char (char_at (lexer, n)) ? n : 0;
}

static AdjToken
take_number (AdjLexer *lexer)
{
  AdjTokenKind kind = ADJ_TOKEN_INT;
  gsize n = radix_length (lexer);

  if (n > 0)
    return take (lexer, ADJ_TOKEN_INT, n);
  n = skip_digits (lexer, 0);
  /* "1..." is 1 and an ellipsis, not "1." and "..". */
  if (char_at (lexer, n) == '.' && char_at (lexer, n + 1) != '.')
    {
      kind = ADJ_TOKEN_FLOAT;
      n = skip_digits (lexer, n + 1);
    }
  if (char_at (lexer, n) == 'e' || char_at (lexer, n) == 'E')
    {
      gsize sign = char_at (lexer, n + 1) == '+' || char_at (lexer, n + 1) == '-';

      if (g_ascii_isdigit (char_at (lexer, n + 1 + sign)))
        {
          kind = ADJ_TOKEN_FLOAT;
          n = skip_digits (lexer, n + 1 + sign);
        }
    }
  if ((char_at (lexer, n) == 'j' || char_at (lexer, n) == 'J') &&
      !is_name_char (char_at (lexer, n + 1)))
    return take (lexer, ADJ_TOKEN_IMAGINARY, n + 1);
  return take (lexer, kind, n);
}

/* How many letters before a quote make the string raw, bytes, formatted: 'r', 'Rb', 'f' …; 0 when
 * no string begins here. */
static gboolean
find_string (const AdjLexer *lexer, gsize *prefix)
{
  gsize n = 0;

  while (n < 2 && char_at (lexer, n) != '\0' && strchr ("bBfFrRuU", char_at (lexer, n)) != NULL)
    n++;
  *prefix = n;
  return char_at (lexer, n) == '\'' || char_at (lexer, n) == '"';
}

/* The bytes of the string behind its opening quotes, of which there are @n_quotes; 0: it does not
 * end.  One in single quotes ends on its line, unless a backslash joins the next one. */
static gsize
string_length (const AdjLexer *lexer, gsize start, gsize n_quotes)
{
  gsize left = (gsize) (lexer->end - lexer->at);
  char quotes[3];

  memset (quotes, lexer->at[start - 1], sizeof quotes);
  for (gsize n = start; n < left && (n_quotes == 3 || lexer->at[n] != '\n'); n++)
    if (lexer->at[n] == '\\')
      n++;
    else if (left - n >= n_quotes && memcmp (lexer->at + n, quotes, n_quotes) == 0)
      return n + n_quotes;
  return 0;
}

static AdjToken
take_string (AdjLexer *lexer, gsize prefix)
{
  char quote = lexer->at[prefix];
  gboolean is_triple = char_at (lexer, prefix + 1) == quote && char_at (lexer, prefix + 2) == quote;
  gsize n_quotes = is_triple ? 3 : 1;
  gsize length = string_length (lexer, prefix + n_quotes, n_quotes);
  const char *newline;
  AdjToken token;

  if (length == 0)
    {
      newline = memchr (lexer->at, '\n', (gsize) (lexer->end - lexer->at));
      return take (lexer, ADJ_TOKEN_BAD,
                   (gsize) ((newline != NULL ? newline : lexer->end) - lexer->at));
    }
  token = take (lexer, ADJ_TOKEN_STRING, length);
  for (newline = token.text;
       (newline = memchr (newline, '\n', (gsize) (lexer->at - newline))) != NULL;)
    {
      lexer->line++;
      lexer->line_start = ++newline;
    }
  return token;
}

static gsize
comment_length (const AdjLexer *lexer)
{
  gsize left = (gsize) (lexer->end - lexer->at);
  const char *newline = memchr (lexer->at, '\n', left);
  gsize n = newline != NULL ? (gsize) (newline - lexer->at) : left;

  return n > 0 && lexer->at[n - 1] == '\r' ? n - 1 : n;
}

static AdjToken
take_punct (AdjLexer *lexer)
{
  gsize left = (gsize) (lexer->end - lexer->at);
  gboolean may_be_long = left > 1 && strchr (second_chars, lexer->at[1]) != NULL;
  gsize n = 1;

  for (guint i = 0; may_be_long && i < G_N_ELEMENTS (long_puncts); i++)
    {
      gsize length;

      if (long_puncts[i][0] != *lexer->at)
        continue;
      length = strlen (long_puncts[i]);
      if (length <= left && memcmp (lexer->at, long_puncts[i], length) == 0)
        return take (lexer, ADJ_TOKEN_PUNCT, length);
    }
  if (*lexer->at != '\0' && strchr (short_puncts, *lexer->at) != NULL)
    return take (lexer, ADJ_TOKEN_PUNCT, 1);

  /* All bytes of one character make one bad token. */
  while (n < left && n < 4 && ((guchar) lexer->at[n] & 0xc0) == 0x80)
    n++;
  return take (lexer, ADJ_TOKEN_BAD, n);
}

/* A backslash at the end of a line: what it joins the next line with; 0: there is none. */
static gsize
join_length (const AdjLexer *lexer)
{
  if (char_at (lexer, 0) != '\\')
    return 0;
  if (char_at (lexer, 1) == '\r' && char_at (lexer, 2) == '\n')
    return 3;
  return char_at (lexer, 1) == '\n' ? 2 : 0;
}

/* Whether a NEWLINE or COMMENT token is to be delivered. */
static gboolean
skip_blanks (AdjLexer *lexer)
{
  while (lexer->at < lexer->end)
    switch (*lexer->at)
      {
      case ' ':
      case '\t':
      case '\r':
      case '\f':
        lexer->at++;
        break;
      case '\n':
        if (lexer->keep_newlines)
          return TRUE;
        lexer->at++;
        start_line (lexer);
        break;
      case '#':
        if (lexer->keep_newlines)
          return TRUE;
        lexer->at += comment_length (lexer);
        break;
      default:
        if (join_length (lexer) == 0)
          return FALSE;
        lexer->at += join_length (lexer);
        start_line (lexer);
      }
  return FALSE;
}

AdjToken
adj_lexer_next (AdjLexer *lexer)
{
  AdjToken token;
  gsize prefix;
  char c;

  if (skip_blanks (lexer))
    {
      if (*lexer->at == '#')
        return take (lexer, ADJ_TOKEN_COMMENT, comment_length (lexer));
      token = take (lexer, ADJ_TOKEN_NEWLINE, 1);
      start_line (lexer);
      return token;
    }
  if (lexer->at >= lexer->end)
    return take (lexer, ADJ_TOKEN_END, 0);

  c = *lexer->at;
  if (find_string (lexer, &prefix))
    return take_string (lexer, prefix);
  if (is_name_start (c))
    return take_name (lexer);
  if (g_ascii_isdigit (c) || (c == '.' && g_ascii_isdigit (char_at (lexer, 1))))
    return take_number (lexer);
  return take_punct (lexer);
}

AdjToken
adj_lexer_peek (const AdjLexer *lexer)
{
  AdjLexer copy = *lexer;

  return adj_lexer_next (&copy);
}

gboolean
adj_token_is (const AdjToken *token, const char *text)
{
  gsize length = strlen (text);

  return token->length == length && memcmp (token->text, text, length) == 0;
}

char *
adj_token_dup (const AdjToken *token)
{
  return g_strndup (token->text, token->length);
}
