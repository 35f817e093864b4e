/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Operators of @cx compute as in the release of PyTorch that @request names. */
void exec_be_of_release (AdjContext *cx, const AdjRunRequest *request);
/* They draw what they did when the call of @request was recorded. %FALSE with the error of
 * adj_generator_set_state(). */
gboolean exec_restore_generator (AdjContext *cx, const AdjRunRequest *request, GError **error);
/* Both. */
gboolean exec_be_as_recorded (AdjContext *cx, const AdjRunRequest *request, GError **error);

/* The floating type of the numbers in @value, or in what describes it; ADJ_DTYPE_NONE: there are
 * none. */
AdjDType exec_find_dtype (const AdjValue *value);

G_END_DECLS
