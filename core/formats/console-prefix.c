/* SPDX-License-Identifier: MIT */
/* The beginnings of lines of a console: "I1120 10:34:57.280000 27000 path:404] [0/0] [__aot_graphs]
 * " (formats/SPEC.md §3). */

#include <string.h>

#include "formats/console-prefix-private.h"
#include "formats/log-lines-private.h"

#define MAX_STAMP 512 /* what may stand before the prefix */

/* The number at @at, which is passed.  (sscanf() would measure the rest of the line each time.) */
static gboolean
take_number (const char **at, gint *out)
{
  char *end;
  gint64 number = g_ascii_isdigit (**at) ? g_ascii_strtoll (*at, &end, 10) : -1;

  if (number < 0 || number > G_MAXINT)
    return FALSE;
  *at = end;
  *out = (gint) number;
  return TRUE;
}

/* "[0/0]", "[0/0_1]", "[!2/0/0]" and "[!2]": a compile id; other tags say nothing of it. */
static void
read_tag (const char *tag, RegionKey *key)
{
  gint id, frame, compile, attempt = 0;
  const char *rest = tag + 1;

  if (*rest == '!')
    {
      rest++;
      if (!take_number (&rest, &id))
        return;
      key->compiled_autograd = id;
      rest += *rest == '/';
    }
  if (!take_number (&rest, &frame) || *rest++ != '/' || !take_number (&rest, &compile))
    return;
  if (*rest == '_')
    {
      rest++;
      take_number (&rest, &attempt);
    }
  key->frame = frame;
  key->compile = compile;
  key->attempt = attempt;
}

/* "[rank3]" */
static void
read_rank (const char *tag, RegionKey *key)
{
  static const char head[] = "[rank";
  const char *rest = tag + strlen (head);
  gint rank;

  if (g_str_has_prefix (tag, head) && take_number (&rest, &rank))
    key->rank = rank;
}

/* "[0/0] [__aot_graphs] ": one blank after the last tag belongs to it. */
static const char *
skip_tags (const char *at, RegionKey *key)
{
  while (*at == '[')
    {
      const char *end = strstr (at, "] ");

      read_tag (at, key);
      at = end != NULL ? end + 2 : at + strlen (at);
    }
  return at;
}

/* What the line says: behind "V0302 09:15:01.004000 4711 path:27] [0/0] [__aot_graphs] " or, until
 * 2.2, "[2023-10-05 09:15:01,004] [0/0] module: [DEBUG] ".  "[rank3]:" and what collectors add may
 * stand before it.  %NULL when the line is no message. */
const char *
console_prefix_skip (const char *line, RegionKey *key)
{
  const char *end;

  *key = (RegionKey){ -1, -1, -1, -1, 0, 0 };
  for (guint i = 0; i < MAX_STAMP && line[i] != '\0'; i++)
    {
      read_rank (line + i, key);
      if (log_line_has_shape (line + i, "V0000 00:00:00.000000 "))
        {
          end = strstr (line + i, "] ");
          return end != NULL ? skip_tags (end + 2, key) : NULL;
        }
      if (log_line_has_shape (line + i, "[0000-00-00 00:00:00,000] "))
        {
          end = strstr (skip_tags (line + i + strlen ("[0000-00-00 00:00:00,000] "), key), ": [");
          end = end != NULL ? strstr (end + 2, "] ") : NULL;
          return end != NULL ? end + 2 : NULL;
        }
    }
  return NULL;
}
