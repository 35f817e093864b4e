/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "call/adj-generator.h"
#include "call/adj-op.h"
#include "call/adj-philox.h"
#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* All state that a computation has: the stack of modes, the scope of temporaries, the current
 * place in the user's program, symbols, and the first error.  Nothing of it is global, so two
 * contexts work in two threads at once; one context belongs to one thread at a time. */

/* -- modes -- */

typedef struct _AdjMode AdjMode;
typedef struct _AdjFunction AdjFunction;

/* A layer that operator calls pass through, outermost first: autograd record → composite tensors
 * → functionalize → composite decomposition → proxy trace → (fake | eager kernels). */
typedef struct
{
  const char *name;
  /* Handles a call, or passes it on with adj_mode_call_below().  @call has bound arguments and no
   * results yet; afterwards it has results with tensors.  %FALSE: the context is in error. */
  gboolean (*call) (AdjMode *mode, AdjOpCall *call);
  /* (nullable): hears of what a graph calls beside operators, getitem and arithmetic on sizes. */
  void (*builtin) (AdjMode *mode,
                   const char *target,
                   const AdjValue *args,
                   guint n_args,
                   const AdjValue *result);
  /* (nullable): runs @body without keeping what it saves for backward.  @args: TUPLE; @kwargs: DICT
   * or NONE, of checkpoint() itself (partitioner §1.2); @result (transfer full). */
  gboolean (*checkpoint) (AdjMode *mode,
                          AdjContext *cx,
                          AdjFunction *body,
                          const AdjValue *args,
                          const AdjValue *kwargs,
                          AdjValue *result);
  void (*finalize) (AdjMode *mode); /* (nullable): frees what is beyond the struct */
} AdjModeClass;

struct _AdjMode
{
  const AdjModeClass *klass;
  AdjMode *below; /* (owned): set when pushed */
};

/* -- places: where in the user's program we are -- */

/* Texts are borrowed for as long as the place is current. */
typedef struct
{
  const char *file;
  guint line;
  const char *function;    /* (nullable): of C */
  const char *node;        /* (nullable): the graph node being interpreted */
  const char *stack_trace; /* (nullable): that node's trace */
  const AdjGraph *graph;   /* (nullable): that node's graph */
  AdjNodeId id;            /* in @graph */
  const AdjGraph *outer;   /* (nullable): that was called; %NULL: @graph itself */
  AdjNodeId outer_id;      /* the node of @outer in which @node stands */
  const char *original;    /* (nullable): the operator that is being decomposed */
  guint64 running;         /* number of the autograd node that runs, plus one; 0: none does */
  gboolean stays_backward; /* what is called must not move into the forward */
  gboolean accumulates;    /* its gradients are being added to those that arrived before */
} AdjPlace;

/* The region of activation checkpointing that is being run: what the nodes of a trace are tagged
 * with. */
typedef struct
{
  gint64 id; /* -1: none */
  AdjRecompute recompute;
  gboolean is_again; /* it is being recomputed: its nodes stay in backward and are not merged */
} AdjRegionTag;

/* -- context -- */

/* A context whose only mode computes with the CPU kernels. */
ADJ_PUBLIC AdjContext *adj_context_new (void);
/* A context without a mode: push at least one. */
ADJ_PUBLIC AdjContext *adj_context_new_empty (AdjSymbols *symbols);
ADJ_PUBLIC void adj_context_free (AdjContext *cx);

/* Takes @mode; popping frees it.  Modes are popped in reverse order. */
ADJ_PUBLIC void adj_context_push_mode (AdjContext *cx, AdjMode *mode);
ADJ_PUBLIC void adj_context_pop_mode (AdjContext *cx);
/* (transfer none) (nullable): the outermost mode. */
AdjMode *adj_context_get_mode (AdjContext *cx);
gboolean adj_mode_call_below (AdjMode *mode, AdjOpCall *call);
/* Calls that a mode makes for itself enter at @mode, which gives where they entered before; %NULL:
 * at the outermost. */
AdjMode *adj_context_set_entry (AdjContext *cx, AdjMode *mode);
/* Tells every mode, outermost first. */
void adj_context_note_builtin (
    AdjContext *cx, const char *target, const AdjValue *args, guint n_args, const AdjValue *result);

/* The mode that runs meta functions and CPU kernels, and the one that runs meta functions alone. */
ADJ_PUBLIC AdjMode *adj_eager_mode_new (void);
ADJ_PUBLIC AdjMode *adj_fake_mode_new (void);
/* Runs in float64: every floating dtype argument and default becomes float64; integers, bool and
 * recorded random values stay. */
ADJ_PUBLIC AdjMode *adj_float64_mode_new (void);

ADJ_PUBLIC AdjSymbols *adj_context_get_symbols (AdjContext *cx); /* (transfer none) */
/* float32 unless set: what a factory without dtype makes and integers become in divisions. */
ADJ_PUBLIC AdjDType adj_context_get_default_dtype (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_default_dtype (AdjContext *cx, AdjDType dtype);
/* (transfer none): what random operators draw from; begins with PyTorch's default seed. */
ADJ_PUBLIC AdjGenerator *adj_context_get_generator (AdjContext *cx);
/* What counter-based random operators start from, and leave behind; seed 0, offset 0 at first. */
ADJ_PUBLIC AdjPhilox adj_context_get_philox (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_philox (AdjContext *cx, AdjPhilox state);
/* The dtype that random values of dtype float64 are drawn in; ADJ_DTYPE_NONE: as they are. */
AdjDType adj_context_get_drawn_dtype (const AdjContext *cx);
void adj_context_set_drawn_dtype (AdjContext *cx, AdjDType dtype);
/* Grad mode: whether operators are recorded for backward; %TRUE at first.  Setting it gives what it
 * was before. */
ADJ_PUBLIC gboolean adj_context_get_grad_enabled (const AdjContext *cx);
ADJ_PUBLIC gboolean adj_context_set_grad_enabled (AdjContext *cx, gboolean enabled);
/* What operators print goes to @print; without one nothing is printed. */
typedef void (*AdjPrintFunc) (const char *text, gpointer data);
ADJ_PUBLIC void adj_context_set_print (AdjContext *cx, AdjPrintFunc print, gpointer data);
void adj_context_print (AdjContext *cx, const char *text);
/* Whether only deterministic algorithms may run, as the caller wishes; %FALSE at first. */
ADJ_PUBLIC gboolean adj_context_get_deterministic (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_deterministic (AdjContext *cx, gboolean deterministic);
/* Whether sizes and numbers that data decide become symbols where there are no data (u0, u1, …);
 * else, as at first, they are refused by name. */
ADJ_PUBLIC gboolean adj_context_get_unbacked (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_unbacked (AdjContext *cx, gboolean unbacked);
/* Polled before every call; the error is G_IO_ERROR_CANCELLED. */
ADJ_PUBLIC void adj_context_set_cancellable (AdjContext *cx, GCancellable *cancellable);

ADJ_PUBLIC void adj_context_set_place (AdjContext *cx, const AdjPlace *place);
const AdjPlace *adj_context_get_place (const AdjContext *cx);
/* Notes a line of the program, unless a graph is being interpreted; returns @cx. */
ADJ_PUBLIC AdjContext *
adj_context_at (AdjContext *cx, const char *file, guint line, const char *function);
#define ADJ_HERE(cx) adj_context_at ((cx), __FILE__, __LINE__, __func__)
/* The number of the autograd node that was made last; -1: none was. */
gint64 adj_context_get_sequence (const AdjContext *cx);
void adj_context_set_sequence (AdjContext *cx, gint64 sequence);

AdjRegionTag adj_context_get_region (const AdjContext *cx);
/* Returns what it was before. */
AdjRegionTag adj_context_set_region (AdjContext *cx, AdjRegionTag region);
/* The number of the next region: 1, 2, … */
gint64 adj_context_next_region (AdjContext *cx);

/* -- the sticky error --
 *
 * The first error sticks, with its provenance (operator, shapes, place).  While a context is in
 * error every call returns %NULL or %FALSE; whoever owns the context takes the error out. */
ADJ_PUBLIC gboolean adj_context_has_error (const AdjContext *cx);
/* (transfer full) into @error; the context is usable again.  Returns whether there was one. */
GError *adj_context_get_error (AdjContext *cx); /* (transfer none) (nullable) */
ADJ_PUBLIC gboolean adj_context_take_error (AdjContext *cx, GError **error);
ADJ_PUBLIC void adj_context_fail (AdjContext *cx, GQuark domain, gint code, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

/* Answers a comparison of sizes for a program that goes one way or the other, as
 * adj_size_decide().  %FALSE with the context in error where data decide it. */
ADJ_PUBLIC gboolean adj_context_test_size (AdjContext *cx,
                                           AdjSizeOp comparison,
                                           AdjSize a,
                                           AdjSize b);

/* -- scopes: owners of temporaries --
 *
 * Results of calls are borrowed from the innermost scope and end with it.  adj_keep() takes a
 * reference beyond it. */
ADJ_PUBLIC void adj_scope_begin (AdjContext *cx);
ADJ_PUBLIC void adj_scope_end (AdjContext *cx);
/* Gives @tensor (transfer full) to the innermost scope; returns it, borrowed. */
ADJ_PUBLIC AdjTensor *adj_scope_add (AdjContext *cx, AdjTensor *tensor);
ADJ_PUBLIC AdjTensor *
adj_keep (AdjTensor *tensor); /* (transfer full) (nullable): NULL keeps NULL */

/* The value of a tensor of one element.  0 with the context in error when it has none: more
 * elements, or none at all because it is fake. */
ADJ_PUBLIC double adj_item (AdjContext *cx, AdjTensor *tensor);
/* The same as a size: a symbol where data will decide it and the context lets them. */
ADJ_PUBLIC AdjSize adj_item_size (AdjContext *cx, AdjTensor *tensor);
/* Bytes, zeroed, that live as long as the innermost scope. */
gpointer adj_scope_alloc (AdjContext *cx, gsize n_bytes);

/* -- calls -- */

/**
 * adj_call:
 * @args: (nullable): TUPLE of positional arguments
 * @kwargs: (nullable): DICT
 * @result: (out): borrowed from the innermost scope: TENSOR, NONE, or a TUPLE or LIST of them
 *
 * Returns: %FALSE when the context is, or comes to be, in error
 */
ADJ_PUBLIC gboolean adj_call (AdjContext *cx,
                              const AdjOp *op,
                              const AdjValue *args,
                              const AdjValue *kwargs,
                              AdjValue *result);

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

/* The same as adj_call() with arguments in schema order, none left out, as in an AdjOpCall. */
gboolean adj_call_bound (AdjContext *cx, const AdjOp *op, const AdjValue *args, AdjValue *result);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjContext, adj_context_free)

G_END_DECLS
