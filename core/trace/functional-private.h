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

/* What views of one storage share. */
typedef struct
{
  guint n_refs;
  AdjTensor *base;     /* (owned): all of the data, below the mode */
  AdjStorage *storage; /* (owned): the storage of the tensors above the mode; has no bytes */
  GArray *updates;     /* FunctionalUpdate: not yet in the base */
  guint64 generation;
  gboolean frozen;
  guint64 n_writes, n_no_grad, n_hidden;
  gboolean resized;
  gsize bytes_before, bytes_after; /* when it was resized */
  guint number;                    /* on the tape; 0: nothing happened yet */
} FunctionalStorage;

/* -- the mode (adj-functional.c) -- */

typedef struct
{
  AdjMode parent;
  gboolean two_detaches;
  AdjTapeFunc tape; /* (nullable) */
  gpointer tape_data;
  guint n_storages; /* on the tape */
} FunctionalMode;

/* What it does with calls: of operators (functional-operators.c), of everything else
 * (functional-higher.c).  %FALSE: the context is in error. */
gboolean functional_call (AdjMode *mode, AdjOpCall *call);
gboolean functional_higher (AdjMode *mode, AdjHigherCall *call);
gboolean functional_wrapped (AdjMode *mode, AdjWrappedCall *call);
gboolean functional_object (AdjMode *mode, AdjObjectCall *call);
gboolean functional_effect (AdjMode *mode, AdjEffectCall *call);

/* Tells the tape of the mode, if it has one.  @value: (nullable): below the mode */
void functional_tell (AdjContext *cx,
                      FunctionalStorage *storage,
                      AdjTapeKind kind,
                      const AdjTensor *value,
                      AdjViewChain *chain);

FunctionalStorage *functional_storage_new (AdjTensor *base);
FunctionalStorage *functional_storage_ref (FunctionalStorage *storage);
void functional_storage_unref (FunctionalStorage *storage);
/* Queues @value for the view that @chain makes.  %FALSE: the context is in error. */
gboolean functional_storage_push (FunctionalStorage *storage,
                                  AdjContext *cx,
                                  AdjTensor *value,
                                  AdjViewChain *chain);
/* From or to nothing at all.  %FALSE: the context is in error. */
gboolean functional_storage_resize (FunctionalStorage *storage, AdjContext *cx, gsize n_bytes);
/* Brings the base up to date; calls enter where those of @cx do. */
gboolean functional_storage_flush (FunctionalStorage *storage, AdjContext *cx);

/* -- tensors (functional-tensor.c) -- */

/* The value behind a tensor above the mode, stored in its slot. */
typedef struct
{
  AdjTensor *value; /* (owned) */
  FunctionalStorage *storage;
  AdjViewChain *chain; /* (owned) (nullable) */
  guint64 generation;  /* of the storage, that the value is of */
  gboolean metadata_changed;
  guint n_turns;
  gboolean turned_with_grad; /* t_() and the like, while grad mode was on */
  gboolean storage_changed;
  gboolean is_multi_output;
} Functional;

Functional *functional_find (const AdjTensor *tensor); /* (nullable) */
/* (transfer full) */
AdjTensor *functional_wrap (AdjTensor *value);
/* (transfer full): @value as a view of @base, made by the last step of @chain. */
AdjTensor *functional_wrap_view (AdjTensor *base, AdjTensor *value, AdjViewChain *chain);
/* Makes a stale value again; calls enter where those of @cx do. */
gboolean functional_sync (AdjContext *cx, AdjTensor *tensor);
/* A write: @value from now on, cast back to the dtype of @tensor, and so for all its views. */
gboolean functional_write (AdjContext *cx, AdjTensor *tensor, AdjTensor *value);
/* t_() and the like: @tensor shows what @chain makes; @value is that already. */
void functional_turn (AdjContext *cx, AdjTensor *tensor, AdjTensor *value, AdjViewChain *chain);
/* set_(): from now on the tensor that @source is. */
void functional_become (AdjTensor *tensor, AdjTensor *source);
/* resize_() that needs more memory: @value begins a storage. %FALSE: there are views. */
gboolean functional_replace_storage (AdjTensor *tensor, AdjTensor *value);

G_END_DECLS
