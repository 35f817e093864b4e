/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/autograd-private.h"
#include "call/adj-mode.h"

G_BEGIN_DECLS

/* Levels of torch.func: modes above the one that records for the program. */

/* Tensors of a level show another of the levels below: one that remembers what happens to it there,
 * one with a dimension more, or one whose tangent is known. */
typedef enum
{
  LEVEL_GRADIENTS,
  LEVEL_BATCH,
  LEVEL_FORWARD,
} LevelKind;

/* What entries of a batch draw. */
typedef enum
{
  RANDOMNESS_ERROR,     /* nothing: it is an error */
  RANDOMNESS_SAME,      /* all the same numbers */
  RANDOMNESS_DIFFERENT, /* each numbers of its own */
} Randomness;

typedef struct
{
  AdjMode mode;
  LevelKind kind;
  gint64 id;             /* never used again */
  guint depth;           /* counted from 1, as graphs do */
  guint n_more;          /* modes that were pushed above it for this level */
  AdjSize size;          /* of a batch */
  Randomness randomness; /* of a batch */
} Level;

/* Pushes a level; its depth, or 0 with the context in error.  @size: of a batch. */
guint level_push (AdjContext *cx, LevelKind kind, AdjSize size);
/* Pops the innermost one.  %FALSE: there is none. */
gboolean level_pop (AdjContext *cx);
/* (nullable): the one that lives at @depth. */
Level *level_find (AdjContext *cx, guint depth);
/* (nullable): the innermost one of forward mode. */
Level *level_find_forward (AdjContext *cx);

/* -- tensors of a level -- */

/* Results are borrowed from the innermost scope. */
AdjTensor *level_wrap (AdjContext *cx, const Level *level, AdjTensor *inner, guint dim);
/* (nullable): what @tensor shows when it is of @level; @dim (out): the dimension that it hides. */
AdjTensor *level_unwrap (const Level *level, const AdjTensor *tensor, guint *dim);
/* A tensor of a level of forward mode: what it shows, and the tangent of that. */
AdjTensor *
level_wrap_dual (AdjContext *cx, const Level *level, AdjTensor *primal, AdjTensor *tangent);
/* (nullable): the tangent of @tensor when it is of @level. */
AdjTensor *level_tangent (const Level *level, const AdjTensor *tensor);
/* Of a batch, in a call below it: what @tensor shows, with the dimension of the batch at @dim; what
 * has none is repeated for each entry.  %NULL: the context is in error. */
AdjTensor *level_bring_out (AdjContext *cx, const Level *level, AdjTensor *tensor, guint dim);
/* What @tensor shows below a level of gradients, alive or not; else itself. */
AdjTensor *level_untrack (AdjTensor *tensor);
/* @tensor without the levels that are not among the modes from @mode on. */
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
