/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-format.h"

G_BEGIN_DECLS

/* Sets the error for a file that no format takes: it says what the file is and which program shows
 * its graph instead.  @head: its first @length bytes. */
void unread_fail (const char *path, const guint8 *head, gsize length, GError **error);

G_END_DECLS
