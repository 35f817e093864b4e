/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/space-private.h"

G_BEGIN_DECLS

PlanLateInputs *plan_late_inputs_new (void);
void plan_late_inputs_free (PlanLateInputs *self);
void plan_late_inputs_clear (PlanLateInputs *self); /* after a run */

/* Before a run: buffer @buffer shows @data, (unowned) until the run ends. */
void plan_late_inputs_add (PlanLateInputs *self, guint32 buffer, AdjTensorData *data);
void plan_late_inputs_begin (PlanLateInputs *self, const AdjPlan *plan);
/* Reads what region @region uses; %FALSE with the context of @space in error. */
gboolean plan_late_inputs_fetch (PlanLateInputs *self, AdjPlanSpace *space, guint32 region);
/* Releases what no region after @region uses. */
void plan_late_inputs_release (PlanLateInputs *self, guint32 region);
/* The bytes by which less of them was in memory at once than there is. */
guint64 plan_late_inputs_get_spared (const PlanLateInputs *self);

G_END_DECLS
