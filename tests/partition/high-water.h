/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Counts the bytes of tensors that are allocated from here on, as they come and go.  One at a time,
 * in one thread. */
void high_water_start (void);
/* The most that were alive at once. */
gsize high_water_stop (void);

G_END_DECLS
