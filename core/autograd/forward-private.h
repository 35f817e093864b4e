/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/transform-private.h"

G_BEGIN_DECLS

/* A call at a level of forward mode: AdjModeClass.call. */
gboolean forward_call (AdjMode *mode, AdjOpCall *call);

G_END_DECLS
