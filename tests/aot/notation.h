/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot.h"

G_BEGIN_DECLS

/* The notation of goldens: "mul=mul(clone,2); add_(mul,1); return mul,x[0]".
 *
 * Names of operators are those of aten, with an overload where another than default, Tensor,
 * Scalar, int and dim is meant: "pow.Tensor_Scalar".  "no_grad" and "grad" are statements, and
 * "hook(x)", which doubles a gradient. */

typedef struct _Notation Notation;

Notation *notation_parse (const char *text);
void notation_free (Notation *notation);

/* As a function of inputs named in @parameters, "a, b". (transfer full) */
AdjFunction *notation_function_new (const char *parameters, const char *text);

/* One line for each statement, values numbered: "%1 = sin(p1)", then what is returned.  Writes to
 * placeholders come last (N6).  (transfer full) */
char *notation_print (const char *text);

/* A graph as notation_print() gives it, modulo N1 to N4 and without keyword arguments. */
char *notation_print_graph (const AdjGraph *graph);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Notation, notation_free)

G_END_DECLS
