/* SPDX-License-Identifier: MIT */
/* The table of the programs that are built in. */

#include "programs.h"

#include <string.h>

/* ORDER PROGRAMS */
static const AdjProgram *(*const programs[]) (void) = {
  adj_program_mlp,          adj_program_hooks,
  adj_program_views,        adj_program_custom,
  adj_program_twice,        adj_program_sizes,
  adj_program_anomaly,      adj_program_checkpoint,
  adj_program_regions,      adj_program_selective,
  adj_program_dropout,      adj_program_mutation,
  adj_program_aliasing,     adj_program_duplicates,
  adj_program_bases,        adj_program_random,
  adj_program_effects,      adj_program_masked,
  adj_program_modules,      adj_program_hooked,
  adj_program_training,     adj_program_compiled_custom,
  adj_program_written_view, adj_program_two_roots,
};

guint
adj_builtin_programs_get_n (void)
{
  return G_N_ELEMENTS (programs);
}

const AdjProgram *
adj_builtin_programs_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (programs), NULL);

  return programs[index]();
}

const AdjProgram *
adj_builtin_program_find (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    if (strcmp (programs[i]()->name, name) == 0)
      return programs[i]();
  return NULL;
}
