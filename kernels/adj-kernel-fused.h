/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Several pointwise operators as one pass: the register machine of adj_k_pointwise() with several
 * results, and registers of several classes. */

typedef enum
{
  ADJ_K_STEP_OP,    /* dst = op (a, b, c), all of class @klass */
  ADJ_K_STEP_LOAD,  /* dst = operand @operand, in class @klass */
  ADJ_K_STEP_CONST, /* dst = imm (i of type I64, f of type F64), in class @klass */
  ADJ_K_STEP_CAST,  /* dst, of class @to = a, of class @klass, stored as @type between them */
  ADJ_K_STEP_STORE, /* operand @operand = a, of class @klass */
  ADJ_K_STEP_N
} AdjKStepKind;

typedef struct
{
  uint8_t kind;  /* AdjKStepKind */
  uint8_t klass; /* AdjKClass */
  uint8_t to;    /* CAST: AdjKClass */
  uint8_t type;  /* CAST, CONST: AdjKType */
  uint8_t op;    /* OP: AdjKOp */
  uint8_t operand;
  uint8_t dst, a, b, c; /* registers */
  uint8_t passed;       /* OP: only the next step reads the result, so it need not be kept */
  union
  {
    double f;
    int64_t i;
  } imm;
} AdjKStep;

#define ADJ_K_MAX_OPERANDS 64

/* The first @n_fixed steps are of constants and single elements; they run once for many tiles, so
 * no other step may write a register that later steps read from them.  An operand is either loaded
 * or stored.  A stored one may overlap a loaded one if both have the same strides and type and no
 * step after the store reads the loaded one: a register may stand for an operand's memory, which is
 * then read when the register is. */
typedef struct
{
  int n_operands, n_regs, n_fixed, n_steps;
  const AdjKStep *steps;
  bool merged; /* operands come as adj_k_fused_merge() leaves them */
} AdjKFused;

/* Whether all numbers are in bounds, each register is written before it is read, in the class that
 * it is read in, and each op exists in its class. */
bool adj_k_fused_check (const AdjKFused *fused);

/* Merges dims of the operands as far as possible. */
void adj_k_fused_merge (const AdjKFused *fused, AdjKView *operands);

/* Operands all have the same sizes (broadcast by strides of 0 where they are loaded).  Gives the
 * bits that adj_k_pointwise() and adj_k_copy() give one after the other.  Returns false when an
 * integer was divided by zero (the result there is 0). */
bool adj_k_fused (const AdjKFused *fused, const AdjKView *operands);
