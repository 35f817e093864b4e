/* SPDX-License-Identifier: MIT */
#pragma once

#include "scene/adj-scene.h"

G_BEGIN_DECLS

/**
 * adj_search_run:
 * @scene: (nullable): knows the roles
 * @query: words that must all be found in name, operator, module, role, shape or stack trace of a
 *   node; "op:", "module:", "role:", "name:" and "line:" before a word restrict where
 *
 * Returns: (transfer full): of guint: the nodes in order of execution
 */
GArray *adj_search_run (const AdjGraph *graph, const AdjScene *scene, const char *query);

G_END_DECLS
