/* SPDX-License-Identifier: MIT */
/* Partition settings recorded in a capture are used as options. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "adjoint.h"

#define TEXT(t) ((AdjValue){ .kind = ADJ_VALUE_STRING, .n = strlen (t), .text = t })
#define DICT(i) ((AdjValue){ .kind = ADJ_VALUE_DICT, .n = G_N_ELEMENTS (i), .items = i })

static void
test_settings (void)
{
  AdjValue settings[] = {
    TEXT ("cse"),
    ADJ_BOOL (FALSE),
    TEXT ("ban_recompute_reductions"),
    ADJ_BOOL (TRUE),
    TEXT ("ban_recompute_used_far_apart"),
    ADJ_BOOL (FALSE),
    TEXT ("recompute_views"),
    ADJ_BOOL (TRUE),
    TEXT ("treat_parameters_as_free_to_save"),
    ADJ_BOOL (TRUE),
    TEXT ("max_dist_from_bw"),
    ADJ_INT (7),
    TEXT ("activation_memory_budget_solver"),
    TEXT ("greedy"),
    TEXT ("a setting of tomorrow"),
    ADJ_INT (1),
  };
  AdjValue members[] = { TEXT ("partitioner"), TEXT ("default"), TEXT ("activation_memory_budget"),
                         ADJ_FLOAT (0.25),     TEXT ("options"), DICT (settings) };
  AdjValue partition = DICT (members);
  AdjRegion region = { .partition = &partition };
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autofree char *text = adj_recorded_partition_read (&region, &options);

  g_assert_cmpstr (text, ==,
                   "budget 0.25, ban_recompute_used_far_apart off, cse off, recompute_views on, "
                   "treat_parameters_as_free_to_save on, max_dist_from_bw 7, solver greedy");
  g_assert_cmpstr (adj_recorded_partitioner (&region), ==, "default");
  g_assert_true (isnan (options.budget));
  g_assert_cmpfloat (options.usual_budget, ==, 0.25);
  g_assert_true (options.no_cse && options.no_far && options.recompute_views);
  g_assert_true (options.free_parameters);
  g_assert_false (options.no_reduction || options.aggressive);
  g_assert_cmpuint (options.max_distance, ==, 7);
  g_assert_cmpint (options.solver, ==, ADJ_SOLVER_GREEDY);
}

/* Ignored: a custom partitioner, a budget above 1, and a recorded budget if one is given. */
static void
test_left_alone (void)
{
  AdjValue members[] = { TEXT ("partitioner"), TEXT ("mine"), TEXT ("activation_memory_budget"),
                         ADJ_INT (2) };
  AdjValue partition = DICT (members);
  AdjRegion region = { .partition = &partition };
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  g_assert_null (adj_recorded_partition_read (&region, &options));
  g_assert_null (adj_recorded_partitioner (&region));
  g_assert_null (adj_recorded_partition_read (NULL, &options));
  g_assert_true (isnan (options.usual_budget));
  members[3] = ADJ_INT (0);
  options.budget = 1;
  g_assert_null (adj_recorded_partition_read (&region, &options));
  g_assert_true (isnan (options.usual_budget));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/session/recorded-partition/settings", test_settings);
  g_test_add_func ("/session/recorded-partition/left-alone", test_left_alone);
  return g_test_run ();
}
