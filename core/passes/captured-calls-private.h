/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "ir/adj-target-internal.h"
#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* Reading the graph of a captured backward. */

gboolean captured_calls (const AdjNode *node, const char *target);
/* Argument @arg when it is a node; G_MAXUINT: it is none. */
guint captured_get_arg (const AdjNode *node, guint arg);
/* Whether @node writes its first argument. */
gboolean captured_writes (const AdjNode *node);

G_END_DECLS
