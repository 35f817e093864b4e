/* SPDX-License-Identifier: MIT */
/* The arena: alignment, growth, interning. */

#include <string.h>

#include "base/adj-arena.h"

static void
test_zeroed_and_aligned (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();

  for (gsize n = 0; n < 3000; n += 7)
    {
      guint8 *at = adj_arena_alloc (arena, n);

      g_assert_cmpuint ((guintptr) at % 16, ==, 0);
      for (gsize i = 0; i < n; i++)
        g_assert_cmpuint (at[i], ==, 0);
      memset (at, 0xff, n);
    }
}

/* Earlier allocations stay valid when the arena grows. */
static void
test_lives_on (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  guint *numbers[2000];

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      numbers[i] = adj_arena_new0 (arena, guint, 1 + i % 50);
      numbers[i][i % 50] = i;
      if (i % 300 == 0)
        adj_arena_alloc (arena, 100000);
    }
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    g_assert_cmpuint (numbers[i][i % 50], ==, i);
}

static void
test_size (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();

  g_assert_cmpuint (adj_arena_get_size (arena), ==, 0);
  adj_arena_alloc (arena, 3);
  adj_arena_alloc (arena, 100000);
  g_assert_cmpuint (adj_arena_get_size (arena), ==, 100003);
}

static void
test_copies (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  char text[] = "abcdef";
  char *all = adj_arena_strdup (arena, text);
  char *some = adj_arena_strndup (arena, text + 1, 2);
  char *bytes = adj_arena_memdup (arena, text, 3);

  memset (text, 'x', 6);
  g_assert_cmpstr (all, ==, "abcdef");
  g_assert_cmpstr (some, ==, "bc");
  g_assert_cmpmem (bytes, 3, "abc", 3);
  g_assert_null (adj_arena_strdup (arena, NULL));
}

static void
test_intern (void)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  char text[] = "relu";
  const char *first = adj_arena_intern (arena, text);

  text[0] = 'x';
  g_assert_cmpstr (first, ==, "relu");
  g_assert_true (adj_arena_intern (arena, "relu") == first);
  g_assert_true (adj_arena_intern (arena, "xelu") != first);
}

static void
test_overflow_aborts (void)
{
  if (g_test_subprocess ())
    {
      g_autoptr (AdjArena) arena = adj_arena_new ();

      adj_arena_new0 (arena, gint64, G_MAXSIZE / 4);
      return;
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_failed ();
  g_test_trap_assert_stderr ("*cannot allocate*");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/arena/zeroed-and-aligned", test_zeroed_and_aligned);
  g_test_add_func ("/base/arena/lives-on", test_lives_on);
  g_test_add_func ("/base/arena/size", test_size);
  g_test_add_func ("/base/arena/copies", test_copies);
  g_test_add_func ("/base/arena/intern", test_intern);
  g_test_add_func ("/base/arena/overflow-aborts", test_overflow_aborts);
  return g_test_run ();
}
