/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-late-bytes-internal.h"

G_BEGIN_DECLS

/* (transfer none): the bytes, always of the expected size, which stay in memory from now on; @error
 * is set when they are zeros because reading failed. */
GBytes *late_bytes_get (AdjLateBytes *late, GError **error);
gboolean late_bytes_check (AdjLateBytes *late, GError **error);

G_END_DECLS
