/* SPDX-License-Identifier: MIT */

/* Fuzzes JSON: a parsed value prints as text that parses and prints the same. */

#include "formats/json-private.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (GError) error = NULL;
  const JsonItem *item = json_parse (arena, "fuzz", (const char *) data, size, &error);
  g_autoptr (GString) printed = g_string_new (NULL);
  g_autoptr (GString) again = g_string_new (NULL);

  g_assert_true ((item == NULL) == (error != NULL));
  if (item == NULL)
    return 0;
  json_print (item, printed);
  item = json_parse (arena, "printed", printed->str, printed->len, &error);
  g_assert_no_error (error);
  json_print (item, again);
  g_assert_cmpstr (again->str, ==, printed->str);
  return 0;
}
