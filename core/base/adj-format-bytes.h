/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "40 B", "1 KiB", "3.4 MiB", "120 GiB".  (transfer full) */
char *adj_format_bytes (guint64 bytes);

G_END_DECLS
