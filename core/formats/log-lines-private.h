/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How lines of logs begin.  (No regular expressions: GRegex crashes where memory runs out.) */

/* Whether @at matches @shape, in which 0 matches any digit and V any level. */
gboolean log_line_has_shape (const char *at, const char *shape);
/* Whether a graph begins in the line at @at of which each node has a line: "graph(%x):". */
gboolean log_line_begins_nodes (const char *at);

/* Whether a record of a TRACE log, which is JSON, begins somewhere in @text. */
gboolean log_lines_have_record (const char *text);
/* Whether there is a line of a console of TORCH_LOGS in @text. */
gboolean log_lines_have_message (const char *text);

G_END_DECLS
