/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* A graph of nothing but its input, and a recorded call whose input takes that many bytes, a
 * multiple of 4. */
AdjBundle *adj_test_large_bundle (gsize n_bytes);

G_END_DECLS
