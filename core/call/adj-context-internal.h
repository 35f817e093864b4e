/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-mode.h"
#include "ir/adj-recompute.h"

G_BEGIN_DECLS

/* Functions of higher layers that a context needs. */
typedef struct
{
  /* (nullable): the operator that @target names. */
  const AdjOp *(*find) (const char *target);
  /* Makes the calls of which a composite operator consists; @result (out) (transfer full). */
  gboolean (*decompose) (AdjOpCall *call, AdjValue *result);
  /* Whether @call writes a list of tensors one of which may show what another reads or writes. */
  gboolean (*has_coupled_elements) (const AdjOpCall *call);
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

/* Notifies every mode, outermost first. */
void adj_context_note_builtin (
    AdjContext *cx, const char *target, const AdjValue *args, guint n_args, const AdjValue *result);

/* How many threads fit at once on the GPU whose random numbers are drawn, those of the context's
 * AdjPhilox: of a graph that was recorded there, wherever it runs.  0: they are those of the CPU.
 */
gint64 adj_context_get_gpu_threads (const AdjContext *cx);
void adj_context_set_gpu_threads (AdjContext *cx, gint64 n_threads);

/* Whether what is called keeps a tensor for backward, and is not of the program.  The setter
 * returns what held before. */
gboolean adj_context_is_keeping (const AdjContext *cx);
gboolean adj_context_set_keeping (AdjContext *cx, gboolean is_keeping);

/* All that random numbers are drawn from. */
struct _AdjDrawState
{
  guint8 generator[ADJ_GENERATOR_STATE_BYTES];
  AdjPhilox philox;
  gint64 gpu_threads;
};

void adj_context_get_draw_state (AdjContext *cx, AdjDrawState *out);
void adj_context_set_draw_state (AdjContext *cx, const AdjDrawState *state);

/* The dtype that random values of dtype float64 are drawn in; ADJ_DTYPE_NONE: as they are. */
AdjDType adj_context_get_drawn_dtype (const AdjContext *cx);
void adj_context_set_drawn_dtype (AdjContext *cx, AdjDType dtype);
/* Of what is called here and widened to float64: the dtype that it has without that, in which it
 * draws unless it names another, and whose epsilon formulas take; ADJ_DTYPE_NONE: unknown.  In
 * graphs that it calls their nodes say it. */
AdjDType adj_context_get_narrow_dtype (const AdjContext *cx);
void adj_context_set_narrow_dtype (AdjContext *cx, AdjDType dtype);

/* How the places are computed that operators blend at (ADJ_BAND_PLACES) where they are called in
 * float64; as it is made: in float64. */
typedef struct
{
  gboolean narrow; /* in float32 */
  gboolean fused;  /* a product and what is taken from it are rounded once */
  double step;  /* by how much a rounding on the way to weights moves them at most; 0: not at all */
  guint32 seed; /* of the moves */
} AdjPlaceRounding;

/* (transfer none) */
const AdjPlaceRounding *adj_context_get_places (const AdjContext *cx);
void adj_context_set_places (AdjContext *cx, const AdjPlaceRounding *places);

/* Where the kernels of calls run. */
typedef struct AdjKQueue AdjKQueue;

/* (transfer none): never %NULL. */
AdjKQueue *adj_context_get_queue (const AdjContext *cx);
/* @queue: (unowned) (nullable): outlives the calls that follow; %NULL: the CPU. */
void adj_context_set_queue (AdjContext *cx, AdjKQueue *queue);

/* Prints @text by the function set with adj_context_set_print(). */
void adj_context_print (AdjContext *cx, const char *text);

/* Notes what whoever made the context should be told, once; it is no error. */
void adj_context_warn (AdjContext *cx, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* (transfer none) (nullable): the texts, of char *. */
const GPtrArray *adj_context_get_warnings (const AdjContext *cx);

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
/* Sets the checkpoint region of the calls that follow; returns the previous one. */
AdjRegionTag adj_context_set_region (AdjContext *cx, AdjRegionTag region);
/* The number of the next region: 1, 2, … */
gint64 adj_context_next_region (AdjContext *cx);

/* Whether @mode (nullable) or one below it traces. */
gboolean adj_mode_is_traced (const AdjMode *mode);

/* -- effects -- */

/* An effect token: a float tensor without elements, borrowed from the innermost scope. */
AdjTensor *adj_token_new (AdjContext *cx);
/* Calls an operator with an effect, ordered after the call that gave @token (nullable). @new_token
 * (out): orders later calls; borrowed from the innermost scope. */
gboolean adj_call_after (AdjContext *cx,
                         AdjTensor *token,
                         const AdjOp *op,
                         const AdjValue *args,
                         const AdjValue *kwargs,
                         AdjValue *result,
                         AdjTensor **new_token);

/* -- what the thread is set to: grad mode and autocast as a whole -- */

AdjThreadState adj_context_get_thread_state (const AdjContext *cx);
void adj_context_set_thread_state (AdjContext *cx, const AdjThreadState *thread_state);
/* Sets what @thread_state says, and leaves the rest as it is. */
void adj_context_add_thread_state (AdjContext *cx, const AdjThreadState *thread_state);

/* Whether sizes and numbers that data decide become symbols where there are no data (u0, u1, …);
 * else, as at first, they are refused by name. */
gboolean adj_context_get_unbacked (const AdjContext *cx);
void adj_context_set_unbacked (AdjContext *cx, gboolean unbacked);

G_END_DECLS
