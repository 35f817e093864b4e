/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* What the readers of the files that the command opened had to say.  The first few of a file go to
 * stderr; --json has them all. */
void adj_warnings_note (const char *path, const AdjDiags *diags);
/* Adds "warnings" to the object @root when there are any. */
void adj_warnings_add (JsonNode *root);

G_END_DECLS
