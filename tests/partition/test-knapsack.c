/* SPDX-License-Identifier: MIT */
/* G26 of partition/SPEC.md §8 (values of PyTorch's tests), and the solvers against exhaustive
 * search. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "partition/knapsack.h"

#define MAX_ITEMS 12

typedef struct
{
  guint n;
  double memory[5], value[5], capacity, reached;
  const char *kept; /* '1' for each item that is kept */
} Row;

static const Row rows[] = {
  { 5, { 2, 3, 2, 4, 1 }, { 1, 2, 1, 3, 2 }, 5, 5, "00011" },
  { 3, { 1, 1, 1 }, { 1, 2, 3 }, 3, 6, "111" },
  { 3, { 10, 20, 30 }, { 1, 2, 3 }, 5, 0, "000" },
  { 3, { 1, 2, 3 }, { 10, 20, 30 }, 1, 10, "100" },
  { 3, { 1, 1, 1 }, { 2, 2, 2 }, 2, 4, "110" },
  { 3, { 0, 2, 3 }, { 5, 2, 3 }, 5, 10, "111" },
  { 3, { 1, 2, 3 }, { 0, 2, 3 }, 3, 3, "001" },
  { 3, { 100, 200, 300 }, { 1000, 2000, 3000 }, 500, 5000, "011" },
  { 3, { 0.5, 1.5, 2 }, { 1, 2, 3 }, 2, 3, "110" },
  { 0, { 0 }, { 0 }, 10, 0, "" },
  { 3, { 1, 2, 3 }, { 1, 2, 3 }, 0, 0, "000" },
  { 3, { 0, 0, 0 }, { 1, 2, 3 }, 0, 6, "111" },
  { 3, { 1, 2, 3 }, { 0, 0, 0 }, 6, 0, "000" },
};

/* The table counts in ten-thousandths up to ten units, so larger rows are scaled down. */
static guint
fill (const Row *row, AdjKnapsackItem *items, double *capacity)
{
  double scale = row->capacity > 10 ? 1.0 / row->capacity : 1;

  for (guint i = 0; i < row->n; i++)
    items[i] = (AdjKnapsackItem){ row->memory[i] * scale, row->value[i] };
  *capacity = row->capacity * scale;
  return row->n;
}

static void
test_g26 (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      AdjKnapsackItem items[MAX_ITEMS];
      guint8 keep[MAX_ITEMS] = { 0 };
      double capacity;
      guint n = fill (&rows[r], items, &capacity);

      g_assert_cmpfloat (adj_knapsack_dp (items, n, capacity, keep), ==, rows[r].reached);
      for (guint i = 0; i < n; i++)
        g_assert_cmpint (keep[i], ==, rows[r].kept[i] - '0');
      g_assert_cmpfloat (adj_knapsack_exact (items, n, capacity, keep), ==, rows[r].reached);
    }
}

static double
best_of_all (const AdjKnapsackItem *items, guint n, double capacity)
{
  double best = 0;

  for (guint set = 0; set < 1u << n; set++)
    {
      double memory = 0, value = 0;

      for (guint i = 0; i < n; i++)
        if ((set >> i & 1) != 0)
          {
            memory += items[i].memory;
            value += items[i].value;
          }
      if (memory <= capacity)
        best = MAX (best, value);
    }
  return best;
}

static void
check_fits (
    const AdjKnapsackItem *items, guint n, double capacity, const guint8 *keep, double value)
{
  double memory = 0, sum = 0;

  for (guint i = 0; i < n; i++)
    if (keep[i])
      {
        memory += items[i].memory;
        sum += items[i].value;
      }
  g_assert_cmpfloat (memory, <=, capacity);
  g_assert_cmpfloat (sum, ==, value);
}

/* Memory in multiples of 1/1024 and integer values, so that nothing is rounded. */
static void
test_against_all (void)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);

  for (guint round = 0; round < 500; round++)
    {
      AdjKnapsackItem items[MAX_ITEMS];
      guint8 keep[MAX_ITEMS];
      guint n = (guint) g_rand_int_range (rand, 0, MAX_ITEMS + 1);
      double capacity = g_rand_int_range (rand, 0, 1025) / 1024.0, best, value;

      for (guint i = 0; i < n; i++)
        {
          items[i].memory = g_rand_int_range (rand, 0, 512) / 1024.0;
          items[i].value = g_rand_int_range (rand, 0, 100);
        }
      best = best_of_all (items, n, capacity);
      value = adj_knapsack_exact (items, n, capacity, keep);
      g_assert_cmpfloat (value, ==, best);
      check_fits (items, n, capacity, keep, value);
      value = adj_knapsack_greedy (items, n, capacity, keep);
      g_assert_cmpfloat (value, <=, best);
      check_fits (items, n, capacity, keep, value);
    }
}

/* The loss of each inexact solver: PyTorch's table rounds memory to ten-thousandths, the greedy
 * solver considers one item at a time. */
static void
test_differences (void)
{
  static const struct
  {
    const char *name;
    AdjKnapsackSolver solve;
  } solvers[] = { { "dp", adj_knapsack_dp }, { "greedy", adj_knapsack_greedy } };
  const guint n_rounds = 400;
  g_autoptr (GRand) rand = g_rand_new_with_seed (6);
  guint n_less[2] = { 0 }, n_over[2] = { 0 };
  double lost[2] = { 0 }, worst[2] = { 0 };

  for (guint round = 0; round < n_rounds; round++)
    {
      AdjKnapsackItem items[40];
      guint8 keep[40];
      guint n = (guint) g_rand_int_range (rand, 5, 41);
      double capacity = g_rand_double_range (rand, 0.1, 0.9), best;

      for (guint i = 0; i < n; i++)
        items[i] = (AdjKnapsackItem){ g_rand_double_range (rand, 0, 3.0 / n),
                                      (double) g_rand_int_range (rand, 1, 1000) };
      best = adj_knapsack_exact (items, n, capacity, keep);
      for (guint s = 0; s < G_N_ELEMENTS (solvers); s++)
        {
          double value = solvers[s].solve (items, n, capacity, keep), memory = 0, gap;

          for (guint i = 0; i < n; i++)
            memory += keep[i] ? items[i].memory : 0;
          n_over[s] += memory > capacity;
          gap = (best - value) / best;
          n_less[s] += gap > 1e-6;
          lost[s] += MAX (gap, 0) / n_rounds;
          worst[s] = MAX (worst[s], gap);
          /* Rounding can make it exceed the capacity by half a step for each item. */
          g_assert_cmpfloat (memory, <=, capacity + (s == 0 ? 0.00005 * (n + 1) : 0));
          if (memory <= capacity)
            g_assert_cmpfloat (value, <=, best + 1e-3);
        }
    }
  for (guint s = 0; s < G_N_ELEMENTS (solvers); s++)
    g_test_message ("%s against exact, %u rounds of 5 to 40 items: less in %u, %.3g%% lost on "
                    "average, %.3g%% at worst; over the capacity in %u",
                    solvers[s].name, n_rounds, n_less[s], 100 * lost[s], 100 * worst[s], n_over[s]);
  g_assert_cmpuint (n_less[1], >, 0);
}

/* In f32 a matrix product absorbs the value of an addition; the exact solver distinguishes them. */
static void
test_small_beside_large (void)
{
  const AdjKnapsackItem items[] = { { 0.5, 1e11 }, { 0.1, 1 } };
  guint8 keep[2];

  adj_knapsack_dp (items, 2, 1, keep);
  g_assert_true (keep[0] && !keep[1]);
  adj_knapsack_exact (items, 2, 1, keep);
  g_assert_true (keep[0] && keep[1]);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/knapsack/G26-I32", test_g26);
  g_test_add_func ("/partition/knapsack/against-trying-all", test_against_all);
  g_test_add_func ("/partition/knapsack/differences", test_differences);
  g_test_add_func ("/partition/knapsack/small-beside-large", test_small_beside_large);
  return g_test_run ();
}
