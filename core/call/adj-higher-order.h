/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-function.h"
#include "call/adj-mode.h"

G_BEGIN_DECLS

/* Higher-order operators: torch.ops.higher_order.cond and others that call functions, which a trace
 * keeps as graphs of their own (call/SPEC.md §7).  A call goes through the modes as one of an
 * operator does; each of them sees to it that the functions are called in its sense. */

#define ADJ_MAX_BODIES 2
#define ADJ_MAX_HIGHER_ARGS 6

/* One operator. */
typedef struct
{
  const char *target; /* "torch.ops.higher_order.cond" */
  const char *help;   /* one line */
  const char *grad; /* (nullable): the name of its node in a backward, without "Backward"; %NULL: it
                       has no gradient */

  guint n_args;
  guint n_bodies;
  guint bodies[ADJ_MAX_BODIES];            /* arguments that are functions */
  const char *body_names[ADJ_MAX_BODIES];  /* "the true branch", for messages */
  const char *graph_names[ADJ_MAX_BODIES]; /* "true_graph_": in a trace, before a number */
  guint n_groups;
  guint groups[3]; /* arguments that are lists or tuples; together what the functions get */
  AdjValueKind groups_kind; /* LIST or TUPLE: the kind of the groups where there is a gradient */
  gboolean is_spread;       /* the last group is the last argument, and may stand item by item */
  gboolean ends_in_tuple;   /* the last group is the last argument, and is passed on as a tuple */
  guint identifier;         /* argument that is equal where the function is the same one; 0: none */

  /* How the backward is the operator again, of functions that compute gradients: tangents come
   * before the first group of arguments, else after it. */
  gboolean tangents_first;
  const char *tangents_last_in; /* (nullable): the release in which they come after it */
  gboolean tangents_contiguous;
  gboolean gives_outputs; /* the functions of the backward give what the forward gave, too */

  /* (nullable): %FALSE with the context in error when the arguments are none for it. */
  gboolean (*check) (const AdjHigherCall *call);
  /* (nullable): whether the call is decided, so that its functions are called directly and no mode
   * sees it. */
  gboolean (*is_decided) (const AdjHigherCall *call);
  /* (nullable): what the functions are called with, appended to @inputs, of AdjValue; else all of
   * the groups. */
  gboolean (*list_inputs) (const AdjHigherCall *call, GArray *inputs);
  /* Computes the result. */
  gboolean (*run) (AdjHigherCall *call);
  /* Infers the result for fake tensors. @outs: by function, its outputs for the inputs. */
  gboolean (*infer) (AdjHigherCall *call, const AdjValue *outs);
} AdjHigherOp;

struct _AdjHigherCall
{
  AdjContext *cx;
  const AdjHigherOp *op;
  const AdjValue *args; /* (unowned): NONE in place of functions */
  guint n_args;
  AdjFunction *bodies[ADJ_MAX_BODIES]; /* (unowned) */
  const AdjValue *outs; /* (unowned) (nullable): by function, its outputs where a mode knows them */
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

/* Passes @call on. */
ADJ_PUBLIC gboolean adj_mode_call_higher_below (AdjMode *mode, AdjHigherCall *call);

/* The arguments that the functions of @call are called with: an array that owns its values.
 * (transfer full) (nullable): %NULL with the context in error. */
ADJ_PUBLIC GArray *adj_higher_list_inputs (const AdjHigherCall *call);
/* Calls function @body of @call. @out (transfer full). Restores the place in the program. */
ADJ_PUBLIC gboolean adj_higher_call_body (
    AdjHigherCall *call, guint body, const AdjValue *inputs, guint n_inputs, AdjValue *out);
/* Sets the context's error, which begins with the name of the operator; returns %FALSE. */
ADJ_PUBLIC gboolean adj_higher_fail (const AdjHigherCall *call,
                                     AdjError code,
                                     const char *format,
                                     ...) G_GNUC_PRINTF (3, 4);

/* In what two values of adj_higher_check_same() may differ all the same. */
typedef enum
{
  ADJ_SAME_IN_ALL = 0,
  ADJ_SAME_OR_NONE = 1 << 0, /* None may stand for a gradient that only one of them has */
  ADJ_SAME_BUT_STRIDES = 1 << 1,
} AdjHigherSame;

/* Where the leaves of @a and @b differ in what is a tensor, dtype, sizes, strides or device, or as
 * values: the context's error says it of @name_a and @name_b. */
ADJ_PUBLIC gboolean adj_higher_check_same (const AdjHigherCall *call,
                                           const char *name_a,
                                           const AdjValue *a,
                                           const char *name_b,
                                           const AdjValue *b,
                                           AdjHigherSame same);

G_END_DECLS
