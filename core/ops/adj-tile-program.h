/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

#include "base/adj-expr.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* FLOPs of a transcendental function; arithmetic counts 1. */
#define ADJ_FLOPS_TRANSCENDENTAL 8

/* A pointwise body, compiled for the kernels' tile machine.
 *
 * Input i of the program is argument i of the operator: a tensor, or a number as a tensor without
 * dimensions, so a program does not depend on the values of numbers.  It does depend on what the
 * body asks at compile time: strings, bools and `given (argument)`. */
typedef struct
{
  AdjKProgram program;
  guint n_args;
  gint8 input_of[ADJ_MAX_ARGUMENTS]; /* index of each argument among the inputs; -1: not read */
  guint8 arg_of[ADJ_K_MAX_INPUTS];   /* the reverse */
  gboolean is_imaginary[ADJ_K_MAX_INPUTS]; /* of programs over parts of complex numbers */
  double flops;                            /* for one element of the result */
} AdjTileProgram;

/**
 * adj_tile_program_compile:
 * @body: one expression, or a tuple of one per result
 * @result: index of the result
 * @compute: the dtype that the body computes in
 *
 * Returns: (transfer full) (nullable): %NULL when the context of @call is in error
 */
AdjTileProgram *adj_tile_program_compile (const AdjOpCall *call,
                                          const AdjExpr *body,
                                          guint result,
                                          AdjDType compute);
void adj_tile_program_free (AdjTileProgram *program);

/* f32 for floats of at most 32 bits, f64, i64 for integers and bool; %FALSE for other dtypes. */
gboolean adj_tile_program_class (AdjDType compute, AdjKClass *klass);

/* Checks that every name in @body that is not bound by `let` is an argument of @schema, and every
 * call an instruction or `given`; %FALSE with @error naming the offender. */
gboolean
adj_tile_program_check_names (const AdjExpr *body, const AdjSchema *schema, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjTileProgram, adj_tile_program_free)

G_END_DECLS
