/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"
#include "call/adj-object.h"

G_BEGIN_DECLS

/* Random programs over tensors and opaque objects: methods of two queues (which may be the
 * same), a counter, a lookup table and packed parameters, prints, in-place writes, and effects
 * in backward.  A seed determines the program; values are small integers; all statements run
 * eagerly without an error. */
typedef struct _ObjectProgram ObjectProgram;

/* @gradients: the program has a leaf, and custom operations whose backward has effects. */
ObjectProgram *object_program_new (guint32 seed, gboolean gradients);
void object_program_free (ObjectProgram *program);

#define OBJECT_PROGRAM_N_INPUTS 7

/* Makes inputs borrowed from the innermost scope of @cx, in the same state each time: five
 * objects, a tensor, and a tensor whose gradient is computed. */
void object_program_make_inputs (const ObjectProgram *program, AdjContext *cx, AdjValue *inputs);
/* (transfer full): a function that returns a TUPLE of tensors. */
AdjFunction *object_program_function_new (const ObjectProgram *program);
/* Appends a line for each statement. */
void object_program_print (const ObjectProgram *program, GString *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ObjectProgram, object_program_free)

G_END_DECLS
