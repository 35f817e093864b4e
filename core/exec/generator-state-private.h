/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Operators of @cx compute and draw what they did when the call of @request was recorded. %FALSE
 * with the error of adj_generator_set_state(). */
gboolean exec_be_as_recorded (AdjContext *cx, const AdjRunRequest *request, GError **error);

G_END_DECLS
