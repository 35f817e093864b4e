/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

/* The last stage: after every call it writes back mutated inputs and recreates outputs that alias
 * live tensors. */
typedef struct
{
  AotStage parent;
  AdjAotMetadata *metadata; /* (owned) */
  gboolean no_grad;         /* traced with grad mode off */
} AotEpilogue;

AotEpilogue *aot_epilogue_new (const AotProgram *program);

/* Gives @tensor the sizes, strides and offset of @like, recorded unless @no_grad. */
gboolean aot_set_geometry (AdjContext *cx, AdjTensor *tensor, AdjTensor *like, gboolean no_grad);

G_END_DECLS
