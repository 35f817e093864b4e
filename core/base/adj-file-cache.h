/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

/* Writes @bytes to @path, whose name is a hash, in a folder of such files of this user.  Where there
 * are @most already, half of them go, by chance.  What cannot be kept is made again: no errors. */
void adj_file_cache_keep (const char *path, GBytes *bytes, guint most);

G_END_DECLS
