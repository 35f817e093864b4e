/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/regions-private.h"

G_BEGIN_DECLS

/* What one rank says in a console, or the program itself, line by line: the text of a graph is put
 * together and given to @regions. */
typedef struct _ConsoleMessage ConsoleMessage;

#define CONSOLE_OWN_OUTPUT (-2) /* of the program, in the place of a rank */

/* @name: of the file.  @processes: rank → how many there were of it, of all files.  All three are
 * borrowed. */
ConsoleMessage *
console_message_new (Regions *regions, const char *name, gint rank, GHashTable *processes);
void console_message_free (ConsoleMessage *message);

/* Takes the line @number: what stands behind its prefix, of which @key is. */
gboolean console_message_take (ConsoleMessage *message,
                               const char *content,
                               const RegionKey *key,
                               guint number,
                               GError **error);
/* The same of a line without a prefix. */
gboolean
console_message_take_own (ConsoleMessage *message, const char *line, guint number, GError **error);

/* Where a graph began that is not finished; 0: there is none. */
guint console_message_get_line (const ConsoleMessage *message);
gboolean console_message_finish (ConsoleMessage *message, GError **error);
/* Finishes a graph that may be complete; console_message_goes_on() says later that it was not. */
gboolean console_message_show (ConsoleMessage *message, GError **error);
gboolean console_message_goes_on (ConsoleMessage *message, const char *content);

G_END_DECLS
