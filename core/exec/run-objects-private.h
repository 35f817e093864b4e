/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Fills the objects of @result, whose n_nodes is set: those that @cx, which has called copies, has
 * no copy of are as they were. */
void run_objects_note (AdjContext *cx, const AdjRunRequest *request, AdjRunResult *result);

G_END_DECLS
