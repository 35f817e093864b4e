/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"

G_BEGIN_DECLS

/* A record of one call of a function as its caller sees it: results, final inputs, shared memory
 * and gradients, optionally after one tensor was written after the call. */
typedef struct Observed Observed;

struct Observed
{
  AdjContext *cx; /* with an autograd mode above the kernels */
  guint n_inputs;
  AdjValue *inputs;   /* (owned) */
  AdjTensor **leaves; /* (owned): by input, the leaf whose gradient is computed; NULL: none */
  AdjValue result;    /* TUPLE */
  AdjTensor **grads;  /* (owned): by input, NULL where undefined */
  GError *error;
  const Observed *truth; /* (unowned) (nullable): record of the same call in float64, against which
                            both sides are judged; %NULL: the bits must be equal */
};

/* Makes a context and space for @n inputs and leaves. */
void observed_init (Observed *observed, guint n);
/* Like observed_init(), with every floating-point value in float64. */
void observed_init_float64 (Observed *observed, guint n);
void observed_clear (Observed *observed);

/* Calls @function, doubles tensor number @late in place (counted through results, then inputs;
 * -1: none), and differentiates every result and input that requires a gradient. */
void observed_call (Observed *observed, AdjFunction *function, gint late);
guint observed_count_tensors (const Observed *observed);

/* Whether both records are equal; else @why says how they differ.  Undefined gradients count as
 * zeros (aot/SPEC.md §8.4). */
gboolean observed_same (const Observed *a, const Observed *b, GString *why);

/* Initializes @observed and makes the inputs that @data describes, identical in each call. */
typedef void (*ObserveFunc) (Observed *observed, gconstpointer data);

typedef struct
{
  guint n_calls;     /* number of compared calls */
  guint n_forbidden; /* calls among them whose late write raises an error only when compiled */
} SameCalls;

/* Whether @compiled and @function behave equally, without a late write and with a late write of
 * each tensor that @function allows to be written. */
gboolean observed_same_calls (ObserveFunc observe,
                              gconstpointer data,
                              AdjFunction *function,
                              AdjFunction *compiled,
                              SameCalls *counts,
                              GString *why);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Observed, observed_clear)

G_END_DECLS
