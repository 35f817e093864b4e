/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Makes @cx compute as the release of PyTorch that @request names. */
void exec_be_of_release (AdjContext *cx, const AdjRunRequest *request);
/* Makes @cx draw the random numbers of @request's recorded call. %FALSE with the error of
 * adj_generator_set_state(). */
gboolean exec_restore_generator (AdjContext *cx, const AdjRunRequest *request, GError **error);
/* Both. */
gboolean exec_be_as_recorded (AdjContext *cx, const AdjRunRequest *request, GError **error);

/* The floating dtype of the numbers in @value, or in its description; ADJ_DTYPE_NONE: there are
 * none. */
AdjDType exec_find_dtype (const AdjValue *value);

G_END_DECLS
