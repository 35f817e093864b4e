/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/adj-compiled-autograd.h"

G_BEGIN_DECLS

/* Random training programs: a few steps of the same operations on leaves whose sizes change, with
 * hooks of every kind, writes in place, custom functions and every way to ask for gradients.  The
 * same seed makes the same program. */

typedef enum
{
  RANDOM_EXACT = 1 << 0, /* sums are the same in whatever order they are computed */
} RandomFlags;

typedef struct
{
  GString *text;   /* the program */
  GString *log;    /* what hooks saw, in order */
  GString *result; /* gradients, bit for bit, and errors */
} RandomRun;

void random_run_init (RandomRun *run);
void random_run_clear (RandomRun *run);
/* @compiler: (nullable): captures its backwards */
void random_run (RandomRun *run, guint32 seed, RandomFlags flags, AdjCompiledAutograd *compiler);

G_END_DECLS
