/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

/* The cases of tests/ops/data/oracle*.txt.gz (see make-oracle.py) and of
 * tests/autograd/data/special.txt.gz (make-special.py): calls of operators, with what PyTorch
 * computed. */

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

/* Calls @each for every case; the case ends with the call. */
void oracle_foreach (OracleFunc each, gpointer data);
/* The same for one file. */
void oracle_foreach_in_file (const char *path, OracleFunc each, gpointer data);

/* Metadata and the bytes after it. (transfer full) */
GBytes *oracle_read_tensor (OracleReader *r, AdjTensorMeta *meta);

G_END_DECLS
