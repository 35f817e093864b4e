/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* Complex numbers as two views, for kernels of which each part needs both (parts.c).  Real numbers
 * have imaginary parts of 0. */
typedef struct
{
  AdjKView re, im;
} OpParts;

gboolean op_input_parts (const AdjOpCall *call, guint arg, OpParts *out);
/* Expanded to the sizes of @to; @number stores a numeric argument. */
gboolean op_input_parts_as (
    const AdjOpCall *call, guint arg, const AdjShape *to, OpParts *out, double number[2]);
gboolean op_output_parts (const AdjOpCall *call, guint result, OpParts *out);
/* The parts of a numeric argument. */
void op_number_parts (const AdjOpCall *call, guint arg, double if_none, double number[2]);

/* Memory for temporaries of op_temporary_parts(); freed by op_parts_free(), also if none was
 * made. */
typedef struct
{
  gpointer re, im;
} OpPartsMemory;

OpPartsMemory
op_temporary_parts (const AdjOpCall *call, const AdjKView *like, AdjKType type, OpParts *out);
void op_parts_free (OpPartsMemory *memory);

/* @out = @code over the parts of @n numbers: inputs 2 k and 2 k + 1 are the parts of number k. @out
 * must not be one of them. */
void op_apply_parts (const AdjOpCall *call,
                     const AdjKView *out,
                     const OpParts *numbers,
                     guint n,
                     const AdjKCode *code,
                     guint n_code);

/* @out = @a @b; must not overlap with them. */
void
op_multiply_parts (const AdjOpCall *call, const OpParts *out, const OpParts *a, const OpParts *b);
/* Where a number is not 0: 1, else 0. */
void op_mark_parts (const AdjOpCall *call, const AdjKView *out, const OpParts *x);
void op_copy_parts (const AdjOpCall *call, const OpParts *out, const OpParts *x);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (OpPartsMemory, op_parts_free)

G_END_DECLS
