/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/adj-view-chain.h"
#include "trace/adj-tape.h"

G_BEGIN_DECLS

/* Functionalization (trace/SPEC.md §2): a mode below the one that records gradients and above those
 * that trace and compute, which turns writes into new values.  A tensor above it wraps a value
 * below it: a write to it replaces its value and queues the write, and other views of the same
 * storage are recreated from their base at their next use. */

/* The mode; push it above the mode that traces. */
AdjMode *adj_functional_mode_new (void);
/* detach is recorded twice when called, and once when the view is recreated, as in the traces of
 * PyTorch 2.6. */
void adj_functional_mode_set_two_detaches (AdjMode *mode);

/* Calls @func for every event of a storage under @mode. */
void adj_functional_mode_set_tape (AdjMode *mode, AdjTapeFunc func, gpointer data);

/* A tensor for use above the mode, with @value as its value and a storage of its own. Borrowed from
 * the innermost scope. */
AdjTensor *adj_functional_wrap (AdjContext *cx, AdjTensor *value);
gboolean adj_functional_is_wrapped (const AdjTensor *tensor);
/* A view of all elements that the storage of @tensor had when it was wrapped, as the base of its
 * views; borrowed. */
AdjTensor *adj_functional_get_whole (AdjContext *cx, AdjTensor *tensor);
/* The current value of @tensor, recreated if it is stale; @tensor itself if it is not wrapped.
 * Borrowed from @tensor until its next write or use. %NULL: the context is in error. */
AdjTensor *adj_functional_get_value (AdjContext *cx, AdjTensor *tensor);

/* The history of a wrapped tensor and its storage. */
typedef struct
{
  gboolean mutated;          /* the storage was written, through any view */
  guint64 n_writes;          /* number of writes to the storage */
  guint64 n_no_grad;         /* of these, with grad mode off */
  guint64 n_hidden;          /* of these, marked as hidden from autograd */
  gboolean metadata_changed; /* by t_() or the like, resize_ or set_ */
  guint n_turns;             /* number of such changes, without set_ */
  gboolean turned_with_grad; /* one of these changes, not set_, was made with grad mode on */
  gboolean storage_changed;  /* set_ */
  gboolean is_multi_output;  /* a view that is one of several results */
  gboolean storage_resized;
  gsize bytes_before, bytes_after;
  AdjViewChain *chain; /* (nullable): the views from the base of its storage to it */
} AdjFunctionalState;

/* %FALSE when @tensor is not wrapped. */
gboolean adj_functional_get_state (const AdjTensor *tensor, AdjFunctionalState *observed);

/**
 * adj_functional_write_back:
 * @input: the original value of @tensor
 *
 * Writes the current value of @tensor to @input: set_, then copy_ (trace/SPEC.md §2.5), recorded
 * below the mode.  Does nothing if @input still is the value.  %FALSE: the context is in error;
 * also if t_() or the like was applied to @tensor, for which there is no operator.
 */
gboolean adj_functional_write_back (AdjContext *cx, AdjTensor *input, AdjTensor *tensor);

G_END_DECLS
