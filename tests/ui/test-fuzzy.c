/* SPDX-License-Identifier: MIT */
/* Fuzzy matching: ranking, several words, positions of matched letters. */

#include "model/adj-fuzzy.h"
#include "support/adj-test.h"

static void
test_order (void)
{
  /* Each entry matches the word better than the next one. */
  static const char *const ranked[][6] = {
    { "zoom", "Zoom In", "Zoom out of everything", "My zoom", "gazoom", "z one of many" },
    { "mm", "mm", "mm_12", "aten mm", "addmm_3", "m x m" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (ranked); i++)
    for (guint k = 1; k + 1 < G_N_ELEMENTS (ranked[i]); k++)
      {
        g_test_message ("%s: %s, %s", ranked[i][0], ranked[i][k], ranked[i][k + 1]);
        g_assert_cmpuint (adj_fuzzy_match (ranked[i][k], ranked[i][0], NULL), >,
                          adj_fuzzy_match (ranked[i][k + 1], ranked[i][0], NULL));
      }
}

static void
test_words (void)
{
  g_assert_cmpuint (adj_fuzzy_match ("Compare with Recorded", "rec comp", NULL), >, 0);
  g_assert_cmpuint (adj_fuzzy_match ("Compare with Recorded", "  cwr ", NULL), >, 0);
  g_assert_cmpuint (adj_fuzzy_match ("Compare with Recorded", "rec zoom", NULL), ==, 0);
  g_assert_cmpuint (adj_fuzzy_match ("Compare", "comparex", NULL), ==, 0);
  g_assert_cmpuint (adj_fuzzy_match ("anything", "", NULL), ==, 1);
  g_assert_cmpuint (adj_fuzzy_match ("", "a", NULL), ==, 0);
  g_assert_cmpuint (adj_fuzzy_match ("", "", NULL), ==, 1);
}

static void
test_positions (void)
{
  g_autoptr (GArray) positions = g_array_new (FALSE, FALSE, sizeof (guint));

  adj_fuzzy_match ("add mm", "MM", positions);
  g_assert_cmpuint (positions->len, ==, 2);
  g_assert_cmpuint (g_array_index (positions, guint, 0), ==, 4);
  g_assert_cmpuint (g_array_index (positions, guint, 1), ==, 5);
  g_array_set_size (positions, 0);
  g_assert_cmpuint (adj_fuzzy_match ("add mm", "add x", positions), ==, 0);
  g_assert_cmpuint (positions->len, ==, 0);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/fuzzy/order", test_order);
  g_test_add_func ("/ui/fuzzy/words", test_words);
  g_test_add_func ("/ui/fuzzy/positions", test_positions);
  return g_test_run ();
}
