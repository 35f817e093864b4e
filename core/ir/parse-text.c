/* SPDX-License-Identifier: MIT */

/* A text, line by line. */

#include <string.h>

#include "ir/adj-text-internal.h"
#include "ir/adj-text.h"
#include "ir/text-reader-private.h"

gboolean
adj_text_init (AdjText *text, const char *at, gssize length, AdjDiags *diags, GError **error)
{
  const char *bad = NULL;

  *text = (AdjText){ .at = at, .number = 1, .diags = diags };
  text->end = at + (length < 0 ? strlen (at) : (gsize) length);
  text->words = (AdjWords){ .text = at, .length = text->end - at };
  if (g_utf8_validate_len (at, text->end - at, &bad))
    return TRUE;

  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "byte %" G_GSIZE_FORMAT ": not UTF-8 text",
               (gsize) (bad - at));

  return FALSE;
}

void
adj_text_clear (AdjText *text)
{
  g_clear_pointer (&text->words.set, g_hash_table_unref);
  g_clear_pointer (&text->symbols, adj_symbols_unref);
}

static gboolean
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

gboolean
adj_text_peek_line (const AdjText *text, AdjLine *line)
{
  const char *end;

  if (text->at >= text->end)
    return FALSE;

  end = memchr (text->at, '\n', text->end - text->at);
  line->at = text->at;
  line->length = (end ? end : text->end) - text->at;
  line->number = text->number;
  while (line->length > 0 && is_blank (line->at[line->length - 1]))
    line->length--;
  for (line->indent = 0; line->indent < line->length && is_blank (line->at[line->indent]);)
    line->indent++;

  return TRUE;
}

void
adj_text_skip_line (AdjText *text)
{
  const char *end = memchr (text->at, '\n', text->end - text->at);

  text->at = end ? end + 1 : text->end;
  text->number++;
}

gboolean
adj_line_starts_with (const AdjLine *line, const char *word)
{
  gsize n = strlen (word);

  return line->length - line->indent >= n && memcmp (line->at + line->indent, word, n) == 0;
}

gboolean
adj_line_find_class (const AdjLine *line, gsize *start, gsize *length)
{
  static const char head[] = "class ", tail[] = "(torch.nn.Module):";
  const char *found = memmem (line->at, line->length, head, strlen (head));
  const char *end = memmem (line->at, line->length, tail, strlen (tail));

  if (!found || !end || end < found + strlen (head) ||
      end + strlen (tail) != line->at + line->length)
    return FALSE;

  *start = found + strlen (head) - line->at;
  *length = end - (line->at + *start);

  return TRUE;
}

void
adj_line_fail (GError **error, AdjError code, const AdjLine *line, const char *message)
{
  g_set_error (error, ADJ_ERROR, code, "%u:%u: %s", line->number, line->indent + 1, message);
}

char *
adj_text_strip_colors (const char *text, gssize length)
{
  gsize n = length < 0 ? strlen (text) : (gsize) length;
  const char *end = text + n, *at = memchr (text, '\033', n);
  GString *plain;

  if (!at)
    return NULL;

  plain = g_string_new_len (text, at - text);
  while (at < end)
    {
      const char *next = end - at > 1 && at[0] == '\033' && at[1] == '[' ? at + 2 : NULL;

      while (next && next < end && (g_ascii_isdigit (*next) || *next == ';'))
        next++;
      if (next && next < end && *next == 'm')
        at = next + 1;
      else if (*at == '\033') /* the remaining bytes may begin another sequence */
        at++;
      else
        g_string_append_c (plain, *at++);
    }

  return g_string_free (plain, FALSE);
}
