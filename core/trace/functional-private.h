/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-mode.h"
#include "trace/adj-functional.h"

G_BEGIN_DECLS

/* -- storage (functional-storage.c) -- */

/* A write to a view that is not yet applied to the base. */
typedef struct
{
  AdjTensor *value;    /* (owned) */
  AdjViewChain *chain; /* (owned) (nullable) */
} FunctionalUpdate;

/* The state shared by views of one storage. */
typedef struct
{
  guint n_refs;
  AdjTensor *base;     /* (owned): all elements, below the mode */
  AdjStorage *storage; /* (owned): the storage of the tensors above the mode; has no bytes */
  GArray *updates;     /* FunctionalUpdate: queued, not yet in the base */
  guint64 generation;
  gboolean frozen;
  guint64 n_writes, n_no_grad, n_hidden;
  gboolean resized;
  gsize bytes_before, bytes_after; /* if it was resized */
  guint number;                    /* on the tape; 0: no event yet */
} FunctionalStorage;

/* -- the mode (adj-functional.c) -- */

typedef struct
{
  AdjMode parent;
  gboolean two_detaches;
  AdjTapeFunc tape; /* (nullable) */
  gpointer tape_data;
  guint n_storages; /* numbered on the tape */
} FunctionalMode;

/* Handlers of calls: operators (functional-operators.c), everything else (functional-higher.c).
 * %FALSE: the context is in error. */
gboolean functional_call (AdjMode *mode, AdjOpCall *call);
gboolean functional_higher (AdjMode *mode, AdjHigherCall *call);
gboolean functional_wrapped (AdjMode *mode, AdjWrappedCall *call);
gboolean functional_object (AdjMode *mode, AdjObjectCall *call);
gboolean functional_effect (AdjMode *mode, AdjEffectCall *call);

/* Reports an event to the tape of the mode, if it has one.  @value: (nullable): below the mode */
void functional_tell (AdjContext *cx,
                      FunctionalStorage *storage,
                      AdjTapeKind kind,
                      const AdjTensor *value,
                      AdjViewChain *chain);

FunctionalStorage *functional_storage_new (AdjTensor *base);
FunctionalStorage *functional_storage_ref (FunctionalStorage *storage);
void functional_storage_unref (FunctionalStorage *storage);
/* Queues the write of @value to the view that @chain makes.  %FALSE: the context is in error. */
gboolean functional_storage_push (FunctionalStorage *storage,
                                  AdjContext *cx,
                                  AdjTensor *value,
                                  AdjViewChain *chain);
/* Resizes from 0 or to 0 bytes.  %FALSE: the context is in error. */
gboolean functional_storage_resize (FunctionalStorage *storage, AdjContext *cx, gsize n_bytes);
/* Applies the queued writes to the base, by calls at the entry of @cx. */
gboolean functional_storage_flush (FunctionalStorage *storage, AdjContext *cx);

/* -- tensors (functional-tensor.c) -- */

/* The value behind a tensor above the mode, stored in its slot. */
typedef struct
{
  AdjTensor *value; /* (owned) */
  FunctionalStorage *storage;
  AdjViewChain *chain; /* (owned) (nullable) */
  guint64 generation;  /* generation of the storage to which the value belongs */
  gboolean metadata_changed;
  guint n_turns;
  gboolean turned_with_grad; /* t_() and the like, with grad mode on */
  gboolean storage_changed;
  gboolean is_multi_output;
} Functional;

Functional *functional_find (const AdjTensor *tensor); /* (nullable) */
/* (transfer full) */
AdjTensor *functional_wrap (AdjTensor *value);
/* (transfer full): @value as a view of @base, made by the last step of @chain. */
AdjTensor *functional_wrap_view (AdjTensor *base, AdjTensor *value, AdjViewChain *chain);
/* Recreates a stale value, by calls at the entry of @cx. */
gboolean functional_sync (AdjContext *cx, AdjTensor *tensor);
/* A write: makes @value, cast to the dtype of @tensor, its value, and updates all views. */
gboolean functional_write (AdjContext *cx, AdjTensor *tensor, AdjTensor *value);
/* t_() and the like: @tensor becomes the view that @chain makes, whose value is @value. */
void functional_turn (AdjContext *cx, AdjTensor *tensor, AdjTensor *value, AdjViewChain *chain);
/* set_(): @tensor takes over value and storage of @source. */
void functional_become (AdjTensor *tensor, AdjTensor *source);
/* resize_() that needs more memory: @value starts a new storage. %FALSE: there are views. */
gboolean functional_replace_storage (AdjTensor *tensor, AdjTensor *value);

G_END_DECLS
