/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"
#include "trace/adj-trace.h"

G_BEGIN_DECLS

/* A program over tensors that `adjoint` runs, traces and compares: one of data/programs, or what a
 * plugin exports.  A plugin is a shared object with one function that takes nothing and returns a
 * const AdjProgram *; it is named "plugin.so:function". */

#define ADJ_PROGRAM_ABI 1

typedef struct
{
  guint abi;           /* ADJ_PROGRAM_ABI */
  const char *name;    /* "mlp" */
  const char *summary; /* one line */

  /* (nullable) What it shows, as text in @out.  The context computes and records gradients. */
  gboolean (*run) (AdjContext *cx, GString *out);

  /* (nullable) A function to trace and to compare; @result (out) (transfer full). */
  gboolean (*call) (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result);
  /* Example arguments of @call: @args has room for ADJ_PROGRAM_MAX_INPUTS.  Borrowed from the
   * innermost scope. */
  gboolean (*inputs) (AdjContext *cx, AdjValue *args, guint *n_args);
} AdjProgram;

#define ADJ_PROGRAM_MAX_INPUTS 32

/**
 * adj_program_open:
 * @name: "plugin.so:function"
 *
 * The plugin stays loaded as long as the process.
 *
 * Returns: (transfer none): %NULL with ADJ_ERROR_NOT_FOUND, or with ADJ_ERROR_UNSUPPORTED when it
 *   was made for another ABI
 */
ADJ_PUBLIC const AdjProgram *adj_program_open (const char *name, GError **error);

/* (transfer full): a context that computes and records gradients. */
ADJ_PUBLIC AdjContext *adj_program_context_new (void);

/* The program's function; @program must outlive it. */
ADJ_PUBLIC AdjFunction *adj_program_function_new (const AdjProgram *program);

/* (transfer full): what the function does to its example inputs, without writes. */
ADJ_PUBLIC AdjGraph *adj_program_trace (const AdjProgram *program, GError **error);

/* Calls the function on its example inputs, as it is or as the graph that it traces to.  @result
 * (out) (transfer full): DATA for tensors. */
ADJ_PUBLIC gboolean adj_program_evaluate (const AdjProgram *program,
                                          gboolean traced,
                                          AdjValue *result,
                                          GError **error);

G_END_DECLS
