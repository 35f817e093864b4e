/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* Copies @source to @path with @from replaced by @to in the text of graph @id.  The recorded
 * values stay, so a run differs from the changed node on. */
void adj_planted_write (
    const char *source, const char *path, const char *id, const char *from, const char *to);

G_END_DECLS
