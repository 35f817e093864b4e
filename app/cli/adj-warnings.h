/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Keeps the warnings of the reader of a file.  The first few of each file are printed on stderr;
 * --json has all. */
void adj_warnings_note (const char *path, const AdjDiags *diags);
/* Adds "warnings" to the object @root when there are any. */
void adj_warnings_add (JsonNode *root);

G_END_DECLS
