/* SPDX-License-Identifier: MIT */
/* Fuzzes schemas. */

#include "call/adj-schema-internal.h"
#include "call/adj-schema.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A parsed schema prints as text that parses and prints the same. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr (AdjArena) arena = adj_arena_new ();
  const AdjSchema *schema = adj_schema_parse (text, arena, NULL);
  const AdjSchema *back;
  g_autofree char *printed = NULL;
  g_autofree char *again = NULL;

  if (schema == NULL)
    return 0;

  printed = adj_schema_print (schema);
  back = adj_schema_parse (printed, arena, NULL);
  g_assert_nonnull (back);
  again = adj_schema_print (back);
  g_assert_cmpstr (again, ==, printed);

  return 0;
}
