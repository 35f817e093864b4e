/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-fused-text.h"

#include "plan/plan-private.h"

G_BEGIN_DECLS

/* The fused regions of a plan as machine code, by the C compiler of this machine ("cc", or what
 * ADJOINT_CC names; empty: none): one file for all regions, compiled in a thread of its own, loaded
 * when it is there, and kept by the hash of text, flags, compiler and processor. */
typedef struct _PlanCompiled PlanCompiled;

/* (transfer full) (nullable): the cached machine code of @plan, or its C text ready to be compiled;
 * %NULL: there is no compiler, or nothing to compile. */
PlanCompiled *plan_compiled_new (const AdjPlan *plan);
void plan_compiled_free (PlanCompiled *self); /* (nullable) */
/* Starts the compilation, in another thread, of what is not cached; once. */
void plan_compiled_begin (PlanCompiled *self);
/* Waits until compilation has ended; whether the code is loaded. */
gboolean plan_compiled_wait (PlanCompiled *self);
/* (transfer full): where its machine code is kept. */
char *plan_compiled_get_path (const PlanCompiled *self);
/* (nullable): the function of a region; %NULL until it is loaded. */
AdjKFusedMade plan_compiled_get (PlanCompiled *self, guint32 region);

/* Notes that @plan ran for @ns: plans that run often, or long, are compiled. */
void plan_compiled_note_run (AdjPlan *plan, gint64 ns);

G_END_DECLS
