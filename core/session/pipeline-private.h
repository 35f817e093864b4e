/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/adj-compiled-autograd.h"
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

/* Whether @steps (nullable) begin with the capture of backwards. */
gboolean captures_are_asked_for (const char *steps);
/* %FALSE: the order that the steps name is unknown. */
gboolean captures_check_steps (const AdjPipelineOptions *options, GError **error);

/* Runs @what as @release (nullable) does, while @compiled captures its backwards. */
typedef gboolean (*CapturesRun) (gconstpointer what,
                                 const char *release,
                                 AdjCompiledAutograd *compiled,
                                 GError **error);

/* A const AdjProgram *. */
gboolean captures_run_program (gconstpointer program,
                               const char *release,
                               AdjCompiledAutograd *compiled,
                               GError **error);
/* For an AdjGraph *, a forward graph: runs it, and a backward from all of its results
 * (forward-captures.c). */
gboolean captures_run_graph (gconstpointer graph,
                             const char *release,
                             AdjCompiledAutograd *compiled,
                             GError **error);

/* Captures the backwards that run while @run runs @what, and adds them to @result, which has its
 * recording. */
gboolean captures_add (CapturesRun run,
                       gconstpointer what,
                       const AdjPipelineOptions *options,
                       AdjPipelineResult *result,
                       GError **error);

/* Adds @text to @diags, an AdjDiags or %NULL, once. */
void pipeline_warn (const char *text, gpointer diags);

G_END_DECLS
