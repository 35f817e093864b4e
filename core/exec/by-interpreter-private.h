/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Runs @request by the interpreter; the note of @result says so, with the reason @why. */
gboolean exec_run_by_interpreter (const AdjRunRequest *request,
                                  const char *why,
                                  AdjRunResult *result,
                                  GCancellable *cancellable,
                                  GError **error);
/* (nullable): why @request cannot be run by a plan. */
const char *exec_find_unplannable (const AdjRunRequest *request);

G_END_DECLS
