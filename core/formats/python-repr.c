/* SPDX-License-Identifier: MIT */
/* Parses the repr of Python values that PyTorch logs: numbers, containers, data classes. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/adj-lexer.h"
#include "formats/python-repr-private.h"

#define MAX_DEPTH 64
#define MAX_ITEMS 1000000

typedef struct
{
  AdjLexer lexer;
  AdjToken token;
  guint depth, n_items;
} Reader;

static gboolean read_value (Reader *reader, AdjValue *out);

static void
advance (Reader *reader)
{
  reader->token = adj_lexer_next (&reader->lexer);
}

static gboolean
at (const Reader *reader, const char *punct)
{
  return reader->token.kind == ADJ_TOKEN_PUNCT && adj_token_is (&reader->token, punct);
}

static gboolean
take (Reader *reader, const char *punct)
{
  gboolean is = at (reader, punct);

  if (is)
    advance (reader);
  return is;
}

static gboolean
add_value (Reader *reader, GArray *items)
{
  AdjValue value = ADJ_NONE;

  if (++reader->n_items > MAX_ITEMS || !read_value (reader, &value))
    return FALSE;
  g_array_append_val (items, value);
  return TRUE;
}

/* Values up to @close, which is taken; a dictionary has "key: value" in it. */
static gboolean
read_container (Reader *reader, const char *close, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();
  gboolean is_dict = g_str_equal (close, "}");

  advance (reader);
  for (gboolean first = TRUE; !take (reader, close); first = FALSE)
    {
      if (!add_value (reader, items))
        return FALSE;
      if (first)
        is_dict = is_dict && at (reader, ":");
      if (is_dict && (!take (reader, ":") || !add_value (reader, items)))
        return FALSE;
      if (!take (reader, ",") && !at (reader, close))
        return FALSE;
    }
  *out = adj_value_array_end (items, is_dict ? ADJ_VALUE_DICT : ADJ_VALUE_LIST);
  return TRUE;
}

static AdjValue
text_value (const char *start, const char *end)
{
  g_autofree char *text = g_strndup (start, (gsize) (end - start));

  return adj_value_new_string (text);
}

/* <class 'torch.Tensor'> is kept as text; an enum, <OutputType.non_alias: 1>, becomes its bare
 * name. */
static gboolean
read_angle (Reader *reader, AdjValue *out)
{
  const char *start = reader->token.text, *end = start, *dot = NULL, *colon = NULL;
  guint depth = 0;

  do
    {
      if (reader->token.kind == ADJ_TOKEN_END)
        return FALSE;
      depth += at (reader, "<");
      depth -= at (reader, ">");
      if (depth == 1 && at (reader, ".") && colon == NULL)
        dot = reader->token.text;
      if (depth == 1 && at (reader, ":") && colon == NULL)
        colon = reader->token.text;
      end = reader->token.text + reader->token.length;
      advance (reader);
    }
  while (depth > 0);
  *out = dot != NULL && colon != NULL && dot < colon ? text_value (dot + 1, colon)
                                                     : text_value (start, end);
  return TRUE;
}

/* Whether a call is one of a data class: "Name(key=". */
static gboolean
at_field (const Reader *reader)
{
  AdjToken next = adj_lexer_peek (&reader->lexer);

  return reader->token.kind == ADJ_TOKEN_NAME && next.kind == ADJ_TOKEN_PUNCT &&
         adj_token_is (&next, "=");
}

/* "key=value, …)"; the bracket before them is taken. */
static gboolean
read_fields (Reader *reader, AdjValue *out)
{
  g_autoptr (GArray) items = adj_value_array_new ();

  while (!take (reader, ")"))
    {
      AdjValue key;

      if (!at_field (reader))
        return FALSE;
      key = text_value (reader->token.text, reader->token.text + reader->token.length);
      g_array_append_val (items, key);
      advance (reader);
      advance (reader);
      if (!add_value (reader, items))
        return FALSE;
      if (!take (reader, ",") && !at (reader, ")"))
        return FALSE;
    }
  *out = adj_value_array_end (items, ADJ_VALUE_DICT);
  return TRUE;
}

/* Balanced text up to the bracket that closes the one that is taken. */
static gboolean
skip_call (Reader *reader, const char *start, AdjValue *out)
{
  for (guint depth = 1; depth > 0; advance (reader))
    {
      if (reader->token.kind == ADJ_TOKEN_END)
        return FALSE;
      depth += at (reader, "(") || at (reader, "[") || at (reader, "{");
      depth -= at (reader, ")") || at (reader, "]") || at (reader, "}");
      if (depth == 0)
        *out = text_value (start, reader->token.text + 1);
    }
  return TRUE;
}

static gboolean
read_constant (const Reader *reader, const char *start, const char *end, AdjValue *out)
{
  static const struct
  {
    const char *name;
    AdjValue value;
  } constants[] = {
    { "None", { .kind = ADJ_VALUE_NONE } },
    { "True", { .kind = ADJ_VALUE_BOOL, .boolean = TRUE } },
    { "False", { .kind = ADJ_VALUE_BOOL, .boolean = FALSE } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (constants); i++)
    if (strlen (constants[i].name) == (gsize) (end - start) &&
        memcmp (constants[i].name, start, (gsize) (end - start)) == 0)
      {
        *out = constants[i].value;
        return TRUE;
      }
  return FALSE;
}

/* A constant, a dotted name, a data class, or another call. */
static gboolean
read_name (Reader *reader, AdjValue *out)
{
  const char *start = reader->token.text, *end;

  do
    {
      end = reader->token.text + reader->token.length;
      advance (reader);
    }
  while (take (reader, ".") && reader->token.kind == ADJ_TOKEN_NAME);
  if (!at (reader, "("))
    {
      if (!read_constant (reader, start, end, out))
        *out = text_value (start, end);
      return TRUE;
    }
  advance (reader);
  if (end - start == 3 && memcmp (start, "set", 3) == 0 && take (reader, ")"))
    {
      *out = adj_value_new_items (ADJ_VALUE_LIST, NULL, 0);
      return TRUE;
    }
  return at_field (reader) ? read_fields (reader, out) : skip_call (reader, start, out);
}

static gboolean
read_number (Reader *reader, AdjValue *out)
{
  gboolean negative = take (reader, "-");
  g_autofree char *digits = adj_token_dup (&reader->token);
  g_autofree char *text = g_strconcat (negative ? "-" : "", digits, NULL);

  errno = 0;
  if (reader->token.kind == ADJ_TOKEN_INT)
    *out = ADJ_INT (g_ascii_strtoll (text, NULL, 10));
  else if (reader->token.kind == ADJ_TOKEN_FLOAT)
    *out = ADJ_FLOAT (g_ascii_strtod (text, NULL));
  else
    return FALSE;
  if (errno != 0)
    *out = adj_value_new_string (text);
  advance (reader);
  return TRUE;
}

/* Joins adjacent string literals: a long text is wrapped into several. */
static gboolean
read_string (Reader *reader, AdjValue *out)
{
  g_autoptr (GString) whole = g_string_new (NULL);

  for (; reader->token.kind == ADJ_TOKEN_STRING; advance (reader))
    {
      g_autofree char *part = adj_token_unquote (&reader->token, NULL);

      if (part == NULL)
        return FALSE;
      g_string_append (whole, part);
    }
  *out = adj_value_new_string (whole->str);
  return TRUE;
}

static gboolean
read_any (Reader *reader, AdjValue *out)
{
  if (at (reader, "["))
    return read_container (reader, "]", out);
  if (at (reader, "("))
    return read_container (reader, ")", out);
  if (at (reader, "{"))
    return read_container (reader, "}", out);
  if (at (reader, "<"))
    return read_angle (reader, out);
  if (reader->token.kind == ADJ_TOKEN_NAME)
    return read_name (reader, out);
  if (reader->token.kind == ADJ_TOKEN_STRING)
    return read_string (reader, out);
  return read_number (reader, out);
}

static gboolean
at_operator (const Reader *reader)
{
  static const char *const operators[] = { "*", "+", "-", "//", "/", "**", "%" };

  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    if (at (reader, operators[i]))
      return TRUE;
  return FALSE;
}

/* Takes a computed size, "8*s27 + 1", as text, up to the end of the value. */
static gboolean
read_rest (Reader *reader, const char *start, AdjValue *out)
{
  const char *end = start;

  for (guint depth = 0; depth > 0 || !(at (reader, ",") || at (reader, ")") || at (reader, "]") ||
                                       at (reader, "}") || at (reader, ":"));
       advance (reader))
    {
      if (reader->token.kind == ADJ_TOKEN_END)
        return FALSE;
      depth += at (reader, "(") || at (reader, "[");
      depth -= at (reader, ")") || at (reader, "]");
      end = reader->token.text + reader->token.length;
    }
  adj_value_clear (out);
  *out = text_value (start, end);
  return TRUE;
}

static gboolean
read_value (Reader *reader, AdjValue *out)
{
  const char *start = reader->token.text;
  gboolean done;

  if (reader->depth >= MAX_DEPTH)
    return FALSE;
  reader->depth++;
  done = read_any (reader, out) && (!at_operator (reader) || read_rest (reader, start, out));
  reader->depth--;
  return done;
}

gboolean
python_repr_parse (const char *text, gsize length, AdjValue *out)
{
  Reader reader = { .depth = 0 };

  adj_lexer_init (&reader.lexer, text, length, 1);
  advance (&reader);
  return read_value (&reader, out);
}
