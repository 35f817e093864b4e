/* SPDX-License-Identifier: MIT */
/* The beginnings of lines by which logs are known:
 *
 *   V0302 09:15:01.004000 4711 path:27] {"…
 *   I1120 10:34:57.280000 27000 path:404] [0/0] [__aot_graphs] …
 *   [2023-10-05 09:15:01,004] [0/0] module: [DEBUG] …
 */

#include <string.h>

#include "formats/log-lines-private.h"

#define DIGITS "0123456789"

gboolean
log_line_has_shape (const char *at, const char *shape)
{
  for (; *shape != '\0'; at++, shape++)
    if (*shape == '0'   ? !g_ascii_isdigit (*at)
        : *shape == 'V' ? strchr ("VIWEC", *at) == NULL || *at == '\0'
                        : *at != *shape)
      return FALSE;
  return TRUE;
}

gboolean
log_line_begins_nodes (const char *at)
{
  static const char tail[] = "):";
  gsize n = strcspn (at, "\r\n");

  return g_str_has_prefix (at, "graph(") && n > strlen (tail) &&
         memcmp (at + n - strlen (tail), tail, strlen (tail)) == 0;
}

/* What stands behind "V0302 09:15:01.004000 4711 path:27] " at @at, else %NULL. */
static const char *
skip_head (const char *at)
{
  static const char shape[] = "V0000 00:00:00.000000 0";
  const char *path, *line;
  gsize n;

  if (!log_line_has_shape (at, shape))
    return NULL;
  path = at + strlen (shape);
  n = strcspn (path, ":\n");
  if (n == 0 || path[n] != ':')
    return NULL;
  line = path + n + 1;
  n = strspn (line, DIGITS);
  return n > 0 && g_str_has_prefix (line + n, "] ") ? line + n + 2 : NULL;
}

/* "[2023-10-05 09:15:01,004] … module: [DEBUG]" at @at. */
static gboolean
is_old_message (const char *at)
{
  static const char shape[] = "[0000-00-00 ";
  const char *found, *end;
  gsize n;

  if (!log_line_has_shape (at, shape))
    return FALSE;
  at += strlen (shape);
  n = strspn (at, DIGITS ":,");
  if (n == 0 || !g_str_has_prefix (at + n, "] "))
    return FALSE;
  at += n + 2;
  end = at + strcspn (at, "\n");
  while ((found = g_strstr_len (at, end - at, ": [")) != NULL)
    {
      at = found + 3;
      n = strspn (at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
      if (n > 0 && at[n] == ']')
        return TRUE;
    }
  return FALSE;
}

gboolean
log_lines_have_record (const char *text)
{
  for (; *text != '\0'; text++)
    {
      const char *rest = skip_head (text);

      if (rest != NULL && *rest == '{')
        return TRUE;
    }
  return FALSE;
}

gboolean
log_lines_have_message (const char *text)
{
  for (; *text != '\0'; text++)
    {
      const char *rest = skip_head (text);

      if ((rest != NULL && *rest != '{' && *rest != '\0') || is_old_message (text))
        return TRUE;
    }
  return FALSE;
}
