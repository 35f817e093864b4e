/* SPDX-License-Identifier: MIT */
/* The table of the built-in programs. */

#include "builtin-programs.h"

#include <string.h>

static const AdjProgram *(*const programs[]) (void) = {
#define PROGRAM(name, file) adj_program_##name,
#include "programs.inc"
#undef PROGRAM
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
