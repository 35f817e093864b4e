/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-late-bytes-internal.h"

G_BEGIN_DECLS

/* (transfer none): as many as there should be; @error is set when they are zeros instead. */
GBytes *late_bytes_get (AdjLateBytes *late, GError **error);

G_END_DECLS
