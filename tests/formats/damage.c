/* SPDX-License-Identifier: MIT */
/* Calls a function with each damaged version of some bytes. */

#include "damage.h"

#define N_CUTS 37
#define N_FLIPS 2000

void
damage_each (GBytes *bytes, void (*read) (GBytes *damaged, gpointer data), gpointer data)
{
  g_autoptr (GRand) random = g_rand_new_with_seed (20260101);
  gsize length;
  const guint8 *whole = g_bytes_get_data (bytes, &length);

  for (guint i = 0; i < N_CUTS; i++)
    {
      /* An allocation of its own, so that reading past its end is detected. */
      g_autoptr (GBytes) cut = g_bytes_new (whole, length * i / N_CUTS);

      read (cut, data);
    }
  for (guint i = 0; i < N_FLIPS; i++)
    {
      guint8 *copy = g_memdup2 (whole, length);
      g_autoptr (GBytes) flipped = g_bytes_new_take (copy, length);

      copy[g_rand_int_range (random, 0, length)] ^= 1 << g_rand_int_range (random, 0, 8);
      read (flipped, data);
    }
}
