/* SPDX-License-Identifier: MIT */
/* A JSON reader that streams from bytes, and printing of strings and numbers. */

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/adj-lexer.h"
#include "formats/json-private.h"

#define MAX_ITEMS (1u << 22) /* of one value */
/* Up to so many keys are compared with one another, more go through a table. */
#define FEW_KEYS 8

static gboolean read_value (JsonReader *reader, AdjArena *arena, JsonItem *out, GError **error);

void
json_fail (const JsonReader *reader, const JsonItem *item, GError **error, const char *format, ...)
{
  guint line = item != NULL ? item->line : reader->line;
  guint column = item != NULL ? item->column : (guint) (reader->at - reader->line_start) + 1;
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s:%u:%u: %s", reader->name, line, column,
               message);
}

static void
skip_blanks (JsonReader *reader)
{
  while (reader->at < reader->end)
    {
      char c = *reader->at;

      if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
        return;
      reader->at++;
      if (c == '\n')
        {
          reader->line++;
          reader->line_start = reader->at;
        }
    }
}

/* The next byte that is no blank, 0 at the end. */
static char
peek (JsonReader *reader)
{
  skip_blanks (reader);
  return reader->at < reader->end ? *reader->at : '\0';
}

static gboolean
expect (JsonReader *reader, char c, GError **error)
{
  if (peek (reader) != c)
    {
      json_fail (reader, NULL, error, "expected '%c'", c);
      return FALSE;
    }
  reader->at++;
  return TRUE;
}

gboolean
json_reader_init (
    JsonReader *reader, const char *name, const char *text, gsize length, GError **error)
{
  const char *bad;

  *reader =
      (JsonReader){ .at = text, .end = text + length, .line_start = text, .line = 1, .name = name };
  if (g_utf8_validate_len (text, length, &bad))
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
               "%s: not UTF-8 text (at byte %" G_GSIZE_FORMAT ")", name, (gsize) (bad - text));
  return FALSE;
}

static gboolean
read_hex4 (const char *at, gunichar *out)
{
  gunichar value = 0;

  for (guint i = 0; i < 4; i++)
    {
      gint digit = g_ascii_xdigit_value (at[i]);

      if (digit < 0)
        return FALSE;
      value = value << 4 | (guint) digit;
    }
  *out = value;
  return TRUE;
}

/* After "\u": one code point, of two escapes when they are a surrogate pair. */
static gboolean
read_code_point (JsonReader *reader, GString *out, GError **error)
{
  gunichar c, low;

  if (reader->end - reader->at < 4 || !read_hex4 (reader->at, &c))
    {
      json_fail (reader, NULL, error, "expected four hexadecimal digits");
      return FALSE;
    }
  reader->at += 4;
  if (c >= 0xd800 && c <= 0xdbff && reader->end - reader->at >= 6 && reader->at[0] == '\\' &&
      reader->at[1] == 'u' && read_hex4 (reader->at + 2, &low) && low >= 0xdc00 && low <= 0xdfff)
    {
      c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
      reader->at += 6;
    }
  if (c == 0 || (c >= 0xd800 && c <= 0xdfff))
    {
      json_fail (reader, NULL, error, c == 0 ? "a NUL character" : "half a surrogate pair");
      return FALSE;
    }
  g_string_append_unichar (out, c);
  return TRUE;
}

static gboolean
read_escape (JsonReader *reader, GString *out, GError **error)
{
  static const char letters[] = "\"\\/bfnrt";
  static const char meanings[] = "\"\\/\b\f\n\r\t";
  char c = reader->at < reader->end ? *reader->at : '\0';
  const char *letter = c != '\0' ? strchr (letters, c) : NULL;

  if (c == 'u')
    {
      reader->at++;
      return read_code_point (reader, out, error);
    }
  if (letter == NULL)
    {
      json_fail (reader, NULL, error, "unknown escape in a string");
      return FALSE;
    }
  reader->at++;
  g_string_append_c (out, meanings[letter - letters]);
  return TRUE;
}

/* A string whose first escape stands at reader->at; [@start, at) was read already. */
static const char *
read_escaped (JsonReader *reader, AdjArena *arena, const char *start, guint *n, GError **error)
{
  g_autoptr (GString) text = g_string_new_len (start, reader->at - start);

  while (reader->at < reader->end && *reader->at != '"')
    {
      char c = *reader->at;

      if ((guchar) c < 0x20)
        break;
      reader->at++;
      if (c != '\\')
        g_string_append_c (text, c);
      else if (!read_escape (reader, text, error))
        return NULL;
    }
  if (reader->at >= reader->end || *reader->at != '"')
    {
      json_fail (reader, NULL, error, "a string does not end");
      return NULL;
    }
  reader->at++;
  *n = text->len;
  return adj_arena_strndup (arena, text->str, text->len);
}

static const char *
read_string (JsonReader *reader, AdjArena *arena, guint *n, GError **error)
{
  const char *start;

  if (!expect (reader, '"', error))
    return NULL;
  start = reader->at;
  while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\' &&
         (guchar) *reader->at >= 0x20)
    reader->at++;
  if (reader->at - start > G_MAXINT / 2)
    {
      json_fail (reader, NULL, error, "a string is too long");
      return NULL;
    }
  if (reader->at < reader->end && *reader->at == '"')
    {
      *n = reader->at - start;
      reader->at++;
      return adj_arena_strndup (arena, start, *n);
    }
  return read_escaped (reader, arena, start, n, error);
}

static const char *
skip_digits (const char *at, const char *end)
{
  while (at < end && g_ascii_isdigit (*at))
    at++;
  return at;
}

/* The end of the number at @at by the grammar of JSON, or NULL. */
static const char *
scan_number (const char *at, const char *end, gboolean *is_float)
{
  const char *digits;

  *is_float = FALSE;
  if (at < end && *at == '-')
    at++;
  digits = at;
  at = skip_digits (at, end);
  if (at == digits || (*digits == '0' && at - digits > 1))
    return NULL;
  if (at < end && *at == '.')
    {
      digits = ++at;
      at = skip_digits (at, end);
      if (at == digits)
        return NULL;
      *is_float = TRUE;
    }
  if (at < end && (*at == 'e' || *at == 'E'))
    {
      at++;
      if (at < end && (*at == '+' || *at == '-'))
        at++;
      digits = at;
      at = skip_digits (at, end);
      if (at == digits)
        return NULL;
      *is_float = TRUE;
    }
  return at;
}

static gboolean
read_word (JsonReader *reader, const char *word, JsonKind kind, JsonItem *out)
{
  gsize length = strlen (word);

  if ((gsize) (reader->end - reader->at) < length || memcmp (reader->at, word, length) != 0)
    return FALSE;
  reader->at += length;
  out->kind = kind;
  return TRUE;
}

/* Reads NaN, Infinity or -Infinity. */
static gboolean
read_python_number (JsonReader *reader, JsonItem *out)
{
  static const struct
  {
    const char *word;
    double number;
  } words[] = { { "NaN", NAN }, { "Infinity", INFINITY }, { "-Infinity", -INFINITY } };

  for (guint i = 0; reader->python && i < G_N_ELEMENTS (words); i++)
    if (read_word (reader, words[i].word, JSON_FLOAT, out))
      {
        out->number = words[i].number;
        return TRUE;
      }
  return FALSE;
}

static gboolean
read_integer (const JsonReader *reader, const char *text, gint64 *out)
{
  guint64 bits;

  if (g_ascii_string_to_signed (text, 10, G_MININT64, G_MAXINT64, out, NULL))
    return TRUE;
  if (!reader->bits || !g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT64, &bits, NULL))
    return FALSE;
  *out = (gint64) bits;
  return TRUE;
}

static gboolean
read_number (JsonReader *reader, JsonItem *out, GError **error)
{
  gboolean is_float;
  const char *end = scan_number (reader->at, reader->end, &is_float);
  char text[512];
  gsize length;

  if (read_python_number (reader, out))
    return TRUE;
  if (end == NULL)
    {
      json_fail (reader, NULL, error, "expected a value");
      return FALSE;
    }
  length = end - reader->at;
  if (length >= sizeof text)
    {
      json_fail (reader, NULL, error, "a number of %" G_GSIZE_FORMAT " characters", length);
      return FALSE;
    }
  memcpy (text, reader->at, length);
  text[length] = '\0';
  out->kind = is_float ? JSON_FLOAT : JSON_INT;
  if (is_float)
    out->number = g_ascii_strtod (text, NULL);
  if (is_float ? !isfinite (out->number) : !read_integer (reader, text, &out->integer))
    {
      json_fail (reader, NULL, error, "the number is too large");
      return FALSE;
    }
  reader->at = end;
  return TRUE;
}

static gboolean
check_keys (JsonReader *reader, const JsonItem *object, GError **error)
{
  g_autoptr (GHashTable) seen =
      object->n > FEW_KEYS ? g_hash_table_new (g_str_hash, g_str_equal) : NULL;

  for (guint i = 0; i < object->n; i++)
    {
      const char *key = object->items[i].key;
      gboolean repeated = FALSE;

      if (seen != NULL)
        repeated = !g_hash_table_add (seen, (gpointer) key);
      for (guint k = 0; seen == NULL && k < i; k++)
        repeated = repeated || strcmp (object->items[k].key, key) == 0;
      if (repeated)
        {
          json_fail (reader, &object->items[i], error, "the key \"%s\" stands twice", key);
          return FALSE;
        }
    }
  return TRUE;
}

gboolean
json_enter (JsonReader *reader, char bracket, GError **error)
{
  if (!expect (reader, bracket, error))
    return FALSE;
  if (reader->depth >= JSON_MAX_DEPTH)
    {
      json_fail (reader, NULL, error, "nested deeper than %d", JSON_MAX_DEPTH);
      return FALSE;
    }
  reader->depth++;
  reader->fresh = TRUE;
  return TRUE;
}

gboolean
json_next (JsonReader *reader, AdjArena *arena, const char **key, gboolean *more, GError **error)
{
  char close = key != NULL ? '}' : ']';
  guint n;

  *more = FALSE;
  if (peek (reader) == close)
    {
      reader->at++;
      reader->depth--;
      reader->fresh = FALSE;
      return TRUE;
    }
  if (!reader->fresh && !expect (reader, ',', error))
    return FALSE;
  reader->fresh = FALSE;
  if (key != NULL)
    {
      *key = read_string (reader, arena, &n, error);
      if (*key == NULL || !expect (reader, ':', error))
        return FALSE;
    }
  else if (peek (reader) == close)
    {
      json_fail (reader, NULL, error, "a comma before '%c'", close);
      return FALSE;
    }
  *more = TRUE;
  return TRUE;
}

static gboolean
read_container (JsonReader *reader, AdjArena *arena, JsonItem *out, GError **error)
{
  gboolean is_object = out->kind == JSON_OBJECT;
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (JsonItem));
  const char *key = NULL;
  gboolean more;

  if (!json_enter (reader, is_object ? '{' : '[', error))
    return FALSE;
  while (TRUE)
    {
      JsonItem item = { 0 };

      if (!json_next (reader, arena, is_object ? &key : NULL, &more, error))
        return FALSE;
      if (!more)
        break;
      if (!read_value (reader, arena, &item, error))
        return FALSE;
      item.key = key;
      g_array_append_val (items, item);
    }
  out->n = items->len;
  if (items->len > 0)
    out->items = adj_arena_memdup (arena, items->data, sizeof (JsonItem) * items->len);
  return !is_object || check_keys (reader, out, error);
}

static gboolean
read_value (JsonReader *reader, AdjArena *arena, JsonItem *out, GError **error)
{
  char c = peek (reader);

  out->line = reader->line;
  out->column = (guint) (reader->at - reader->line_start) + 1;
  if (++reader->n_items > MAX_ITEMS)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s:%u: more than %u values", reader->name,
                   reader->line, MAX_ITEMS);
      return FALSE;
    }
  if (c == '{' || c == '[')
    {
      out->kind = c == '{' ? JSON_OBJECT : JSON_ARRAY;
      return read_container (reader, arena, out, error);
    }
  if (c == '"')
    {
      out->kind = JSON_STRING;
      out->text = read_string (reader, arena, &out->n, error);
      return out->text != NULL;
    }
  return read_word (reader, "null", JSON_NULL, out) || read_word (reader, "true", JSON_TRUE, out) ||
         read_word (reader, "false", JSON_FALSE, out) || read_number (reader, out, error);
}

JsonItem *
json_read (JsonReader *reader, AdjArena *arena, GError **error)
{
  JsonItem *item = adj_arena_new0 (arena, JsonItem, 1);

  reader->n_items = 0;
  return read_value (reader, arena, item, error) ? item : NULL;
}

gboolean
json_finish (JsonReader *reader, GError **error)
{
  skip_blanks (reader);
  if (reader->at == reader->end)
    return TRUE;
  json_fail (reader, NULL, error, "something follows the end");
  return FALSE;
}

JsonItem *
json_parse (AdjArena *arena, const char *name, const char *text, gsize length, GError **error)
{
  JsonReader reader;
  JsonItem *item;

  if (!json_reader_init (&reader, name, text, length, error))
    return NULL;
  item = json_read (&reader, arena, error);
  return item != NULL && json_finish (&reader, error) ? item : NULL;
}

const JsonItem *
json_get (const JsonItem *object, const char *key)
{
  if (object == NULL || object->kind != JSON_OBJECT)
    return NULL;
  for (guint i = 0; i < object->n; i++)
    if (strcmp (object->items[i].key, key) == 0)
      return &object->items[i];
  return NULL;
}

const char *
json_get_text (const JsonItem *object, const char *key)
{
  const JsonItem *item = json_get (object, key);

  return item != NULL && item->kind == JSON_STRING ? item->text : NULL;
}

gint64
json_get_int (const JsonItem *object, const char *key, gint64 fallback)
{
  const JsonItem *item = json_get (object, key);

  return item != NULL && item->kind == JSON_INT ? item->integer : fallback;
}

void
json_print_string (const char *text, GString *out)
{
  g_string_append_c (out, '"');
  for (const char *at = text; *at != '\0'; at++)
    if (*at == '"' || *at == '\\')
      g_string_append_printf (out, "\\%c", *at);
    else if (*at == '\n')
      g_string_append (out, "\\n");
    else if (*at == '\t')
      g_string_append (out, "\\t");
    else if ((guchar) *at < 0x20 || *at == 0x7f)
      g_string_append_printf (out, "\\u%04x", (guint) (guchar) *at);
    else
      g_string_append_c (out, *at);
  g_string_append_c (out, '"');
}

void
json_print_float (double value, GString *out)
{
  g_return_if_fail (isfinite (value));

  adj_print_float (out, value);
}

static void
print_container (const JsonItem *item, GString *out)
{
  gboolean is_object = item->kind == JSON_OBJECT;

  g_string_append_c (out, is_object ? '{' : '[');
  for (guint i = 0; i < item->n; i++)
    {
      if (i > 0)
        g_string_append (out, ", ");
      if (is_object)
        {
          json_print_string (item->items[i].key, out);
          g_string_append (out, ": ");
        }
      json_print (&item->items[i], out);
    }
  g_string_append_c (out, is_object ? '}' : ']');
}

void
json_print (const JsonItem *item, GString *out)
{
  static const char *const words[] = { "null", "false", "true" };

  if (item->kind <= JSON_TRUE)
    g_string_append (out, words[item->kind]);
  else if (item->kind == JSON_INT)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, item->integer);
  else if (item->kind == JSON_FLOAT && !isfinite (item->number))
    g_string_append (out, "null");
  else if (item->kind == JSON_FLOAT)
    json_print_float (item->number, out);
  else if (item->kind == JSON_STRING)
    json_print_string (item->text, out);
  else
    print_container (item, out);
}
