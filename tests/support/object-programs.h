/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"
#include "call/adj-object.h"

G_BEGIN_DECLS

/* Random programs over tensors and opaque objects: methods of two queues (which may be one), a
 * counter, a lookup table and packed parameters, prints, writes in place, and effects in the
 * backward.  The same seed makes the same program; values are small integers; all statements run
 * eagerly without an error. */
typedef struct _ObjectProgram ObjectProgram;

/* @gradients: it has a leaf, and operations of its own whose backward has effects. */
ObjectProgram *object_program_new (guint32 seed, gboolean gradients);
void object_program_free (ObjectProgram *program);

#define OBJECT_PROGRAM_N_INPUTS 7

/* Borrowed from the innermost scope of @cx, the same state every time: five objects, a tensor, and
 * one whose gradient is asked for. */
void object_program_make_inputs (const ObjectProgram *program, AdjContext *cx, AdjValue *inputs);
/* (transfer full): gives a TUPLE of tensors. */
AdjFunction *object_program_function_new (const ObjectProgram *program);
/* A line for each statement. */
void object_program_print (const ObjectProgram *program, GString *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ObjectProgram, object_program_free)

G_END_DECLS
