/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"

G_BEGIN_DECLS

/* Random programs over tensors, as data: views, views with several results, writes in place and
 * through views, out=, branches on sizes, spans without grad mode, hooks.  The same seed makes the
 * same program.  Values are small integers, so that they are the same in whatever order things are
 * added; all statements run eagerly without an error. */
typedef struct _Program Program;

typedef enum
{
  PROGRAM_GRADIENTS = 1 << 0,      /* inputs that require a gradient */
  PROGRAM_ALIASED_INPUTS = 1 << 1, /* inputs that are one tensor, or views of one */
  PROGRAM_GRAD_MODE = 1 << 2,      /* spans without grad mode */
  PROGRAM_HOOKS = 1 << 3,          /* that double the gradient of a tensor */
} ProgramFlags;

Program *program_new (guint32 seed, ProgramFlags flags);
Program *program_copy (const Program *program);
void program_free (Program *program);

guint program_get_n_inputs (const Program *program);
/* (transfer full) into @inputs: storage of their own but for those that alias.  Into @leaves
 * (nullable) (transfer full) what each one's gradient is for: itself, what it was copied from, or
 * %NULL where it requires none.  @cx needs an autograd mode for these. */
gboolean program_make_inputs (const Program *program,
                              AdjContext *cx,
                              AdjTensor **inputs,
                              AdjTensor **leaves);
/* Gives a TUPLE of outputs.  (transfer full); independent of @program. */
AdjFunction *program_function_new (const Program *program);

/* "v2 = add.Tensor(v0, v1)", a line each. */
void program_print (const Program *program, GString *out);

/* What must hold for every program; where it does not, @why says more. */
typedef gboolean (*ProgramCheck) (const Program *program, GString *why);

/* Checks the programs of seeds 0 to @n, or those that ADJ_TEST_PROGRAMS names: "10000" of them, or
 * "10000-30000".  Logs each that does not hold, with its statements dropped as long as it still
 * does not, and fails the test. */
void program_check_all (guint n, ProgramFlags flags, ProgramCheck check);

/* Sizes, dtype and bits are equal; else @why says how @what differs. */
gboolean
program_same_values (AdjContext *cx, AdjTensor *a, AdjTensor *b, const char *what, GString *why);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, program_free)

G_END_DECLS
