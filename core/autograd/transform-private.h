/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/autograd-private.h"
#include "call/adj-mode.h"

G_BEGIN_DECLS

/* Levels of torch.func: modes above the one that records for the program. */

/* A tensor of a level wraps one of the levels below: with history recorded at the level, with a
 * hidden batch dimension, or with a tangent. */
typedef enum
{
  LEVEL_GRADIENTS,
  LEVEL_BATCH,
  LEVEL_FORWARD,
} LevelKind;

/* Random numbers of the entries of a batch. */
typedef enum
{
  RANDOMNESS_ERROR,     /* nothing: it is an error */
  RANDOMNESS_SAME,      /* all entries draw the same numbers */
  RANDOMNESS_DIFFERENT, /* each entry draws its own numbers */
} Randomness;

typedef struct
{
  AdjMode mode;
  LevelKind kind;
  gint64 id;             /* unique, never reused */
  guint depth;           /* counted from 1, as in graphs */
  guint n_more;          /* number of modes pushed above it for this level */
  AdjSize size;          /* of a batch */
  Randomness randomness; /* of a batch */
} Level;

/* Pushes a level and returns its depth, or 0 with the context in error.  @size: of a batch. */
guint level_push (AdjContext *cx, LevelKind kind, AdjSize size);
/* Pops the innermost one.  %FALSE: there is none. */
gboolean level_pop (AdjContext *cx);
/* (nullable): the living level at @depth. */
Level *level_find (AdjContext *cx, guint depth);
/* (nullable): the innermost one of forward mode. */
Level *level_find_forward (AdjContext *cx);

/* -- tensors of a level -- */

/* Results are borrowed from the innermost scope. */
AdjTensor *level_wrap (AdjContext *cx, const Level *level, AdjTensor *inner, guint dim);
/* (nullable): the tensor that @tensor wraps, if it is of @level; @dim (out): its batch dimension.
 */
AdjTensor *level_unwrap (const Level *level, const AdjTensor *tensor, guint *dim);
/* A dual tensor of a level of forward mode: @primal and its tangent. */
AdjTensor *
level_wrap_dual (AdjContext *cx, const Level *level, AdjTensor *primal, AdjTensor *tangent);
/* (nullable): the tangent of @tensor when it is of @level. */
AdjTensor *level_tangent (const Level *level, const AdjTensor *tensor);
/* A tensor that is not batched, expanded to a batch at @dim, or unsqueezed there first.  %NULL: the
 * context is in error. */
AdjTensor *level_spread (
    AdjContext *cx, const Level *level, AdjTensor *tensor, guint dim, gboolean unsqueezed);
/* For a call below a batch level: the wrapped tensor with the batch dimension at @dim; a tensor
 * that is not batched is expanded.  %NULL: the context is in error. */
AdjTensor *level_bring_out (AdjContext *cx, const Level *level, AdjTensor *tensor, guint dim);
/* The tensor that @tensor wraps, if it is of a level of gradients, living or ended; else @tensor.
 */
AdjTensor *level_untrack (AdjTensor *tensor);
/* Unwraps @tensor from levels that are not among the modes from @mode on. */
AdjTensor *level_peel (const AdjMode *mode, AdjTensor *tensor);

/* -- batches (batching.c): AdjModeClass.call -- */

gboolean batching_call (AdjMode *mode, AdjOpCall *call);

/* -- steps (transform.c): AdjModeClass.transform -- */

gboolean transform_step (AdjMode *mode,
                         AdjContext *cx,
                         AdjTransform step,
                         const AdjValue *args,
                         guint n_args,
                         AdjValue *result);

G_END_DECLS
