/* SPDX-License-Identifier: MIT */
/* Takes lines of logs out of what collectors put around them: JSON, or the stamps of the container
 * runtime interface, which says whether a line goes on in the next one of its stream. */

#include <string.h>

#include "base/adj-arena.h"
#include "formats/json-private.h"
#include "formats/log-envelopes-private.h"
#include "formats/log-lines-private.h"

static const struct
{
  const char *member;
  gboolean has_ends; /* the text has its newline; without one it goes on in the next object */
} envelopes[] = {
  { "log", TRUE }, /* of Docker */
  { "message", FALSE },     { "msg", FALSE },
  { "textPayload", FALSE }, { "MESSAGE", FALSE }, /* of the journal */
};

static const char *const streams[] = { "stdout ", "stderr " };

/* What came of a line of each stream that is not whole yet is in @parts. */
typedef struct
{
  GString *text;
  GString *parts[G_N_ELEMENTS (streams)];
} Opened;

static void
opened_init (Opened *self)
{
  self->text = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    self->parts[i] = g_string_new (NULL);
}

/* @text of a stream: the end of a line, or a part of one. */
static void
opened_add (Opened *self, guint stream, const char *text, gsize length, gboolean has_end)
{
  GString *part = self->parts[stream];

  g_string_append_len (part, text, (gssize) length);
  if (!has_end)
    return;
  g_string_append_len (self->text, part->str, (gssize) part->len);
  g_string_append_c (self->text, '\n');
  g_string_truncate (part, 0);
}

/* (transfer full): with the parts behind the lines, each of another stream in a line of its own */
static GString *
opened_end (Opened *self)
{
  gsize n_lines = self->text->len;

  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    {
      if (self->parts[i]->len > 0 && self->text->len > n_lines)
        g_string_append_c (self->text, '\n');
      g_string_append_len (self->text, self->parts[i]->str, (gssize) self->parts[i]->len);
      g_string_free (self->parts[i], TRUE);
    }
  return g_steal_pointer (&self->text);
}

/* Of Docker's object; what does not say so is the first one's. */
static guint
stream_of_object (const JsonItem *object)
{
  const char *name = json_get_text (object, "stream");

  return name != NULL && strcmp (name, "stderr") == 0;
}

/* Appends the text in the object @line; %FALSE: it is none. */
static gboolean
open_object (const char *line, gsize length, Opened *out)
{
  g_autoptr (AdjArena) arena = NULL;
  JsonReader reader;
  const JsonItem *object;
  gboolean has_end;

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
      has_end = g_str_has_suffix (text, "\n");
      opened_add (out, envelopes[i].has_ends ? stream_of_object (object) : 0, text,
                  strlen (text) - has_end, has_end || !envelopes[i].has_ends);
      return TRUE;
    }
  return FALSE;
}

/* The stream behind "2024-05-01T10:00:00.123456789Z " at @line; G_N_ELEMENTS (streams): none. */
static guint
find_stream (const char *line, const char *end, const char **rest)
{
  static const char shape[] = "0000-00-00T00:00:00";
  const char *blank = memchr (line, ' ', (gsize) (end - line));
  guint i = 0;

  if (blank == NULL || blank - line < (gssize) strlen (shape) || !log_line_has_shape (line, shape))
    return G_N_ELEMENTS (streams);
  *rest = blank + 1 + strlen (streams[0]);
  while (i < G_N_ELEMENTS (streams) &&
         (*rest > end || memcmp (blank + 1, streams[i], strlen (streams[i])) != 0))
    i++;
  return i;
}

/* "2024-05-01T10:00:00.123456789Z stderr P beginning of a line", and F at its end; other tags may
 * follow behind a colon.  @has_end: it is not cut off.  %FALSE: it is none. */
static gboolean
open_stamped (const char *line, gsize length, gboolean has_end, Opened *out)
{
  const char *end = line + length, *tags = NULL, *blank;
  guint stream = find_stream (line, end, &tags);

  if (stream == G_N_ELEMENTS (streams) || end - tags < 1 || (*tags != 'P' && *tags != 'F') ||
      (end - tags > 1 && tags[1] != ' ' && tags[1] != ':'))
    return FALSE;
  blank = memchr (tags, ' ', (gsize) (end - tags));
  blank = blank != NULL ? blank + 1 : end;
  opened_add (out, stream, blank, (gsize) (end - blank), *tags == 'F' && has_end);
  return TRUE;
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

/* Opens the line at @at; @next: where the next one begins. */
static gboolean
open_next (const char *at, const char *end, const char **next, Opened *out)
{
  gsize length = measure_line (at, end, next);

  return open_object (at, length, out) || open_stamped (at, length, (*next)[-1] == '\n', out);
}

gboolean
log_envelopes_are (const guint8 *text, gsize length)
{
  const char *start = (const char *) text, *next;
  gboolean are = FALSE;

  if (length > 0 && (*start == '{' || g_ascii_isdigit (*start)))
    {
      Opened out;

      opened_init (&out);
      are = open_next (start, start + length, &next, &out);
      g_string_free (opened_end (&out), TRUE);
    }
  return are;
}

/* (transfer full) */
static GString *
open_lines (const char *text, gsize length)
{
  const char *end = text + length, *next;
  Opened out;

  opened_init (&out);
  for (const char *at = text; at < end; at = next)
    if (!open_next (at, end, &next, &out))
      g_string_append_len (out.text, at, next - at);
  return opened_end (&out);
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
