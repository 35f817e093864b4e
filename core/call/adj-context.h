/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "call/adj-generator.h"
#include "call/adj-op.h"
#include "call/adj-philox.h"

G_BEGIN_DECLS

/* All state that a computation has: the stack of modes, the scope of temporaries, the current
 * place in the user's program, symbols, and the first error.  Nothing of it is global, so two
 * contexts work in two threads at once; one context belongs to one thread at a time. */

/* -- modes -- */

typedef struct _AdjMode AdjMode;
typedef struct _AdjFunction AdjFunction;
typedef struct _AdjHigherCall AdjHigherCall;
typedef struct _AdjWrappedCall AdjWrappedCall;

/* A torch.autograd.Function in a graph. */
typedef struct
{
  AdjFunction *forward;  /* (unowned): of @args; gives (output, [what is saved]) */
  AdjFunction *backward; /* (unowned): of None, a gradient for each output and what was saved; gives
                            the gradient of each input, the only one as it is */
  const AdjValue
      *args; /* (unowned): None for its ctx, the inputs, what the forward reads besides */
  guint n_args;
  guint n_inputs;
  guint n_outputs;                    /* leaves of the output */
  const AdjValue *non_differentiable; /* (unowned) (nullable): LIST of outputs by number */
} AdjFunctionApply;

/* A layer that operator calls pass through, outermost first: autograd record → composite tensors
 * → functionalize → composite decomposition → proxy trace → (fake | eager kernels). */
typedef struct
{
  const char *name;
  /* Handles a call, or passes it on with adj_mode_call_below().  @call has bound arguments and no
   * results yet; afterwards it has results with tensors.  %FALSE: the context is in error. */
  gboolean (*call) (AdjMode *mode, AdjOpCall *call);
  /* (nullable): handles a call of a higher-order operator, or passes it on with
   * adj_mode_call_higher_below(); without it, it is passed on.  %FALSE: the context is in error. */
  gboolean (*higher) (AdjMode *mode, AdjHigherCall *call);
  /* (nullable): hears of what a graph calls beside operators, getitem and arithmetic on sizes. */
  void (*builtin) (AdjMode *mode,
                   const char *target,
                   const AdjValue *args,
                   guint n_args,
                   const AdjValue *result);
  /* (nullable): runs @body without keeping what it saves for backward.  @args: TUPLE; @kwargs: DICT
   * or NONE, of checkpoint() itself (interpreter/SPEC.md §5.3); @result (transfer full). */
  gboolean (*checkpoint) (AdjMode *mode,
                          AdjContext *cx,
                          AdjFunction *body,
                          const AdjValue *args,
                          const AdjValue *kwargs,
                          AdjValue *result);
  /* (nullable): calls the forward so that its gradient is what the backward gives; @result
   * (transfer full): the output.  %FALSE: the context is in error. */
  gboolean (*apply) (AdjMode *mode,
                     AdjContext *cx,
                     const AdjFunctionApply *apply,
                     AdjValue *result);
  /* (nullable): handles a call of trace_wrapped, or passes it on with
   * adj_mode_call_wrapped_below(); without it, it is passed on.  %FALSE: the context is in error.
   */
  gboolean (*wrapped) (AdjMode *mode, AdjWrappedCall *call);
  /* (nullable): adds @grad (nullable: undefined) to the gradient of @leaf.  %FALSE: the context is
   * in error. */
  gboolean (*accumulate) (AdjMode *mode, AdjContext *cx, AdjTensor *leaf, AdjTensor *grad);
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

/* -- context -- */

/* Ends the modes, every scope and what is in them. */
ADJ_PUBLIC void adj_context_free (AdjContext *cx);

/* @mode: (transfer full).  Takes @mode; popping frees it.  Modes are popped in reverse order. */
ADJ_PUBLIC void adj_context_push_mode (AdjContext *cx, AdjMode *mode);
ADJ_PUBLIC void adj_context_pop_mode (AdjContext *cx);
/* (transfer none) (nullable): the outermost mode. */
ADJ_PUBLIC AdjMode *adj_context_get_mode (AdjContext *cx);
/* Passes @call on; %FALSE: the context is in error. */
ADJ_PUBLIC gboolean adj_mode_call_below (AdjMode *mode, AdjOpCall *call);
/* Calls that a mode makes for itself enter at @mode from now on; %NULL: at the outermost.  Returns
 * (transfer none) (nullable) where they entered before. */
ADJ_PUBLIC AdjMode *adj_context_set_entry (AdjContext *cx, AdjMode *mode);

/* (transfer full): the mode that runs meta functions and CPU kernels, and the one that runs meta
 * functions alone. */
ADJ_PUBLIC AdjMode *adj_eager_mode_new (void);
ADJ_PUBLIC AdjMode *adj_fake_mode_new (void);
/* (transfer full): runs in float64: every floating dtype argument and default becomes float64;
 * integers, bool and recorded random values stay. */
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
/* Grad mode: whether operators are recorded for backward; %TRUE at first.  Setting it gives what it
 * was before. */
ADJ_PUBLIC gboolean adj_context_get_grad_enabled (const AdjContext *cx);
ADJ_PUBLIC gboolean adj_context_set_grad_enabled (AdjContext *cx, gboolean enabled);
/* Whether operators cast their arguments on @device, which is below ADJ_N_AUTOCAST, and to what;
 * off at first.  Setting it gives what it was before. */
ADJ_PUBLIC AdjAutocast adj_context_get_autocast (const AdjContext *cx, AdjDeviceType device);
ADJ_PUBLIC AdjAutocast adj_context_set_autocast (AdjContext *cx,
                                                 AdjDeviceType device,
                                                 AdjAutocast autocast);
/* Both of these as a whole. */
ADJ_PUBLIC AdjAmbient adj_context_get_ambient (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_ambient (AdjContext *cx, const AdjAmbient *ambient);
/* Sets what @ambient says, and leaves the rest as it is. */
ADJ_PUBLIC void adj_context_add_ambient (AdjContext *cx, const AdjAmbient *ambient);
/* What operators print goes to @print; without one nothing is printed. */
typedef void (*AdjPrintFunc) (const char *text, gpointer data);
ADJ_PUBLIC void adj_context_set_print (AdjContext *cx, AdjPrintFunc print, gpointer data);
/* Whether only deterministic algorithms may run, as the caller wishes; %FALSE at first. */
ADJ_PUBLIC gboolean adj_context_get_deterministic (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_deterministic (AdjContext *cx, gboolean deterministic);
/* Whether sizes and numbers that data decide become symbols where there are no data (u0, u1, …);
 * else, as at first, they are refused by name. */
ADJ_PUBLIC gboolean adj_context_get_unbacked (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_unbacked (AdjContext *cx, gboolean unbacked);
/* Polled before every call; the error is G_IO_ERROR_CANCELLED. */
ADJ_PUBLIC void adj_context_set_cancellable (AdjContext *cx, GCancellable *cancellable);

/* Where in the program the next calls are, for errors and traces; @place: (nullable), copied. */
ADJ_PUBLIC void adj_context_set_place (AdjContext *cx, const AdjPlace *place);
ADJ_PUBLIC const AdjPlace *adj_context_get_place (const AdjContext *cx);
/* Notes a line of the program, unless a graph is being interpreted; returns @cx (transfer none). */
ADJ_PUBLIC AdjContext *
adj_context_at (AdjContext *cx, const char *file, guint line, const char *function);
#define ADJ_HERE(cx) adj_context_at ((cx), __FILE__, __LINE__, __func__)

/* -- the sticky error --
 *
 * The first error sticks, with its provenance (operator, shapes, place).  While a context is in
 * error every call returns %NULL or %FALSE; whoever owns the context takes the error out. */
ADJ_PUBLIC gboolean adj_context_has_error (const AdjContext *cx);
ADJ_PUBLIC GError *adj_context_get_error (AdjContext *cx); /* (transfer none) (nullable) */
/* Moves it to @error (nullable: dropped); the context is usable again.  Returns whether there was
 * one. */
ADJ_PUBLIC gboolean adj_context_take_error (AdjContext *cx, GError **error);
/* Sets it, with the place, unless there is one already. */
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
/* Gives @tensor (transfer full) (nullable) to the innermost scope; returns it (transfer none). */
ADJ_PUBLIC AdjTensor *adj_scope_add (AdjContext *cx, AdjTensor *tensor);
ADJ_PUBLIC AdjTensor *
adj_keep (AdjTensor *tensor); /* (transfer full) (nullable): NULL keeps NULL */

/**
 * adj_from_array:
 * @sizes: (array length=rank)
 * @elements: that many of @dtype, in row-major order; copied
 *
 * Returns: (transfer none) (nullable): a contiguous tensor on the CPU, in the innermost scope;
 * %NULL with the context in error
 */
ADJ_PUBLIC AdjTensor *adj_from_array (
    AdjContext *cx, AdjDType dtype, const gint64 *sizes, guint rank, gconstpointer elements);

/* The value of a tensor of one element.  0 with the context in error when it has none: more
 * elements, or none at all because it is fake. */
ADJ_PUBLIC double adj_item (AdjContext *cx, AdjTensor *tensor);
/* The same as a size: a symbol where data will decide it and the context lets them. */
ADJ_PUBLIC AdjSize adj_item_size (AdjContext *cx, AdjTensor *tensor);
/* (transfer none): bytes, zeroed, that live as long as the innermost scope. */
ADJ_PUBLIC gpointer adj_scope_alloc (AdjContext *cx, gsize n_bytes);

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

/* The same as adj_call() with arguments in schema order, none left out, as in an AdjOpCall. */
ADJ_PUBLIC gboolean adj_call_bound (AdjContext *cx,
                                    const AdjOp *op,
                                    const AdjValue *args,
                                    AdjValue *result);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjContext, adj_context_free)

G_END_DECLS
