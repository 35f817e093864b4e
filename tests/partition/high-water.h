/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Counts the bytes of tensors allocated and freed from now on.  One count at a time, in one
 * thread. */
void high_water_start (void);
/* Stops counting; returns the maximum number of bytes alive at once. */
gsize high_water_stop (void);

G_END_DECLS
