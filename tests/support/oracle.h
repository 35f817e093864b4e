/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

/* The cases of tests/ops/data/oracle (see tests/ops/make-oracle.py), a file for each operator,
 * and of tests/autograd/data/special (make-special.py): operator calls with PyTorch's results. */

/* The first line of these files and of precision.txt: the generating release and instruction set
 * (tests/support/pinned.py).  Others give different last bits, so all files are generated again
 * when it changes. */
#define ORACLE_MADE_BY "by PyTorch 2.6.0 AVX2"
/* The same for operators that 2.6 lacks. */
#define ORACLE_MADE_BY_NEWEST "by PyTorch 2.15.0 AVX2"

typedef struct
{
  char *text; /* rest of the line, state of strtok */
} OracleReader;

typedef struct
{
  const AdjOp *op;
  const char *target;
  const char *file; /* file and line of the case */
  guint line;
  AdjValue args[ADJ_MAX_ARGUMENTS];
  guint n_args;
  AdjValue kwargs[2 * ADJ_MAX_ARGUMENTS]; /* key, value, … */
  guint n_kwargs;
  GPtrArray *results;   /* the lines that begin with r */
  GPtrArray *written;   /* the lines that begin with w */
  GPtrArray *gradients; /* the lines that begin with d */
  const char *points;   /* (nullable): name of the special points used as arguments */
  gboolean needs_cuda;  /* the results were recorded without values */
  gint64 seed;          /* of the generator; -1: the call draws nothing */
  gint64 next;          /* next number of the generator after the call, modulo 2^31 */
} OracleCase;

typedef void (*OracleFunc) (OracleCase *c, gpointer data);

/* Calls @each for every case of tests/ops/data/oracle; the case is freed after the call. */
void oracle_foreach (OracleFunc each, gpointer data);
/* Like oracle_foreach() for a folder below tests/: "autograd/data/special". */
void oracle_foreach_in_folder (const char *folder, OracleFunc each, gpointer data);

/* (transfer full): the bytes of the tensor that follows; @meta: (out): its metadata. */
GBytes *oracle_read_tensor (OracleReader *r, AdjTensorMeta *meta);

G_END_DECLS
