/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

/* Whether the operator casts its arguments where it is called; @device (out): of those. */
gboolean autocast_applies (const AdjOpCall *call, AdjDeviceType *device);
/* @args (out) (transfer full): room for those of the schema.  %FALSE: the context is in error, and
 * what @args holds must be cleared all the same. */
gboolean autocast_arguments (AdjOpCall *call, AdjDeviceType device, AdjValue *args);

G_END_DECLS
