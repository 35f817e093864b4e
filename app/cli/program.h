/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* PROGRAM[@HOW]: a program of data/programs by its name, or "folder/plugin.so:function". */
typedef struct
{
  const AdjProgram *program; /* %NULL: the text names a file */
  AdjProgramHow how;         /* @eager, @captured … */
} AdjProgramTarget;

/* %FALSE with @error when @text is a program that cannot be opened. */
gboolean adj_program_target_init (AdjProgramTarget *target, const char *text, GError **error);

/* An option that is only for graphs of files. */
typedef struct
{
  const char *name; /* "--inputs" */
  gboolean given;
} AdjFileOption;

/* %FALSE with ADJ_ERROR_UNSUPPORTED when @target is a program and one of @options is given. */
gboolean adj_program_target_refuse (const AdjProgramTarget *target,
                                    const AdjFileOption *options,
                                    guint n,
                                    GError **error);

/* Whether the backwards of the program are captured. */
gboolean adj_program_how_is_captured (AdjProgramHow how);

/* Prints the output of the program or, if it is traced, its graph; @json: as "text". */
AdjExit adj_program_target_run (const AdjProgramTarget *target, gboolean json, GError **error);
/* Runs both on the example inputs of @a. */
AdjExit adj_program_target_compare (const AdjProgramTarget *a,
                                    const AdjProgramTarget *b,
                                    gboolean json,
                                    GError **error);

G_END_DECLS
