/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "call/adj-generator.h"
#include "call/adj-philox.h"
#include "ir/adj-thread-state.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

typedef struct _AdjContext AdjContext;
typedef struct _AdjMode AdjMode;         /* call/adj-mode.h */
typedef struct _AdjFunction AdjFunction; /* call/adj-function.h */
/* the state of all random generators of a context */
typedef struct _AdjDrawState AdjDrawState;

/* All state of a computation: the stack of modes, the scope of temporaries, the current
 * place in the user's program, symbols, and the first error.  Nothing of it is global, so two
 * contexts work in two threads at once; one context belongs to one thread at a time. */

/* -- context -- */

/* Frees @cx with its modes, scopes and the values in them. */
ADJ_PUBLIC void adj_context_free (AdjContext *cx);

ADJ_PUBLIC AdjSymbols *adj_context_get_symbols (AdjContext *cx); /* (transfer none) */
/* float32 unless set: the dtype of factories without dtype, and of integers in true divisions. */
ADJ_PUBLIC AdjDType adj_context_get_default_dtype (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_default_dtype (AdjContext *cx, AdjDType dtype);
/* The PyTorch release whose decompositions, gradients and kernels are followed where releases
 * differ; %NULL, the default: 2.6.  @release: a literal ("2.15"). */
ADJ_PUBLIC const char *adj_context_get_release (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_release (AdjContext *cx, const char *release);
/* (transfer none): the generator of random operators, seeded with PyTorch's default seed. */
ADJ_PUBLIC AdjGenerator *adj_context_get_generator (AdjContext *cx);
/* The seed and offset of counter-based random operators, which advance the offset; both 0 at first.
 */
ADJ_PUBLIC AdjPhilox adj_context_get_philox (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_philox (AdjContext *cx, AdjPhilox state);
/* Grad mode: whether operators are recorded for backward; %TRUE at first. The setter returns the
 * previous value. */
ADJ_PUBLIC gboolean adj_context_get_grad_enabled (const AdjContext *cx);
ADJ_PUBLIC gboolean adj_context_set_grad_enabled (AdjContext *cx, gboolean enabled);
/* Autocast of floating arguments on @device, which is below ADJ_N_AUTOCAST, and the target dtype;
 * off at first. The setter returns the previous value. */
ADJ_PUBLIC AdjAutocast adj_context_get_autocast (const AdjContext *cx, AdjDeviceType device);
ADJ_PUBLIC AdjAutocast adj_context_set_autocast (AdjContext *cx,
                                                 AdjDeviceType device,
                                                 AdjAutocast autocast);
/* @print gets the text that operators print; without it, the text is dropped. */
typedef void (*AdjPrintFunc) (const char *text, gpointer data);
ADJ_PUBLIC void adj_context_set_print (AdjContext *cx, AdjPrintFunc print, gpointer data);
/* Whether only deterministic algorithms may run; %FALSE at first. */
ADJ_PUBLIC gboolean adj_context_get_deterministic (const AdjContext *cx);
ADJ_PUBLIC void adj_context_set_deterministic (AdjContext *cx, gboolean deterministic);
/* Polled before every call; the error is G_IO_ERROR_CANCELLED. */
ADJ_PUBLIC void adj_context_set_cancellable (AdjContext *cx, GCancellable *cancellable);

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
/* Moves the error, as of adj_context_fail(), to @error (nullable: dropped) and makes the context
 * usable again.  Returns whether there was one. */
ADJ_PUBLIC gboolean adj_context_take_error (AdjContext *cx, GError **error);
/* Sets the error, with the current place, unless there is one. */
ADJ_PUBLIC void adj_context_fail (AdjContext *cx, GQuark domain, gint code, const char *format, ...)
    G_GNUC_PRINTF (4, 5);

/* Decides a comparison of sizes for a branch of the program, as adj_size_decide(). %FALSE with the
 * context in error where it depends on data. */
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

/* The value of a tensor of one element.  0 with the context in error if it has more elements or is
 * fake. */
ADJ_PUBLIC double adj_item (AdjContext *cx, AdjTensor *tensor);
/* The same as a size: an unbacked symbol if the value is unknown and the context allows those. */
ADJ_PUBLIC AdjSize adj_item_size (AdjContext *cx, AdjTensor *tensor);

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

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjContext, adj_context_free)

G_END_DECLS
