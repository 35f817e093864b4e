/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-effect-call.h"

G_BEGIN_DECLS

/* As AdjModeClass.effect, of an operator that calls a function (leaf-function.c). */
gboolean leaf_function_call (AdjMode *mode, AdjEffectCall *call);

G_END_DECLS
