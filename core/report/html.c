/* SPDX-License-Identifier: MIT */
/* Writes HTML: escaped text and tables. */

#include <string.h>

#include "report/report-private.h"

/* Replaces characters that HTML cannot represent. */
#define REPLACEMENT 0xFFFD

static gboolean
is_allowed (gunichar c)
{
  return c == '\n' || c == '\t' ||
         (c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && (c & 0xfffe) != 0xfffe &&
          !(c >= 0xfdd0 && c <= 0xfdef));
}

void
html_text (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  for (const char *at = valid; *at != '\0'; at = g_utf8_next_char (at))
    {
      gunichar c = g_utf8_get_char (at);

      switch (c)
        {
        case '<':
          g_string_append (out, "&lt;");
          break;
        case '>':
          g_string_append (out, "&gt;");
          break;
        case '&':
          g_string_append (out, "&amp;");
          break;
        case '"':
          g_string_append (out, "&quot;");
          break;
        case '\'':
          g_string_append (out, "&#39;");
          break;
        default:
          g_string_append_unichar (out, is_allowed (c) ? c : REPLACEMENT);
        }
    }
}

static void
element (GString *out, const char *open, const char *text, const char *close)
{
  g_string_append (out, open);
  html_text (out, text);
  g_string_append (out, close);
}

void
html_code (GString *out, const char *text)
{
  element (out, "<code>", text, "</code>");
}

void
html_cell (GString *out, const char *text)
{
  element (out, "<td>", text, "</td>");
}

void
html_number (GString *out, const char *text)
{
  element (out, "<td class=\"n\">", text, "</td>");
}

void
html_name (GString *out, const char *text)
{
  element (out, "<th scope=\"row\"><code>", text, "</code></th>");
}

void
html_open_table (GString *out, const char *caption, const char *const *columns)
{
  g_string_append (out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
  html_text (out, caption);
  element (out, "\">\n<table>\n<caption>", caption, "</caption>\n<thead><tr>");
  for (guint i = 0; columns[i] != NULL; i++)
    if (*columns[i] == '#')
      element (out, "<th scope=\"col\" class=\"n\">", columns[i] + 1, "</th>");
    else
      element (out, "<th scope=\"col\">", columns[i], "</th>");
  g_string_append (out, "</tr></thead>\n<tbody>\n");
}

void
html_close_table (GString *out)
{
  g_string_append (out, "</tbody>\n</table>\n</div>\n");
}
