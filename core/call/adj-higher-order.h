/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"
#include "call/adj-mode.h"

G_BEGIN_DECLS

/* Higher-order operators: torch.ops.higher_order.cond and others that call functions, which a
 * trace keeps as separate graphs (call/SPEC.md §7).  A call passes through the modes like a call
 * of an operator; each mode calls the functions according to its own semantics. */

#define ADJ_MAX_BODIES 2
#define ADJ_MAX_HIGHER_ARGS 6

/* One operator. */
typedef struct
{
  const char *target; /* "torch.ops.higher_order.cond" */
  const char *help;   /* one line */
  const char *grad;   /* (nullable): name of its backward node without "Backward"; %NULL: none */

  guint n_args;
  guint n_bodies;
  guint bodies[ADJ_MAX_BODIES];            /* indices of arguments that are functions */
  const char *body_names[ADJ_MAX_BODIES];  /* "the true branch", for messages */
  const char *graph_names[ADJ_MAX_BODIES]; /* "true_graph_": in a trace, before a number */
  guint n_groups;
  guint groups[3]; /* indices of arguments that are lists or tuples, concatenated as the inputs of
                      the functions */
  AdjValueKind groups_kind; /* LIST or TUPLE: the kind of the groups in the backward */
  gboolean is_spread;       /* the last group is the last argument, and may be given item by item */
  gboolean ends_in_tuple;   /* the last group is the last argument, and is passed on as a tuple */
  guint identifier;         /* index of an argument that is equal for equal functions; 0: none */

  /* For operators whose backward is the same operator, with functions that compute gradients:
   * tangents precede the first group of arguments, else they follow it. */
  gboolean tangents_first;
  const char *tangents_last_in; /* (nullable): the release in which they follow it */
  gboolean tangents_contiguous;
  gboolean gives_outputs; /* the functions of the backward also return the forward's outputs */

  /* (nullable): %FALSE with the context in error when the arguments are invalid. */
  gboolean (*check) (const AdjHigherCall *call);
  /* (nullable): whether the call is decided, so that a function is called directly and no mode
   * sees the call. */
  gboolean (*is_decided) (const AdjHigherCall *call);
  /* (nullable): appends the inputs of the functions to @inputs, of AdjValue; %NULL: the items of
   * all groups. */
  gboolean (*list_inputs) (const AdjHigherCall *call, GArray *inputs);
  /* Computes the result. */
  gboolean (*run) (AdjHigherCall *call);
  /* Infers the result for fake tensors. @outs: for each function, its outputs for the inputs. */
  gboolean (*infer) (AdjHigherCall *call, const AdjValue *outs);
} AdjHigherOp;

struct _AdjHigherCall
{
  AdjContext *cx;
  const AdjHigherOp *op;
  const AdjValue *args; /* (unowned): NONE in place of functions */
  guint n_args;
  AdjFunction *bodies[ADJ_MAX_BODIES]; /* (unowned) */
  const AdjValue *outs; /* (unowned) (nullable): for each function, its outputs if a mode knows
                           them */
  AdjValue result;      /* (owned) */
};

/**
 * adj_call_higher:
 * @args: in order, NONE where a function stands
 * @result: (out) (transfer full)
 *
 * Returns: %FALSE when the context is, or comes to be, in error
 */
ADJ_PUBLIC gboolean adj_call_higher (AdjContext *cx,
                                     const AdjHigherOp *op,
                                     const AdjValue *args,
                                     guint n_args,
                                     AdjFunction *const *bodies,
                                     AdjValue *result);

/* -- for modes and operators; %FALSE: the context is in error -- */

/* Passes @call to the mode below. */
ADJ_PUBLIC gboolean adj_mode_call_higher_below (AdjMode *mode, AdjHigherCall *call);

/* (transfer full) (nullable): the inputs of the functions of @call, an array that owns its
 * values; %NULL with the context in error. */
ADJ_PUBLIC GArray *adj_higher_list_inputs (const AdjHigherCall *call);
/* Calls function @body of @call. @out (transfer full).  Restores the place in the program. */
ADJ_PUBLIC gboolean adj_higher_call_body (
    AdjHigherCall *call, guint body, const AdjValue *inputs, guint n_inputs, AdjValue *out);
/* Sets the context's error, prefixed with the operator's name; returns %FALSE. */
ADJ_PUBLIC gboolean adj_higher_fail (const AdjHigherCall *call,
                                     AdjError code,
                                     const char *format,
                                     ...) G_GNUC_PRINTF (3, 4);

/* Differences that adj_higher_check_same() allows. */
typedef enum
{
  ADJ_SAME_IN_ALL = 0,
  ADJ_SAME_OR_NONE = 1 << 0, /* None in place of a gradient that only one of them has */
  ADJ_SAME_BUT_STRIDES = 1 << 1,
} AdjHigherSame;

/* If the leaves of @a and @b differ (being a tensor, dtype, sizes, strides, device, or value),
 * sets the context's error, which calls them @name_a and @name_b. */
ADJ_PUBLIC gboolean adj_higher_check_same (const AdjHigherCall *call,
                                           const char *name_a,
                                           const AdjValue *a,
                                           const char *name_b,
                                           const AdjValue *b,
                                           AdjHigherSame same);

G_END_DECLS
