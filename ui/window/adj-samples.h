/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/* The graphs that come with the application: where it is installed, else in the source tree.
 * Returns: (transfer full) (element-type GFile) */
GPtrArray *adj_samples_list (void);

G_END_DECLS
