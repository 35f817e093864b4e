/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/random-program.h"
#include "support/tape.h"

G_BEGIN_DECLS

#define RANDOM_MAX_RANK 4
#define RANDOM_MAX_LEAVES 4
#define RANDOM_N_DIMS 3

/* A dimension: dimensions with equal tags have equal sizes in every step. */
typedef struct
{
  guint tag; /* ONE: its size is 1 */
  gint64 size;
} Dim;

#define DIM_ONE RANDOM_N_DIMS

typedef struct
{
  AdjTensor *tensor; /* borrowed from the context */
  guint rank;
  Dim dims[RANDOM_MAX_RANK];
} Var;

typedef struct
{
  AdjTensor *tensor; /* (owned) (nullable) */
  Var var;
} Leaf;

typedef struct
{
  AdjContext *cx;
  GRand *rand; /* restarted in every step */
  RandomFlags flags;
  RandomRun *run;
  guint step;
  gint64 sizes[RANDOM_N_DIMS + 1];
  Leaf leaves[RANDOM_MAX_LEAVES];
  guint n_leaves;
  GArray *vars;       /* of Var, of this step */
  GPtrArray *notes;   /* of RandomNote, owned */
  GPtrArray *kept;    /* of AdjTensor, owned: kept by hooks */
  GPtrArray *outputs; /* of AdjTensor, borrowed: tensors with retained gradients, or gradients of
                         roots */
  gboolean packs;     /* saved tensors go through pack and unpack hooks */
} Machine;

gint random_pick (Machine *m, gint begin, gint end);
gboolean random_chance (Machine *m, guint percent);
Var *random_pick_var (Machine *m);
/* (nullable): a variable that requires a gradient. */
Var *random_pick_var_with_grad (Machine *m);
guint random_index (const Machine *m, const Var *var);

/* Calls an operator; %FALSE when it refuses, which is noted in the run's result. */
gboolean
random_call (Machine *m, const char *name, const AdjValue *args, guint n, AdjValue *result);
#define RANDOM_CALL(m, name, result, ...)                                                          \
  random_call ((m), (name), (const AdjValue[]){ __VA_ARGS__ },                                     \
               G_N_ELEMENTS (((const AdjValue[]){ __VA_ARGS__ })), (result))
/* Adds @tensor, made from @source, as a variable: with the tags of @source if the ranks are
 * equal, else with tags derived with @salt. */
void random_add (Machine *m, AdjTensor *tensor, const Var *source, guint salt);
void random_add_dims (Machine *m, AdjTensor *tensor, const Dim *dims, guint rank);
/* Moves the error of the context, if any, into the results. */
gboolean random_note_error (Machine *m, const char *what);
/* Prints the values bit for bit, without strides: if one of two gradients turns out undefined,
 * the other is passed on with its own strides. */
void random_print_tensor (GString *out, AdjTensor *tensor);

/* -- random-ops.c -- */
void random_add_operation (Machine *m);
/* -- random-functions.c: custom functions, modules, checkpoints, packing -- */
void random_add_function (Machine *m);
void random_end_packing (Machine *m);
/* -- random-hooks.c -- */
void random_add_hook (Machine *m);
void random_note_free (gpointer note);

G_END_DECLS
