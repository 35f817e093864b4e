/* SPDX-License-Identifier: MIT */
/* The CPU generator: its numbers and states against PyTorch's. */

#include <string.h>

#include "call/adj-generator.h"

/* The C++ standard specifies the 10000th number of std::mt19937. */
static void
is_the_mersenne_twister (void)
{
  g_autoptr (AdjGenerator) generator = adj_generator_new (5489);
  guint32 last = 0;

  for (guint i = 0; i < 10000; i++)
    last = adj_generator_next32 (generator);
  g_assert_cmpuint (last, ==, 4123659995u);
}

static void
assert_state (const AdjGenerator *generator, const char *sha256)
{
  guint8 state[ADJ_GENERATOR_STATE_BYTES];
  g_autofree char *sum = NULL;

  adj_generator_get_state (generator, state);
  sum = g_compute_checksum_for_data (G_CHECKSUM_SHA256, state, sizeof state);
  g_assert_cmpstr (sum, ==, sha256);
}

/* Of PyTorch 2.6: torch.get_rng_state() after manual_seed (42), rand (5), randn (3). */
static void
state_is_pytorchs (void)
{
  g_autoptr (AdjGenerator) generator = adj_generator_new (42);

  assert_state (generator, "5feb54a46230d321d888e9b43cf5a57492665f199e4377408d79ee460e36679c");
  for (guint i = 0; i < 5; i++)
    adj_generator_next32 (generator);
  for (guint i = 0; i < 3; i++)
    adj_generator_next_normal (generator);
  assert_state (generator, "d072ac7231c20c209a038da8ed1bf97d2fa033ba0a5a4928d1399edc5a505954");
}

/* Of PyTorch 2.6: torch.randint (0, 2 ** 31, (3,)) after manual_seed (2 ** 63 + 5). */
static void
takes_wide_seeds (void)
{
  static const guint32 expected[] = { 953453411, 236996814, 1592283119 };
  g_autoptr (AdjGenerator) generator = adj_generator_new (5);

  adj_generator_seed (generator, (G_GUINT64_CONSTANT (1) << 63) + 5);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpuint (adj_generator_next32 (generator) % (1u << 31), ==, expected[i]);
}

/* A restored state continues where it was taken, including the cached normal number. */
static void
state_goes_on (void)
{
  g_autoptr (AdjGenerator) generator = adj_generator_new (3);
  g_autoptr (AdjGenerator) other = adj_generator_new (4);
  guint8 state[ADJ_GENERATOR_STATE_BYTES];
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 1000; i++)
    adj_generator_next32 (generator);
  adj_generator_next_normal (generator);
  adj_generator_get_state (generator, state);
  g_assert_true (adj_generator_set_state (other, state, sizeof state, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat (adj_generator_next_normal (generator), ==, adj_generator_next_normal (other));
  for (guint i = 0; i < 1000; i++)
    g_assert_cmpuint (adj_generator_next64 (generator), ==, adj_generator_next64 (other));
}

static void
assert_refused (const guint8 *state, gsize n)
{
  g_autoptr (AdjGenerator) generator = adj_generator_new (1);
  g_autoptr (AdjGenerator) same = adj_generator_new (1);
  g_autoptr (GError) error = NULL;

  g_assert_false (adj_generator_set_state (generator, state, n, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_cmpuint (adj_generator_next32 (generator), ==, adj_generator_next32 (same));
}

/* Refuses states whose counters point outside of the words, and malformed bytes. */
static void
refuses_other_bytes (void)
{
  static const struct
  {
    guint at;
    guint8 low, high;
  } bad[] = { { 8, 0, 0 },  { 8, 0x71, 2 },  { 8, 0xff, 0xff },
              { 12, 0, 0 }, { 16, 0x71, 2 }, { 20, 1, 0 } };
  g_autoptr (AdjGenerator) generator = adj_generator_new (1);
  guint8 state[ADJ_GENERATOR_STATE_BYTES];

  adj_generator_get_state (generator, state);
  assert_refused (state, sizeof state - 1);
  assert_refused (NULL, 0);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      adj_generator_get_state (generator, state);
      state[bad[i].at] = bad[i].low;
      state[bad[i].at + 1] = bad[i].high;
      assert_refused (state, sizeof state);
    }
  /* both counters are in range, but the state claims 2 remaining numbers where only one is there */
  adj_generator_get_state (generator, state);
  memcpy (state + 8, "\2\0", 2);
  memcpy (state + 16, "\x70\2", 2);
  assert_refused (state, sizeof state);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/call/generator/is-the-mersenne-twister", is_the_mersenne_twister);
  g_test_add_func ("/call/generator/state-is-pytorchs", state_is_pytorchs);
  g_test_add_func ("/call/generator/takes-wide-seeds", takes_wide_seeds);
  g_test_add_func ("/call/generator/state-goes-on", state_goes_on);
  g_test_add_func ("/call/generator/refuses-other-bytes", refuses_other_bytes);

  return g_test_run ();
}
