/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-fused-text.h"

#include "plan/plan-private.h"

G_BEGIN_DECLS

/* The fused regions of a plan as machine code, by the C compiler of this machine ("cc", or what
 * ADJOINT_CC names; empty: none): one file for all regions, compiled in a thread of its own, loaded
 * when it is there, and kept by the hash of text, flags, compiler and processor. */
typedef struct _PlanCompiled PlanCompiled;

/* (transfer full) (nullable): what is kept of @plan, or its text ready to be compiled; %NULL: there
 * is no compiler, or nothing to compile. */
PlanCompiled *plan_compiled_new (const AdjPlan *plan);
void plan_compiled_free (PlanCompiled *self); /* (nullable) */
/* Compiles, in another thread, what is not there yet; once. */
void plan_compiled_begin (PlanCompiled *self);
/* Waits until that is done; whether it is there. */
gboolean plan_compiled_wait (PlanCompiled *self);
/* (transfer full): where its machine code is kept. */
char *plan_compiled_get_path (const PlanCompiled *self);
/* (nullable): the function of a region, as soon as there is one. */
AdjKFusedMade plan_compiled_get (PlanCompiled *self, guint32 region);

/* Notes that @plan ran for @ns: plans that run often, or long, are compiled. */
void plan_compiled_note_run (AdjPlan *plan, gint64 ns);

G_END_DECLS
