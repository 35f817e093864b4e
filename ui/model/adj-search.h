/* SPDX-License-Identifier: MIT */
#pragma once

#include "scene/adj-scene.h"

G_BEGIN_DECLS

/**
 * adj_search_run:
 * @scene: (nullable): has the roles, and the titles of cards
 * @query: words that must all be found in name, operator, module, role, shape or stack trace of a
 *   node; "op:", "module:", "role:", "name:", "line:", "shape:" and "dtype:" before a word restrict
 *   where; "bytes>1MiB" and "bytes<64" ask for sizes
 *
 * Returns: (transfer full): of guint: the nodes, those with that name first, then those whose name
 *   or operator has the first word, then others; within these in order of execution
 */
GArray *adj_search_run (const AdjGraph *graph, const AdjScene *scene, const char *query);

/* Nodes with a name, operator, module, shape or line of code that @pattern matches.
 * Returns: (transfer full) (nullable): %NULL with an error of G_REGEX_ERROR */
GArray *adj_search_match (const AdjGraph *graph, const char *pattern, GError **error);

G_END_DECLS
