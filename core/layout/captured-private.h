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

/* Gives the call of a compiled function the nodes of its backward that name none. */
void captured_adopt_inlined (AdjCaptured *self);

G_END_DECLS
