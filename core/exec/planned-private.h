/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-backend.h"

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Runs @request by a plan with @kernels, which are of the CPU; by the interpreter where there is
 * no plan, which the note of @result says. */
gboolean exec_run_planned (const AdjRunRequest *request,
                           const AdjKBackend *kernels,
                           AdjRunResult *result,
                           GCancellable *cancellable,
                           GError **error);

G_END_DECLS
