/* SPDX-License-Identifier: MIT */

/* Statements as Python delimits them: one line, or several joined by brackets, backslashes and
 * strings.  Includes what formatters put on lines of its own: `x = y = None` and `iadd = x`. */

#include <string.h>

#include "ir/text-reader-private.h"

/* Bound on the bytes that are scanned for closing brackets without finding them. */
#define MAX_WASTED (64u << 20)

static gboolean
is_in_place (const AdjToken *token, gboolean is_indexed)
{
  static const char *const others[] = { "==", "!=", "<=", ">=", ":=" };

  if (token->kind != ADJ_TOKEN_PUNCT || token->text[token->length - 1] != '=')
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (adj_token_is (token, others[i]))
      return FALSE;

  return token->length > 1 || is_indexed;
}

/* Advances to the end of the logical line that @r begins; %FALSE if a bracket or string in it has
 * no end. */
static gboolean
skip_logical_line (AdjReader *r, gboolean *has_in_place)
{
  gboolean is_indexed = FALSE;

  *has_in_place = FALSE;
  for (; r->token.kind != ADJ_TOKEN_END; adj_reader_advance (r))
    {
      if (r->token.kind == ADJ_TOKEN_BAD && r->token.length > 0 &&
          strpbrk ("'\"", (char[]){ r->token.text[0], '\0' }))
        return FALSE;
      if (r->brackets == 0)
        {
          if (r->token.kind == ADJ_TOKEN_NEWLINE)
            return TRUE;
          *has_in_place |= is_in_place (&r->token, is_indexed);
        }
      is_indexed = r->brackets == 1 && adj_reader_at (r, "]");
    }

  return r->brackets == 0;
}

/* -- What belongs to the line above ---- */

/* `x = y = None`, of which there may be several in a line, and a comment. */
static gboolean
is_deletes (AdjReader r, const char **end)
{
  do
    {
      g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

      if (!adj_tail_read_deletes (&r, names))
        return FALSE;
    }
  while (adj_reader_take (&r, ";") && !adj_reader_at_end (&r));
  if (r.token.kind == ADJ_TOKEN_COMMENT)
    adj_reader_advance (&r);
  *end = r.token.text;

  return adj_reader_at_end (&r);
}

/* `iadd: "f32[2]" = x` */
static gboolean
is_binding (AdjReader r, const char **end)
{
  gboolean in_place;

  if (r.token.kind != ADJ_TOKEN_NAME || adj_token_is_keyword (&r.token) ||
      !(adj_reader_is_before (&r, "=") || adj_reader_is_before (&r, ":")) ||
      !skip_logical_line (&r, &in_place))
    return FALSE;
  *end = r.token.text;

  return TRUE;
}

static const char *
take_followers (AdjText *text, const AdjLine *first, const char *end, gboolean in_place)
{
  AdjText ahead = *text;
  AdjLine line;

  while (ahead.at < end)
    adj_text_skip_line (&ahead);
  while (adj_text_peek_line (&ahead, &line) && line.length > line.indent &&
         line.indent == first->indent)
    {
      const char *next;
      AdjReader r;

      if (!g_ascii_isalpha (line.at[line.indent]) && !strchr ("_(", line.at[line.indent]))
        break;
      adj_reader_init (&r, line.at + line.indent, text->end - (line.at + line.indent), line.number);
      if (!is_deletes (r, &next) && !(in_place && is_binding (r, &next)))
        break;
      end = next;
      while (ahead.at < end)
        adj_text_skip_line (&ahead);
    }

  return end;
}

/* -- Blocks ---- */

/* `with x:`: the block has all lines indented below it, without trailing comments. */
static gboolean
begins_block (const AdjReader *r)
{
  static const char *const words[] = { "if",  "elif",   "else",    "for", "while", "with",
                                       "try", "except", "finally", "def", "class", "async" };

  if (adj_reader_at (r, "@"))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (adj_reader_at_name (r, words[i]))
      return !adj_reader_is_before (r, "=");

  return FALSE;
}

static const char *
take_block (const AdjText *text, const AdjLine *first, const char *end)
{
  AdjText ahead = *text;
  AdjLine line;
  gsize start, length;

  while (ahead.at < end)
    adj_text_skip_line (&ahead);
  for (; adj_text_peek_line (&ahead, &line); adj_text_skip_line (&ahead))
    {
      if (line.length <= line.indent || line.at[line.indent] == '#')
        continue;
      if (line.indent <= first->indent || adj_line_find_class (&line, &start, &length))
        break;
      end = line.at + line.length;
    }

  return end;
}

gboolean
adj_text_take_statement (AdjText *text, AdjLine *line)
{
  const char *start = line->at + line->indent, *end = line->at + line->length;
  gboolean is_block, in_place = FALSE, is_whole;
  AdjReader r;

  adj_reader_init (&r, start, (text->n_wasted < MAX_WASTED ? text->end : end) - start,
                   line->number);
  is_block = begins_block (&r);
  is_whole = skip_logical_line (&r, &in_place);
  if (!is_whole)
    text->n_wasted += r.token.text - start;
  else if (is_block)
    end = take_block (text, line, r.token.text);
  else
    end = take_followers (text, line, r.token.text, in_place);
  while (end > start && strchr (" \t\r\n\f", end[-1]))
    end--;
  line->length = end - line->at;
  do
    adj_text_skip_line (text);
  while (text->at < end);

  return is_block;
}
