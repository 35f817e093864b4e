/* SPDX-License-Identifier: MIT */
#pragma once

#include "session/adj-program.h"

G_BEGIN_DECLS

/* Runs the steps of @list on the last stage of @result.  %FALSE: they cannot be read. */
gboolean pipeline_go_on (const char *list,
                         const AdjPipelineOptions *options,
                         AdjPipelineResult *result,
                         GError **error);

/* Whether @program has a function to trace. */
gboolean program_check_function (const AdjProgram *program, GError **error);
/* %FALSE: the context is in error. */
gboolean program_take_inputs (const AdjProgram *program, AdjContext *cx, AdjProgramInputs *inputs);

/* Whether @steps (nullable) begin with the capture of a program's backwards. */
gboolean captures_are_asked_for (const char *steps);
/* Runs @program and adds what was captured of its backwards to @result, whose recording there is.
 */
gboolean captures_add (const AdjProgram *program,
                       const AdjPipelineOptions *options,
                       AdjPipelineResult *result,
                       GError **error);

G_END_DECLS
