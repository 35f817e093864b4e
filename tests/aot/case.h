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
  char *names;  /* (nullable): of the inputs that were made */
  char *function;
  AdjAotOptions options;
  gboolean is_graph; /* the function as a graph, too */
  char *graph;       /* (nullable): that graph, a file beside this one */
  char *steps;       /* (nullable): of the pipeline that fails on the graph; %NULL: "joint" */
  char *blamed;      /* (nullable): what the error names */
  char *nodes;       /* (nullable): of the graph, that it blames: "mul_, add" */
  char *joint, *forward, *inference; /* (nullable): expected graphs */
  char *saved;                       /* (nullable): of the joint graph, by the default partition */
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
/* A context of their own for the inputs. */
void case_observe (const Case *c, Observed *observed);
AdjFunction *case_function_new (const Case *c); /* (transfer full) */
AdjAotGraph *case_trace (const Case *c, const AdjValue *inputs, GError **error);
/* (transfer full): the function as it stands, the text of a graph with its inputs as leaves */
char *case_print_graph (const Case *c);

G_END_DECLS
