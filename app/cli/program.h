/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* PROGRAM[@HOW]: a program of data/programs by its name, or "folder/plugin.so:function". */
typedef struct
{
  const AdjProgram *program; /* %NULL: @text names a file */
  AdjProgramHow how;         /* @eager, @captured … */
} AdjProgramTarget;

/* %FALSE with @error when @text is a program that cannot be opened. */
gboolean adj_program_target_init (AdjProgramTarget *target, const char *text, GError **error);

AdjExit adj_program_target_run (const AdjProgramTarget *target, GError **error);
/* Both on the example inputs of @a. */
AdjExit
adj_program_target_compare (const AdjProgramTarget *a, const AdjProgramTarget *b, GError **error);

G_END_DECLS
