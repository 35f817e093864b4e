/* SPDX-License-Identifier: MIT */

/* Fuzzes sizes and annotations, one per line, in one symbol table: each is refused with a
 * reason, or prints as text that reads back the same. */

#include "tensor/adj-shape.h"

int LLVMFuzzerTestOneInput (const guint8 *bytes, gsize length);

static void
check_size (AdjSymbols *symbols, const char *text, gsize length)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) printed = NULL;
  g_autoptr (GString) computed = NULL;
  AdjSize size;
  AdjSize again;
  AdjSize other;

  if (!adj_size_parse (symbols, text, (gssize) length, &size, &error))
    {
      g_assert_nonnull (error);
      return;
    }
  printed = g_string_new (NULL);
  adj_size_print (symbols, size, printed);
  g_assert_true (adj_size_parse (symbols, printed->str, -1, &again, NULL));
  g_assert_true (adj_size_same (size, again));

  other = adj_size_floordiv (symbols, adj_size_mul (symbols, size, size), ADJ_SIZE (3));
  computed = g_string_new (NULL);
  adj_size_print (symbols, other, computed);
  adj_size_test (symbols, ADJ_SIZE_LT, size, other);
}

static void
check_annotation (AdjSymbols *symbols, const char *text, gsize length)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) printed = NULL;
  AdjTensorMeta meta;
  AdjTensorMeta again;
  AdjShape flat;
  AdjSize whole = ADJ_SIZE (-1);

  if (!adj_tensor_meta_parse (text, (gssize) length, symbols, &meta, &error))
    {
      g_assert_nonnull (error);
      return;
    }
  printed = g_string_new (NULL);
  adj_tensor_meta_print (&meta, symbols, printed);
  g_assert_true (adj_tensor_meta_parse (printed->str, -1, symbols, &again, NULL));
  g_assert_true (adj_tensor_meta_equal (&meta, &again));

  adj_shape_span (&meta.shape, symbols);
  adj_shape_is_dense (&meta.shape, symbols);
  adj_shape_suggest_format (&meta.shape, symbols);
  adj_shape_view (&meta.shape, symbols, &whole, 1, &flat, NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *bytes, gsize length)
{
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  const char *text = (const char *) bytes;
  gsize start = 0;

  for (gsize i = 0; i <= length; i++)
    if (i == length || text[i] == '\n')
      {
        check_size (symbols, text + start, i - start);
        check_annotation (symbols, text + start, i - start);
        start = i + 1;
      }
  return 0;
}
