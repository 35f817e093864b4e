/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* (transfer full): a graph that returns its input, and a recorded call whose input has @n_bytes
 * bytes, a multiple of 4. */
AdjBundle *adj_test_large_bundle (gsize n_bytes);

G_END_DECLS
