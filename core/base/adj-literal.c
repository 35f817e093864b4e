/* SPDX-License-Identifier: MIT */

/* The values of literals, read and written as Python does. */

#include <math.h>
#include <string.h>

#include "base/adj-lexer.h"

typedef struct
{
  const char *at;
  const char *end; /* the closing quote */
  gboolean bytes;  /* b'': a byte becomes the character with its number */
  gboolean raw;    /* r'': backslashes are literal */
  GString *out;
} Unquoting;

static const struct
{
  char letter;
  char value;
} simple_escapes[] = {
  { '\\', '\\' }, { '\'', '\'' }, { '"', '"' },  { 'a', '\a' }, { 'b', '\b' },
  { 'f', '\f' },  { 'n', '\n' },  { 'r', '\r' }, { 't', '\t' }, { 'v', '\v' },
};

static gboolean
fail (GError **error, const char *reason)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "malformed string: %s", reason);
  return FALSE;
}

static gboolean
append_char (Unquoting *u, guint32 value, GError **error)
{
  if (value == 0)
    return fail (error, "it contains a zero byte");
  if (!g_unichar_validate (value))
    return fail (error, "an escape is no Unicode character");

  g_string_append_unichar (u->out, value);
  return TRUE;
}

static gboolean
append_hex (Unquoting *u, guint n_digits, GError **error)
{
  guint32 value = 0;

  for (guint i = 0; i < n_digits; i++, u->at++)
    {
      if (u->at >= u->end || !g_ascii_isxdigit (*u->at))
        return fail (error, "an escape lacks hexadecimal digits");
      value = value * 16 + (guint32) g_ascii_xdigit_value (*u->at);
    }
  return append_char (u, value, error);
}

static gboolean
append_octal (Unquoting *u, GError **error)
{
  guint32 value = 0;

  for (guint i = 0; i < 3 && u->at < u->end && *u->at >= '0' && *u->at <= '7'; i++, u->at++)
    value = value * 8 + (guint32) (*u->at - '0');
  return append_char (u, u->bytes ? value & 0xff : value, error);
}

/* u->at is after the backslash. */
static gboolean
append_escape (Unquoting *u, GError **error)
{
  char letter = *u->at;

  if (letter >= '0' && letter <= '7')
    return append_octal (u, error);
  u->at++;

  for (guint i = 0; i < G_N_ELEMENTS (simple_escapes); i++)
    if (letter == simple_escapes[i].letter)
      {
        g_string_append_c (u->out, simple_escapes[i].value);
        return TRUE;
      }

  if (letter == '\n')
    return TRUE;
  if (letter == 'x')
    return append_hex (u, 2, error);
  if (!u->bytes && letter == 'u')
    return append_hex (u, 4, error);
  if (!u->bytes && letter == 'U')
    return append_hex (u, 8, error);
  if (!u->bytes && letter == 'N')
    return fail (error, "\\N escapes are not supported");

  g_string_append_c (u->out, '\\');
  u->at--;
  return TRUE;
}

/* Skips prefix and opening quotes; %FALSE for an f-string, f'{x}'. */
static gboolean
begin (Unquoting *u)
{
  gboolean is_formatted = FALSE;
  guint n_quotes = 1;

  for (; *u->at != '\'' && *u->at != '"'; u->at++)
    {
      u->bytes |= *u->at == 'b' || *u->at == 'B';
      u->raw |= *u->at == 'r' || *u->at == 'R';
      is_formatted |= *u->at == 'f' || *u->at == 'F';
    }
  if (u->end - u->at >= 6 && u->at[1] == u->at[0] && u->at[2] == u->at[0])
    n_quotes = 3;
  u->at += n_quotes;
  u->end -= n_quotes;
  return !is_formatted || memchr (u->at, '{', (gsize) (u->end - u->at)) == NULL;
}

char *
adj_token_unquote (const AdjToken *token, GError **error)
{
  g_autoptr (GString) out = NULL;
  Unquoting u = { .at = token->text, .end = token->text + token->length };
  const char *bad;

  g_return_val_if_fail (token->kind == ADJ_TOKEN_STRING && token->length >= 2, NULL);

  if (!begin (&u))
    {
      fail (error, "it is made when it runs");
      return NULL;
    }
  u.out = out = g_string_sized_new (token->length);

  while (u.at < u.end)
    if (*u.at == '\0')
      {
        fail (error, "it contains a zero byte");
        return NULL;
      }
    else if (*u.at != '\\' || u.raw)
      g_string_append_c (out, *u.at++);
    else
      {
        u.at++;
        if (!append_escape (&u, error))
          return NULL;
      }

  if (!g_utf8_validate_len (out->str, out->len, &bad))
    {
      fail (error, "it is not UTF-8");
      return NULL;
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

/* -- Numbers ---- */

/* The digits of a number without the underscores between them. */
static char *
dup_digits (const AdjToken *token)
{
  GString *digits = g_string_sized_new (token->length);

  for (guint i = 0; i < token->length; i++)
    if (token->text[i] != '_')
      g_string_append_c (digits, token->text[i]);
  return g_string_free (digits, FALSE);
}

/* 16, 8 or 2 for 0x1f, 0o17, 0b11; else 10. */
static guint
radix_of (const char *digits)
{
  static const char letters[] = "xob";
  static const guint radixes[] = { 16, 8, 2 };
  char letter = digits[0] == '0' ? g_ascii_tolower (digits[1]) : '\0';
  const char *found = letter != '\0' ? strchr (letters, letter) : NULL;

  return found != NULL ? radixes[found - letters] : 10;
}

gboolean
adj_token_get_int (const AdjToken *token, gboolean negative, gint64 *out)
{
  g_autofree char *digits = dup_digits (token);
  guint radix = radix_of (digits);
  g_autofree char *text = g_strconcat (negative ? "-" : "", digits + (radix == 10 ? 0 : 2), NULL);

  return g_ascii_string_to_signed (text, radix, G_MININT64, G_MAXINT64, out, NULL);
}

double
adj_token_get_number (const AdjToken *token)
{
  g_autofree char *digits = dup_digits (token);

  return radix_of (digits) == 10 ? g_ascii_strtod (digits, NULL)
                                 : (double) g_ascii_strtoull (digits + 2, NULL, radix_of (digits));
}

/* -- Writing ---- */

/* str.isprintable() of one character. */
static gboolean
is_printable (gunichar c)
{
  GUnicodeType type = g_unichar_type (c);

  return c == ' ' || !(type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT ||
                       type == G_UNICODE_SURROGATE || type == G_UNICODE_PRIVATE_USE ||
                       type == G_UNICODE_UNASSIGNED || type == G_UNICODE_LINE_SEPARATOR ||
                       type == G_UNICODE_PARAGRAPH_SEPARATOR || type == G_UNICODE_SPACE_SEPARATOR);
}

static void
print_char (GString *out, gunichar c, char quote)
{
  if (c == (gunichar) quote || c == '\\')
    g_string_append_printf (out, "\\%c", (char) c);
  else if (c == '\n')
    g_string_append (out, "\\n");
  else if (c == '\r')
    g_string_append (out, "\\r");
  else if (c == '\t')
    g_string_append (out, "\\t");
  else if (is_printable (c))
    g_string_append_unichar (out, c);
  else if (c < 0x100)
    g_string_append_printf (out, "\\x%02x", c);
  else if (c < 0x10000)
    g_string_append_printf (out, "\\u%04x", c);
  else
    g_string_append_printf (out, "\\U%08x", c);
}

void
adj_print_string (GString *out, const char *text)
{
  char quote = strchr (text, '\'') != NULL && strchr (text, '"') == NULL ? '"' : '\'';

  g_string_append_c (out, quote);
  while (*text != '\0')
    {
      gunichar c = g_utf8_get_char_validated (text, -1);

      if (c == (gunichar) -1 || c == (gunichar) -2)
        g_string_append_printf (out, "\\x%02x", (guchar) *text++);
      else
        {
          print_char (out, c, quote);
          text = g_utf8_next_char (text);
        }
    }
  g_string_append_c (out, quote);
}

/* Digits without the point, and the exponent of the first one. */
static int
shortest_digits (double value, char digits[32])
{
  char text[64];
  char *exponent;
  gsize n = 0;

  for (guint precision = 0; precision <= 16; precision++)
    {
      char format[8];

      g_snprintf (format, sizeof format, "%%.%ue", precision);
      g_ascii_formatd (text, sizeof text, format, value);
      if (g_ascii_strtod (text, NULL) == value)
        break;
    }

  exponent = strchr (text, 'e');
  for (const char *c = text; c < exponent; c++)
    if (*c != '.')
      digits[n++] = *c;
  digits[n] = '\0';
  return (int) g_ascii_strtoll (exponent + 1, NULL, 10);
}

void
adj_print_float (GString *out, double value)
{
  char digits[32];
  int exponent;
  int n;

  if (isnan (value))
    {
      g_string_append (out, "nan");
      return;
    }
  if (signbit (value))
    g_string_append_c (out, '-');
  if (isinf (value))
    {
      g_string_append (out, "inf");
      return;
    }

  exponent = shortest_digits (fabs (value), digits);
  n = (int) strlen (digits);

  if (exponent < -4 || exponent >= 16)
    {
      g_string_append_c (out, digits[0]);
      if (n > 1)
        g_string_append_printf (out, ".%s", digits + 1);
      g_string_append_printf (out, "e%c%02d", exponent < 0 ? '-' : '+', ABS (exponent));
    }
  else if (exponent < 0)
    {
      g_string_append (out, "0.");
      for (int i = -1; i > exponent; i--)
        g_string_append_c (out, '0');
      g_string_append (out, digits);
    }
  else
    {
      for (int i = 0; i < MAX (n, exponent + 2); i++)
        {
          if (i == exponent + 1)
            g_string_append_c (out, '.');
          g_string_append_c (out, i < n ? digits[i] : '0');
        }
    }
}
