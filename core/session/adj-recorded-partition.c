/* SPDX-License-Identifier: MIT */
/* Reads the partitioner's options that a file records under PyTorch's names. */

#include "session/adj-recorded-partition.h"

#include <math.h>
#include <string.h>

#include "ir/adj-value-internal.h"

/* Switches of torch._functorch.config; @off: our option is the negation. */
static const struct
{
  const char *name;
  gsize offset;
  gboolean off;
} switches[] = {
  { "aggressive_recomputation", offsetof (AdjPartitionOptions, aggressive), FALSE },
  { "ban_recompute_long_fusible_chains", offsetof (AdjPartitionOptions, no_long), TRUE },
  { "ban_recompute_materialized_backward", offsetof (AdjPartitionOptions, no_materialized), TRUE },
  { "ban_recompute_not_in_allowlist", offsetof (AdjPartitionOptions, no_allowlist), TRUE },
  { "ban_recompute_reductions", offsetof (AdjPartitionOptions, no_reduction), TRUE },
  { "ban_recompute_used_far_apart", offsetof (AdjPartitionOptions, no_far), TRUE },
  { "cse", offsetof (AdjPartitionOptions, no_cse), TRUE },
  { "recompute_views", offsetof (AdjPartitionOptions, recompute_views), FALSE },
  { "treat_parameters_as_free_to_save", offsetof (AdjPartitionOptions, free_parameters), FALSE },
};

static const struct
{
  const char *name;
  AdjBudgetSolver solver;
} solvers[] = {
  { "dp", ADJ_SOLVER_DP },
  { "greedy", ADJ_SOLVER_GREEDY },
  { "ilp", ADJ_SOLVER_EXACT },
};

static void say (GString *text, const char *format, ...) G_GNUC_PRINTF (2, 3);

static void
say (GString *text, const char *format, ...)
{
  va_list args;

  if (text->len > 0)
    g_string_append (text, ", ");
  va_start (args, format);
  g_string_append_vprintf (text, format, args);
  va_end (args);
}

/* PyTorch accepts any number; above 1 means 1. */
static void
read_budget (const AdjValue *value, AdjPartitionOptions *options, GString *text)
{
  double budget = 1;

  if (value != NULL && value->kind == ADJ_VALUE_FLOAT)
    budget = value->number;
  else if (value != NULL && value->kind == ADJ_VALUE_INT)
    budget = (double) value->integer;
  if (!(budget >= 0 && budget < 1) || !isnan (options->budget))
    return;
  options->usual_budget = budget;
  say (text, "budget %g", budget);
}

static void
read_switches (const AdjValue *dict, AdjPartitionOptions *options, GString *text)
{
  for (guint i = 0; i < G_N_ELEMENTS (switches); i++)
    {
      const AdjValue *value = adj_value_find_member (dict, switches[i].name);

      if (value == NULL || value->kind != ADJ_VALUE_BOOL || value->boolean != !switches[i].off)
        continue;
      G_STRUCT_MEMBER (gboolean, options, switches[i].offset) = TRUE;
      say (text, "%s %s", switches[i].name, switches[i].off ? "off" : "on");
    }
}

static void
read_numbers (const AdjValue *dict, AdjPartitionOptions *options, GString *text)
{
  const AdjValue *distance = adj_value_find_member (dict, "max_dist_from_bw");
  const AdjValue *solver = adj_value_find_member (dict, "activation_memory_budget_solver");

  if (distance != NULL && distance->kind == ADJ_VALUE_INT && distance->integer > 0 &&
      distance->integer < 1000)
    {
      options->max_distance = (guint) distance->integer;
      say (text, "max_dist_from_bw %u", options->max_distance);
    }
  for (guint i = 1;
       solver != NULL && solver->kind == ADJ_VALUE_STRING && i < G_N_ELEMENTS (solvers); i++)
    if (g_str_equal (solver->text, solvers[i].name))
      {
        options->solver = solvers[i].solver;
        say (text, "solver %s", solvers[i].name);
      }
}

char *
adj_recorded_partition_read (const AdjRegion *region, AdjPartitionOptions *options)
{
  const AdjValue *partition = region != NULL ? region->partition : NULL;
  const AdjValue *settings = adj_value_find_member (partition, "options");
  g_autoptr (GString) text = g_string_new (NULL);

  read_budget (adj_value_find_member (partition, "activation_memory_budget"), options, text);
  read_switches (settings, options, text);
  read_numbers (settings, options, text);
  return text->len > 0 ? g_string_free (g_steal_pointer (&text), FALSE) : NULL;
}

const char *
adj_recorded_partitioner (const AdjRegion *region)
{
  const AdjValue *name =
      adj_value_find_member (region != NULL ? region->partition : NULL, "partitioner");
  const AdjPartitioner *ours = name != NULL && name->kind == ADJ_VALUE_STRING
                                   ? adj_partitioner_find (name->text, NULL)
                                   : NULL;

  return ours != NULL ? ours->name : NULL;
}
