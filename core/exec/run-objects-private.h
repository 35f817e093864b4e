/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Sets the objects of @result, whose n_nodes is set.  Objects that @cx has no called copy of are
 * unchanged. */
void run_objects_note (AdjContext *cx, const AdjRunRequest *request, AdjRunResult *result);

G_END_DECLS
