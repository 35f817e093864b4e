/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot.h"

G_BEGIN_DECLS

/* The notation of goldens: "mul=mul(clone,2); add_(mul,1); return mul,x[0]".
 *
 * Operator names are those of aten, with an overload unless it is default, Tensor, Scalar, int
 * or dim: "pow.Tensor_Scalar".  "no_grad", "grad" and "hook(x)", which adds a hook that doubles
 * the gradient, are statements. */

typedef struct _Notation Notation;

Notation *notation_parse (const char *text);
void notation_free (Notation *notation);

/* (transfer full): a function whose inputs have the names in @parameters, "a, b". */
AdjFunction *notation_function_new (const char *parameters, const char *text);

/* (transfer full): one line for each statement with numbered values, "%1 = sin(p1)", then the
 * returned values.  Writes to placeholders come last (N6). */
char *notation_print (const char *text);

/* Prints @graph in the form of notation_print(), modulo N1 to N4 and without keyword arguments. */
char *notation_print_graph (const AdjGraph *graph);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Notation, notation_free)

G_END_DECLS
