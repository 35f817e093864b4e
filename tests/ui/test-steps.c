/* SPDX-License-Identifier: MIT */

/* A switch of stage does not move the common cards: neighbouring stages share a layout unless
 * that makes one of them much larger. */

#include <string.h>

#include "steps.h"
#include "support/layout-metrics.h"

#define MUCH_LARGER 1.35f

typedef struct
{
  guint n, n_still; /* number of cards of all steps */
  guint n_steps;
  GHashTable *alone; /* name of a step → AdjLayoutMetrics of its separate layout */
} Tally;

static void
check_partition (const AdjTestStep *step, const AdjTestDrift *drift)
{
  if (strcmp (step->before->role, "joint") != 0 || strcmp (step->after->role, ADJ_PAIR_ROLE) != 0)
    return;
  g_test_message ("%s: %u of %u", step->name, drift->n_still, drift->n);
  g_assert_cmpfloat (drift->median_x, ==, 0);
  g_assert_cmpfloat (drift->median_y, ==, 0);
}

static void
measure_alone (const AdjTestStep *step, gpointer data)
{
  Tally *tally = data;
  AdjLayoutMetrics metrics = adj_layout_metrics_take (step->scene_after, step->after->graph);

  g_hash_table_insert (tally->alone, g_strdup (step->name), g_memdup2 (&metrics, sizeof metrics));
}

static void
check_step (const AdjTestStep *step, gpointer data)
{
  Tally *tally = data;
  AdjTestDrift drift = adj_test_step_drift (step);
  AdjRect bounds = adj_scene_get_bounds (step->scene_after);
  AdjLayoutMetrics metrics = adj_layout_metrics_take (step->scene_after, step->after->graph);
  const AdjLayoutMetrics *was = g_hash_table_lookup (tally->alone, step->name);

  tally->n += drift.n;
  tally->n_still += drift.n_still;
  tally->n_steps++;
  check_partition (step, &drift);
  if (metrics.n_empty > 0 || metrics.n_outside > was->n_outside)
    g_error ("%s: %u frames are empty, %u cards stand outside, the first is %s", step->name,
             metrics.n_empty, metrics.n_outside, metrics.outside);
  if (bounds.height > MUCH_LARGER * was->height)
    g_error ("%s: %.0f high, alone %.0f", step->name, (double) bounds.height, (double) was->height);
}

/* Three quarters of all cards do not move; with separate layouts one third. */
static void
test_stays (void)
{
  Tally tally = { 0 };

  tally.alone = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  adj_test_each_step (FALSE, measure_alone, &tally);
  adj_test_each_step (TRUE, check_step, &tally);
  g_test_message ("%u of %u cards stay in %u steps", tally.n_still, tally.n, tally.n_steps);
  g_assert_cmpuint (tally.n_steps, >, 100);
  g_assert_cmpuint (4 * tally.n_still, >=, 3 * tally.n);
  g_hash_table_unref (tally.alone);
}

int
main (int argc, char **argv)
{
  /* Graphviz's result depends on the time it gets, so it is not used here. */
  g_setenv ("ADJ_LAYOUT_HELPER", "/nonexistent", TRUE);
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/steps/stays", test_stays);
  return g_test_run ();
}
