/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

#include "adj-kernel-random.h"

G_BEGIN_DECLS

/* Writes the @n numbers that torch.rand() gives on a GPU in @state to @out; returns the new
 * offset. */
guint64 adj_test_draw_uniform (AdjKPhilox state, gint64 n, float *out);

G_END_DECLS
