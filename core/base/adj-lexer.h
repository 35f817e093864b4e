/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"

G_BEGIN_DECLS

/* Tokens of graph text, of rule expressions and of size expressions.  The lexer never copies: a
 * token points into the text, which must outlive it. */
typedef enum
{
  ADJ_TOKEN_END,       /* end of text, or of the line when lexing line by line */
  ADJ_TOKEN_NAME,      /* [A-Za-z_][A-Za-z0-9_]* */
  ADJ_TOKEN_INT,       /* decimal digits with underscores, or 0x1f, 0o17, 0b11 */
  ADJ_TOKEN_FLOAT,     /* with '.', exponent, or both */
  ADJ_TOKEN_IMAGINARY, /* a number followed by j */
  ADJ_TOKEN_STRING,    /* quoted once or thrice, with Python's prefixes; text includes both */
  ADJ_TOKEN_PUNCT,     /* the longest operator or bracket: ** // << >> <= >= == != -> += … */
  ADJ_TOKEN_COMMENT,   /* '#' to the end of the line */
  ADJ_TOKEN_NEWLINE,
  ADJ_TOKEN_BAD, /* a byte that starts no token, or an unterminated string */
} AdjTokenKind;

typedef struct
{
  AdjTokenKind kind;
  const char *text; /* (unowned) not terminated */
  guint length;
  AdjSpan span;
} AdjToken;

typedef struct
{
  const char *at; /* next byte */
  const char *end;
  const char *line_start;
  guint line;
  gboolean keep_newlines; /* else NEWLINE and COMMENT are skipped like blanks */
} AdjLexer;

void adj_lexer_init (AdjLexer *lexer, const char *text, gsize length, guint first_line);
AdjToken adj_lexer_next (AdjLexer *lexer);
AdjToken adj_lexer_peek (const AdjLexer *lexer);

gboolean adj_token_is (const AdjToken *token, const char *text);
char *adj_token_dup (const AdjToken *token);

/* The value of a STRING token: escapes undone, UTF-8; %NULL with a reason when malformed, or when
 * it is a formatted one, whose value is not in the text. */
char *adj_token_unquote (const AdjToken *token, GError **error);

/* The value of an INT token, or its negative; %FALSE when it is too large. */
gboolean adj_token_get_int (const AdjToken *token, gboolean negative, gint64 *out);
/* The value of an INT, FLOAT or IMAGINARY token. */
double adj_token_get_number (const AdjToken *token);

/* Python's repr() of a string and of a float: 'it''s quoting rule, shortest round-trip digits,
 * 1e-05, inf, nan. */
void adj_print_string (GString *out, const char *text);
void adj_print_float (GString *out, double value);

G_END_DECLS
