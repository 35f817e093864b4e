/* SPDX-License-Identifier: MIT */

/* Numbers, strings and bytes, as Python's repr() writes them. */

#include <math.h>
#include <string.h>

#include "ir/parse-private.h"

static gboolean
read_number (AdjReader *reader, gboolean negative, AdjValue *out)
{
  AdjTokenKind kind = reader->token.kind;
  gboolean is_number = kind == ADJ_TOKEN_FLOAT || kind == ADJ_TOKEN_IMAGINARY;
  double size = is_number ? adj_token_get_number (&reader->token) : 0,
         number = negative ? -size : size;
  gint64 integer;

  if (kind == ADJ_TOKEN_INT)
    {
      if (!adj_token_get_int (&reader->token, negative, &integer))
        return FALSE;
      *out = ADJ_INT (integer);
    }
  else if (kind == ADJ_TOKEN_FLOAT)
    *out = ADJ_FLOAT (number);
  else if (kind == ADJ_TOKEN_IMAGINARY)
    *out = adj_value_new_items (ADJ_VALUE_COMPLEX,
                                (AdjValue[2]){ ADJ_FLOAT (0), ADJ_FLOAT (number) }, 2);
  else if (adj_reader_at_name (reader, "inf"))
    *out = ADJ_FLOAT (negative ? -INFINITY : INFINITY);
  else if (adj_reader_at_name (reader, "nan"))
    *out = ADJ_FLOAT (NAN);
  else
    return FALSE;

  adj_reader_advance (reader);

  return TRUE;
}

gboolean
adj_reader_read_signed (AdjReader *reader, AdjValue *out)
{
  gboolean negative = adj_reader_take (reader, "-");

  return read_number (reader, negative, out);
}

static double
get_number (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_INT ? (double) value->integer : value->number;
}

/* (1+2j); the bracket is taken. */
gboolean
adj_reader_read_complex (AdjReader *reader, AdjValue *out)
{
  g_auto (AdjValue) real = ADJ_NONE;
  g_auto (AdjValue) imaginary = ADJ_NONE;
  gboolean is_minus_zero = adj_reader_at (reader, "-");
  gboolean negative;

  if (!adj_reader_read_signed (reader, &real) ||
      (real.kind != ADJ_VALUE_INT && real.kind != ADJ_VALUE_FLOAT))
    return FALSE;
  negative = adj_reader_at (reader, "-");
  if (!negative && !adj_reader_at (reader, "+"))
    return FALSE;
  adj_reader_advance (reader);
  if (!read_number (reader, negative, &imaginary) || imaginary.kind != ADJ_VALUE_COMPLEX ||
      !adj_reader_take (reader, ")"))
    return FALSE;

  is_minus_zero = is_minus_zero && get_number (&real) == 0;
  imaginary.items[0].number = is_minus_zero ? -0.0 : get_number (&real);
  *out = adj_value_steal (&imaginary);

  return TRUE;
}

/* b'\x00ab' */
static gboolean
read_bytes (const AdjToken *token, AdjValue *out)
{
  g_autoptr (GString) bytes = g_string_new (NULL);
  const char *end = token->text + token->length - 1;

  for (const char *p = token->text + 2; p < end; p++)
    {
      static const char letters[] = "nrt\\'\"", meanings[] = "\n\r\t\\'\"";
      const char *letter;

      if (*p != '\\')
        g_string_append_c (bytes, *p);
      else if (end - p > 3 && p[1] == 'x' && g_ascii_isxdigit (p[2]) && g_ascii_isxdigit (p[3]))
        {
          g_string_append_c (bytes, g_ascii_xdigit_value (p[2]) * 16 + g_ascii_xdigit_value (p[3]));
          p += 3;
        }
      else if (p[1] != '\0' && (letter = strchr (letters, p[1])))
        {
          g_string_append_c (bytes, meanings[letter - letters]);
          p++;
        }
      else
        return FALSE;
    }

  *out = (AdjValue){ .kind = ADJ_VALUE_BYTES, .n = bytes->len };
  out->text = g_string_free (g_steal_pointer (&bytes), FALSE);

  return TRUE;
}

/* Whether it is b'…' without another prefix or triple quotes, so that only escapes need decoding.
 */
static gboolean
is_plain_bytes (const AdjToken *token)
{
  return g_ascii_tolower (token->text[0]) == 'b' && strchr ("'\"", token->text[1]) != NULL &&
         (token->length < 7 || memcmp (token->text + 2, token->text + 1, 1) != 0);
}

static gboolean
has_letter (const AdjToken *token, char letter)
{
  for (const char *at = token->text; *at != '\'' && *at != '"'; at++)
    if (g_ascii_tolower (*at) == letter)
      return TRUE;
  return FALSE;
}

/* Strings that stand side by side are one. */
gboolean
adj_reader_read_string (AdjReader *reader, AdjValue *out)
{
  g_autoptr (GString) whole = NULL;

  if (has_letter (&reader->token, 'b'))
    {
      if (!is_plain_bytes (&reader->token) || !read_bytes (&reader->token, out))
        return FALSE;
      adj_reader_advance (reader);
      return TRUE;
    }

  whole = g_string_new (NULL);
  for (; reader->token.kind == ADJ_TOKEN_STRING; adj_reader_advance (reader))
    {
      g_autofree char *part =
          has_letter (&reader->token, 'b') ? NULL : adj_token_unquote (&reader->token, NULL);

      if (!part)
        return FALSE;
      g_string_append (whole, part);
    }
  *out = adj_value_new_string (whole->str);

  return TRUE;
}
