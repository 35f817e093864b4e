/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/regions-private.h"

G_BEGIN_DECLS

/* (transfer none) (nullable): what a line of a console says behind its prefix and its tags, of
 * which @key is filled; %NULL when the line is no message. */
const char *console_prefix_skip (const char *line, RegionKey *key);

G_END_DECLS
