/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-backend.h"

#include "call/adj-context-internal.h"
#include "call/adj-mode.h"

G_BEGIN_DECLS

struct _AdjContext
{
  const AdjOperators *operators; /* (unowned) */
  AdjMode *top;
  AdjMode *entry; /* (unowned) (nullable) */
  AdjSymbols *symbols;
  AdjDType default_dtype;
  const char *release;     /* (unowned) (nullable) */
  AdjGenerator *generator; /* (nullable): made at first use */
  AdjPhilox philox;
  gint64 gpu_threads; /* 0: random numbers are those of the CPU */
  AdjDType drawn_dtype;
  AdjDType narrow_dtype;
  const AdjGraph *narrow_graph; /* (unowned) (nullable: none): @narrow_dtype holds for its calls */
  AdjPlaceRounding places;
  AdjKQueue cpu;
  AdjKQueue *queue; /* (unowned): @cpu, or the queue of a device */
  gboolean grad_enabled;
  gboolean is_keeping;
  AdjAutocast autocast[ADJ_N_AUTOCAST];
  gboolean unbacked;
  gboolean deterministic;
  GCancellable *cancellable;
  AdjPrintFunc print; /* (nullable) */
  gpointer print_data;
  AdjPlace place;
  AdjRegionTag region;
  gint64 n_regions;
  gint64 sequence;
  gboolean objects_are_direct; /* methods are called as functions of the program */
  GHashTable
      *fake_objects; /* (nullable): AdjObject → the fake one that stands for it; both owned */
  GHashTable *object_copies; /* (nullable): AdjObject → the copy that is called; both owned */
  gboolean object_copies_are_wide;
  GPtrArray *warnings; /* (nullable): texts */
  GError *error;
  /* Results of calls, alive until their scope ends; those of the innermost scope come last. */
  GPtrArray *tensors;
  GPtrArray *objects; /* of AdjOpaque */
  GPtrArray *items;   /* arrays of values, of results that are tuples or lists */
  GArray *scopes;     /* Scope, but for the outermost */
};

G_END_DECLS
