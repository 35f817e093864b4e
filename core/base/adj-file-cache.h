/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

/* Writes @bytes to @path, whose name is a hash, in a cache folder of this user.  If the folder has
 * @most files already, a random half of them is removed.  Failures are ignored: a missing file is
 * made again. */
void adj_file_cache_keep (const char *path, GBytes *bytes, guint most);

G_END_DECLS
