/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "ir/adj-target-internal.h"
#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* Queries on the graph of a captured backward. */

gboolean captured_calls (const AdjNode *node, const char *target);
/* Index of the node that is argument @arg; G_MAXUINT: it is no node. */
guint captured_get_arg (const AdjNode *node, guint arg);
/* Whether @node writes its first argument. */
gboolean captured_writes (const AdjNode *node);

G_END_DECLS
