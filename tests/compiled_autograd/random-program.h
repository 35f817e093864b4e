/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/adj-compiled-autograd.h"

G_BEGIN_DECLS

/* Random training programs: several steps of the same operations on leaves of changing sizes,
 * with hooks of every kind, in-place writes, custom functions and every way to ask for
 * gradients.  A seed determines the program. */

typedef enum
{
  RANDOM_EXACT = 1 << 0, /* sums are exact in any order */
} RandomFlags;

typedef struct
{
  GString *text;   /* the program */
  GString *log;    /* what the hooks saw, in order */
  GString *result; /* gradients, bit for bit, and errors */
} RandomRun;

void random_run_init (RandomRun *run);
void random_run_clear (RandomRun *run);
/* @compiler: (nullable): captures the backwards */
void random_run (RandomRun *run, guint32 seed, RandomFlags flags, AdjCompiledAutograd *compiler);

G_END_DECLS
