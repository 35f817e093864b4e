/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-custom.h"
#include "compiled_autograd/adj-compiled-autograd.h"
#include "support/tape.h"

G_BEGIN_DECLS

/* Programs that are run eagerly and captured, for tests of compiled autograd. */

typedef struct
{
  AdjContext *cx;
  GPtrArray *leaves; /* of AdjTensor, owned: whose gradients are compared */
  GPtrArray *hooks;  /* of HookNote, owned */
  GString *log;      /* what hooks saw, in order */
  GPtrArray *wanted; /* of AdjTensor, owned: what adj_grad() gave */
} Program;

typedef void (*ProgramFunc) (Program *program);

void program_init (Program *program);
void program_clear (Program *program);
/* float32, a leaf; zeros of @value where that is %NULL are 1, 2, 3 … over 8. */
AdjTensor *program_leaf (Program *program, const float *values, guint rank, const gint64 *sizes);
AdjTensor *program_vector (Program *program, guint n, const float *values);
/* Hooks that say in the log what they see, and scale by @factor unless that is 0. */
void program_hook_tensor (Program *program, AdjTensor *tensor, const char *name, double factor);
void program_hook_before (Program *program, AdjTensor *tensor, const char *name, double factor);
void program_hook_after (Program *program, AdjTensor *tensor, const char *name, double factor);
void program_hook_leaf (Program *program, AdjTensor *tensor, const char *name);
void program_backward (Program *program, AdjTensor *root);

/* (transfer full): all gradients, bit for bit, and the log, as text. */
char *program_describe (const Program *program);

/* (transfer full): what @run left behind, captured by @compiler (nullable: eagerly). */
char *program_run (ProgramFunc run, AdjCompiledAutograd *compiler);

/* (transfer full): the nodes of @graph, a line each: names, targets and arguments. */
char *graph_describe (AdjGraph *graph);
/* Fails the test where @graph is not the golden of that name. */
void assert_golden (AdjGraph *graph, const char *name);
/* Of the graph of nodes of that name, nodes/NAME.txt or nodes/graphs/NAME.txt. */
void assert_node_golden (AdjGraph *graph, const char *name);
/* The same of what is other than in PyTorch: golden/deviations/. */
void assert_deviation (AdjGraph *graph, const char *name, const char *why);

G_END_DECLS
