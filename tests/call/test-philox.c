/* SPDX-License-Identifier: MIT */
/* Philox: known answers, and numbers that a GPU draws. */

#include "support/gpu-numbers.h"

/* Known answers of Random123's kat_vectors for philox4x32 with 10 rounds. */
static void
answers_as_known (void)
{
  static const struct
  {
    guint32 counter[4], key[2], words[4];
  } known[] = {
    { { 0 }, { 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
    { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
      { 0xffffffff, 0xffffffff },
      { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
    { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
      { 0xa4093822, 0x299f31d0 },
      { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    {
      guint32 words[4];

      adj_k_philox_block (known[i].key, known[i].counter, words);
      for (guint k = 0; k < 4; k++)
        g_assert_cmphex (words[k], ==, known[i].words[k]);
    }
}

/* torch.manual_seed (0); torch.rand (10, device="cuda"), as PyTorch prints it. */
static void
draws_as_a_gpu (void)
{
  static const float expected[] = { 0.3990f, 0.5167f, 0.0249f, 0.9401f, 0.9459f,
                                    0.7967f, 0.4150f, 0.8203f, 0.2290f, 0.9096f };
  float values[G_N_ELEMENTS (expected)];

  adj_test_draw_uniform ((AdjKPhilox){ 0, 0 }, G_N_ELEMENTS (expected), values);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    g_assert_cmpfloat_with_epsilon (values[i], expected[i], 5.1e-5);
}

/* The offset formula of the kernel launch: full rounds of 4 numbers for each thread. */
static void
moves_as_the_kernel (void)
{
  const gint64 turn = ADJ_K_DRAW_THREADS * 4;
  g_autofree float *values = g_new (float, turn + 1);

  g_assert_cmpuint (adj_test_draw_uniform ((AdjKPhilox){ 0, 0 }, 1, values), ==, 4);
  g_assert_cmpuint (adj_test_draw_uniform ((AdjKPhilox){ 0, 0 }, 1025, values), ==, 4);
  g_assert_cmpuint (adj_test_draw_uniform ((AdjKPhilox){ 0, 0 }, turn, values), ==, 4);
  g_assert_cmpuint (adj_test_draw_uniform ((AdjKPhilox){ 0, 0 }, turn + 1, values), ==, 8);
}

/* Whole blocks of 256 threads, limited by the number of elements and by the device; at least
 * one. */
static void
starts_whole_blocks (void)
{
  g_assert_cmpint (adj_k_draw_threads (1, ADJ_K_DRAW_THREADS), ==, 256);
  g_assert_cmpint (adj_k_draw_threads (257, ADJ_K_DRAW_THREADS), ==, 512);
  g_assert_cmpint (adj_k_draw_threads (10000, 1000), ==, 768);
  g_assert_cmpint (adj_k_draw_threads (10000, 100), ==, 256);
}

/* Drawing in two parts differs from drawing at once, but the same offset gives the same numbers. */
static void
repeats (void)
{
  float a[5], b[5];

  adj_test_draw_uniform ((AdjKPhilox){ 7, 8 }, 5, a);
  adj_test_draw_uniform ((AdjKPhilox){ 7, 8 }, 5, b);
  g_assert_cmpmem (a, sizeof a, b, sizeof b);
  adj_test_draw_uniform ((AdjKPhilox){ 7, 12 }, 5, b);
  for (guint i = 0; i < 5; i++)
    g_assert_true (a[i] < b[i] || a[i] > b[i]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/call/philox/answers-as-known", answers_as_known);
  g_test_add_func ("/call/philox/draws-as-a-gpu", draws_as_a_gpu);
  g_test_add_func ("/call/philox/moves-as-the-kernel", moves_as_the_kernel);
  g_test_add_func ("/call/philox/starts-whole-blocks", starts_whole_blocks);
  g_test_add_func ("/call/philox/repeats", repeats);
  return g_test_run ();
}
