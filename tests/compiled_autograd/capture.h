/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-custom.h"
#include "compiled_autograd/adj-compiled-autograd.h"
#include "support/tape.h"

G_BEGIN_DECLS

/* Programs for tests of compiled autograd, run eagerly and captured. */

typedef struct
{
  AdjContext *cx;
  GPtrArray *leaves; /* of AdjTensor, owned: leaves whose gradients are compared */
  GPtrArray *hooks;  /* of HookNote, owned */
  GString *log;      /* what the hooks saw, in order */
  GPtrArray *wanted; /* of AdjTensor, owned: the results of adj_grad() */
} Program;

typedef void (*ProgramFunc) (Program *program);

void program_init (Program *program);
void program_clear (Program *program);
/* A float32 leaf; if @values is %NULL, its elements are 1, 2, 3 … divided by 8. */
AdjTensor *program_leaf (Program *program, const float *values, guint rank, const gint64 *sizes);
AdjTensor *program_vector (Program *program, guint n, const float *values);
/* Adds a hook that logs what it sees and multiplies by @factor unless that is 0. */
void program_hook_tensor (Program *program, AdjTensor *tensor, const char *name, double factor);
void program_hook_before (Program *program, AdjTensor *tensor, const char *name, double factor);
void program_hook_after (Program *program, AdjTensor *tensor, const char *name, double factor);
void program_hook_leaf (Program *program, AdjTensor *tensor, const char *name);
void program_backward (Program *program, AdjTensor *root);

/* (transfer full): all gradients, bit for bit, and the log, as text. */
char *program_describe (const Program *program);

/* (transfer full): program_describe() after @run, captured by @compiler (nullable: eagerly). */
char *program_run (ProgramFunc run, AdjCompiledAutograd *compiler);

/* (transfer full): one line for each node of @graph: name, target and arguments. */
char *graph_describe (AdjGraph *graph);
/* Fails the test if @graph differs from the golden @name. */
void assert_golden (AdjGraph *graph, const char *name);
/* Like assert_golden() for a graph of nodes, in nodes/NAME.txt or nodes/graphs/NAME.txt. */
void assert_node_golden (AdjGraph *graph, const char *name);
/* Like assert_golden() for a known deviation from PyTorch, in golden/deviations/. */
void assert_deviation (AdjGraph *graph, const char *name, const char *why);

G_END_DECLS
