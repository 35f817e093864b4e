/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/notation.h"
#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* One entry of a table of examples: a function, its inputs, and what is expected. */
typedef struct
{
  char *name;
  char *inputs; /* "a [3] rg, b i64[2]" */
  char *make;   /* (nullable) */
  char *names;  /* (nullable): of the inputs that were made */
  char *function;
  AdjAotOptions options;
  gboolean cli;                      /* on the command line too */
  char *blamed;                      /* (nullable): what the error names */
  char *joint, *forward, *inference; /* (nullable): expected graphs */
  GPtrArray *metadata;               /* of char: expected lines */
  gint n_tangents;                   /* -1: not said */
} Case;

/* (transfer full): of the file tests/aot/NAME. */
GPtrArray *cases_load (const char *name);

/* A context that records over the kernels. */
AdjContext *case_context_new (void);
/* (transfer full): TUPLE of the inputs; @leaves (nullable) gets those of `in`, borrowed by the
 * scope. */
AdjValue case_make_inputs (const Case *c, AdjContext *cx, GPtrArray *leaves);
AdjFunction *case_function_new (const Case *c); /* (transfer full) */
AdjAotGraph *case_trace (const Case *c, const AdjValue *inputs, GError **error);

G_END_DECLS
