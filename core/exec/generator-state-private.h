/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"

G_BEGIN_DECLS

/* Random operators of @cx draw what they drew when the call of @request was recorded. %FALSE with
 * the error of adj_generator_set_state(). */
gboolean exec_restore_generator (AdjContext *cx, const AdjRunRequest *request, GError **error);

G_END_DECLS
