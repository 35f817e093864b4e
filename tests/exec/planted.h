/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* Faults that a test plants into the run of a graph, as a broken kernel would make them. */
typedef struct
{
  AdjNodeId node;
  const char *kind; /* for messages */
  AdjTensorData *value;
} PlantedFault;

/* Draws a node with a floating tensor result among @values (name → AdjTensorData, of a clean run)
 * and a change of it whose relative L2 effect is at least @bands times the band of its operator. */
PlantedFault *
planted_fault_draw (GRand *rand, const AdjGraph *graph, GHashTable *values, double bands);
void planted_fault_free (PlantedFault *fault);

/* AdjRunRequest.replace for a PlantedFault. */
gboolean planted_fault_replace (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer fault);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlantedFault, planted_fault_free)

G_END_DECLS
