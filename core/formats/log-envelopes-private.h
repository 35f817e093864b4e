/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Logs that a collector wrote as JSON, an object for each line: {"log": "…\n", "stream": "stderr"}.
 */

/* Whether the first line of @text is one. */
gboolean log_envelopes_are (const guint8 *text, gsize length);
/* (transfer full): what the objects hold; @bytes itself when the first line is none.  Lines that
 * are none stay as they are. */
GBytes *log_envelopes_open (GBytes *bytes);
/* (transfer full): the same of the beginning of a file, as a text that ends with a NUL. */
char *log_envelopes_open_head (const guint8 *head, gsize length);

G_END_DECLS
