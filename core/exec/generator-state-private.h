/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Random operators of @cx draw what they drew when the call was recorded.  @rng: (nullable): as in
 * AdjRunRequest. %FALSE with the error of adj_generator_set_state(). */
gboolean exec_restore_generator (AdjContext *cx, const AdjValue *rng, GError **error);

G_END_DECLS
