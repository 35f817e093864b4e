/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/compiled-private.h"

G_BEGIN_DECLS

/* What takes the place of the tensors and sizes of a collection while it is replayed. */
typedef struct
{
  AdjContext *cx; /* of the trace */
  const Collection *collection;
  const GArray *rules; /* SizeRule */
  AdjTensor **fakes;   /* by input, then by what is packed, owned */
  guint slot, size;    /* that are visited next */
  GPtrArray *saved;    /* of Saved: that have a fake now */
  GArray *metas;       /* ChangedMeta */
  GArray *leaves;      /* ChangedLeaf */
  GArray *tensors;     /* ChangedTensor */
} StandIns;

/* Makes the fakes; @rules give the sizes that are symbols.  %FALSE with @cx in error; to be cleared
 * all the same. */
gboolean
stand_ins_init (StandIns *self, AdjContext *cx, const Collection *collection, const GArray *rules);
/* Puts them into the node of @call; once for each call, in the order of the collection. */
void stand_ins_place (StandIns *self, const CollectedCall *call);
/* Puts back everything that stand_ins_place() changed. */
void stand_ins_remove (StandIns *self);
/* (transfer none) (nullable): the fake of slot @self->slot, which then moves on. */
AdjTensor *stand_ins_next (StandIns *self);
void stand_ins_clear (StandIns *self);

/* @tensor, what a node keeps, stands there instead, until all are removed. */
void stand_ins_exchange (StandIns *self, AdjTensor **place, AdjTensor *tensor);

G_END_DECLS
