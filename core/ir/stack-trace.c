/* SPDX-License-Identifier: MIT */

/* Python's stack traces: lines `File "<path>", line <n>, in <function>`, each followed by the
 * line of source when Python had it. */

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-text-internal.h"
#include "ir/adj-text.h"
#include "ir/text-private.h"

typedef struct
{
  const char *at;
  gsize length;
} Line;

/* Cuts the next line off @at, without blanks around it. */
static gboolean
next_line (const char **at, Line *line)
{
  const char *end;

  if (**at == '\0')
    return FALSE;

  end = strchrnul (*at, '\n');
  line->at = *at;
  line->length = end - *at;
  *at = *end ? end + 1 : end;

  while (line->length > 0 && g_ascii_isspace (*line->at))
    {
      line->at++;
      line->length--;
    }
  while (line->length > 0 && g_ascii_isspace (line->at[line->length - 1]))
    line->length--;

  return TRUE;
}

/* `File "path", line 12, in name`; the path runs to the last `", line `. */
static gboolean
parse_place (const Line *line, AdjPlace *place)
{
  static const char middle[] = "\", line ";
  const char *start = line->at + strlen ("File \"");
  const char *end = line->at + line->length;
  const char *path_end = NULL;
  guint64 number = 0;

  if (line->length < 16 || strncmp (line->at, "File \"", 6) != 0)
    return FALSE;
  for (const char *p = start; (p = memmem (p, end - p, middle, strlen (middle))); p++)
    path_end = p;
  if (!path_end)
    return FALSE;

  place->file = start;
  place->file_length = path_end - start;
  for (start = path_end + strlen (middle); start < end && g_ascii_isdigit (*start); start++)
    number = MIN (number * 10 + (*start - '0'), G_MAXUINT);
  if (end - start < 5 || strncmp (start, ", in ", 5) != 0)
    return FALSE;
  place->line = number;
  place->function = start + 5;
  place->function_length = end - place->function;

  return place->file_length > 0 && place->function_length > 0;
}

gboolean
adj_stack_trace_innermost (const char *text, AdjPlace *out)
{
  gboolean found = FALSE, pending = FALSE;
  AdjPlace place = { 0 };
  Line line;

  while (next_line (&text, &line))
    {
      if (pending)
        {
          place.code = line.at;
          place.code_length = line.length;
          *out = place;
          found = TRUE;
        }
      pending = parse_place (&line, &place);
    }

  return found;
}

guint
adj_stack_trace_parse (const char *text, AdjArena *arena, const AdjFrame **frames)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (AdjFrame));
  gboolean wants_code = FALSE;
  AdjPlace place;
  Line line;

  while (next_line (&text, &line))
    if (parse_place (&line, &place))
      {
        AdjFrame frame = { .line = place.line, .code = "" };
        g_autofree char *file = g_strndup (place.file, place.file_length);
        g_autofree char *function = g_strndup (place.function, place.function_length);

        frame.file = adj_arena_intern (arena, file);
        frame.function = adj_arena_intern (arena, function);
        g_array_append_val (found, frame);
        wants_code = TRUE;
      }
    else if (wants_code)
      {
        g_array_index (found, AdjFrame, found->len - 1).code =
            adj_arena_strndup (arena, line.at, line.length);
        wants_code = FALSE;
      }

  *frames = NULL;
  if (found->len > 0)
    *frames = adj_arena_memdup (arena, found->data, sizeof (AdjFrame) * found->len);

  return found->len;
}
