/* SPDX-License-Identifier: MIT */
/* Measures and cuts text by a table of widths, so that pictures are the same on every machine. */

#include "scene/adj-font.h"

#include <string.h>

#define FIRST ' '
#define N_ASCII 95
#define FALLBACK 650 /* width of characters that are not in the table */
#define WIDE 1000

static const guint16 ascii[][N_ASCII] = {
#define ASCII(font, ...) [font] = { __VA_ARGS__ },
#define OTHER(font, character, width)
#include "scene/font-metrics.inc"
#undef ASCII
#undef OTHER
};

static const struct
{
  AdjFont font;
  gunichar character;
  guint width;
} others[] = {
#define ASCII(font, ...)
#define OTHER(font, character, width) { font, character, width },
#include "scene/font-metrics.inc"
#undef ASCII
#undef OTHER
};

static guint
width_of (AdjFont font, gunichar character)
{
  if (character >= FIRST && character < FIRST + N_ASCII)
    return ascii[font][character - FIRST];
  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (others[i].font == font && others[i].character == character)
      return others[i].width;
  if (g_unichar_iszerowidth (character))
    return 0;
  return g_unichar_iswide (character) ? WIDE : FALLBACK;
}

static guint
measure (AdjFont font, const char *text, const char *end)
{
  guint width = 0;

  for (const char *p = text; p < end; p = g_utf8_next_char (p))
    width += width_of (font, g_utf8_get_char (p));
  return width;
}

float
adj_font_measure (AdjFont font, float size, const char *text)
{
  return (float) measure (font, text, text + strlen (text)) * size / 1000;
}

char *
adj_font_ellipsize (AdjFont font, float size, const char *text, float width)
{
  const char *end = text + strlen (text);
  const char *head = text, *tail = end;
  guint room = (guint) (MAX (width, 0) * 1000 / size);
  guint used = width_of (font, 0x2026);

  if (measure (font, text, end) <= room)
    return g_strdup (text);

  /* Takes two characters of the head for each of the tail: the head matters more, and numbers stand
   * at the end. */
  for (guint turn = 0; head < tail; turn++)
    {
      const char *last = g_utf8_prev_char (tail);
      gboolean from_tail = turn % 3 == 2;

      used += width_of (font, g_utf8_get_char (from_tail ? last : head));
      if (used > room)
        break;
      if (from_tail)
        tail = last;
      else
        head = g_utf8_next_char (head);
    }
  return g_strdup_printf ("%.*s…%s", (int) (head - text), text, tail);
}
