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

  while (r->token.kind == ADJ_TOKEN_NAME)
    {
      gboolean is_none = adj_token_is (&r->token, "None");

      if (last && !is_none)
        {
          g_free (*last);
          *last = adj_token_dup (&r->token);
        }
      adj_reader_advance (r);
      if (is_none)
        break;
      if (!adj_reader_take (r, "="))
        return FALSE;
    }

  return adj_reader_at_end (r);
}

gsize
adj_tail_find_deletes (const char *text, gsize length, char **last)
{
  for (gsize at = length; at-- > 1;)
    if (text[at] == ';')
      {
        AdjReader reader;

        adj_reader_init (&reader, text + at, length - at, 1);
        if (!adj_tail_read (&reader, *last ? NULL : last))
          break;
        for (length = at; length > 1 && is_blank (text[length - 1]);)
          length--;
        at = length;
      }

  return length;
}

/* -- Facts ---- */

static const char facts_mark[] = "# adj: ";

/* Whether the @length bytes of @text begin with the mark of facts. */
static gboolean
has_facts_mark (const char *text, gsize length)
{
  return length > strlen (facts_mark) && memcmp (text, facts_mark, strlen (facts_mark)) == 0;
}

gsize
adj_tail_split (const AdjLine *line, const char **facts, gsize *n_facts)
{
  const char *end = line->at + line->length, *found = end;
  AdjLexer lexer;
  AdjToken token;

  adj_lexer_init (&lexer, line->at, line->length, line->number);
  lexer.keep_newlines = TRUE;
  do
    token = adj_lexer_next (&lexer);
  while (token.kind != ADJ_TOKEN_COMMENT && token.kind != ADJ_TOKEN_END &&
         token.kind != ADJ_TOKEN_BAD);

  /* Behind a string that does not end, nobody knows what is a comment. */
  if (token.kind == ADJ_TOKEN_COMMENT)
    found = token.text;

  *facts = NULL;
  if (has_facts_mark (found, end - found))
    {
      *facts = found + strlen (facts_mark);
      *n_facts = end - *facts;
    }
  while (found > line->at && is_blank (found[-1]))
    found--;

  return found - line->at;
}

const char *
adj_tail_find_facts (const AdjReader *r, gsize *n_facts)
{
  if (r->token.kind != ADJ_TOKEN_COMMENT || !has_facts_mark (r->token.text, r->token.length))
    return NULL;

  *n_facts = r->token.length - strlen (facts_mark);

  return r->token.text + strlen (facts_mark);
}
