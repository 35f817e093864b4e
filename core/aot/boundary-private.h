/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

/* The stage between the forward and backward graphs: at compile time the joint function, at run
 * time one operation of eager autograd. */
typedef struct
{
  AotStage parent;
  AdjAotMetadata *metadata; /* (owned) */
  AdjFunction *backward;    /* (owned) (nullable): set before the first call */
  gboolean *detached;       /* by input: its gradient is None (aot/SPEC.md §8.4) */
  gboolean *written;        /* by input: written by the backward graph only; set by the trace */
  guint n_saved_sizes;
  GPtrArray *tangents; /* (nullable): AotComposite, if any tangent is composite */
  gboolean exports;    /* every input that requires a gradient must get a defined one */
} AotBoundary;

AotBoundary *aot_boundary_new (const AotProgram *program);
/* A copy for one pair of compiled functions; @detached by input, and one more entry. (transfer
 * full)
 */
AotStage *aot_boundary_complete (const AotStage *stage,
                                 AdjFunction *backward,
                                 const gboolean *detached,
                                 guint n_saved_sizes);
gboolean aot_stage_is_boundary (const AotStage *stage);

G_END_DECLS
