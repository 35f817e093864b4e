/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels: the steps of a pointwise program as C, by the functions of element.h, for
 * compilers of devices and of the CPU.  A step is a statement; registers are variables. */

#include <stdio.h>

#include "adj-kernel-fused.h"

typedef struct
{
  FILE *out;
  const AdjKStep *steps;
  const AdjKView *views;     /* of the operands */
  const char *zero_division; /* a statement */
  /* Writes the two arguments that locate the element of operand @operand: memory, and index of the
   * element. */
  void (*element) (FILE *out, int operand, const void *data);
  const void *data;
  bool written[ADJ_K_CLASS_N][ADJ_K_MAX_REGS]; /* registers written so far; false at first */
} AdjKStepsText;

/* Declares the variables that steps @first … @end - 1 write. */
void adj_k_steps_text_declare (const AdjKStepsText *text, int first, int end);
/* Writes these steps. */
void adj_k_steps_text_write (AdjKStepsText *text, int first, int end);
