/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-format.h"

G_BEGIN_DECLS

/* Fails with what a file is that no format takes, and with what shows its graph instead; @head are
 * its first @length bytes. */
void unread_fail (const char *path, const guint8 *head, gsize length, GError **error);

G_END_DECLS
