/* SPDX-License-Identifier: MIT */

/* Numbers, strings and bytes, as Python's repr() writes them. */

#include <math.h>
#include <string.h>

#include "ir/parse-private.h"

static gboolean
read_number (AdjReader *reader, gboolean negative, AdjValue *out)
{
  g_autofree char *digits = adj_token_dup (&reader->token);
  g_autofree char *text = g_strconcat (negative ? "-" : "", digits, NULL);
  AdjTokenKind kind = reader->token.kind;
  double number = g_ascii_strtod (text, NULL);

  if (kind == ADJ_TOKEN_INT)
    {
      errno = 0;
      *out = ADJ_INT (g_ascii_strtoll (text, NULL, 10));
      if (errno != 0)
        return FALSE;
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

gboolean
adj_reader_read_string (AdjReader *reader, AdjValue *out)
{
  AdjToken token = reader->token;
  g_autofree char *text = NULL;

  if (token.text[0] == 'b' || token.text[0] == 'B')
    {
      if (!read_bytes (&token, out))
        return FALSE;
    }
  else
    {
      text = adj_token_unquote (&token, NULL);
      if (!text)
        return FALSE;
      *out = adj_value_new_string (text);
    }
  adj_reader_advance (reader);

  return TRUE;
}
