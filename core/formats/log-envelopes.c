/* SPDX-License-Identifier: MIT */
/* Takes lines of logs out of the JSON that collectors put around them. */

#include <string.h>

#include "base/adj-arena.h"
#include "formats/json-private.h"
#include "formats/log-envelopes-private.h"

static const struct
{
  const char *member;
  gboolean has_ends; /* the text has its newline; without one it goes on in the next object */
} envelopes[] = {
  { "log", TRUE }, /* of Docker */
  { "message", FALSE },     { "msg", FALSE },
  { "textPayload", FALSE }, { "MESSAGE", FALSE }, /* of the journal */
};

/* Appends the text in the object @line; %FALSE: it is none. */
static gboolean
open_line (const char *line, gsize length, GString *out)
{
  g_autoptr (AdjArena) arena = NULL;
  JsonReader reader;
  const JsonItem *object;

  if (length < 2 || *line != '{' || line[length - 1] != '}')
    return FALSE;
  arena = adj_arena_new ();
  if (!json_reader_init (&reader, "JSON", line, length, NULL))
    return FALSE;
  object = json_read (&reader, arena, NULL);
  for (guint i = 0; object != NULL && i < G_N_ELEMENTS (envelopes); i++)
    {
      const char *text = json_get_text (object, envelopes[i].member);

      if (text == NULL)
        continue;
      g_string_append (out, text);
      if (!envelopes[i].has_ends && !g_str_has_suffix (text, "\n"))
        g_string_append_c (out, '\n');
      return TRUE;
    }
  return FALSE;
}

/* The length of the line at @at without its end; @next: where the next one begins. */
static gsize
measure_line (const char *at, const char *end, const char **next)
{
  const char *newline = memchr (at, '\n', (gsize) (end - at));
  gsize length = (gsize) ((newline != NULL ? newline : end) - at);

  *next = newline != NULL ? newline + 1 : end;
  return length > 0 && at[length - 1] == '\r' ? length - 1 : length;
}

gboolean
log_envelopes_are (const guint8 *text, gsize length)
{
  g_autoptr (GString) out = g_string_new (NULL);
  const char *start = (const char *) text, *next;

  return length > 0 && *start == '{' &&
         open_line (start, measure_line (start, start + length, &next), out);
}

/* (transfer full) */
static GString *
open_lines (const char *text, gsize length)
{
  GString *out = g_string_new (NULL);
  const char *end = text + length, *next;

  for (const char *at = text; at < end; at = next)
    if (!open_line (at, measure_line (at, end, &next), out))
      g_string_append_len (out, at, next - at);
  return out;
}

GBytes *
log_envelopes_open (GBytes *bytes)
{
  gsize length;
  const guint8 *text = g_bytes_get_data (bytes, &length);

  if (!log_envelopes_are (text, length))
    return g_bytes_ref (bytes);
  return g_string_free_to_bytes (open_lines ((const char *) text, length));
}

char *
log_envelopes_open_head (const guint8 *head, gsize length)
{
  if (!log_envelopes_are (head, length))
    return length > 0 ? g_strndup ((const char *) head, length) : g_strdup ("");
  return g_string_free (open_lines ((const char *) head, length), FALSE);
}
