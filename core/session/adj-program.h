/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot.h"
#include "call/adj-function.h"
#include "objects/adj-extensions.h"
#include "session/adj-pipeline.h"

G_BEGIN_DECLS

/* A program over tensors that `adjoint` runs, traces and compares, with the classes and operators
 * that files made from it refer to: one of data/programs, or one that a plugin exports.  A plugin
 * is a shared object with a function that takes no arguments and returns a const AdjProgram *; it
 * is named "folder/plugin.so:function". */

#define ADJ_PROGRAM_ABI 3
#define ADJ_PROGRAM_MAX_INPUTS 32

/* Its values are borrowed from the innermost scope. */
typedef struct
{
  AdjValue args[ADJ_PROGRAM_MAX_INPUTS];
  guint n_args;
  AdjTensor *leaves[ADJ_PROGRAM_MAX_INPUTS]; /* tensors that gradients are computed for; an argument
                                                that is written to is made from one */
  guint n_leaves;
} AdjProgramInputs;

typedef struct
{
  guint abi;           /* ADJ_PROGRAM_ABI */
  const char *name;    /* "mlp" */
  const char *summary; /* one line */

  /* (nullable) Writes its demonstration as text to @out.  The context is as
   * adj_context_new_with_autograd() makes it. */
  gboolean (*run) (AdjContext *cx, GString *out);

  /* (nullable) The function to trace and to compare; @result (out) (transfer full). */
  gboolean (*call) (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result);
  /* Makes example arguments of @call; @inputs is empty before. */
  gboolean (*inputs) (AdjContext *cx, AdjProgramInputs *inputs);

  /* (nullable) Classes and operators that it adds to the library's. */
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

/* Adds the classes and operators of @program; @diags: (nullable).  %FALSE with the errors of
 * adj_extensions_add_class() and adj_extensions_add_op(): ADJ_ERROR_UNSUPPORTED or ADJ_ERROR_PARSE.
 */
ADJ_PUBLIC gboolean adj_program_extend (const AdjProgram *program,
                                        AdjExtensions *extensions,
                                        AdjDiags *diags,
                                        GError **error);

/* (transfer full): the program's function; @program must outlive it. */
ADJ_PUBLIC AdjFunction *adj_program_function_new (const AdjProgram *program);

/* (transfer full): the function traced for a compiler, with its gradients or (@no_grad) as called
 * while grad mode is off.  @diags (nullable) gets warnings; writes that autograd does not see stay
 * in the graph. %NULL with ADJ_ERROR_UNSUPPORTED when the program has no function, the error of
 * making its inputs, or the errors of adj_aot_trace(). */
ADJ_PUBLIC AdjAotGraph *
adj_program_compile (const AdjProgram *program, gboolean no_grad, AdjDiags *diags, GError **error);

/* (transfer full): the function on its example inputs, functionalised but for writes to these;
 * %NULL with the errors of adj_program_compile(). */
ADJ_PUBLIC AdjGraph *adj_program_trace (const AdjProgram *program, GError **error);

/* As adj_pipeline_run(), of the function: the first stage is its joint or inference graph.  Without
 * steps the program runs too, and its captured backwards follow; these are the only stages where it
 * has no function, or where the first step is "compiled-autograd". */
ADJ_PUBLIC gboolean adj_program_record (const AdjProgram *program,
                                        const AdjPipelineOptions *options,
                                        AdjPipelineResult *result,
                                        GError **error);

typedef enum
{
  ADJ_PROGRAM_EAGER,
  ADJ_PROGRAM_TRACED,       /* its inference graph, called like the function; no gradients */
  ADJ_PROGRAM_COMPILED,     /* its joint graph, partitioned by min-cut, called like the function */
  ADJ_PROGRAM_CAPTURED,     /* its backwards by compiled autograd, in the engine's order */
  ADJ_PROGRAM_CAPTURED_2_6, /* the same in the order of PyTorch 2.6 */
  ADJ_PROGRAM_N_HOWS,
} AdjProgramHow;

/* The results of one call, as AdjTensorData; composite tensors by their parts; %NULL: undefined. */
typedef struct
{
  GPtrArray *results;     /* (owned) */
  GPtrArray *inputs;      /* (owned): the arguments after the call */
  GPtrArray *gradients;   /* (owned): of the sum of all elements of all results, by leaf */
  GPtrArray *objects;     /* (owned): AdjObject: the arguments that are objects, after the call */
  GPtrArray *accumulated; /* (owned): from the run: a leaf's gradient after each accumulation */
  char *text;             /* (owned) (nullable): from the run: its output */
  AdjDiags *diags;        /* (owned): warnings while the function was compiled */
} AdjProgramOutcome;

/* Calls the function on its example inputs.  A program is run instead when it has no function, when
 * its backwards are captured, or (@run) to be compared with such a run.  @outcome (out
 * caller-allocates): to be cleared, also on failure: %FALSE with ADJ_ERROR_* of the call, or the
 * errors of adj_program_compile(). */
ADJ_PUBLIC gboolean adj_program_evaluate (const AdjProgram *program,
                                          AdjProgramHow how,
                                          gboolean run,
                                          AdjProgramOutcome *outcome,
                                          GError **error);
ADJ_PUBLIC void adj_program_outcome_clear (AdjProgramOutcome *outcome);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (AdjProgramOutcome, adj_program_outcome_clear)

G_END_DECLS
