/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "layout/adj-captured.h"

G_BEGIN_DECLS

struct _AdjCaptured
{
  gatomicrefcount refs;
  AdjGraph *graph;   /* (owned) */
  AdjBundle *bundle; /* (owned) (nullable) */
  AdjArena *texts;
  AdjCapturedNode *nodes;
  GArray *inputs;                  /* of AdjCapturedInput */
  GArray *calls;                   /* of AdjCapturedCall */
  const AdjRecordedCall *recorded; /* (nullable) */
  const AdjValue *capture;         /* (nullable) */
};

/* Assigns nodes of an inlined backward that name no call to the call of their compiled function. */
void captured_adopt_inlined (AdjCaptured *self);

G_END_DECLS
