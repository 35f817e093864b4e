/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "adj-kernel-random.h"

G_BEGIN_DECLS

/* What torch.rand() gives for @n numbers on a GPU in @state; the offset after them. */
guint64 adj_test_draw_uniform (AdjKPhilox state, gint64 n, float *out);

G_END_DECLS
