/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/compiled-private.h"

G_BEGIN_DECLS

/* Stand-ins for the tensors and sizes of a collection during a replay. */
typedef struct
{
  AdjContext *cx; /* of the trace */
  const Collection *collection;
  const GArray *rules; /* SizeRule */
  AdjTensor **fakes;   /* by input, then by packed value, owned */
  guint slot, size;    /* index of the next ones visited */
  GPtrArray *saved;    /* of Saved: those with a fake tensor at present */
  GArray *metas;       /* ChangedMeta */
  GArray *leaves;      /* ChangedLeaf */
  GArray *tensors;     /* ChangedTensor */
} StandIns;

/* Makes the fake tensors; @rules decide which sizes are symbols.  %FALSE with @cx in error; must be
 * cleared even then. */
gboolean
stand_ins_init (StandIns *self, AdjContext *cx, const Collection *collection, const GArray *rules);
/* Puts stand-ins into the node of @call; once for each call, in the order of the collection. */
void stand_ins_place (StandIns *self, const CollectedCall *call);
/* Restores everything that stand_ins_place() changed. */
void stand_ins_remove (StandIns *self);
/* (transfer none) (nullable): the fake tensor of slot @self->slot, which is advanced. */
AdjTensor *stand_ins_next (StandIns *self);
void stand_ins_clear (StandIns *self);

/* Replaces *@place, a tensor that a node saves, by @tensor until stand_ins_remove(). */
void stand_ins_exchange (StandIns *self, AdjTensor **place, AdjTensor *tensor);

G_END_DECLS
