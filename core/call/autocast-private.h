/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

/* Whether the operator casts its arguments when it is called; @device (out): their device. */
gboolean autocast_applies (const AdjOpCall *call, AdjDeviceType *device);
/* @args (out) (transfer full): room for those of the schema.  %FALSE: the context is in error;
 * @args must be cleared even then. */
gboolean autocast_arguments (AdjOpCall *call, AdjDeviceType device, AdjValue *args);

G_END_DECLS
