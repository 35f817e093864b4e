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
  /* Calls the operators that a composite operator consists of; @result (out) (transfer full). */
  gboolean (*decompose) (AdjOpCall *call, AdjValue *result);
  /* Whether @call writes a list of tensors, one of which may share memory that another one reads or
   * writes. */
  gboolean (*has_coupled_elements) (const AdjOpCall *call);
  /* Runs such a call for each element, one after the other. */
  gboolean (*call_in_turn) (AdjOpCall *call);
} AdjOperators;

/* (transfer full): a context without a mode, like adj_context_new_empty().  @operators:
 * (unowned): constant. */
AdjContext *adj_context_new_of (const AdjOperators *operators, AdjSymbols *symbols);

/* (transfer none): the mode that gets calls first. */
AdjMode *adj_context_get_entry (AdjContext *cx);
/* %FALSE, with the context in error, if it already was in error or was cancelled. */
gboolean adj_context_may_go_on (AdjContext *cx);

/* Notifies every mode, outermost first. */
void adj_context_note_builtin (
    AdjContext *cx, const char *target, const AdjValue *args, guint n_args, const AdjValue *result);

/* For a graph recorded on a GPU: the number of threads that fit on that GPU at once, which
 * determines the random numbers drawn from the context's AdjPhilox on any executor.  0: CPU
 * numbers are drawn. */
gint64 adj_context_get_gpu_threads (const AdjContext *cx);
void adj_context_set_gpu_threads (AdjContext *cx, gint64 n_threads);

/* Whether calls only save a tensor for backward and are not part of the program.  The setter
 * returns the former value. */
gboolean adj_context_is_keeping (const AdjContext *cx);
gboolean adj_context_set_keeping (AdjContext *cx, gboolean is_keeping);

/* The state of all random number generators. */
struct _AdjDrawState
{
  guint8 generator[ADJ_GENERATOR_STATE_BYTES];
  AdjPhilox philox;
  gint64 gpu_threads;
};

void adj_context_get_draw_state (AdjContext *cx, AdjDrawState *out);
void adj_context_set_draw_state (AdjContext *cx, const AdjDrawState *state);

/* The dtype in which random values of dtype float64 are drawn; ADJ_DTYPE_NONE: float64. */
AdjDType adj_context_get_drawn_dtype (const AdjContext *cx);
void adj_context_set_drawn_dtype (AdjContext *cx, AdjDType dtype);
/* For a call that is widened to float64: its original dtype, in which it draws unless it names a
 * dtype, and whose epsilon formulas use; ADJ_DTYPE_NONE: unknown.  In called graphs the nodes
 * have their own. */
AdjDType adj_context_get_narrow_dtype (const AdjContext *cx);
void adj_context_set_narrow_dtype (AdjContext *cx, AdjDType dtype);

/* How operators that interpolate (ADJ_BAND_PLACES) compute positions when they are called in
 * float64; initially in float64. */
typedef struct
{
  gboolean narrow; /* computed in float32 */
  gboolean fused;  /* a product and the subtraction from it are rounded once */
  double step;     /* largest perturbation by a rounding on the way to the weights; 0: none */
  guint32 seed;    /* of the perturbations */
} AdjPlaceRounding;

/* (transfer none) */
const AdjPlaceRounding *adj_context_get_places (const AdjContext *cx);
void adj_context_set_places (AdjContext *cx, const AdjPlaceRounding *places);

/* The queue on which kernels of calls run. */
typedef struct AdjKQueue AdjKQueue;

/* (transfer none): never %NULL. */
AdjKQueue *adj_context_get_queue (const AdjContext *cx);
/* @queue: (unowned) (nullable): must outlive the calls that follow; %NULL: the CPU. */
void adj_context_set_queue (AdjContext *cx, AdjKQueue *queue);

/* Prints @text by the function set with adj_context_set_print(). */
void adj_context_print (AdjContext *cx, const char *text);

/* Adds a warning for the creator of the context, once for each text; it is not an error. */
void adj_context_warn (AdjContext *cx, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* (transfer none) (nullable): the texts, of char *. */
const GPtrArray *adj_context_get_warnings (const AdjContext *cx);

/* The sequence number of the autograd node that was made last; -1: none. */
gint64 adj_context_get_sequence (const AdjContext *cx);
void adj_context_set_sequence (AdjContext *cx, gint64 sequence);

/* -- regions of activation checkpointing -- */

/* A checkpoint region that is being run; nodes of a trace are tagged with it. */
typedef struct
{
  gint64 id; /* -1: none */
  AdjRecompute recompute;
  gboolean is_again; /* the region is being recomputed: its nodes stay in backward and are not
                        merged */
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
/* Sets the members that @thread_state defines, and leaves the others unchanged. */
void adj_context_add_thread_state (AdjContext *cx, const AdjThreadState *thread_state);

/* Whether data-dependent sizes and numbers become symbols if there are no data (u0, u1, …);
 * else, as initially, they are refused with an error that names the operator. */
gboolean adj_context_get_unbacked (const AdjContext *cx);
void adj_context_set_unbacked (AdjContext *cx, gboolean unbacked);

G_END_DECLS
