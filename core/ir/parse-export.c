/* SPDX-License-Identifier: MIT */

/* The text after the module of an exported program: its signature and the ranges of symbols.
 *
 *   Graph signature: ExportGraphSignature(input_specs=[InputSpec(kind=<InputKind.PARAMETER: 2>, …
 *   Graph signature:
 *       # inputs
 *       p_weight: PARAMETER target='net.weight'
 *   Range constraints: {s0: VR[2, 64]}
 */

#include <string.h>

#include "ir/parse-private.h"

#define MAX_LENGTH (16u << 20)

/* A reader of a text that ends at @end.  (No regular expressions: GRegex crashes where memory
 * runs out.) */
typedef struct
{
  const char *at, *end;
} Scanner;

typedef struct
{
  const char *text;
  gsize length;
} Piece;

static char *
piece_dup (Piece piece)
{
  return g_strndup (piece.text, piece.length);
}

static gboolean
take_literal (Scanner *scanner, const char *literal)
{
  gsize length = strlen (literal);

  if ((gsize) (scanner->end - scanner->at) < length || memcmp (scanner->at, literal, length) != 0)
    return FALSE;
  scanner->at += length;
  return TRUE;
}

/* Takes the bytes that @is_in accepts; at least one. */
static gboolean
take_while (Scanner *scanner, gboolean (*is_in) (char c), Piece *piece)
{
  piece->text = scanner->at;
  while (scanner->at < scanner->end && is_in (*scanner->at))
    scanner->at++;
  piece->length = scanner->at - piece->text;
  return piece->length > 0;
}

static gboolean
is_digit (char c)
{
  return g_ascii_isdigit (c);
}

static gboolean
is_lower (char c)
{
  return g_ascii_islower (c);
}

static gboolean
is_of_word (char c)
{
  return g_ascii_isalnum (c) || c == '_';
}

static gboolean
is_of_name (char c)
{
  return is_of_word (c) || (guchar) c >= 0x80;
}

/* Up to the quote, in the same line. */
static gboolean
take_quoted (Scanner *scanner, Piece *piece)
{
  piece->text = scanner->at;
  while (scanner->at < scanner->end && *scanner->at != '\'' && *scanner->at != '\n')
    scanner->at++;
  piece->length = scanner->at - piece->text;
  return take_literal (scanner, "'");
}

static void
put_target (GHashTable *metadata, Piece name, Piece target)
{
  g_autofree char *value = piece_dup (target);
  g_autoptr (GString) text = g_string_new ("{param: ");

  adj_print_string (text, value);
  g_string_append_c (text, '}');
  g_hash_table_replace (metadata, piece_dup (name), g_strdup (text->str));
}

/* InputSpec(kind=<InputKind.PARAMETER: 2>, arg=TensorArgument(name='p_weight'), target='weight' */
static void
take_specs (Scanner scanner, GHashTable *metadata)
{
  static const char kind[] = "InputKind.PARAMETER: ";
  Piece number, name, target;

  while ((scanner.at = memmem (scanner.at, scanner.end - scanner.at, kind, strlen (kind))) != NULL)
    {
      scanner.at += strlen (kind);
      if (take_while (&scanner, is_digit, &number) &&
          take_literal (&scanner, ">, arg=TensorArgument(name='") &&
          take_while (&scanner, is_of_name, &name) && take_literal (&scanner, "'), target='") &&
          take_quoted (&scanner, &target))
        put_target (metadata, name, target);
    }
}

/* Lines "    p_weight: PARAMETER target='weight'" */
static void
take_lines (Scanner scanner, GHashTable *metadata)
{
  while (scanner.at < scanner.end)
    {
      const char *newline = memchr (scanner.at, '\n', scanner.end - scanner.at);
      Scanner line = { scanner.at, newline != NULL ? newline : scanner.end };
      Piece name, target;

      scanner.at = newline != NULL ? newline + 1 : scanner.end;
      if (line.at == line.end || *line.at != ' ')
        continue;
      while (take_literal (&line, " "))
        ;
      if (take_while (&line, is_of_name, &name) && take_literal (&line, ": PARAMETER target='") &&
          take_quoted (&line, &target))
        put_target (metadata, name, target);
    }
}

static gboolean
is_number (const char *text)
{
  text += *text == '-';

  return *text && strspn (text, "0123456789") == strlen (text);
}

static void
put_range (AdjSymbols *symbols, Piece symbol, Piece lower, Piece upper)
{
  g_autofree char *name = piece_dup (symbol);
  g_autofree char *min = piece_dup (lower);
  g_autofree char *max = piece_dup (upper);
  g_autoptr (GString) text = g_string_new ("{");

  if (is_number (min))
    g_string_append_printf (text, "min: %s, ", min);
  if (is_number (max))
    g_string_append_printf (text, "max: %s", max);
  g_string_append_c (text, '}');
  adj_symbol_metadata_parse (name, text->str, text->len, symbols);
}

/* A number, or the name of infinity. */
static gboolean
take_bound (Scanner *scanner, Piece *piece)
{
  const char *start = scanner->at;
  gboolean good;

  take_literal (scanner, "-");
  good = take_while (scanner, is_of_word, piece);
  *piece = (Piece){ start, scanner->at - start };
  return good;
}

/* {s0: VR[2, 64], u1: VR[0, int_oo]} */
static void
take_ranges (Scanner scanner, AdjSymbols *symbols)
{
  while (scanner.at < scanner.end)
    {
      const char *start = scanner.at;
      Piece letters, digits, min, max;

      if (!take_while (&scanner, is_lower, &letters))
        scanner.at++;
      else if (take_while (&scanner, is_digit, &digits) && take_literal (&scanner, ": VR[") &&
               take_bound (&scanner, &min) && take_literal (&scanner, ", ") &&
               take_bound (&scanner, &max) && take_literal (&scanner, "]"))
        put_range (symbols, (Piece){ start, letters.length + digits.length }, min, max);
    }
}

void
adj_export_read (const char *text, gsize length, GHashTable *metadata, AdjSymbols *symbols)
{
  static const char head[] = "\nGraph signature:", middle[] = "\nRange constraints:";
  static const char next[] = "\nExportedProgram:";
  const char *next_program = memmem (text, length, next, strlen (next));
  const char *end = next_program ? next_program : text + length, *ranges;
  const char *start = memmem (text, end - text, head, strlen (head));
  Scanner signature;

  if (!start)
    return;

  end = MIN (end, start + MAX_LENGTH);
  ranges = memmem (start, end - start, middle, strlen (middle));
  signature = (Scanner){ start, ranges ? ranges : end };
  take_specs (signature, metadata);
  take_lines (signature, metadata);
  if (ranges)
    {
      const char *newline = memchr (ranges + 1, '\n', end - (ranges + 1));

      take_ranges ((Scanner){ ranges, newline ? newline : end }, symbols);
    }
}
