/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"

G_BEGIN_DECLS

/* Random programs over tensors, represented as data: views, multi-output views, in-place writes,
 * also through views, out=, branches on sizes, no-grad sections, hooks.  A seed determines the
 * program. Values are small integers, so that sums do not depend on the order; all statements
 * run eagerly without an error. */
typedef struct _Program Program;

typedef enum
{
  PROGRAM_GRADIENTS = 1 << 0,      /* inputs that require a gradient */
  PROGRAM_ALIASED_INPUTS = 1 << 1, /* some inputs are the same tensor, or views of one */
  PROGRAM_GRAD_MODE = 1 << 2,      /* no-grad sections */
  PROGRAM_HOOKS = 1 << 3,          /* hooks that double the gradient of a tensor */
} ProgramFlags;

Program *program_new (guint32 seed, ProgramFlags flags);
Program *program_copy (const Program *program);
void program_free (Program *program);

guint program_get_n_inputs (const Program *program);
/* @inputs: (transfer full): each has its own storage unless it aliases another.  @leaves
 * (nullable) (transfer full): for each input the leaf of its gradient, which is itself or the
 * tensor it was copied from, or %NULL if it requires none.  For gradients @cx needs an autograd
 * mode. */
gboolean program_make_inputs (const Program *program,
                              AdjContext *cx,
                              AdjTensor **inputs,
                              AdjTensor **leaves);
/* (transfer full): a function that returns a TUPLE of outputs and does not depend on @program. */
AdjFunction *program_function_new (const Program *program);

/* Appends "v2 = add.Tensor(v0, v1)", a line for each statement. */
void program_print (const Program *program, GString *out);

/* A property of every program; when it does not hold, @why gets the reason. */
typedef gboolean (*ProgramCheck) (const Program *program, GString *why);

/* Checks the programs of seeds 0 to @n, or those in ADJ_TEST_PROGRAMS: "10000" of them, or
 * "10000-30000". Logs each failing program after dropping statements as long as it still fails,
 * and fails the test. */
void program_check_all (guint n, ProgramFlags flags, ProgramCheck check);

/* Whether sizes, dtype and bits are equal; else @why says how @what differs. */
gboolean
program_same_values (AdjContext *cx, AdjTensor *a, AdjTensor *b, const char *what, GString *why);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, program_free)

G_END_DECLS
