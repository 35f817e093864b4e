/* SPDX-License-Identifier: MIT */

/* How a statement ends: `;  x = y = None  # adj: {…}`. */

#include <string.h>

#include "ir/parse-private.h"

/* -- Deletes ---- */

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

gboolean
adj_tail_read (AdjReader *r, char **last)
{
  if (adj_reader_at_end (r))
    return TRUE;
  if (!adj_reader_take (r, ";"))
    return FALSE;
  if (adj_reader_at_end (r))
    return TRUE;

  while (r->token.kind == ADJ_TOKEN_NAME && !adj_token_is (&r->token, "None"))
    {
      if (last)
        {
          g_free (*last);
          *last = adj_token_dup (&r->token);
        }
      adj_reader_advance (r);
      if (!adj_reader_take (r, "="))
        return FALSE;
    }
  if (!adj_reader_at_name (r, "None"))
    return FALSE;
  adj_reader_advance (r);

  return adj_reader_at_end (r);
}

/* `x`, or `(x)` as formatters write it where a line is long. */
static gboolean
take_name (AdjReader *r, GPtrArray *names)
{
  gboolean has_bracket = adj_reader_take (r, "(");

  if (r->token.kind != ADJ_TOKEN_NAME || adj_token_is_keyword (&r->token))
    return FALSE;
  g_ptr_array_add (names, adj_token_dup (&r->token));
  adj_reader_advance (r);

  return !has_bracket || adj_reader_take (r, ")");
}

static gboolean
take_none (AdjReader *r)
{
  gboolean has_bracket = adj_reader_take (r, "(");

  if (!adj_reader_at_name (r, "None"))
    return FALSE;
  adj_reader_advance (r);

  return !has_bracket || adj_reader_take (r, ")");
}

gboolean
adj_tail_read_del (AdjReader *r, GPtrArray *names)
{
  if (!adj_reader_at_name (r, "del"))
    return FALSE;
  adj_reader_advance (r);
  do
    if (!take_name (r, names))
      return FALSE;
  while (adj_reader_take (r, ","));

  return adj_reader_at_end_of_statement (r);
}

gboolean
adj_tail_read_deletes (AdjReader *r, GPtrArray *names)
{
  do
    {
      AdjReader value = *r;

      if (names->len > 0 && take_none (&value))
        {
          *r = value;
          return adj_reader_at_end_of_statement (r);
        }
    }
  while (take_name (r, names) && adj_reader_take (r, "="));

  return FALSE;
}

gsize
adj_tail_find_deletes (const char *text, gsize length, char **last)
{
  for (gsize at = length; at-- > 1;)
    if (text[at] == ';')
      {
        g_autofree char *name = NULL;
        AdjReader reader;

        adj_reader_init (&reader, text + at, length - at, 1);
        if (!adj_tail_read (&reader, &name))
          break;
        if (!*last)
          *last = g_steal_pointer (&name);
        for (length = at; length > 1 && is_blank (text[length - 1]);)
          length--;
        at = length;
      }

  return length;
}

/* -- Metadata ---- */

static const char metadata_mark[] = "# adj: ";

/* Whether the @length bytes of @text begin with the mark of metadata. */
static gboolean
has_metadata_mark (const char *text, gsize length)
{
  return length > strlen (metadata_mark) &&
         memcmp (text, metadata_mark, strlen (metadata_mark)) == 0;
}

const char *
adj_tail_find_metadata (const char *text, gsize length, gsize *n_metadata)
{
  const char *metadata = NULL;
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, text, length, 1);
  lexer.keep_newlines = TRUE;
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    if (token.kind == ADJ_TOKEN_COMMENT && has_metadata_mark (token.text, token.length))
      {
        metadata = token.text + strlen (metadata_mark);
        *n_metadata = token.length - strlen (metadata_mark);
      }

  return metadata;
}
