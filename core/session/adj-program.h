/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot.h"
#include "call/adj-function.h"
#include "objects/adj-extensions.h"
#include "session/adj-pipeline.h"

G_BEGIN_DECLS

/* A program over tensors that `adjoint` runs, traces and compares, and the classes and operators
 * that files made of it name: one of data/programs, or what a
 * plugin exports.  A plugin is a shared object with one function that takes nothing and returns a
 * const AdjProgram *; it is named "folder/plugin.so:function". */

#define ADJ_PROGRAM_ABI 3
#define ADJ_PROGRAM_MAX_INPUTS 32

/* Borrowed from the innermost scope. */
typedef struct
{
  AdjValue args[ADJ_PROGRAM_MAX_INPUTS];
  guint n_args;
  AdjTensor *leaves[ADJ_PROGRAM_MAX_INPUTS]; /* what gradients are asked of; an argument that is
                                                written is made of one */
  guint n_leaves;
} AdjProgramInputs;

typedef struct
{
  guint abi;           /* ADJ_PROGRAM_ABI */
  const char *name;    /* "mlp" */
  const char *summary; /* one line */

  /* (nullable) What it shows, as text in @out.  The context is as adj_context_new_with_autograd()
   * makes it. */
  gboolean (*run) (AdjContext *cx, GString *out);

  /* (nullable) A function to trace and to compare; @result (out) (transfer full). */
  gboolean (*call) (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result);
  /* Example arguments of @call; @inputs is empty before. */
  gboolean (*inputs) (AdjContext *cx, AdjProgramInputs *inputs);

  /* (nullable) What it brings beside the library's. */
  const AdjObjectClass *const *classes;
  guint n_classes;
  const AdjOp *const *operators; /* records as of adj_op_new() */
  guint n_operators;
} AdjProgram;

/**
 * adj_program_open:
 * @name: "folder/plugin.so:function"
 *
 * The plugin stays loaded as long as the process.
 *
 * Returns: (transfer none): %NULL with ADJ_ERROR_NOT_FOUND, or with ADJ_ERROR_UNSUPPORTED when it
 *   was made for another ABI
 */
ADJ_PUBLIC const AdjProgram *adj_program_open (const char *name, GError **error);

/* Adds what @program brings; @diags: (nullable).  %FALSE with the errors of
 * adj_extensions_add_class() and adj_extensions_add_op(): ADJ_ERROR_UNSUPPORTED or ADJ_ERROR_PARSE.
 */
ADJ_PUBLIC gboolean adj_program_extend (const AdjProgram *program,
                                        AdjExtensions *extensions,
                                        AdjDiags *diags,
                                        GError **error);

/* (transfer full): the program's function; @program must outlive it. */
ADJ_PUBLIC AdjFunction *adj_program_function_new (const AdjProgram *program);

/* (transfer full): what the function is to a compiler, with its gradients or (@no_grad) as
 * called while grad mode is off; @diags (nullable) gets what was warned of; writes that
 * autograd does not see stay in the graph. %NULL with ADJ_ERROR_UNSUPPORTED when it has no
 * function, the error of making its inputs, or the errors of adj_aot_trace(). */
ADJ_PUBLIC AdjAotGraph *
adj_program_compile (const AdjProgram *program, gboolean no_grad, AdjDiags *diags, GError **error);

/* (transfer full): what the function does to its example inputs, without writes but to these; %NULL
 * with the errors of adj_program_compile(). */
ADJ_PUBLIC AdjGraph *adj_program_trace (const AdjProgram *program, GError **error);

/* As adj_pipeline_run(), of the function: the first stage is its joint or inference graph.  Without
 * steps the program runs too, and what was captured of its backwards follows; these alone where it
 * has no function, or where the first step is "compiled-autograd". */
ADJ_PUBLIC gboolean adj_program_record (const AdjProgram *program,
                                        const AdjPipelineOptions *options,
                                        AdjPipelineResult *result,
                                        GError **error);

typedef enum
{
  ADJ_PROGRAM_EAGER,
  ADJ_PROGRAM_TRACED,       /* its inference graph, called as the function was; no gradients */
  ADJ_PROGRAM_COMPILED,     /* its joint graph, cut in two by min-cut, called as the function was */
  ADJ_PROGRAM_CAPTURED,     /* its backwards by compiled autograd, in the engine's order */
  ADJ_PROGRAM_CAPTURED_2_6, /* or in that of PyTorch 2.6 */
  ADJ_PROGRAM_N_HOWS,
} AdjProgramHow;

/* What one call did.  AdjTensorData; composite tensors by their parts; %NULL: undefined. */
typedef struct
{
  GPtrArray *results;     /* (owned) */
  GPtrArray *inputs;      /* (owned): what became of the arguments */
  GPtrArray *gradients;   /* (owned): of all results, by leaf; the sum of each result's elements was
                             differentiated */
  GPtrArray *objects;     /* (owned): AdjObject: what became of the arguments that are objects */
  GPtrArray *accumulated; /* (owned): of the run: the gradient of a leaf each time that it grew */
  char *text;             /* (owned) (nullable): of the run: what it printed */
  AdjDiags *diags;        /* (owned): what was warned of while the function was compiled */
} AdjProgramOutcome;

/* Calls the function on its example inputs.  Run are programs without a function, and those whose
 * backwards are captured or (@run) compared with such.  @outcome (out caller-allocates): to be
 * cleared, also on failure: %FALSE with the errors of adj_program_compile(), or that of the call.
 */
ADJ_PUBLIC gboolean adj_program_evaluate (const AdjProgram *program,
                                          AdjProgramHow how,
                                          gboolean run,
                                          AdjProgramOutcome *outcome,
                                          GError **error);
ADJ_PUBLIC void adj_program_outcome_clear (AdjProgramOutcome *outcome);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjProgramOutcome, adj_program_outcome_clear)

G_END_DECLS
