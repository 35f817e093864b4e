/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/notation.h"
#include "aot/observed.h"
#include "autograd/adj-autograd.h"

G_BEGIN_DECLS

/* One entry of a table of examples: a function, its inputs, and what is expected. */
typedef struct
{
  char *name;
  char *inputs; /* "a [3] rg, b i64[2]" */
  char *make;   /* (nullable) */
  char *names;  /* (nullable): names of the tensors that `make` returns */
  char *function;
  AdjAotOptions options;
  gboolean is_graph; /* the function is also tested as a graph */
  char *graph;       /* (nullable): file of that graph, in the folder of the table */
  char *steps;       /* (nullable): pipeline that fails on the graph; %NULL: "joint" */
  char *blamed;      /* (nullable): text by which the error names its cause */
  char *nodes;       /* (nullable): nodes of the graph that the error blames: "mul_, add" */
  char *joint, *forward, *inference; /* (nullable): expected graphs */
  char *saved;                       /* (nullable): values of the joint graph that the default
                                        partitioner saves */
  GPtrArray *metadata;               /* of char *: expected lines */
  gint n_tangents;                   /* -1: not checked */
} Case;

/* (transfer full): the cases in the file tests/aot/NAME. */
GPtrArray *cases_load (const char *name);

/* Returns a context with an autograd mode above the kernels. */
AdjContext *case_context_new (void);
/* (transfer full): TUPLE of the inputs.  @leaves (nullable) gets the leaves named in the field
 * `inputs`, borrowed from the scope. */
AdjValue case_make_inputs (const Case *c, AdjContext *cx, GPtrArray *leaves);
/* Initializes @observed with a context and makes the inputs of @c in it. */
void case_observe (const Case *c, Observed *observed);
AdjFunction *case_function_new (const Case *c); /* (transfer full) */
AdjAotGraph *case_trace (const Case *c, const AdjValue *inputs, GError **error);
/* (transfer full): the text of a graph of the untransformed function, with its inputs as leaves */
char *case_print_graph (const Case *c);

G_END_DECLS
