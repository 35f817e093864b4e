/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-backend.h"

#include "exec/adj-executor.h"
#include "plan/adj-plan.h"

G_BEGIN_DECLS

/* Runs @request by a plan made with @flags, with the CPU @kernels; by the interpreter where there
 * is no plan, which the note of @result says. */
gboolean exec_run_planned (const AdjRunRequest *request,
                           AdjPlanFlags flags,
                           const AdjKBackend *kernels,
                           AdjRunResult *result,
                           GCancellable *cancellable,
                           GError **error);

G_END_DECLS
