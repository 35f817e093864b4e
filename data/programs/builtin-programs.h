/* SPDX-License-Identifier: MIT */
#pragma once

#include "programs.h"

G_BEGIN_DECLS

/* The programs that are built in: those of programs.inc, in that order. */

#define PROGRAM(name, file) ADJ_PUBLIC const AdjProgram *adj_program_##name (void);
#include "programs.inc"
#undef PROGRAM

guint adj_builtin_programs_get_n (void);
const AdjProgram *adj_builtin_programs_get (guint index);
/* (nullable): %NULL: there is none of that name. */
const AdjProgram *adj_builtin_program_find (const char *name);

G_END_DECLS
