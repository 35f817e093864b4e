/* SPDX-License-Identifier: MIT */
/* Expressions as sympy's srepr() writes them, calls all through, become expressions as people write
 * them. */

#include <string.h>

#include "formats/sympy-repr-private.h"

#define MAX_DEPTH 200

typedef struct
{
  const char *at;
  guint depth;
} Reader;

/* Functions that are written between their arguments. */
static const struct
{
  const char *name;
  const char *infix;
} operators[] = {
  { "Add", " + " },          { "Mul", "*" },
  { "Pow", "**" },           { "PowByNatural", "**" },
  { "FloorDiv", "//" },      { "CleanDiv", "//" },
  { "Rational", "/" },       { "StrictLessThan", " < " },
  { "LessThan", " <= " },    { "StrictGreaterThan", " > " },
  { "GreaterThan", " >= " }, { "And", " & " },
  { "Or", " | " },
};

static gboolean read_expression (Reader *reader, GString *out);

static const char *
infix_of (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    if (strcmp (operators[i].name, name) == 0)
      return operators[i].infix;
  return NULL;
}

static gboolean
take (Reader *reader, char c)
{
  while (*reader->at == ' ')
    reader->at++;
  if (*reader->at != c)
    return FALSE;
  reader->at++;
  return TRUE;
}

static gboolean
is_word (char c)
{
  return g_ascii_isalnum (c) || c == '_' || c == '.' || c == '-';
}

/* 's0' without the quotes. */
static gboolean
read_quoted (Reader *reader, GString *out)
{
  const char *end = strchr (reader->at, '\'');

  if (end == NULL)
    return FALSE;
  g_string_append_len (out, reader->at, end - reader->at);
  reader->at = end + 1;
  return TRUE;
}

/* "integer=True": says what a symbol may be. */
static gboolean
skip_keyword (Reader *reader)
{
  const char *at = reader->at;

  while (*at == ' ')
    at++;
  while (is_word (*at))
    at++;
  if (*at != '=')
    return FALSE;
  for (at++; is_word (*at);)
    at++;
  reader->at = at;
  return TRUE;
}

/* Behind "name(": appends its arguments, with @infix (nullable) between them. */
static gboolean
read_arguments (Reader *reader, const char *infix, GString *out)
{
  guint n = 0;

  if (take (reader, ')'))
    return TRUE;
  do
    {
      if (skip_keyword (reader))
        continue;
      if (n++ > 0)
        g_string_append (out, infix != NULL ? infix : ", ");
      if (!read_expression (reader, out))
        return FALSE;
    }
  while (take (reader, ','));
  return take (reader, ')');
}

static gboolean
read_call (Reader *reader, const char *name, GString *out)
{
  const char *infix = infix_of (name);
  gboolean is_atom = strcmp (name, "Symbol") == 0 || strcmp (name, "Integer") == 0 ||
                     strcmp (name, "Float") == 0 || strcmp (name, "Identity") == 0;
  gboolean good;

  if (strcmp (name, "Equality") == 0 || strcmp (name, "Unequality") == 0)
    g_string_append (out, *name == 'E' ? "Eq" : "Ne");
  else if (!is_atom && infix == NULL)
    g_string_append (out, name);
  if (!is_atom)
    g_string_append_c (out, '(');
  good = read_arguments (reader, infix, out);
  if (!is_atom)
    g_string_append_c (out, ')');
  return good;
}

static gboolean
read_word (Reader *reader, GString *out)
{
  const char *start = reader->at;
  g_autofree char *name = NULL;

  while (is_word (*reader->at))
    reader->at++;
  if (reader->at == start)
    return FALSE;
  name = g_strndup (start, (gsize) (reader->at - start));
  if (take (reader, '('))
    return read_call (reader, name, out);
  g_string_append (out, name);
  return TRUE;
}

static gboolean
read_expression (Reader *reader, GString *out)
{
  gboolean good;

  if (++reader->depth > MAX_DEPTH)
    return FALSE;
  while (*reader->at == ' ')
    reader->at++;
  good = take (reader, '\'') ? read_quoted (reader, out) : read_word (reader, out);
  reader->depth--;
  return good;
}

char *
sympy_repr_to_text (const char *repr)
{
  g_autoptr (GString) out = g_string_new (NULL);
  Reader reader = { .at = repr };

  if (strstr (repr, "Symbol('") == NULL && strstr (repr, "Integer(") == NULL)
    return g_strdup (repr);
  if (!read_expression (&reader, out) || *reader.at != '\0')
    return NULL;
  return g_string_free (g_steal_pointer (&out), FALSE);
}
