/* SPDX-License-Identifier: MIT */
#pragma once

#include "programs.h"

G_BEGIN_DECLS

/* The built-in programs, in the order of programs.inc. */

#define PROGRAM(name, file) ADJ_PUBLIC const AdjProgram *adj_program_##name (void);
#include "programs.inc"
#undef PROGRAM

guint adj_builtin_programs_get_n (void);
const AdjProgram *adj_builtin_programs_get (guint index);
/* (nullable): the program with this name; %NULL: none. */
const AdjProgram *adj_builtin_program_find (const char *name);

G_END_DECLS
