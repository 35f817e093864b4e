/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"

G_BEGIN_DECLS

/* One call of a function and all that its caller can see of it: results, what became of the inputs,
 * which tensors share memory, gradients; also after one of the tensors was written late. */
typedef struct Observed Observed;

struct Observed
{
  AdjContext *cx; /* with an autograd mode above the kernels */
  guint n_inputs;
  AdjValue *inputs;   /* (owned) */
  AdjTensor **leaves; /* (owned): by input, what its gradient is asked of; NULL: of nothing */
  AdjValue result;    /* TUPLE */
  AdjTensor **grads;  /* (owned): by input, NULL where undefined */
  GError *error;
  const Observed *truth; /* (unowned) (nullable): the same call in float64, by which both are
                            judged; %NULL: the bits are the same */
};

/* A context, and room for @n inputs and leaves. */
void observed_init (Observed *observed, guint n);
/* The same, where every floating value is float64. */
void observed_init_float64 (Observed *observed, guint n);
void observed_clear (Observed *observed);

/* Calls @function, doubles tensor @late, counted through results and then inputs, in place (-1:
 * none), and differentiates all results and inputs that can be. */
void observed_call (Observed *observed, AdjFunction *function, gint late);
guint observed_count_tensors (const Observed *observed);

/* Whether nobody can tell one from the other; else @why says how.  Undefined gradients are zeros
 * (aot/SPEC.md §8.4). */
gboolean observed_same (const Observed *a, const Observed *b, GString *why);

/* observed_init() and the inputs that @data is about, the same every time. */
typedef void (*ObserveFunc) (Observed *observed, gconstpointer data);

typedef struct
{
  guint n_calls;     /* that were compared */
  guint n_forbidden; /* of these, with a late write that is an error when compiled */
} SameCalls;

/* Whether @compiled and @function are the same: as they are, and with every tensor written late
 * that can be when @function made it. */
gboolean observed_same_calls (ObserveFunc observe,
                              gconstpointer data,
                              AdjFunction *function,
                              AdjFunction *compiled,
                              SameCalls *counts,
                              GString *why);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Observed, observed_clear)

G_END_DECLS
