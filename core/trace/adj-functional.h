/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/adj-view-chain.h"
#include "trace/adj-tape.h"

G_BEGIN_DECLS

/* Functionalization (trace/SPEC.md §2): below the mode that records gradients and above those that
 * trace and compute, a mode that turns writes into new values.  Tensors above it stand for values
 * below it: a write to one gives it a new value and queues it, and all views of the same storage
 * are made again from their base when they are next used. */

/* The mode; goes above the mode that traces. */
AdjMode *adj_functional_mode_new (void);
/* A view that detach makes calls it twice, and once when it is made again, as in the traces of
 * PyTorch 2.6. */
void adj_functional_mode_set_two_detaches (AdjMode *mode);

/* Calls @func for everything that happens to storages under @mode. */
void adj_functional_mode_set_tape (AdjMode *mode, AdjTapeFunc func, gpointer data);

/* A tensor for use above the mode, with @value as its value and a storage of its own. Borrowed from
 * the innermost scope. */
AdjTensor *adj_functional_wrap (AdjContext *cx, AdjTensor *value);
gboolean adj_functional_is_wrapped (const AdjTensor *tensor);
/* All that the storage of @tensor held when it was wrapped, as the base of its views; borrowed. */
AdjTensor *adj_functional_get_whole (AdjContext *cx, AdjTensor *tensor);
/* The current value of @tensor, remade if it is stale; a tensor that is not wrapped itself.
 * Borrowed from @tensor until it is next written or used. %NULL: the context is in error. */
AdjTensor *adj_functional_get_value (AdjContext *cx, AdjTensor *tensor);

/* What happened to a wrapped tensor and its storage. */
typedef struct
{
  gboolean mutated;          /* the storage was written, through any view */
  guint64 n_writes;          /* to the storage */
  guint64 n_no_grad;         /* of these, while grad mode was off */
  guint64 n_hidden;          /* of these, marked as hidden from autograd */
  gboolean metadata_changed; /* t_() or the like, resize_, set_ */
  guint n_turns;             /* of these but set_, all */
  gboolean turned_with_grad; /* of these but set_, one while grad mode was on */
  gboolean storage_changed;  /* set_ */
  gboolean is_multi_output;  /* a view, one of several results */
  gboolean storage_resized;
  gsize bytes_before, bytes_after;
  AdjViewChain *chain; /* (nullable): how it is made from the base of its storage */
} AdjFunctionalState;

/* %FALSE when @tensor is not wrapped. */
gboolean adj_functional_get_state (const AdjTensor *tensor, AdjFunctionalState *observed);

/**
 * adj_functional_write_back:
 * @input: the value that @tensor was wrapped around at first
 *
 * Brings @input to what @tensor is now, for those who hold it: set_, then copy_ (trace/SPEC.md
 * §2.5), recorded below the mode.  Nothing when @input still is the value.  %FALSE: the context is
 * in error; so when @tensor was turned in place, which no operator repeats.
 */
gboolean adj_functional_write_back (AdjContext *cx, AdjTensor *input, AdjTensor *tensor);

G_END_DECLS
