/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* Writes a copy of a file in which the text of graph @id has @to instead of @from, while what
 * PyTorch recorded stays: a run then differs from the changed node on. */
void adj_planted_write (
    const char *source, const char *path, const char *id, const char *from, const char *to);

G_END_DECLS
