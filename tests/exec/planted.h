/* SPDX-License-Identifier: MIT */
#pragma once

#include "adjoint.h"

G_BEGIN_DECLS

/* A fault that a test plants into a run of a graph, as a broken kernel would cause it. */
typedef struct
{
  AdjNodeId node;
  const char *kind; /* for messages */
  AdjTensorData *value;
} PlantedFault;

/* Chooses a node with a floating-point tensor result among @values (name → AdjTensorData, of a
 * clean run), and a change of it whose relative L2 size is at least @bands times the tolerance
 * of its operator. */
PlantedFault *
planted_fault_draw (GRand *rand, const AdjGraph *graph, GHashTable *values, double bands);
void planted_fault_free (PlantedFault *fault);

/* AdjRunRequest.replace with a PlantedFault as data. */
gboolean planted_fault_replace (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer fault);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (PlantedFault, planted_fault_free)

G_END_DECLS
