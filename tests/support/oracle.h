/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

/* The cases of tests/ops/data/oracle (see tests/ops/make-oracle.py), a file for each operator, and
 * of tests/autograd/data/special (make-special.py): calls of operators, with what PyTorch
 * computed. */

/* The first line of these files and of precision.txt: what made them (tests/support/pinned.py).
 * What was made with another is another in its last bits; all of it is made anew then. */
#define ORACLE_MADE_BY "by PyTorch 2.6.0 AVX2"
/* The same of operators that 2.6 has not got. */
#define ORACLE_MADE_BY_NEWEST "by PyTorch 2.15.0 AVX2"

typedef struct
{
  char *text; /* rest of the line: strtok's state */
} OracleReader;

typedef struct
{
  const AdjOp *op;
  const char *target;
  const char *file; /* where it stands */
  guint line;
  AdjValue args[ADJ_MAX_ARGUMENTS];
  guint n_args;
  AdjValue kwargs[2 * ADJ_MAX_ARGUMENTS]; /* key, value, … */
  guint n_kwargs;
  GPtrArray *results;   /* the lines that begin with r */
  GPtrArray *written;   /* and with w */
  GPtrArray *gradients; /* and with d */
  const char *points;   /* (nullable): at which the numbers were taken */
  gboolean needs_cuda;  /* the results have no values */
  gint64 seed;          /* of the generator; -1: draws nothing */
  gint64 next;          /* what it gives after the call, modulo 2^31 */
} OracleCase;

typedef void (*OracleFunc) (OracleCase *c, gpointer data);

/* Calls @each for every case of tests/ops/data/oracle; the case ends with the call. */
void oracle_foreach (OracleFunc each, gpointer data);
/* The same for those of another folder: "autograd/data/special" below tests/. */
void oracle_foreach_in_folder (const char *folder, OracleFunc each, gpointer data);

/* Metadata and the bytes after it. (transfer full) */
GBytes *oracle_read_tensor (OracleReader *r, AdjTensorMeta *meta);

G_END_DECLS
