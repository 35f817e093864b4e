/* SPDX-License-Identifier: MIT */

/* What stands behind the module of an exported program: its signature and the ranges of symbols.
 *
 *   Graph signature: ExportGraphSignature(input_specs=[InputSpec(kind=<InputKind.PARAMETER: 2>, …
 *   Graph signature:
 *       # inputs
 *       p_weight: PARAMETER target='net.weight'
 *   Range constraints: {s0: VR[2, 64]}
 */

#include <string.h>

#include "ir/parse-private.h"

#define MAX_LENGTH (16u << 20)
#define NAME "[\\w\\x80-\\xff]+"

/* Calls @take with the groups of each match in @text, which is UTF-8: it is matched as bytes, or
 * GRegex validates all of it before every match. */
static void
for_each_match (const char *pattern,
                const char *text,
                gsize length,
                void (*take) (const GMatchInfo *match, gpointer data),
                gpointer data)
{
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_MULTILINE | G_REGEX_RAW, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;

  if (!g_regex_match_full (regex, text, length, 0, 0, &match, NULL))
    return;
  do
    take (match, data);
  while (g_match_info_next (match, NULL));
}

static void
take_parameter (const GMatchInfo *match, gpointer data)
{
  GHashTable *metadata = data;
  g_autofree char *target = g_match_info_fetch (match, 2);
  g_autoptr (GString) text = g_string_new ("{param: ");

  adj_print_string (text, target);
  g_string_append_c (text, '}');
  g_hash_table_replace (metadata, g_match_info_fetch (match, 1), g_strdup (text->str));
}

static gboolean
is_number (const char *text)
{
  text += *text == '-';

  return *text && strspn (text, "0123456789") == strlen (text);
}

static void
take_range (const GMatchInfo *match, gpointer data)
{
  AdjSymbols *symbols = data;
  g_autofree char *name = g_match_info_fetch (match, 1);
  g_autofree char *min = g_match_info_fetch (match, 2);
  g_autofree char *max = g_match_info_fetch (match, 3);
  g_autoptr (GString) text = g_string_new ("{");

  if (is_number (min))
    g_string_append_printf (text, "min: %s, ", min);
  if (is_number (max))
    g_string_append_printf (text, "max: %s", max);
  g_string_append_c (text, '}');
  adj_symbol_metadata_parse (name, text->str, text->len, symbols);
}

void
adj_export_read (const char *text, gsize length, GHashTable *metadata, AdjSymbols *symbols)
{
  static const char head[] = "\nGraph signature:", middle[] = "\nRange constraints:";
  static const char next[] = "\nExportedProgram:";
  const char *next_program = memmem (text, length, next, strlen (next));
  const char *end = next_program ? next_program : text + length, *ranges;
  const char *start = memmem (text, end - text, head, strlen (head));

  if (!start)
    return;

  end = MIN (end, start + MAX_LENGTH);
  ranges = memmem (start, end - start, middle, strlen (middle));
  for_each_match ("InputKind\\.PARAMETER: \\d+>, arg=TensorArgument\\(name='(" NAME ")'\\), "
                  "target='([^'\\n]*)'",
                  start, (ranges ? ranges : end) - start, take_parameter, metadata);
  for_each_match ("^ +(" NAME "): PARAMETER target='([^'\\n]*)'", start,
                  (ranges ? ranges : end) - start, take_parameter, metadata);
  if (ranges)
    {
      const char *newline = memchr (ranges + 1, '\n', end - (ranges + 1));

      for_each_match ("(?<![a-z])([a-z]++\\d++): VR\\[(-?\\w+), (-?\\w+)\\]", ranges,
                      (newline ? newline : end) - ranges, take_range, symbols);
    }
}
