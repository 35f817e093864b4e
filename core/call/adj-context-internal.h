/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-mode.h"
#include "ir/adj-recompute.h"

G_BEGIN_DECLS

/* What a context asks of the operators, which stand above it. */
typedef struct
{
  /* (nullable): the operator that @target names. */
  const AdjOp *(*find) (const char *target);
  /* Makes the calls that a call of a composite operator stands for; @result (out) (transfer full).
   */
  gboolean (*decompose) (AdjOpCall *call, AdjValue *result);
  /* Whether @call writes a list of tensors one of which may show what another reads or writes. */
  gboolean (*is_entangled) (const AdjOpCall *call);
  /* Does what such a call does with each element, one after the other. */
  gboolean (*call_in_turn) (AdjOpCall *call);
} AdjOperators;

/* (transfer full): a context without a mode, as adj_context_new_empty() makes it.  @operators:
 * (unowned): a constant. */
AdjContext *adj_context_new_of (const AdjOperators *operators, AdjSymbols *symbols);

/* (transfer none): where calls enter now. */
AdjMode *adj_context_get_entry (AdjContext *cx);
/* %FALSE with the context in error when it is, or was cancelled. */
gboolean adj_context_may_go_on (AdjContext *cx);

/* Tells every mode, outermost first. */
void adj_context_note_builtin (
    AdjContext *cx, const char *target, const AdjValue *args, guint n_args, const AdjValue *result);

/* The dtype that random values of dtype float64 are drawn in; ADJ_DTYPE_NONE: as they are. */
AdjDType adj_context_get_drawn_dtype (const AdjContext *cx);
void adj_context_set_drawn_dtype (AdjContext *cx, AdjDType dtype);

/* To where adj_context_set_print() said. */
void adj_context_print (AdjContext *cx, const char *text);

/* The number of the autograd node that was made last; -1: none was. */
gint64 adj_context_get_sequence (const AdjContext *cx);
void adj_context_set_sequence (AdjContext *cx, gint64 sequence);

/* -- regions of activation checkpointing -- */

/* The one that is being run: what the nodes of a trace are tagged with. */
typedef struct
{
  gint64 id; /* -1: none */
  AdjRecompute recompute;
  gboolean is_again; /* it is being recomputed: its nodes stay in backward and are not merged */
} AdjRegionTag;

AdjRegionTag adj_context_get_region (const AdjContext *cx);
/* Returns what it was before. */
AdjRegionTag adj_context_set_region (AdjContext *cx, AdjRegionTag region);
/* The number of the next region: 1, 2, … */
gint64 adj_context_next_region (AdjContext *cx);

/* -- effects -- */

/* An effect token: a float tensor without elements, borrowed from the innermost scope. */
AdjTensor *adj_token_new (AdjContext *cx);
/* As adj_call() of an operator with an effect, which comes after what @token (nullable) came from.
 * @new_token (out): borrowed from the innermost scope; orders what comes after. */
gboolean adj_call_after (AdjContext *cx,
                         AdjTensor *token,
                         const AdjOp *op,
                         const AdjValue *args,
                         const AdjValue *kwargs,
                         AdjValue *result,
                         AdjTensor **new_token);

/* -- what the thread is set to: grad mode and autocast as a whole -- */

AdjAmbient adj_context_get_ambient (const AdjContext *cx);
void adj_context_set_ambient (AdjContext *cx, const AdjAmbient *ambient);
/* Sets what @ambient says, and leaves the rest as it is. */
void adj_context_add_ambient (AdjContext *cx, const AdjAmbient *ambient);

/* Whether sizes and numbers that data decide become symbols where there are no data (u0, u1, …);
 * else, as at first, they are refused by name. */
gboolean adj_context_get_unbacked (const AdjContext *cx);
void adj_context_set_unbacked (AdjContext *cx, gboolean unbacked);

G_END_DECLS
